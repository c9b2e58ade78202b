"""Whether a space stands between two Java tokens that were no neighbours in the source.

Java has its habits (``Map<String, int[]>``, ``i++``, ``A::b``), and a source its own: whether
parentheses are padded, and whether ``if`` keeps its distance from them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from models.preprocess.java_lexer import KEYWORDS

_HEADS = frozenset({"if", "for", "while", "switch", "catch", "synchronized", "try"})
"""Keywords whose parenthesis is their own, near or apart as the source has it."""
_BEFORE_VALUES = frozenset({"return", "assert", "throw", "case", "else", "do", "instanceof"})
_NONE_BEFORE = frozenset({";", ",", ".", "]", "..."})
_NONE_AFTER = ".[!@~"
_JOINED = frozenset({(":", ":"), ("-", ">"), ("<", "<"), (">", ">")})
"""Marks that the lexer writes apart and Java does not: ``::``, ``->``, ``<<`` and ``>>``."""
_OPERAND_KEYWORDS = frozenset({"this", "super", "null", "true", "false", "class"})
_IN_TYPES = frozenset({",", "?", ".", "[", "]", "&", "<", ">", "extends", "super"})
_PRIMITIVES = frozenset({"boolean", "byte", "char", "double", "float", "int", "long", "short"})
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_KEYWORD_CALL = re.compile(r"\b(?:if|for|while|switch|catch)(\s*)\(")
_OPENED = re.compile(r"\(([ \t]*)[^\s)]")
_EMPTY_BLOCK = re.compile(r"\{([ \t]*)\}")


class Spacing:
    """The spaces between tokens, as the source would have them.

    Args:
        source: the text whose habits count.
        words: all tokens of its revision.
    """

    def __init__(self, source: str, words: Sequence[str]) -> None:
        self.words = words
        self.brackets = _type_brackets(words)
        self.padded = _mostly(_OPENED, source, otherwise=False)
        self.keyword_gap = " " if _mostly(_KEYWORD_CALL, source, otherwise=True) else ""
        self.block_gap = " " if _mostly(_EMPTY_BLOCK, source, otherwise=False) else ""

    def before(self, place: int) -> str:
        """The space between the token at ``place`` and the one before it: one, or none."""
        left, right = self.words[place - 1], self.words[place]
        if left == "(" or right == ")":
            return " " if self.padded and (left, right) != ("(", ")") else ""
        if right in _NONE_BEFORE or (left, right) in _JOINED:
            return ""
        if left[-1] in _NONE_AFTER and left != "...":
            return ""
        for rule in (self._in_type, self._of_mark):
            gap = rule(place, left, right)
            if gap is not None:
                return gap
        return " "

    def _in_type(self, place: int, left: str, right: str) -> str | None:
        """Around the brackets of type arguments and arrays."""
        if right == "[" and (_is_operand(left) or left == ">"):
            return ""
        if place in self.brackets:
            return " " if right == "<" and left in KEYWORDS else ""
        if place - 1 not in self.brackets:
            return None
        if left == "<" or right == "(":
            return ""
        opened = self.brackets[place - 1]
        return "" if opened > 0 and self.words[opened - 1].endswith(".") else None

    def _of_mark(self, place: int, left: str, right: str) -> str | None:
        """At calls, method references, signs and labels."""
        after = self.words[place + 1] if place + 1 < len(self.words) else ""
        earlier = self.words[place - 2] if place > 1 else ""
        if right == "(" and _NAME.fullmatch(left):
            return self.keyword_gap if left in _HEADS else " " if left in _BEFORE_VALUES else ""
        if (left, right) == ("{", "}"):
            return self.block_gap
        if (right, after) == (":", ":") or (earlier, left) == (":", ":"):
            return ""
        if right in ("++", "--") and _is_operand(left):
            return ""
        if left in ("++", "--", "+", "-") and not _is_operand(earlier):
            return ""
        return "" if right == ":" and self._labels(place) else None

    def _labels(self, place: int) -> bool:
        """Whether the colon at ``place`` ends a ``case`` or ``default``."""
        for word in reversed(self.words[:place]):
            if word in ("case", "default"):
                return True
            if word in (";", "{", "}", "?", "("):
                break
        return False


def _mostly(habit: re.Pattern[str], source: str, *, otherwise: bool) -> bool:
    """Whether the group of most matches holds a space."""
    found = [bool(match.group(1)) for match in habit.finditer(source)]
    return sum(found) * 2 > len(found) if found else otherwise


def _is_operand(word: str) -> bool:
    """Whether a value, a name or its end stands there, to which a postfix mark belongs."""
    if word in KEYWORDS:
        return word in _OPERAND_KEYWORDS or word in _PRIMITIVES
    return word in (")", "]") or word[:1].isalnum() or word[:1] in ("_", "$", '"', "'")


def _type_brackets(words: Sequence[str]) -> dict[int, int]:
    """Places of the ``<`` and ``>`` around type arguments, each with the place of its ``<``.

    They are told from comparisons by what is between them, and by what is before: a type's name,
    a full stop, or a modifier.
    """
    found: dict[int, int] = {}
    for start, word in enumerate(words):
        before = words[start - 1] if start else ""
        opens = before[:1].isupper() or before.endswith(".") or before in KEYWORDS or not before
        if word != "<" or start in found or not opens or before in _OPERAND_KEYWORDS:
            continue
        stack: list[int] = []
        pairs: dict[int, int] = {}
        for place in range(start, len(words)):
            here = words[place]
            if here == "<":
                stack.append(place)
            elif here == ">":
                opened = stack.pop()
                pairs |= {opened: opened, place: opened}
                if not stack:
                    found |= pairs
                    break
            elif here not in _IN_TYPES and here not in _PRIMITIVES and not _is_type_name(here):
                break
    return found


def _is_type_name(word: str) -> bool:
    return bool(_NAME.fullmatch(word)) and word not in KEYWORDS
