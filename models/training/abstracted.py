"""Training examples of the abstracted dialect: Java methods whose names were replaced.

Trans-Review's own records, and AutoTransform's raw pairs abstracted in the same way.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from models.generators.line_edits import SAID
from models.training import methods
from models.training.examples import Example, diff_edits, join, pieces
from models.training.methods import LONGEST_METHOD
from models.training.records import Record, records

RESHUFFLED = 0.7
"""Share of the drawn examples whose placeholders get other numbers."""


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
        return abstracted_example(_view(rng.choice(self.rows), rng), "crb")

    def after(self, rng: random.Random) -> Example | None:
        """CRA: the revision from the marked code and the comment."""
        return abstracted_example(_view(rng.choice(self.rows), rng), "cra")

    def unrevised(self, rng: random.Random) -> Example | None:
        """CRB on the revised side: nothing to revise."""
        row = rng.choice(self.rows)
        return abstracted_example({"code": row["revised"], "comment": ""}, "crb")

    def remark(self, rng: random.Random) -> Example | None:
        """RCG in its dialect: lower case, no stop words, marked as its own."""
        row = _view(rng.choice(self.rows), rng)
        lines = pieces(row["marked_code"])
        if len(lines) > 40 or len(row["marked_code"]) > LONGEST_METHOD:
            return None
        return Example("rcg", "abstracted", lines, reply=row["comment"], origin="trans_review")

    def said(self, rng: random.Random) -> Example | None:
        """The comment, from the code and the edits that followed it (``SAID``)."""
        return said_example(_view(rng.choice(self.rows), rng))


class Methods:
    """Methods of other sets in this dialect (``methods``), where the revision is small.

    Every method that Trans-Review's ``valid`` or the held part of its training file has is left
    out: the sets were taken from the same hosts.

    Args:
        folder: the data sets' folder.
        limit: raw records to read of each set at most.
    """

    def __init__(self, folder: Path, limit: int | None = None) -> None:
        barred = {row["code"] for part in ("held", "valid") for row in Reviews(folder, part).rows}
        self.sets: dict[str, list[Record]] = {
            name: [row for row in rows if row["code"] not in barred]
            for name, rows in (
                ("autotransform", methods.transformed(folder, limit)),
                ("codrep", methods.repaired(folder, limit)),
                ("edits", methods.committed(folder, "train", limit)),
            )
        }
        self.comments = [row["comment"].split() for row in Reviews(folder, "train").rows]
        self.spoken = [row for row in self.sets["edits"] if row["comment"]]

    def _draw(self, rng: random.Random) -> tuple[str, Record] | None:
        if not any(self.sets.values()):
            return None
        name = rng.choices([*self.sets], [len(rows) for rows in self.sets.values()])[0]
        return name, _view(rng.choice(self.sets[name]), rng)

    def before(self, rng: random.Random) -> Example | None:
        """CRB: the revision from the code alone."""
        drawn = self._draw(rng)
        return drawn and abstracted_example(drawn[1], "crb", drawn[0])

    def after(self, rng: random.Random) -> Example | None:
        """Weak CRA: the commit's message, or a made-up comment that names some of the edit."""
        drawn = self._draw(rng)
        if drawn is None:
            return None
        name, row = drawn
        if not row["comment"]:
            row = methods.hinted(row, rng.choice(self.comments), rng)
        return abstracted_example(row, "cra", name)

    def said(self, rng: random.Random) -> Example | None:
        """The same turned (``SAID``): what was said, from the code and the edits."""
        example = self.after(rng)
        return example and _turned(example)

    def message(self, rng: random.Random) -> Example | None:
        """A commit's message as what was said before its edit."""
        if not self.spoken:
            return None
        return said_example(_view(rng.choice(self.spoken), rng), "edits")


def said_example(row: Record, origin: str = "trans_review") -> Example | None:
    """What was said before a Trans-Review record's code was revised as it was."""
    example = abstracted_example(row, "cra", origin)
    return example and _turned(example)


def _turned(example: Example) -> Example | None:
    if not example.edits or not example.comment:
        return None
    return replace(example, task=SAID, comment="", reply=example.comment)


def _view(row: Record, rng: random.Random) -> Record:
    """The record as it is, or (seven in ten times) with its placeholders' numbers dealt anew."""
    return methods.reshuffled(row, rng) if rng.random() < RESHUFFLED else row


def abstracted_example(row: Record, task: str, origin: str = "trans_review") -> Example | None:
    """CRB or CRA of a Trans-Review record as line edits over pseudo-lines.

    CRA reads ``marked_code``, whose ``<START>`` and ``<END>`` stay plain words of the input; the
    edit is counted on the unmarked code's pieces only where both break alike, else the marks are
    left out of the input.
    """
    lines = pieces(row["code"])
    edits = diff_edits(lines, pieces(row.get("revised", row["code"])))
    comment = row["comment"] if task == "cra" else ""
    if len(lines) > 40 or len(row["code"]) > LONGEST_METHOD:
        return None
    changed: frozenset[int] = frozenset()
    if task == "cra" and "marked_code" in row:
        changed = marked_pieces(row["marked_code"])
    elif task == "cra":
        changed = frozenset(i for e in edits for i in range(e.first, max(e.end, e.first + 1)))
    return Example(
        task,
        "abstracted",
        lines,
        frozenset(i for i in changed if i < len(lines)),
        comment=comment,
        edits=edits,
        origin=origin,
    )


def marked_pieces(marked: str) -> frozenset[int]:
    """Indices of the pieces of the unmarked code that lie between ``<START>`` and ``<END>``."""
    head, _, rest = marked.partition("<START>")
    inner, _, _ = rest.partition("<END>")
    before = join([head.strip()])
    first = len(pieces(before)) - (0 if before.endswith((";", "{", "}")) or not before else 1)
    last = len(pieces(join([before, inner.strip()])))
    return frozenset(range(max(0, first), max(last, first + 1)))


def abstracted_mixture(
    folder: Path, limit: int | None = None
) -> list[tuple[float, Callable[[random.Random], Any]]]:
    """For a model of the abstracted dialect alone, where every method was revised."""
    reviews = Reviews(folder, "train")
    java = Methods(folder, limit)
    return [
        (0.4, reviews.after),
        (0.21, reviews.before),
        (0.17, java.after),
        (0.19, java.before),
        (0.03, reviews.remark),
    ]


def before_mixture(
    folder: Path, limit: int | None = None
) -> list[tuple[float, Callable[[random.Random], Any]]]:
    """For a model of the abstracted dialect that revises before any review, and that alone."""
    return [(0.55, Reviews(folder, "train").before), (0.45, Methods(folder, limit).before)]


def said_mixture(
    folder: Path, limit: int | None = None
) -> list[tuple[float, Callable[[random.Random], Any]]]:
    """For a model that says what comment led to a revision of an abstracted method."""
    java = Methods(folder, limit)
    return [(0.72, Reviews(folder, "train").said), (0.15, java.message), (0.13, java.said)]
