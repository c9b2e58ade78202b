"""A hunk as the claim generator reads it, and which of its claims can be checked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from models.change import Hunk, LineKind
from models.crscore.words import identifiers, named_code, sub_words
from models.generators.base import Window
from models.hunk_text import parse_hunks
from models.syntax import guess_language

MOST_LINES = 28
"""Lines of a window, changed ones first: a longer hunk is read at its head only."""
_CONTEXT = 2
_LINE_CHARS = 160
_STUCK = re.compile(r"\b(\w+)(?:\W+\1\b){2}")
"""A word three times in a row: a model that has lost its thread."""
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)*(?!\w)")


def claim_window(hunk: Hunk, language: str) -> Window:
    """Changed lines with two lines around them; the function in the ``@@`` line comes first."""
    rows = list(hunk.lines)
    touched = [i for i, row in enumerate(rows) if row.kind is not LineKind.CONTEXT]
    near = {j for i in touched for j in range(i - _CONTEXT, i + _CONTEXT + 1)}
    kept = [row for i, row in enumerate(rows) if i in near][:MOST_LINES]
    head = [hunk.section.strip()] if hunk.section.strip() else []
    first = len(head)
    return Window(
        language,
        tuple(text[:_LINE_CHARS] for text in (*head, *(row.text for row in kept))),
        frozenset(first + i for i, row in enumerate(kept) if row.kind is LineKind.ADDED),
        frozenset(first + i for i, row in enumerate(kept) if row.kind is LineKind.DELETED),
    )


def claim_windows(diff: str, language: str = "") -> list[Window]:
    """The windows of a diff's hunks that change something."""
    hunks = parse_hunks(diff)
    content = "\n".join(line.text for hunk in hunks for line in hunk.lines)
    name = guess_language(content, language)
    return [claim_window(hunk, name) for hunk in hunks if hunk.added or hunk.deleted]


def checkable(claims: Iterable[str], lines: Sequence[str]) -> list[str]:
    """The claims that name nothing which is not in the lines, each once.

    Identifiers that a claim quotes or that are shaped like code, and its numbers of two digits
    and more, must be there; of the change's own words at least one must be in the claim. A claim
    that says one word three times in a row is none.
    """
    text = "\n".join(lines)
    known = identifiers(text)
    numbers = set(_NUMBER.findall(text))
    words = set(sub_words(text))
    found = []
    for claim in claims:
        if _STUCK.search(claim):
            continue
        said = {number for number in _NUMBER.findall(claim) if len(number) > 1}
        if named_code(claim) <= known and said <= numbers and words & set(sub_words(claim)):
            found.append(claim)
    return list(dict.fromkeys(found))
