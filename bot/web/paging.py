"""Numbers from addresses: what is no number counts as the default."""

from __future__ import annotations


def whole_number(text: str | None, default: int) -> int:
    """A number from 0 to a thousand million."""
    if text and text.isascii() and text.isdigit() and len(text) < 10:
        return int(text)
    return default
