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
from bot.review.history import LEAST_ALIKE, Found, PastRemarks, sayable
from models.crscore.claims import claims_of_hunk
from models.crscore.encoder import SentenceEncoder
from models.crscore.judge import Judge, row_of
from models.hunk_text import parse_hunks

LEAST_REMARKS = 200
SAMPLES = 2_000
Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Case:
    """A held hunk with the remark that people made and what each history says of it."""

    project: str
    remark: Remark
    own: list[Found]
    other: list[Found]


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
    own = judged(judge, cases, [[one.words for one in case.own] for case in cases])
    other = judged(judge, cases, [[one.words for one in case.other] for case in cases])
    (people,) = zip(
        *judged(judge, cases, [[sayable(c.remark.comment)] for c in cases]), strict=True
    )
    alike = np.array([case.own[0].alike >= LEAST_ALIKE for case in cases])
    print(
        f"{len(cases)} held hunks of {len(kept)} projects; the own history is alike enough to "
        f"propose something (from {LEAST_ALIKE}) on {100 * alike.mean():.0f} %"
    )
    print("| hunks | own history | another project's | gain | gain > 0 in | what people said |")
    print("|---|---|---|---|---|---|")
    every, said = np.ones(len(cases), bool), np.array(people)
    ways = {
        "the nearest": (first(own), first(other)),
        "the best of three, as ranked by the judge": (best(own), best(other)),
    }
    for way, (mine, others) in ways.items():
        print(row(f"{way}, all", mine, others, said))
        print(row(f"{way}, proposed", mine[alike], others[alike], said[alike]))
    mine, others = ways["the best of three, as ranked by the judge"]
    for name in kept:
        chosen = every & np.array([case.project == name for case in cases])
        print(row(f"the best of three, {name}", mine[chosen], others[chosen], said[chosen]))


def first(groups: list[list[float]]) -> Numbers:
    """The probability of the remark on the nearest code."""
    return np.array([group[0] for group in groups])


def best(groups: list[list[float]]) -> Numbers:
    """The highest probability among the remarks: the one that a review would rank first."""
    return np.array([max(group) for group in groups])


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
        if all(found):
            cases.append(Case(name, one, *found))
        if len(cases) == each:
            break
    return cases


def is_held(one: Remark) -> bool:
    """Whether a remark's file is left out of its project's history: a fifth of the files."""
    name = f"{one.repository} {one.path}".encode()
    return int.from_bytes(hashlib.sha256(name).digest()[:4], "big") % 5 == 0


def judged(judge: Judge, cases: list[Case], texts: list[list[str]]) -> list[list[float]]:
    """The judge's probability that a person finds each text relevant to its hunk."""
    rows = []
    for case, some in zip(cases, texts, strict=True):
        hunks = parse_hunks(case.remark.diff_hunk)[-1:]
        references = [
            claim for hunk in hunks for claim in claims_of_hunk(hunk, "python", case.remark.path)
        ]
        rows += [row_of(hunks, text, references) for text in some]
    found = iter([one.probability for one in judge.judge(rows)])
    return [[next(found) for _ in some] for some in texts]


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
