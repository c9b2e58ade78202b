"""Reviewers' comments as Trans-Review's data hold them.

Tufano et al. (2021) stripped comments of stop words and of most punctuation, wrote names that the
code shares as their placeholders, and other names as ``_CODE_``. A model trained on that text
should be asked in it: ``dialect_comment`` turns a person's comment into it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Container
from functools import lru_cache
from pathlib import Path

from models.preprocess.abstraction import Abstraction, default_idioms
from models.preprocess.java_lexer import KEYWORDS

CODE_MARK = "_CODE_"
"""What a name outside the method becomes."""

_STOPWORDS = Path(__file__).with_name("comment_stopwords.txt")
_PIECE = re.compile(r'"[^"\n]*"|@?[A-Za-z_$][\w$]*|\d+|[?()<>=!&|+\-*/:;]')
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_MEMBER = re.compile(r"\w\.$")
_NAME_LIKE = re.compile(r"[a-z]+[A-Z]|[A-Z][a-z]+[A-Z]|\w_\w|[A-Z]{2,}[a-z]|[a-z]\d")


@lru_cache(maxsize=1)
def comment_stopwords() -> frozenset[str]:
    """Words frequent in people's comments that Trans-Review's training comments never hold."""
    return frozenset(_STOPWORDS.read_text(encoding="utf-8").split())


def dialect_comment(comment: str, abstraction: Abstraction) -> str:
    """A comment in the data's words, one space apart.

    ``abstraction`` is that of the code that the comment is about.
    """
    written, _ = _written(comment, abstraction, frozenset())
    return " ".join(written)


def dialect_comment_with_names(
    comment: str, abstraction: Abstraction
) -> tuple[str, dict[str, str]]:
    """The same for an answer that may use what the comment writes as code and the code lacks.

    In the published data no revision names what its method does not, and such a name is
    ``_CODE_``. Here it gets a placeholder of its own: a model that copies placeholders from the
    comment can copy that one too.

    Returns:
        The comment, and what each new placeholder stands for.
    """
    marks = [match.start() for match in re.finditer("`", comment)]
    as_code = set()
    for match in _PIECE.finditer(comment):
        start, end = match.span()
        called, member = comment[end : end + 1] == "(", _MEMBER.search(comment[:start][-2:])
        quoted = bisect_left(marks, start) % 2 == 1
        if (called or member or quoted) and _NAME.fullmatch(match.group()):
            as_code.add(start)
    written, places = _written(comment, abstraction, as_code)
    return " ".join(written), {place: name for name, place in places.items()}


def _written(
    comment: str, abstraction: Abstraction, as_code: Container[int]
) -> tuple[list[str], dict[str, str]]:
    """The words, and new placeholders by name for what begins at the places ``as_code``."""
    places, stop, idioms = abstraction.placeholders(), comment_stopwords(), default_idioms()
    new: dict[str, str] = {}
    taken = Counter(place.partition("_")[0] for place in abstraction.names)
    written: list[str] = []
    for match in _PIECE.finditer(comment):
        piece, code = match.group(), match.start() in as_code
        if piece in places:
            written.append(places[piece])
        elif piece[0] == '"':
            written += [word for word in re.findall(r"\w+", piece.lower()) if word not in stop]
        elif piece in idioms and (code or not piece.islower()):
            written.append(piece)
        elif code and piece not in KEYWORDS:
            if piece not in new:
                kind = _kind(piece, comment[match.end() : match.end() + 1])
                taken[kind] += 1
                new[piece] = f"{kind}_{taken[kind]}"
            written.append(new[piece])
        elif piece.lower() in stop:
            continue
        elif _NAME_LIKE.search(piece):
            written.append(CODE_MARK)
        else:
            written.append(piece.lower() if piece.istitle() and len(piece) > 1 else piece)
    while written and written[-1] == "?":
        written.pop()  # a closing question mark went the way of the full stops
    return written, new


def _kind(name: str, follower: str) -> str:
    """What a name in a comment is by its look."""
    if follower == "(":
        return "METHOD"
    return "TYPE" if name[0].isupper() and not name.isupper() else "VAR"
