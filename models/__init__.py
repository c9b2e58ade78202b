"""The learning side: text in, text and numbers out."""
