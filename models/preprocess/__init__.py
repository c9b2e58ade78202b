"""What happens to code before a model reads it: abstraction, subword units, data flow."""
