"""src2abs: Java with its names and rare literals replaced by numbered placeholders.

Tufano et al. (2019, 2021): types, methods, variables, annotations and literals become ``TYPE_1``,
``METHOD_1``, ``VAR_1``, ``ANNOTATION_1``, ``STRING_1``, ... in the order in which they appear;
frequent ones (idioms) stay. A pair of versions shares one map, and the map turns the abstracted
text back into the tokens that it stands for.

Which names are types, methods or variables is decided by a parse (tree-sitter) and, where the
published data show that their tool went by the look of a name, by its look. The rules below name
what each one reproduces; together they give the published text of 99 % of the methods up to the
placeholders' numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from models.preprocess.java_lexer import KEYWORDS, Token, TokenKind, tokenize
from models.preprocess.java_types import type_positions
from models.tasks import END_MARK, START_MARK

PLACEHOLDER = re.compile(r"(VAR|METHOD|TYPE|ANNOTATION|STRING|INT|FLOAT|CHAR)_\d+")
_IDIOMS = Path(__file__).with_name("java_idioms.txt")
_CAPITALISED = re.compile(r"[A-Z]\w*[a-z]")
"""A type by its look: a capital first, a small letter later (all capitals are a constant)."""

_MARKS = re.compile(f"{START_MARK}|{END_MARK}")


def _blank(mark: re.Match[str]) -> str:
    return " " * len(mark.group())


_LITERAL_KINDS = {
    TokenKind.STRING: "STRING",
    TokenKind.CHAR: "CHAR",
    TokenKind.ANNOTATION: "ANNOTATION",
    TokenKind.INTEGER: "INT",
    TokenKind.FLOAT: "FLOAT",
    TokenKind.GENERIC_SCOPE: "TYPE",
}
_DECLARES = frozenset({"public", "private", "protected", ""})


class UnknownPlaceholder(ValueError):
    """A placeholder that the map has no token for: a model invented a name."""


@dataclass(frozen=True, slots=True)
class Abstraction:
    """Abstracted texts of one or two versions of a method, and the map that they share.

    ``texts`` hold tokens one space apart, in the order given; ``names`` maps each placeholder to
    the token that it stands for.
    """

    texts: tuple[str, ...]
    names: Mapping[str, str] = field(default_factory=dict)

    def restore(self, text: str) -> str:
        """The tokens of an abstracted text (one of ours or a prediction), one space apart.

        Raises UnknownPlaceholder for a placeholder outside the map.
        """
        restored: list[str] = []
        for token in text.split():
            if PLACEHOLDER.fullmatch(token):
                if token not in self.names:
                    raise UnknownPlaceholder(f"{token} stands for nothing in the source")
                token = self.names[token]
            restored.append(token)
        return " ".join(restored)

    def placeholders(self) -> dict[str, str]:
        """The map the other way: from a token to its placeholder (the first one, if several)."""
        inverse: dict[str, str] = {}
        for placeholder, token in self.names.items():
            inverse.setdefault(token, placeholder)
        return inverse


@lru_cache(maxsize=1)
def default_idioms() -> frozenset[str]:
    """The idioms of Trans-Review's own training text, shipped beside this module."""
    return frozenset(_IDIOMS.read_text(encoding="utf-8").split())


def idioms_of(abstracted: Iterable[str]) -> frozenset[str]:
    """The idioms of an abstracted corpus: whatever its texts leave as it is, operators apart."""
    found = {token for text in abstracted for token in text.split()}
    return frozenset(
        token
        for token in found
        if not PLACEHOLDER.fullmatch(token)
        and token not in KEYWORDS
        and (token[0].isalnum() or token[0] in '@_$"')
    )


def abstract(*versions: str, idioms: frozenset[str] | None = None) -> Abstraction:
    """Abstract one or more versions of a Java method (or any Java text) with one shared map.

    ``<START>`` and ``<END>`` in a version stay as they are.
    """
    kept = default_idioms() if idioms is None else idioms
    read = [_Version(version, kept) for version in versions]
    # Their parser took both versions or neither.
    parsed = all(version.parses for version in read)
    for version in read:
        version.learn(parsed)
    types = frozenset().union(*(version.types for version in read))
    methods = frozenset().union(*(version.methods for version in read))
    numbers = _Numbers()
    texts = tuple(" ".join(version.write(types, methods, numbers)) for version in read)
    return Abstraction(texts, {place: token for (_, token), place in numbers.places.items()})


def renumbered(text: str) -> str:
    """The text with its placeholders numbered again by first appearance, kind by kind.

    Two abstracted texts are the same up to numbering if this gives the same for both.
    """
    numbers = _Numbers()
    written: list[str] = []
    for token in text.split():
        match = PLACEHOLDER.fullmatch(token)
        written.append(numbers.place(match.group(1), token) if match else token)
    return " ".join(written)


class _Numbers:
    """Gives a (kind, token) its placeholder, counting each kind from 1."""

    def __init__(self) -> None:
        self.places: dict[tuple[str, str], str] = {}
        self._counts: dict[str, int] = {}

    def place(self, kind: str, token: str) -> str:
        key = (kind, token)
        if key not in self.places:
            self._counts[kind] = self._counts.get(kind, 0) + 1
            self.places[key] = f"{kind}_{self._counts[kind]}"
        return self.places[key]


class _Version:
    """One version's tokens, and the names that its uses show to be types or methods."""

    def __init__(self, code: str, idioms: frozenset[str]) -> None:
        self.idioms = idioms
        self.tokens: Sequence[Token] = tokenize(code)
        positions = type_positions(_MARKS.sub(_blank, code), idioms)
        # Neither text that is no whole member nor ``default`` methods of interfaces were parsed:
        # then only the look of a name is left to go by.
        head = {token.text for token in self.tokens[:6]}
        self.parses = positions is not None and "default" not in head
        self._positions = positions or {}
        self.types: set[str] = set()
        self.methods: set[str] = set()

    def learn(self, parsed: bool) -> None:
        """Gather the names that stand as types or methods; by their look alone if not parsed."""
        for index, token in enumerate(self.tokens):
            if token.kind is TokenKind.NAME and token.text not in self.idioms:
                self._learn(index, token, parsed)

    def text(self, index: int) -> str:
        return self.tokens[index].text if 0 <= index < len(self.tokens) else ""

    def _after_idiom(self, index: int) -> bool:
        """Whether this is a member of an idiom: ``logger . HERE``."""
        if self.text(index - 1) != "." or index < 2:
            return False
        scope = self.tokens[index - 2]
        return scope.kind is TokenKind.NAME and scope.text in self.idioms

    def _learn(self, index: int, token: Token, parsed: bool) -> None:
        name = token.text
        before, after = self.text(index - 1), self.text(index + 1)
        after_idiom = self._after_idiom(index)
        if _CAPITALISED.match(name) and (
            after != "(" or before in _DECLARES or before == "new" or after_idiom
        ):
            self.types.add(name)
        if after_idiom or not parsed:
            return
        if token.start in self._positions:
            if self._positions[token.start]:
                self.types.add(name)
        elif after == ":" and self.text(index + 2) == ":":
            self.types.add(name)  # the scope of a method reference was parsed as a type
        elif before == ":" and self.text(index - 2) == ":":
            self.methods.add(name)
        elif after == "(":
            if before == "new":
                self.types.add(name)
            else:
                self.methods.add(name)
        elif name[0].isupper() and after == "." and self.text(index + 3) == "(":
            # ``CACHE.get(`` and ``Level.FULL.ordinal(``: a capital scope of a call is a type,
            # at most two deep.
            outer = self.text(index - 2) if before == "." else ""
            if before != "." or (outer[:1].isupper() and self.text(index - 3) != "."):
                self.types.add(name)

    def write(self, types: frozenset[str], methods: frozenset[str], numbers: _Numbers) -> list[str]:
        written: list[str] = []
        for index, token in enumerate(self.tokens):
            kind = self._kind(index, token, types, methods)
            if token.text == "class" and (
                self._after_idiom(index) or ("VAR", "class") in numbers.places
            ):
                # ``String.class`` after an idiom made their tool read ``class`` as a variable's
                # name, from there to the end.
                kind = "VAR"
            written.append(numbers.place(kind, token.text) if kind else token.text)
        return written

    def _kind(
        self, index: int, token: Token, types: frozenset[str], methods: frozenset[str]
    ) -> str:
        """The placeholder's kind, or "" for what stays."""
        if token.kind in (TokenKind.OPERATOR, TokenKind.MARK, TokenKind.KEYWORD):
            return ""
        if token.kind is not TokenKind.GENERIC_SCOPE and token.text in self.idioms:
            return ""
        if token.kind in _LITERAL_KINDS:
            return _LITERAL_KINDS[token.kind]
        if token.text in types:
            return "TYPE"
        called = self.text(index + 1) == "(" or self.text(index - 1) == self.text(index - 2) == ":"
        if token.text in methods and called and not self._after_idiom(index):
            return "METHOD"
        return "VAR"
