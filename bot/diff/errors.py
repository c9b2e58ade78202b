"""What can go wrong while a change is read: three errors, each with a one-line message."""

from __future__ import annotations


class DiffError(ValueError):
    """The input is no diff, or a damaged one.

    The message says what is wrong, where, and what to do. ``line`` is the 1-based line of the
    input, ``None`` where the fault has no one place.
    """

    def __init__(self, what: str, *, line: int | None = None, hint: str = "") -> None:
        where = "" if line is None else f"line {line} of the diff: "
        super().__init__(f"{where}{what}" + (f"; {hint}" if hint else ""))
        self.line = line


class GitError(RuntimeError):
    """git could not give what was asked: no repository, no such range, no merge base."""


class ApplyError(ValueError):
    """A change or a replacement does not fit the text that it was laid on."""
