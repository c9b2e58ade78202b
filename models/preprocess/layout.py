"""Tokens back into text: the source's own white space and comments where tokens are the same."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from rapidfuzz.distance import Levenshtein

from models.preprocess.java_lexer import Token
from models.preprocess.spacing import Spacing

_STAYS_ON_LINE = frozenset({"else", "catch", "finally", "while", ")", ";", ",", "."})
"""What follows a closing brace on its line."""
_DEFAULT_INDENT = "    "


def lay_out(source: str, before: Sequence[Token], after: Sequence[str]) -> str:
    """The text of the tokens ``after``, a revision of ``before``, which are those of ``source``.

    What stands between two tokens of the source (white space, comments) is kept where both are
    kept side by side, moved in or out with the braces around it. Between others a new line begins
    where Java has one (if the source has lines), else there is one space or none. A revision
    without any change gives the source back.
    """
    origin = _origins([token.text for token in before], after)
    ends = _ends(source, before)
    old_depths, depths = _depths([token.text for token in before]), _depths(after)
    unit = _indent_unit(source)
    base = _indentation_of(source[: before[0].start]) if before else ""
    spacing = Spacing(source, after)
    pieces: list[str] = []
    for place, word in enumerate(after):
        here = origin[place]
        if place == 0:
            pieces.append(source[: before[0].start] if before else "")
        elif here is not None and here > 0 and origin[place - 1] == here - 1:
            gap = source[ends[here - 1] : before[here].start]
            shift = depths[place][0] - old_depths[here][0]
            pieces.append(_moved(gap, shift, unit))
        else:
            lines = "\n" in source and _begins_line(after[place - 1], word, depths[place])
            line = "\n" + base + unit * depths[place][0]
            pieces.append(line if lines else spacing.before(place))
        pieces.append(word if here is None else source[before[here].start : ends[here]])
    if before and after and origin[-1] == len(before) - 1:
        pieces.append(source[ends[-1] :])
    return "".join(pieces)


def _origins(words: Sequence[str], after: Sequence[str]) -> list[int | None]:
    """For each new token the old one that it is, or ``None``."""
    origin: list[int | None] = [None] * len(after)
    for op in Levenshtein.opcodes(list(words), list(after)):
        if op.tag == "equal":
            for offset in range(op.dest_end - op.dest_start):
                origin[op.dest_start + offset] = op.src_start + offset
    return origin


def _ends(source: str, tokens: Sequence[Token]) -> list[int]:
    """Where each token's characters end (an annotation may have space after its ``@``)."""
    ends: list[int] = []
    for token in tokens:
        end = token.start
        for character in token.text:
            end = source.index(character, end) + 1
        ends.append(end)
    return ends


def _depths(words: Sequence[str]) -> list[tuple[int, int]]:
    """The open braces and parentheses before each token; a closing brace is outside already."""
    braces = parentheses = 0
    depths: list[tuple[int, int]] = []
    for word in words:
        if word == "}":
            braces = max(0, braces - 1)
        elif word == ")":
            parentheses = max(0, parentheses - 1)
        depths.append((braces, parentheses))
        braces += word == "{"
        parentheses += word == "("
    return depths


def _indentation_of(text: str) -> str:
    """The white space at the start of a text's last line."""
    last = text.rsplit("\n", 1)[-1]
    return last[: len(last) - len(last.lstrip())]


def _indent_unit(source: str) -> str:
    """One level of the source's indentation: a tab, or the smallest step between lines."""
    widths = set()
    for line in source.split("\n"):
        if line.strip():
            lead = line[: len(line) - len(line.lstrip())]
            if "\t" in lead:
                return "\t"
            widths.add(len(lead))
    ordered = sorted(widths)
    steps = [high - low for low, high in itertools.pairwise(ordered)]
    return " " * min(steps) if steps else _DEFAULT_INDENT


def _moved(gap: str, shift: int, unit: str) -> str:
    """A gap of the source, its lines (comments, and the next token's) moved by so many levels."""
    first, *lines = gap.split("\n")
    if shift == 0 or not lines:
        return gap
    moved = [first]
    for place, line in enumerate(lines):
        if not line and place < len(lines) - 1:
            moved.append(line)
        elif shift > 0:
            moved.append(unit * shift + line)
        else:
            lead = len(line) - len(line.lstrip())
            moved.append(line[min(lead, -shift * len(unit)) :])
    return "\n".join(moved)


def _begins_line(left: str, right: str, depth: tuple[int, int]) -> bool:
    """Whether Java begins a line between two tokens."""
    opens_line = left in ("{", ";") or (left == "}" and right not in _STAYS_ON_LINE)
    empty_block = left == "{" and right == "}"
    return not depth[1] and not empty_block and (opens_line or right == "}")
