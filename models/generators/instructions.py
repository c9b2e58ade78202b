"""Revisions that a comment spells out: "rename `a` to `b`", "use `b` instead of `a`".

No model: a comment that names what stands there and what should stand there instead leaves
nothing to guess, and where it does not, nothing is said. It answers CRA alone and speaks the
generators' language (``models.generators.base``), so that the gate treats it as any other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from models.generators.base import Answer, Window
from models.generators.line_edits import LineEdit

_CODE = r"(?<!\w)[`'\"](?P<{0}>[^`'\"\n]{{0,118}}\w[^`'\"\n]{{0,118}})[`'\"](?!\w)"
_WORD = r"(?P<{0}>[A-Za-z_$][\w$.]*)"
_A, _B = _CODE.format("a"), _CODE.format("b")
_GO = re.IGNORECASE
_PATTERNS = (
    re.compile(rf"\b(?:rename|change|replace|switch)\s+(?:this\s+|it\s+)?"
               rf"(?:from\s+)?{_A}\s+(?:to|with|by|into|for)\s+{_B}", _GO),
    re.compile(rf"\b(?:use|prefer|write|do|have|with|to)\s+{_B}\s+(?:instead\s+of|rather\s+than|"
               rf"over|in\s+place\s+of|not)\s+(?:the\s+)?{_A}", _GO),
    re.compile(rf"{_B}\s+(?:instead\s+of|rather\s+than)\s+{_A}", _GO),
    re.compile(rf"{_A}\s+(?:should|must|could|can|needs\s+to|has\s+to|->|=>|→)\s*"
               rf"(?:be|become|read|say|use)?\s*{_B}", _GO),
    re.compile(r"^\s*s/(?P<a>[^/\n]{1,120})/(?P<b>[^/\n]{0,120})/?g?\s*$", re.MULTILINE),
    re.compile(rf"\brename\s+{_WORD.format('a')}\s+to\s+{_WORD.format('b')}\b", _GO),
)  # fmt: skip
PRECISION = 0.6
"""How likely an answer is what the person meant: 2 of the 3 that ``tests/bench/spelled_out.py``
finds beside a suggestion block were exactly the block, and so few count as (2 + 1) / (3 + 2)."""


class Instructions:
    """The revisions that comments spell out (``models.generators.base.Generator``)."""

    name = "instructions"
    tasks = frozenset({"cra"})
    reads_methods = False
    reads_code = False

    @property
    def card(self) -> Mapping[str, Any]:
        """No calibration: an answer's own probability is what was measured."""
        return {"tasks": ["cra"]}

    def revise(self, windows: Sequence[Window], *, answers: int = 1) -> list[list[Answer]]:
        """For each window the one revision that its comment spells out, or none."""
        return [[answer] if (answer := _revised(window)) else [] for window in windows]

    def comment(self, windows: Sequence[Window], *, answers: int = 1) -> list[list[Answer]]:
        """Nothing: it only carries out what others say."""
        return [[] for _ in windows]


def spelled_out(comment: str) -> Iterator[tuple[str, str]]:
    """Pairs of what stands there and what should, as a comment names them."""
    for pattern in _PATTERNS:
        for match in pattern.finditer(comment):
            old, new = match["a"].strip(), match["b"].strip()
            if old and old != new:
                yield old, new


def _revised(window: Window) -> Answer | None:
    """The first pair whose old text stands on the commented lines, put to work there."""
    for old, new in spelled_out(window.comment):
        edits = []
        for index in sorted(window.changed):
            line = window.lines[index]
            after = _replaced(line, old, new)
            if after != line:
                edits.append(LineEdit(index, index + 1, (after,)))
        if edits:
            parts = (PRECISION, *[1.0] * (len(edits) - 1))
            return Answer(PRECISION, PRECISION, PRECISION, 0.0, tuple(edits), parts=parts)
    return None


def _replaced(line: str, old: str, new: str) -> str:
    """``old`` by ``new`` wherever it stands as a whole."""
    left = r"(?<![\w$])" if re.match(r"[\w$]", old) else ""
    right = r"(?![\w$])" if re.search(r"[\w$]$", old) else ""
    return re.sub(left + re.escape(old) + right, lambda _: new, line)
