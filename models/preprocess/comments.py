"""Reviewers' comments as Trans-Review's data hold them.

Tufano et al. (2021) stripped comments of stop words and of most punctuation, wrote names that the
code shares as their placeholders, and other names as ``_CODE_``. A model trained on that text
should be asked in it: ``dialect_comment`` turns a person's comment into it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from models.preprocess.abstraction import Abstraction, default_idioms

CODE_MARK = "_CODE_"
"""What a name outside the method becomes."""

_STOPWORDS = Path(__file__).with_name("comment_stopwords.txt")
_PIECE = re.compile(r'"[^"\n]*"|@?[A-Za-z_$][\w$]*|\d+|[?()<>=!&|+\-*/:;]')
_NAME_LIKE = re.compile(r"[a-z]+[A-Z]|[A-Z][a-z]+[A-Z]|\w_\w|[A-Z]{2,}[a-z]|[a-z]\d")


@lru_cache(maxsize=1)
def comment_stopwords() -> frozenset[str]:
    """Words frequent in people's comments that Trans-Review's training comments never hold."""
    return frozenset(_STOPWORDS.read_text(encoding="utf-8").split())


def dialect_comment(comment: str, abstraction: Abstraction) -> str:
    """A comment in the data's words, one space apart.

    ``abstraction`` is that of the code that the comment is about.
    """
    places, stop, idioms = abstraction.placeholders(), comment_stopwords(), default_idioms()
    written: list[str] = []
    for piece in _PIECE.findall(comment):
        if piece in places:
            written.append(places[piece])
        elif piece[0] == '"':
            written += [word for word in re.findall(r"\w+", piece.lower()) if word not in stop]
        elif piece in idioms and not piece.islower():
            written.append(piece)
        elif piece.lower() in stop:
            continue
        elif _NAME_LIKE.search(piece):
            written.append(CODE_MARK)
        else:
            written.append(piece.lower() if piece.istitle() and len(piece) > 1 else piece)
    while written and written[-1] == "?":
        written.pop()  # a closing question mark went the way of the full stops
    return " ".join(written)
