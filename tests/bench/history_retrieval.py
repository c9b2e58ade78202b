"""Does a repository's own past say more of its changes than another's? The judge's means.

    MARGINALIA_DATA=... python -m tests.bench.history_retrieval [--each N] [--seed N]

On ``pr_reviews/python``: of every project with enough remarks those on a fifth of its files are
held out, with all other remarks on those files. For each held hunk the remark on the most similar
code is taken once from the project's other files and once from as many remarks of the other
projects, as a review would (``bot.review.history``), and the judge says from the change alone how
likely a person finds it relevant. Intervals are 95 %, by bootstrap over held hunks.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bot.learn.export import batches
from bot.learn.remarks import Remark
from bot.review.history import LEAST_ALIKE, PastRemarks, sayable
from models.crscore.claims import claims_of_hunk
from models.crscore.encoder import SentenceEncoder
from models.crscore.judge import Judge, row_of
from models.hunk_text import parse_hunks

LEAST_REMARKS = 200
SAMPLES = 2_000
Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Case:
    """A held hunk with what each history says of it: words and similarity, and people's words."""

    project: str
    remark: Remark
    own: tuple[str, float]
    other: tuple[str, float]


def main() -> None:
    """Print both means with intervals, over all hunks and over those that would be proposed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--each", type=int, default=40, help="held hunks of each project")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    file = Path(os.environ["MARGINALIA_DATA"]) / "pr_reviews" / "python.jsonl.gz"
    projects: dict[str, list[Remark]] = defaultdict(list)
    for remarks, _, _ in batches(file):
        for one in remarks:
            projects[one.repository].append(one)
    kept = {name: rows for name, rows in projects.items() if len(rows) >= LEAST_REMARKS}
    cases = [case for name in kept for case in cases_of(kept, name, options.each, options.seed)]
    judge = Judge(SentenceEncoder())
    own = judged(judge, cases, [case.own[0] for case in cases])
    other = judged(judge, cases, [case.other[0] for case in cases])
    people = judged(judge, cases, [sayable(case.remark.comment) for case in cases])
    alike = np.array([case.own[1] >= LEAST_ALIKE for case in cases])
    print(
        f"{len(cases)} held hunks of {len(kept)} projects; the own history is alike enough to "
        f"propose something (from {LEAST_ALIKE}) on {100 * alike.mean():.0f} %"
    )
    print("| hunks | own history | another project's | gain | gain > 0 in | what people said |")
    print("|---|---|---|---|---|---|")
    for title, chosen in (("all", np.ones(len(cases), bool)), ("proposed", alike)):
        print(row(title, own[chosen], other[chosen], people[chosen]))
    for name in kept:
        chosen = np.array([case.project == name for case in cases])
        print(row(name, own[chosen], other[chosen], people[chosen]))


def cases_of(projects: dict[str, list[Remark]], name: str, each: int, seed: int) -> list[Case]:
    """Held hunks of a project with the nearest remark of both histories."""
    draw = random.Random(f"{seed} {name}")
    past = [one for one in projects[name] if not is_held(one)]
    held = [one for one in projects[name] if is_held(one) and sayable(one.comment)]
    foreign = [one for other, rows in projects.items() if other != name for one in rows]
    own = PastRemarks(past)
    other = PastRemarks(draw.sample(foreign, len(past)))
    cases = []
    for one in draw.sample(held, len(held)):
        hunks = parse_hunks(one.diff_hunk)
        if not hunks:
            continue
        found = own.nearest(hunks[-1], "python"), other.nearest(hunks[-1], "python")
        if found[0] is not None and found[1] is not None:
            cases.append(Case(name, one, found[0][:2], found[1][:2]))
        if len(cases) == each:
            break
    return cases


def is_held(one: Remark) -> bool:
    """Whether a remark's file is left out of its project's history: a fifth of the files."""
    name = f"{one.repository} {one.path}".encode()
    return int.from_bytes(hashlib.sha256(name).digest()[:4], "big") % 5 == 0


def judged(judge: Judge, cases: list[Case], texts: list[str]) -> Numbers:
    """The judge's probability that a person finds each text relevant to its hunk."""
    rows = []
    for case, text in zip(cases, texts, strict=True):
        hunks = parse_hunks(case.remark.diff_hunk)[-1:]
        references = [
            claim for hunk in hunks for claim in claims_of_hunk(hunk, "python", case.remark.path)
        ]
        rows.append(row_of(hunks, text, references))
    return np.array([one.probability for one in judge.judge(rows)])


def row(title: str, own: Numbers, other: Numbers, people: Numbers) -> str:
    """Means with intervals, and the paired gain, of some hunks."""
    if len(own) < 2:
        return f"| {title} ({len(own)}) | too few | | | | |"
    draw = np.random.default_rng(1).integers(0, len(own), (SAMPLES, len(own)))
    gain = own - other
    sure = float((gain[draw].mean(axis=1) > 0).mean())
    cells = [between(values, draw) for values in (own, other, gain)]
    return f"| {title} ({len(own)}) | {' | '.join(cells)} | {sure:.1%} | {between(people, draw)} |"


def between(values: Numbers, draw: npt.NDArray[np.int64]) -> str:
    """A mean with its interval."""
    low, high = np.quantile(values[draw].mean(axis=1), [0.025, 0.975])
    return f"{values.mean():.3f} [{low:.3f}, {high:.3f}]"


if __name__ == "__main__":
    main()
