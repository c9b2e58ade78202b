"""Words of a review and of a change, so that the two can be compared.

People name code loosely: ``unboundDimensions``, "unbound dimensions" and `unbound_dimensions()`
are one thing. Both sides are cut into sub-words (camelCase and snake_case split, lower case,
light endings off); a whole identifier is kept beside its parts, since naming it exactly says more.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from models.crscore.stopwords import STOP_WORDS

_IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_QUOTED = re.compile(r"`([^`\n]+)`|'([^'\n]{2,60})'|\"([^\"\n]{2,60})\"")
_CODE_SHAPE = re.compile(
    r"(?:[A-Za-z$][A-Za-z0-9$]*_[A-Za-z0-9_$]*|_[A-Za-z0-9_$]+|[a-z$][a-z0-9$]*[A-Z][A-Za-z0-9$]*"
    r"|[A-Z][a-z0-9]+[A-Z][A-Za-z0-9]*|[A-Za-z_$][A-Za-z0-9_$]*(?=\())"
)
_ENDINGS = ("ations", "ation", "ings", "ing", "ies", "ed", "es", "s")


def stem(word: str) -> str:
    """A word without a light ending (plural, -ing, -ed), never shorter than three letters."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def sub_words(text: str) -> list[str]:
    """Stemmed sub-words of ``text`` in order, function words and single letters left out."""
    return list(_sub_words(text))


@lru_cache(maxsize=16_384)
def _sub_words(text: str) -> tuple[str, ...]:
    """``sub_words``, kept: a change's lines and claims come back with each of its reviews."""
    found = []
    for identifier in _IDENTIFIER.findall(text):
        for part in _PART.findall(identifier):
            word = part.lower()
            if len(word) > 1 and word not in STOP_WORDS:
                found.append(stem(word))
    return tuple(found)


def identifiers(text: str) -> set[str]:
    """Whole identifiers of a piece of code, longer than one letter."""
    return {name for name in _IDENTIFIER.findall(text) if len(name) > 1}


def named_code(review: str) -> set[str]:
    """Identifiers that a review names as code: quoted, or shaped like code (fooBar, foo_bar, f().

    A quoted phrase counts only where it is a single token of code.
    """
    named = {match.group(0) for match in _CODE_SHAPE.finditer(review)}
    for match in _QUOTED.finditer(review):
        inside = next(group for group in match.groups() if group is not None).strip()
        if " " not in inside:
            named.update(_IDENTIFIER.findall(inside))
    return {name for name in named if len(name) > 1}


def quoted_code(text: str) -> list[str]:
    """Distinct pieces that a text quotes, or that are shaped like code, of three characters or
    more; white space in them is one space."""
    found = [
        next(group for group in match.groups() if group is not None)
        for match in _QUOTED.finditer(text)
    ]
    found += [match.group(0) for match in _CODE_SHAPE.finditer(text)]
    whole = (" ".join(piece.split()) for piece in found)
    return [piece for piece in dict.fromkeys(whole) if len(piece) > 2]


@dataclass(frozen=True, slots=True)
class Rarity:
    """How rare a sub-word is among review comments: -log of the share of comments that have it.

    ``weights`` holds the known words; any other is as rare as a word seen once (``unknown``).
    """

    weights: Mapping[str, float]
    unknown: float

    def of(self, word: str) -> float:
        """The weight of one sub-word."""
        return self.weights.get(word, self.unknown)

    def total(self, words: Iterable[str]) -> float:
        """The summed weight of several."""
        return sum(self.of(word) for word in words)
