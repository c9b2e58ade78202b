"""Durable jobs: a recorded delivery becomes exactly one review of a head commit."""
