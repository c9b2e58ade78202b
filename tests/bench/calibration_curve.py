"""How well the learnt probability holds on simulated teams, and what it gains.

    python -m tests.bench.calibration_curve [--seeds N]

Prints, for each team: the expected calibration error against the true chances (over what is
posted at 0.5, and over all candidates) after 5, 50, 100 and 300 outcomes; the ratio of comments
accepted by the learnt probability to those accepted by a fixed threshold at the same number
posted; and the same around a change of taste after 200 reviews. Candidates that are no longer
posted have no outcomes, so the error over all stays above that over what is posted.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from statistics import mean

from bot.feedback.calibration import AcceptanceModel
from tests.bot.feedback.teams import TASTES, Team, accepted_at, errors, live


def row(name: str, models: Sequence[AcceptanceModel], taste: dict[str, float]) -> str:
    found = [errors(model, taste) for model in models]
    gains = []
    for share in (0.25, 0.5):
        counts = [accepted_at(model, taste, share) for model in models]
        learnt, fixed = sum(c[0] for c in counts), sum(c[1] for c in counts)
        gains.append(f"{learnt / fixed:.3f}")
    posted, every = mean(one for one, _ in found), mean(one for _, one in found)
    worst = max(one for one, _ in found)
    return (
        f"{name:<32} ECE posted {posted:.3f} (worst {worst:.3f}) all {every:.3f}  "
        f"accepted, learnt/fixed: at 25 % {gains[0]} at 50 % {gains[1]}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    seeds = range(1, parser.parse_args().seeds + 1)
    for name, taste in TASTES.items():
        print(row(f"{name}, prior", [AcceptanceModel.shipped()], taste), flush=True)
        for count in (5, 50, 100, 300):
            models = [live(Team(taste, seed=seed), count, every=60).model for seed in seeds]
            print(row(f"{name}, {count} outcomes", models, taste), flush=True)
    likes, hates = TASTES["likes style"], TASTES["hates style"]
    teams = [Team(likes, hates, 200, seed) for seed in seeds]
    courses = [live(team, 10_000, every=200, reviews=200) for team in teams]
    print(row("drift, at the change", [c.model for c in courses], hates), flush=True)
    done = 0
    for more in (50, 100, 200, 300):
        for team, course in zip(teams, courses, strict=True):
            live(team, len(course.outcomes) + more - done, every=100, course=course)
        done = more
        print(row(f"drift, {more} outcomes later", [c.model for c in courses], hates), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
