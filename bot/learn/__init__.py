"""Learning from what people said in reviews before this program came."""
