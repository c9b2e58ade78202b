"""Tokens back into text: the source's own white space and comments where tokens are the same."""

from __future__ import annotations

from collections.abc import Sequence

from rapidfuzz.distance import Levenshtein

from models.preprocess.java_lexer import Token

_NO_SPACE_BEFORE = frozenset(";,).]")
_NO_SPACE_AFTER = frozenset("(.[!@~")


def lay_out(source: str, before: Sequence[Token], after: Sequence[str]) -> str:
    """The text of the tokens ``after``, a revision of ``before``, which are those of ``source``.

    What stands between two tokens of the source (white space, comments) is kept where both are
    kept side by side; between others there is one space or none, by Java's habits. A whole
    revision without any change gives the source back.
    """
    words = [token.text for token in before]
    origin: list[int | None] = [None] * len(after)
    for op in Levenshtein.opcodes(words, list(after)):
        if op.tag == "equal":
            for offset in range(op.dest_end - op.dest_start):
                origin[op.dest_start + offset] = op.src_start + offset
    pieces: list[str] = []
    for place, word in enumerate(after):
        here = origin[place]
        if place == 0:
            pieces.append(source[: before[0].start] if before else "")
        else:
            there = origin[place - 1]
            if here is not None and there == here - 1:
                pieces.append(_between(source, before, here))
            elif here is not None and "\n" in _between(source, before, here):
                pieces.append(_indent(_between(source, before, here)))
            else:
                pieces.append(_space(after[place - 1], word))
        pieces.append(_shown(source, before, here, word))
    if before and after and origin[-1] == len(before) - 1:
        pieces.append(source[_end(source, before, len(before) - 1) :])
    return "".join(pieces)


def _end(source: str, tokens: Sequence[Token], index: int) -> int:
    """Where a token's characters end (an annotation may have space after its ``@``)."""
    token = tokens[index]
    start = token.start
    for character in token.text:
        start = source.index(character, start) + 1
    return start


def _shown(source: str, tokens: Sequence[Token], index: int | None, word: str) -> str:
    return word if index is None else source[tokens[index].start : _end(source, tokens, index)]


def _between(source: str, tokens: Sequence[Token], index: int) -> str:
    """What stands before a token, since the one before it."""
    return source[_end(source, tokens, index - 1) if index else 0 : tokens[index].start]


def _indent(gap: str) -> str:
    """The last line feed of a gap with the indentation after it, without comments."""
    indentation = gap[gap.rindex("\n") :]
    return indentation if not indentation.strip() else "\n"


def _space(left: str, right: str) -> str:
    if right[0] in _NO_SPACE_BEFORE or left[-1] in _NO_SPACE_AFTER:
        return ""
    if right == "(" and (left[-1].isalnum() or left[-1] == "_"):
        return "" if left not in _SPACED_KEYWORDS else " "
    return " "


_SPACED_KEYWORDS = frozenset({"if", "for", "while", "switch", "catch", "return", "synchronized"})
