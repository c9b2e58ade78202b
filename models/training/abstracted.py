"""Training examples of the abstracted dialect: Java methods whose names were replaced.

Trans-Review's own records, and AutoTransform's raw pairs abstracted in the same way.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

from models.preprocess.abstraction import abstract
from models.training.examples import Example, diff_edits, join, pieces
from models.training.records import Record, records

LONGEST_METHOD = 1200
"""Characters of an abstracted method at most; longer ones would not fit the model's window."""
MOST_WRITTEN = 24
_PACKAGE = re.compile(r"\b(?:[a-z_][a-z0-9_]*\s*\.\s*){2,}(?=[A-Z])")


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
        if len(lines) > 40 or len(row["marked_code"]) > LONGEST_METHOD:
            return None
        return Example("rcg", "abstracted", lines, reply=row["comment"], origin="trans_review")


class Transformed:
    """``autotransform`` in the abstracted dialect: CRB pairs whose revision is small.

    Its methods spell every type with its package; Trans-Review's do not, so packages are cut off
    before the abstraction. Revisions that write more than ``MOST_WRITTEN`` tokens are left out
    (three quarters of Trans-Review's write 17 or fewer), and so is every method that Trans-Review's
    ``valid`` or the held part of its training file has: both sets were taken from the same hosts.

    Args:
        folder: the data sets' folder.
        limit: raw pairs to read at most.
    """

    def __init__(self, folder: Path, limit: int | None = None) -> None:
        barred = {row["code"] for part in ("held", "valid") for row in Reviews(folder, part).rows}
        self.rows: list[Record] = []
        raw = records(folder / "autotransform" / "pairs.jsonl.gz")
        for row in islice(raw, limit):
            code, revised = (_PACKAGE.sub("", row[key]) for key in ("code", "revised"))
            if len(code) > LONGEST_METHOD:
                continue
            code, revised = abstract(code, revised).texts
            edits = diff_edits(pieces(code), pieces(revised))
            written = sum(len(line.split()) for edit in edits for line in edit.lines)
            if edits and written <= MOST_WRITTEN and code not in barred:
                self.rows.append({"code": code, "revised": revised, "comment": ""})

    def before(self, rng: random.Random) -> Example | None:
        """CRB: the revision from the code alone."""
        return abstracted_example(rng.choice(self.rows), "crb", "autotransform")


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
    if task == "cra":
        changed = marked_pieces(row["marked_code"])
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
    java = Transformed(folder, limit)
    return [
        (0.5, reviews.after),
        (0.28, reviews.before),
        (0.16, java.before),
        (0.06, reviews.remark),
    ]
