"""Training: data, objectives, tokenizer, trainer."""
