"""Whole Java methods of other sets in Trans-Review's dialect, and views of its examples.

Trans-Review's training file alone is learnt by heart, so the same kind of example is made from
AutoTransform's pairs, from CodRep's windows and from public histories; each time it is drawn, an
example gets other numbers for its placeholders, so that they can only be copied.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from models.crscore.stopwords import STOP_WORDS
from models.preprocess.abstraction import PLACEHOLDER, Abstraction, abstract
from models.syntax.grammar import parse, text_of
from models.training.examples import clean_message, diff_edits, pieces
from models.training.records import Record, records
from models.training.splits import Part, part_of

if TYPE_CHECKING:
    from tree_sitter import Node

LONGEST_METHOD = 1200
"""Characters of an abstracted method at most; longer ones would not fit the model's window."""
MOST_WRITTEN = 24
"""Tokens that a revision writes at most: three quarters of Trans-Review's write 17 or fewer."""
SAID_WRITTEN = 0.42
SAID_REMOVED = 0.15
"""Shares of the words written and removed that Trans-Review's comments name (5,000 of them)."""
_PACKAGE = re.compile(r"\b(?:[a-z_][a-z0-9_]*\s*\.\s*){2,}(?=[A-Z])")
_REMARK = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
_WORD = re.compile(r"\w+|[^\w\s]")
_MEMBERS = frozenset({"method_declaration", "constructor_declaration"})


def transformed(folder: Path, limit: int | None = None) -> Iterator[Record]:
    """AutoTransform's pairs abstracted; packages, which Trans-Review does not have, are cut off.

    Args:
        folder: the data sets' folder.
        limit: raw pairs to read at most.
    """
    raw = records(folder / "autotransform" / "pairs.jsonl.gz")
    for row in islice(raw, limit):
        code, revised = (_PACKAGE.sub("", row[key]) for key in ("code", "revised"))
        yield from _record(code, revised)


def repaired(folder: Path, limit: int | None = None) -> Iterator[Record]:
    """The whole methods in CodRep's windows, abstracted: one line of each was changed."""
    for row in islice(records(folder / "codrep" / "windows.jsonl.gz"), limit):
        sides = row["before"].split("\n"), row["after"].split("\n")
        line = next((i for i, pair in enumerate(zip(*sides, strict=False)) if len({*pair}) > 1), 0)
        code, revised = (method_around(row[side], line, line) for side in ("before", "after"))
        if code and revised:
            yield from _record(code, revised)


def committed(folder: Path, part: Part, limit: int | None = None) -> Iterator[Record]:
    """The whole Java methods in ``edits``, abstracted, with the message as the comment."""
    for row in islice(records(folder / "edits" / "java.jsonl.gz"), limit):
        if part_of(row["repo"]) != part:
            continue
        first = row["first_changed"]
        code = method_around(row["before"], first, max(row["last_changed"], first))
        last = first + max(0, len(row["new_lines"]) - 1)
        revised = method_around(row["after"], first, last) if code else None
        if code and revised:
            yield from _record(code, revised, clean_message(row["message"]))


def method_around(code: str, first: int, last: int) -> str | None:
    """The smallest method that holds the lines ``first`` to ``last`` (from 0) and parses.

    On one line and without remarks, as Trans-Review has its methods; ``None`` if there is none.
    """
    found: Node | None = None
    nodes = [parse(code.encode(), "java").root_node]
    while nodes:
        node = nodes.pop()
        if node.start_point[0] > first or node.end_point[0] < last:
            continue
        if node.type in _MEMBERS and not node.has_error:
            found = node
        nodes += node.children
    if found is None:
        return None
    return " ".join(_REMARK.sub(" ", text_of(found)).split())


def _record(code: str, revised: str, message: str = "") -> Iterator[Record]:
    """The abstracted pair, if Trans-Review would have kept it and the model can learn it.

    Trans-Review's revisions name nothing that the method did not name before.
    """
    if max(len(code), len(revised)) > 2 * LONGEST_METHOD:
        return
    both = abstract(code, revised)
    code, revised = both.texts
    edits = diff_edits(pieces(code), pieces(revised))
    written = sum(len(line.split()) for edit in edits for line in edit.lines)
    known = {token for token in code.split() if PLACEHOLDER.fullmatch(token)}
    new = {token for token in revised.split() if PLACEHOLDER.fullmatch(token)} - known
    if edits and written <= MOST_WRITTEN and len(code) <= LONGEST_METHOD and not new:
        yield {"code": code, "revised": revised, "comment": spoken(message, both)}


def spoken(message: str, names: Abstraction) -> str:
    """A message as Trans-Review has comments: no stop words, known names as placeholders."""
    places = names.placeholders()
    words = (word for word in _WORD.findall(message) if word.lower() not in STOP_WORDS)
    return " ".join(places.get(word, word) for word in words)


def hinted(row: Record, others: Iterable[str], rng: random.Random) -> Record:
    """The record with a made-up comment: words of its revision among words of another comment.

    As many of the written and of the removed words are named as in Trans-Review's comments.
    """
    code, revised = Counter(row["code"].split()), Counter(row["revised"].split())
    said = [
        word
        for words, share in ((revised - code, SAID_WRITTEN), (code - revised, SAID_REMOVED))
        for word in sorted(words)
        if word[0].isalnum() and rng.random() < share
    ]
    rng.shuffle(said)
    noise = [word for word in others if not PLACEHOLDER.fullmatch(word)]
    start = rng.randrange(len(noise)) if noise else 0
    noise = noise[start : start + rng.randrange(1, 9)]
    cut = rng.randrange(len(noise) + 1)
    return {**row, "comment": " ".join([*noise[:cut], *said, *noise[cut:]])}


def reshuffled(row: Record, rng: random.Random) -> Record:
    """The record with the numbers of its code's placeholders dealt out anew, kind by kind."""
    kinds: dict[str, list[str]] = {}
    for token in dict.fromkeys(row["code"].split()):
        if match := PLACEHOLDER.fullmatch(token):
            kinds.setdefault(match.group(1), []).append(token)
    dealt: dict[str, str] = {}
    for tokens in kinds.values():
        dealt.update(zip(tokens, rng.sample(tokens, len(tokens)), strict=True))
    return {
        key: " ".join(dealt.get(token, token) for token in value.split())
        if isinstance(value, str)
        else value
        for key, value in row.items()
    }
