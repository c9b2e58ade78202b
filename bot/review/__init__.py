"""The road from a change to a review: targets, candidates, scores, gate, ranking, rendering."""
