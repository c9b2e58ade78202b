"""Raw Java methods asked about in Trans-Review's dialect, and the answers put back.

Models of that dialect see structure and no names, so they are right where a model of the raw text
of their size is not: a method goes in abstracted (``models.preprocess.abstraction``), the revision
comes out with the method's own names, in its own layout. What they cannot say is a name that
neither the method has nor the comment writes as code.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from models.preprocess.abstraction import PLACEHOLDER, UnknownPlaceholder, abstract
from models.preprocess.comments import dialect_comment_with_names
from models.preprocess.dataflow import JAVA_MEMBER
from models.preprocess.java_lexer import Token, TokenKind, tokenize
from models.preprocess.layout import lay_out
from models.syntax.grammar import parse
from models.tasks import Example, Prediction, Task, without_marks
from models.training.examples import pieces
from models.training.methods import LONGEST_METHOD

MOST_PIECES = 40
"""Statements of a method that the models read at most."""
MOST_WORDS = 213
"""Words of the longest comment that the models learnt from; what is beyond is cut off."""
_MEMBERS = frozenset({"method_declaration", "constructor_declaration"})
_REMARKS = frozenset({"line_comment", "block_comment"})
_PACKAGE = re.compile(r"\b(?:[a-z_][a-z0-9_]*\s*\.\s*){2,}(?=[A-Z])")
_NAME = re.compile(r"[A-Za-z_$][\w$]*")


@dataclass(frozen=True, slots=True)
class AbstractedMethod:
    """A raw method as ``example``, in the dialect, and what its placeholders stand for."""

    example: Example
    source: str
    names: Mapping[str, str]
    packages: Mapping[str, str]

    def restored(self, text: str) -> str | None:
        """A revision in the method's own names and layout; the method itself where it is that.

        ``None`` where it names what the method does not.
        """
        if text.split() == self.example.unmarked().split():
            return self.source
        try:
            words = [word for token in text.split() for word in self._words(token)]
        except UnknownPlaceholder:
            return None
        return lay_out(self.source, tokenize(self.source), words)

    def _words(self, token: str) -> Sequence[str]:
        if PLACEHOLDER.fullmatch(token):
            if token not in self.names:
                raise UnknownPlaceholder(f"{token} stands for nothing in the source")
            token = self.names[token]
        at, name = ("@", token[1:]) if token.startswith("@") else ("", token)
        package = self.packages.get(name.removesuffix("."))  # generic scopes keep their full stop
        if package is None:
            return [token]
        return [*(part.text for part in tokenize(at + package)), name]

    def answered(self, prediction: Prediction) -> Prediction:
        """A prediction for ``example`` as one for the raw method, with the same confidence."""
        texts = [text for text in map(self.restored, prediction.ranked) if text is not None]
        given = self.restored(prediction.text)
        if given is None:
            return Prediction(self.source, (*texts, self.source), 0.0)
        return Prediction(given, tuple(texts), prediction.confidence)


def abstracted_method(example: Example, task: Task) -> AbstractedMethod | None:
    """An example in Trans-Review's dialect, if its code is one whole Java method.

    Returns:
        ``None`` for other code, for one too long for the models, and for any other task than
        revision.
    """
    source = example.unmarked()
    if task is Task.RCG or example.abstracted or example.language != "java":
        return None
    if len(source) > 4 * LONGEST_METHOD or not is_one_method(source):
        return None
    asked = example.asked(task)
    packages = _packages(source)
    pair = abstract(_without(asked, packages))
    code = without_marks(pair.texts[0])
    if len(code) > LONGEST_METHOD or len(pieces(code)) > MOST_PIECES:
        return None
    about = task is Task.CRA
    said, outside = dialect_comment_with_names(example.comment or "" if about else "", pair)
    told = replace(
        example,
        code=code,
        marked_code=pair.texts[0] if about and pair.texts[0] != code else "",
        comment=" ".join(said.split()[:MOST_WORDS]) if about else None,
        diff="",
        revised=None,
        abstracted=True,
    )
    return AbstractedMethod(told, source, {**pair.names, **outside}, packages)


def is_one_method(code: str) -> bool:
    """Whether Java text is one method or constructor, whole, with nothing but remarks beside it."""
    before, after = JAVA_MEMBER
    root = parse((before + code + after).encode("utf-8", "replace"), "java").root_node
    if root.has_error or len(root.named_children) != 1:
        return False
    body = root.named_children[0].child_by_field_name("body")
    members = [] if body is None else [n for n in body.named_children if n.type not in _REMARKS]
    return [node.type in _MEMBERS for node in members] == [True]


def _packages(code: str) -> dict[str, str]:
    """The package of each type that is always written with one (``java.util.`` of ``List``).

    Trans-Review's methods have no packages; AutoTransform's have them before every type.
    """
    found: dict[str, set[str]] = defaultdict(set)
    qualified = set()
    for start, end, name in _qualified(code):
        found[name].add("".join(code[start:end].split()))
        qualified.add(end)
    for token in tokenize(code):
        if token.start not in qualified and token.text.removeprefix("@") in found:
            found[token.text.removeprefix("@")].add("")  # alone as well: which one is not known
    return {name: next(iter(those)) for name, those in found.items() if len(those) == 1}


def _without(code: str, packages: Mapping[str, str]) -> str:
    kept, position = [], 0
    for start, end, name in _qualified(code):
        if name in packages:
            kept.append(code[position:start])
            position = end
    return "".join([*kept, code[position:]])


def _qualified(code: str) -> Iterator[tuple[int, int, str]]:
    """Each package in the code, where it begins and ends, and the name after it."""
    tokens = {token.start: token for token in tokenize(code)}
    for match in _PACKAGE.finditer(code):
        name = _NAME.match(code, match.end())
        if name is not None and _begins_a_name(tokens, match.start()):
            yield match.start(), match.end(), name.group()


def _begins_a_name(tokens: Mapping[int, Token], start: int) -> bool:
    token = tokens.get(start) or tokens.get(start - 1)
    return token is not None and token.kind in (TokenKind.NAME, TokenKind.ANNOTATION)
