"""GitHub's side: events in, reviews out."""
