"""Training examples for revisions that a comment asks for, in real code of every language.

Three sources: GitHub's suggestion blocks (few, and the thing itself), Trans-Review's comments on
abstracted Java with names put back in at random (real comments, made-up names), and small commits
whose message speaks of what was changed (weak, but of many languages).
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from models.benchmark.suggestions import replaced_lines
from models.generators.base import Window
from models.generators.line_edits import LANGUAGES
from models.preprocess.abstraction import PLACEHOLDER
from models.preprocess.java_lexer import TokenKind, tokenize
from models.preprocess.spacing import Spacing
from models.tasks import END_MARK, START_MARK
from models.training.examples import clean_message, diff_edits, is_boring, suggestion_of
from models.training.records import Record, records
from models.training.splits import Part, part_of

MOST_OLD, MOST_NEW = 6, 8
"""Lines that an example asks about, and answers with, at most."""
EVERY = 33
"""Each so-manieth record of Trans-Review's training file is held out, as for the other models."""
CONTEXT = 12
INDENT = "    "
_WORD = re.compile(r"[A-Za-z_]\w{2,}")
_SPLIT = re.compile(r"[A-Z]?[a-z]{3,}|[A-Z]{3,}")
_GO_ON = frozenset({")", ";", ",", "else", "catch", "finally"})
_COMMON = frozenset(
    {"the", "and", "for", "from", "with", "into", "not", "that", "this", "when", "are", "was"}
    | {"use", "add", "fix", "remove", "update", "change", "make", "test", "tests", "more", "all"}
)


@dataclass(frozen=True, slots=True)
class Asked:
    """A window with a comment on its ``changed`` lines, and the lines that replaced them."""

    window: Window
    revised: tuple[str, ...]


def suggestions(folder: Path, part: Part) -> list[Asked]:
    """``pr_reviews``: comments with one suggestion block.

    How many lines a block replaces is not stored: the number that makes old and new most alike.
    """
    found = []
    for row in records(folder / "pr_reviews" / "python.jsonl.gz"):
        if part_of(row["repo"]) != part or row.get("side", "RIGHT") != "RIGHT":
            continue
        pair = suggestion_of(row["comment"])
        rows = [text.rstrip("\r") for text in row["diff_hunk"].split("\n")]
        side = [text[1:] for text in rows[1:] if text[:1] in ("+", " ")]
        if pair is None or not pair[0] or not side or rows[-1][:1] == "-":
            continue
        comment, new = pair
        span = replaced_lines(side, new)
        if tuple(side[-span:]) != new and span <= MOST_OLD and len(new) <= MOST_NEW:
            found.append(_asked("python", side, len(side) - span, len(side), new, comment))
    return found


def commits(folder: Path, part: Part, most: int | None = None) -> list[Asked]:
    """``edits``: small edits whose commit's message shares a rare word with what they change."""
    found: list[Asked] = []
    for language in LANGUAGES:
        path = folder / "edits" / f"{language}.jsonl.gz"
        if path.exists():
            those = [
                asked
                for row in records(path)
                if part_of(row["repo"]) == part
                for asked in _committed(row, language)
            ]
            random.Random(language).shuffle(those)  # noqa: S311 - a training order is no secret
            found += those[:most]
    return found


def _committed(row: Record, language: str) -> list[Asked]:
    first, end = row["first_changed"], row["last_changed"] + 1
    before, new = row["before"].split("\n"), row["new_lines"]
    old = before[first:end]
    if row["groups"] != 1 or not 1 <= len(old) <= MOST_OLD or len(new) > MOST_NEW:
        return []
    if sum(map(len, [*old, *new])) > 600 or is_boring(old, new):
        return []
    message = clean_message(row["message"])
    if not message or not _rare(message) & (_rare("\n".join(old)) ^ _rare("\n".join(new))):
        return []
    return [_asked(language, before, first, end, tuple(new), message)]


def _rare(text: str) -> set[str]:
    words = {word.lower() for word in _WORD.findall(text)}
    parts = {part.lower() for word in _WORD.findall(text) for part in _SPLIT.findall(word)}
    return (words | parts) - _COMMON


def _asked(
    language: str, lines: Sequence[str], first: int, end: int, new: tuple[str, ...], comment: str
) -> Asked:
    low, high = max(0, first - CONTEXT), min(len(lines), end + CONTEXT)
    marked = frozenset(range(first - low, end - low))
    return Asked(Window(language, tuple(lines[low:high]), marked, comment=comment), new)


class Reviews:
    """``trans_review`` train, with names of real Java where the placeholders are."""

    def __init__(self, folder: Path, *, held: bool = False) -> None:
        rows = records(folder / "trans_review" / "train.jsonl.gz")
        self.rows = [row for i, row in enumerate(rows) if (i % EVERY == 0) is held]
        self.names = java_names(folder)

    def draw(self, rng: random.Random) -> Asked | None:
        """One of them, newly named; ``None`` where it is none of few lines."""
        return self.asked(rng.choice(self.rows), rng)

    def asked(self, row: Record, rng: random.Random) -> Asked | None:
        """A record as it may have looked before it was abstracted."""
        given: dict[str, str] = {}
        head, _, rest = row["marked_code"].partition(START_MARK)
        inner, _, tail = rest.partition(END_MARK)
        start, stop = len(head.split()), len(head.split()) + len(inner.split())
        code = [*head.split(), *inner.split(), *tail.split()]
        lines, places = written(self._named(code, given, rng))
        revised, _ = written(self._named(row["revised"].split(), given, rng))
        marked = [i for i, (low, high) in enumerate(places) if low < stop and start < high]
        edits = diff_edits(lines, revised)
        if not edits or not marked:
            return None
        first = min([marked[0], *(edit.first for edit in edits)])
        end = max([marked[-1] + 1, *(edit.end for edit in edits)])
        new = revised[first : len(revised) - (len(lines) - end)]
        if end - first > MOST_OLD or len(new) > MOST_NEW:
            return None
        comment = " ".join(self._named(row["comment"].split(), given, rng))
        return _asked("java", lines, first, end, tuple(new), comment)

    def _named(self, tokens: Sequence[str], given: dict[str, str], rng: random.Random) -> list[str]:
        named = []
        for token in tokens:
            if match := PLACEHOLDER.fullmatch(token):
                while token not in given:
                    name = rng.choice(self.names[match.group(1)])
                    if name not in given.values():
                        given[token] = name
                token = given[token]
            named.append(token)
        return named


def java_names(folder: Path) -> Mapping[str, Sequence[str]]:
    """Names and literals of real Java by the kind of placeholder that would stand for them."""
    found: dict[str, set[str]] = defaultdict(set)
    kinds = {
        TokenKind.STRING: "STRING", TokenKind.CHAR: "CHAR", TokenKind.INTEGER: "INT",
        TokenKind.FLOAT: "FLOAT", TokenKind.ANNOTATION: "ANNOTATION",
    }  # fmt: skip
    for number, row in enumerate(records(folder / "edits" / "java.jsonl.gz")):
        if number % 8 or part_of(row["repo"]) != "train":
            continue
        tokens = tokenize(row["before"])
        for place, token in enumerate(tokens):
            kind = kinds.get(token.kind)
            if token.kind is TokenKind.NAME and len(token.text) > 2:
                called = tokens[place + 1 : place + 2] and tokens[place + 1].text == "("
                kind = "TYPE" if token.text[0].isupper() else "METHOD" if called else "VAR"
            if kind is not None and len(token.text) <= 40:
                found[kind].add(token.text)
    return {kind: sorted(names) for kind, names in found.items()}


def written(tokens: Sequence[str]) -> tuple[list[str], list[tuple[int, int]]]:
    """Java tokens as indented lines, and of which tokens (from, to) each line is made."""
    spacing = Spacing("", tokens)
    lines: list[str] = []
    places: list[tuple[int, int]] = []
    depth = inside = start = 0
    for place, word in enumerate(tokens):
        inside += (word == "(") - (word == ")")
        following = tokens[place + 1] if place + 1 < len(tokens) else ""
        ends = word in ";{}" and inside <= 0 and following not in _GO_ON
        if not ends and place + 1 < len(tokens):
            continue
        row = tokens[start : place + 1]
        lead = depth - (row[0] == "}")
        text = row[0] + "".join(
            spacing.before(start + offset) + word for offset, word in enumerate(row[1:], 1)
        )
        lines.append(INDENT * max(0, lead) + text)
        places.append((start, place + 1))
        depth += row.count("{") - row.count("}")
        start = place + 1
    return lines, places


def mixture(folder: Path) -> Callable[[random.Random], Asked | None]:
    """What draws one training example."""
    blocks, small = suggestions(folder, "train"), commits(folder, "train", 6000)
    reviews = Reviews(folder)

    def draw(rng: random.Random) -> Asked | None:
        kind = rng.random()
        if kind < 0.15:
            return rng.choice(blocks)
        return reviews.draw(rng) if kind < 0.55 else widened(rng.choice(small), rng)

    return draw


def widened(asked: Asked, rng: random.Random) -> Asked:
    """Now and then with a line more: a comment stands on more than what changes."""
    lines, marked = asked.window.lines, asked.window.changed
    first, end = min(marked), max(marked) + 1
    if rng.random() < 0.15 and first > 0:
        window = replace(asked.window, changed=marked | {first - 1})
        return Asked(window, (lines[first - 1], *asked.revised))
    if rng.random() < 0.15 and end < len(lines):
        window = replace(asked.window, changed=marked | {end})
        return Asked(window, (*asked.revised, lines[end]))
    return asked
