"""Generators of candidates: one module a family."""
