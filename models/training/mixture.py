"""The mixture that the shipped model is trained on, read from the data folder.

Every record of a held repository (``splits``) and every ``valid`` file is left out of training.
Half of the CRB examples need no revision: "nothing to revise" is an answer.
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from models.generators.line_edits import LANGUAGES, LineEdit
from models.training.corrupt import corrupt
from models.training.examples import (
    Example,
    clean_message,
    cut,
    diff_edits,
    hunk_tail,
    is_boring,
    join,
    pieces,
    plain_reply,
    suggestion_edit,
    suggestion_of,
)
from models.training.splits import Part, part_of

Record = Mapping[str, Any]


def records(path: Path) -> Iterator[dict[str, Any]]:
    """The records of a (gzipped) JSON lines file.

    Raises:
        ValueError: a line is not JSON; the message names file and line.
    """
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as handle:
        for number, line in enumerate(handle, 1):
            try:
                yield json.loads(line)
            except json.JSONDecodeError as error:
                raise ValueError(f"{path}, line {number}: not JSON ({error.msg})") from error


class Edits:
    """``edits/<language>``: real revisions, their after sides, and faults made on purpose."""

    def __init__(self, folder: Path, part: Part, limit: int | None = None) -> None:
        self.rows: list[tuple[str, str, str, str, int, int, int]] = []
        for language in LANGUAGES:
            path = folder / "edits" / f"{language}.jsonl.gz"
            if not path.exists():
                continue
            for count, row in enumerate(records(path)):
                if limit is not None and count >= limit:
                    break
                if part_of(row["repo"]) != part:
                    continue
                before, after = row["before"], row["after"]
                old = before.split("\n")[row["first_changed"] : row["last_changed"] + 1]
                if is_boring(old, row["new_lines"]) or len(before) > 6000:
                    continue
                self.rows.append(
                    (
                        language,
                        before,
                        after,
                        clean_message(row["message"]),
                        row["first_changed"],
                        row["last_changed"] + 1,
                        len(row["new_lines"]),
                    )
                )

    def revision(self, rng: random.Random) -> Example | None:
        """CRB (or, with the commit's message, weak CRA): the real edit."""
        language, before, after, message, *_ = rng.choice(self.rows)
        lines = before.split("\n")
        edits = diff_edits(lines, after.split("\n"))
        cra = bool(message) and rng.random() < 0.35
        return cut(
            "cra" if cra else "crb",
            language,
            lines,
            edits,
            rng,
            comment=message if cra else "",
            origin="edits",
        )

    def unrevised(self, rng: random.Random) -> Example | None:
        """CRB on the after side: nothing to revise.

        The window lies around as many lines as the revised one's or the spoiled one's would: were
        it cut around the new lines, of which there are more, its length would give the answer.
        """
        language, _, after, _, first, end, new = rng.choice(self.rows)
        lines = after.split("\n")
        if rng.random() < 0.45:
            first = rng.randrange(max(0, first - 4), max(min(len(lines), first + new + 4), 1))
            end = first + 1
        return cut(
            "crb",
            language,
            lines,
            (),
            rng,
            focus=(min(first, len(lines) - 1), min(max(end, first + 1), len(lines))),
            origin="edits-after",
        )

    def spoiled(self, rng: random.Random) -> Example | None:
        """CRB on the after side with a fault made on purpose, to be mended."""
        language, _, after, _, first, _, new = rng.choice(self.rows)
        lines = after.split("\n")
        near = range(max(0, first - 4), min(len(lines), first + new + 4))
        spoiled = corrupt(lines, list(near), rng)
        if spoiled is None:
            return None
        window, low, high = spoiled
        right = () if len(window) > len(lines) else (lines[low],)
        return cut("crb", language, window, (LineEdit(low, high, right),), rng, origin="spoiled")

    def denoise(self, rng: random.Random) -> Example | None:
        """A plain window for span corruption (the objective makes the spans)."""
        language, _, after, _, first, _, new = rng.choice(self.rows)
        return cut("fill", language, after.split("\n"), (), rng, focus=(first, first + max(new, 1)))

    def described(self, rng: random.Random) -> Example | None:
        """RCG's weak form: the diff, answered by the commit's subject."""
        language, before, after, message, *_ = rng.choice(self.rows)
        if not message:
            return None
        rows = _diff_rows(before.split("\n"), after.split("\n"))
        if rows is None:
            return None
        lines, changed, removed = rows
        return Example(
            "fill",
            language,
            lines,
            changed,
            removed,
            reply=message,
            origin="edits-message",
        )


def _diff_rows(
    before: list[str], after: list[str]
) -> tuple[tuple[str, ...], frozenset[int], frozenset[int]] | None:
    edits = diff_edits(before, after)
    if not edits or len(edits) > 3:
        return None
    rows: list[tuple[str, str]] = []
    position = max(0, edits[0].first - 3)
    for edit in edits:
        rows += [(" ", line) for line in before[position : edit.first]]
        rows += [("-", line) for line in before[edit.first : edit.end]]
        rows += [("+", line) for line in edit.lines]
        position = edit.end
    rows += [(" ", line) for line in before[position : position + 3]]
    if len(rows) > 30 or sum(len(line) for _, line in rows) > 1400:
        return None
    return (
        tuple(line for _, line in rows),
        frozenset(i for i, (sign, _) in enumerate(rows) if sign == "+"),
        frozenset(i for i, (sign, _) in enumerate(rows) if sign == "-"),
    )


class PullRequests:
    """``pr_reviews``: comments on hunks (RCG) and suggestion blocks (CRA)."""

    def __init__(self, folder: Path, part: Part) -> None:
        self.comments: list[Example] = []
        self.suggestions: list[Example] = []
        for row in records(folder / "pr_reviews" / "python.jsonl.gz"):
            if part_of(row["repo"]) != part:
                continue
            self._add(row, "python")
        if part == "train":
            for name, language in (
                ("microsoft_vscode_1000", "typescript"),
                ("JetBrains_kotlin_1000", "kotlin"),
            ):
                for row in records(folder / "pr_reviews" / f"{name}.jsonl.gz"):
                    self._add(row, language)

    def _add(self, row: Record, language: str) -> None:
        found = suggestion_of(row["comment"])
        if found is not None and row.get("side", "RIGHT") == "RIGHT":
            prose, new = found
            example = suggestion_edit(row["diff_hunk"], new)
            if example is not None:
                self.suggestions.append(
                    Example(
                        "cra" if prose else "crb",
                        language,
                        example.lines,
                        example.changed,
                        comment=prose[:300],
                        edits=example.edits,
                        origin="pr_reviews",
                    )
                )
            return
        reply = plain_reply(row["comment"])
        tail = hunk_tail(row["diff_hunk"], 14)
        if reply is not None and tail.lines and sum(map(len, tail.lines)) < 1400:
            self.comments.append(
                Example(
                    "rcg",
                    language,
                    tail.lines,
                    tail.changed,
                    tail.removed,
                    reply=reply,
                    origin="pr_reviews",
                )
            )

    def comment(self, rng: random.Random) -> Example:
        """RCG: a hunk's tail and what a person said of it."""
        return rng.choice(self.comments)

    def suggestion(self, rng: random.Random) -> Example:
        """CRA (or CRB, where the comment is only the block): the suggested lines."""
        example = rng.choice(self.suggestions)
        # the words are dropped now and then, so that the hunk alone teaches revision as well
        if example.comment and rng.random() < 0.3:
            return Example(
                "crb",
                example.language,
                example.lines,
                example.changed,
                edits=example.edits,
                origin=example.origin,
            )
        return example


class Reviews:
    """``trans_review``: abstracted methods with their comment and revision.

    Args:
        folder: the data sets' folder.
        part: ``train`` (``train.jsonl.gz`` without ``held``), ``held`` (every 33rd record of it,
            for choosing checkpoints) or ``valid`` (the published split, never trained on).
    """

    def __init__(self, folder: Path, part: str) -> None:
        name = "valid" if part == "valid" else "train"
        rows = records(folder / "trans_review" / f"{name}.jsonl.gz")
        self.rows = [
            row
            for i, row in enumerate(rows)
            if part == "valid" or (part == "held") == (i % 33 == 0)
        ]

    def before(self, rng: random.Random) -> Example | None:
        """CRB: the revision from the code alone."""
        return abstracted_example(rng.choice(self.rows), "crb")

    def after(self, rng: random.Random) -> Example | None:
        """CRA: the revision from the marked code and the comment."""
        return abstracted_example(rng.choice(self.rows), "cra")

    def unrevised(self, rng: random.Random) -> Example | None:
        """CRB on the revised side: nothing to revise."""
        row = rng.choice(self.rows)
        return abstracted_example({"code": row["revised"], "comment": ""}, "crb")

    def remark(self, rng: random.Random) -> Example | None:
        """RCG in its dialect: lower case, no stop words, marked as its own."""
        row = rng.choice(self.rows)
        lines = pieces(row["marked_code"])
        if len(lines) > 40 or len(row["marked_code"]) > 1200:
            return None
        return Example("rcg", "abstracted", lines, reply=row["comment"], origin="trans_review")


class Dialect:
    """Raw Java of AutoTransform (one line, in pseudo-lines) and CodRep."""

    def __init__(self, folder: Path) -> None:
        rows = records(folder / "autotransform" / "pairs.jsonl.gz")
        self.pairs = [r for i, r in enumerate(rows) if i % 10 and len(r["code"]) < 1500]
        rows = records(folder / "codrep" / "windows.jsonl.gz")
        self.windows = [r for i, r in enumerate(rows) if i % 20]

    def transform(self, rng: random.Random) -> Example | None:
        """CRB on a raw method of AutoTransform's projects."""
        row = rng.choice(self.pairs)
        lines = pieces(row["code"])
        edits = diff_edits(lines, pieces(row["revised"]))
        if edits and rng.random() < 0.5:
            at = edits[0].first
            return cut(
                "crb",
                "java",
                pieces(row["revised"]),
                (),
                rng,
                origin="autotransform-after",
                focus=(at, at + max(1, len(edits[0].lines))),
            )
        return cut("crb", "java", lines, edits, rng, origin="autotransform")

    def one_line(self, rng: random.Random) -> Example | None:
        """CRB: one line of a Java file."""
        row = rng.choice(self.windows)
        lines = row["before"].split("\n")
        edits = diff_edits(lines, row["after"].split("\n"))
        old = [line for e in edits for line in lines[e.first : e.end]]
        if is_boring(old, [line for e in edits for line in e.lines]):
            return None
        if edits and rng.random() < 0.5:
            at, after = edits[0].first, row["after"].split("\n")
            return cut("crb", "java", after, (), rng, origin="codrep-after", focus=(at, at + 1))
        return cut("crb", "java", lines, edits, rng, origin="codrep")


def abstracted_example(row: Record, task: str) -> Example | None:
    """CRB or CRA of a Trans-Review record as line edits over pseudo-lines.

    CRA reads ``marked_code``, whose ``<START>`` and ``<END>`` stay plain words of the input; the
    edit is counted on the unmarked code's pieces only where both break alike, else the marks are
    left out of the input.
    """
    lines = pieces(row["code"])
    edits = diff_edits(lines, pieces(row.get("revised", row["code"])))
    comment = row["comment"] if task == "cra" else ""
    if len(lines) > 40 or len(row["code"]) > 1200:
        return None
    changed: frozenset[int] = frozenset()
    if task == "cra":
        changed = marked_pieces(row["marked_code"])
    return Example(
        task,
        "abstracted",
        lines,
        frozenset(i for i in changed if i < len(lines)),
        comment=comment,
        edits=edits,
        origin="trans_review",
    )


def marked_pieces(marked: str) -> frozenset[int]:
    """Indices of the pieces of the unmarked code that lie between ``<START>`` and ``<END>``."""
    head, _, rest = marked.partition("<START>")
    inner, _, _ = rest.partition("<END>")
    before = join([head.strip()])
    first = len(pieces(before)) - (0 if before.endswith((";", "{", "}")) or not before else 1)
    last = len(pieces(join([before, inner.strip()])))
    return frozenset(range(max(0, first), max(last, first + 1)))


Sources = list[tuple[float, Callable[[random.Random], Any]]]
"""Makers of training examples with their weights, which sum to 1."""


def default_mixture(folder: Path, limit: int | None = None) -> Sources:
    """For a model that reviews real code, and knows the abstracted dialect as well."""
    edits = Edits(folder, "train", limit)
    people = PullRequests(folder, "train")
    java = Dialect(folder)
    reviews = Reviews(folder, "train")
    return [
        (0.18, edits.revision),
        (0.28, edits.unrevised),
        (0.15, edits.spoiled),
        (0.01, edits.denoise),
        (0.01, edits.described),
        (0.03, people.comment),
        (0.05, people.suggestion),
        (0.12, reviews.after),
        (0.05, reviews.before),
        (0.03, reviews.unrevised),
        (0.01, reviews.remark),
        (0.03, java.transform),
        (0.05, java.one_line),
    ]


def abstracted_mixture(folder: Path, limit: int | None = None) -> Sources:
    """For a model of the abstracted dialect alone, where every method was revised."""
    reviews = Reviews(folder, "train")
    return [(0.55, reviews.after), (0.35, reviews.before), (0.10, reviews.remark)]


MIXTURES = {"default": default_mixture, "abstracted": abstracted_mixture}
"""The mixtures by name."""
