"""The mixture that the shipped model is trained on, read from the data folder.

Every record of a held repository (``splits``) and every ``valid`` file is left out of training.
Half of the CRB examples need no revision: "nothing to revise" is an answer.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from models.generators.line_edits import CLAIMS, LANGUAGES, SAID, LineEdit
from models.training.abstracted import (
    Reviews,
    abstracted_mixture,
    before_mixture,
    said_mixture,
)
from models.training.corrupt import corrupt
from models.training.examples import (
    Example,
    clean_message,
    cut,
    diff_edits,
    hunk_tail,
    is_boring,
    pieces,
    plain_reply,
    suggestion_edit,
    suggestion_of,
)
from models.training.records import Record, records
from models.training.splits import Part, part_of


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


def _claims_mixture(folder: Path, limit: int | None = None) -> Sources:
    from models.training.claims import claims_mixture  # which reads edits as this module does

    return claims_mixture(folder, limit)


MIXTURES = {
    "default": default_mixture,
    "abstracted": abstracted_mixture,
    "abstracted_before": before_mixture,
    "claims": _claims_mixture,
    SAID: said_mixture,
}
"""The mixtures by name."""
TASKS_OF = {"abstracted_before": ["crb"], "claims": [CLAIMS], SAID: [SAID]}
"""What a model of a mixture can be asked, where that is not all of ``crb``, ``cra`` and ``rcg``."""
