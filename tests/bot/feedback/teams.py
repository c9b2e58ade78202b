"""Simulated teams with known tastes: every candidate's true chance of being accepted is known."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from bot.feedback.calibration import AcceptanceModel, Observed
from bot.feedback.measures import expected_calibration_error

PRIORS = {
    # origin: what the program believes before any team has answered
    "ruff:F821": 0.9,
    "ruff:B006": 0.7,
    "ruff:E501": 0.55,
    "ruff:D103": 0.55,
    "ast-grep:py-naming": 0.55,
    "oxlint:eqeqeq": 0.7,
    "t5:crb:1a2b3c4d": 0.6,
    "t5:cra:1a2b3c4d": 0.65,
}
STYLE = ("ruff:E501", "ruff:D103", "ast-grep:py-naming")

TASTES = {
    "likes style": dict.fromkeys(PRIORS, 0.5)
    | {"ruff:F821": 0.85, "ruff:B006": 0.6}
    | dict.fromkeys(STYLE, 0.85),
    "hates style": dict.fromkeys(PRIORS, 0.6)
    | {"ruff:F821": 0.9, "ruff:B006": 0.75}
    | dict.fromkeys(STYLE, 0.05),
    "as shipped": PRIORS,
}
CANDIDATES = 4
SURE = 0.5


@dataclass
class Team:
    """A team whose taste may change after so many reviews; ``seed`` fixes everything."""

    taste: dict[str, float]
    later: dict[str, float] | None = None
    change_after: int = 200
    seed: int = 0
    reviews: int = 0
    rng: np.random.Generator = field(init=False)

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)

    def review(self) -> list[tuple[Observed, float]]:
        """One review's candidates with their true chances (already decided: ``accepted``)."""
        taste = self.taste
        if self.later is not None and self.reviews >= self.change_after:
            taste = self.later
        self.reviews += 1
        made = []
        for number in range(CANDIDATES):
            origin = str(self.rng.choice(list(PRIORS)))
            wobble = float(self.rng.normal(0, 0.4))
            prior = _shift(PRIORS[origin], wobble)
            chance = _shift(taste[origin], wobble)
            seen = Observed(
                f"{self.reviews}-{number}",
                float(self.reviews),
                origin,
                prior,
                bool(self.rng.random() < chance),
                rel=float(self.rng.uniform(0.3, 0.9)),
            )
            made.append((seen, chance))
        return made


@dataclass
class Course:
    """A life of a team: what was learnt, and what two ways of choosing would have had accepted.

    ``accepted`` of ``posted`` by the learnt probability, ``fixed_accepted`` of the same number by
    the prior alone.
    """

    model: AcceptanceModel
    outcomes: list[Observed]
    accepted: int = 0
    fixed_accepted: int = 0
    posted: int = 0


def live(
    team: Team, until: int, every: int = 30, course: Course | None = None, reviews: int = 10**9
) -> Course:
    """Let a team answer until so many outcomes (or reviews) are there.

    Only what was posted has an outcome to learn from.

    Posted is what the model holds for at least ``SURE``. The fixed threshold's rival gets the
    same number in every review: those with the highest prior.
    """
    course = course or Course(AcceptanceModel.shipped(), [])
    learnt = len(course.outcomes)
    while len(course.outcomes) < until and team.reviews < reviews:
        seen = [one for one, _ in team.review()]
        chosen = [one for one in seen if course.model.probability_of(one) >= SURE]
        rival = sorted(seen, key=lambda one: -one.prior)[: len(chosen)]
        course.outcomes += chosen
        course.accepted += sum(one.accepted for one in chosen)
        course.fixed_accepted += sum(one.accepted for one in rival)
        course.posted += len(chosen)
        if len(course.outcomes) - learnt >= every:
            course.model, learnt = course.model.learn(course.outcomes), len(course.outcomes)
    course.model = course.model.learn(course.outcomes)
    return course


def errors(
    model: AcceptanceModel, taste: dict[str, float], reviews: int = 400
) -> tuple[float, float]:
    """Expected calibration error against the true chances: of what is posted, and of all."""
    team = Team(taste, seed=10_007)
    seen = [pair for _ in range(reviews) for pair in team.review()]
    pairs = [(model.probability_of(one), chance) for one, chance in seen]
    posted = [pair for pair in pairs if pair[0] >= SURE]
    found = [
        expected_calibration_error([p for p, _ in rows], [y for _, y in rows])
        for rows in (posted, pairs)
    ]
    assert found[0] is not None
    assert found[1] is not None
    return found[0], found[1]


def accepted_at(
    model: AcceptanceModel, taste: dict[str, float], share: float, reviews: int = 400
) -> tuple[int, int, int]:
    """On new reviews, with this share of all candidates posted: how many are accepted.

    By the learnt probability, by the prior (a fixed threshold at the height that posts as many),
    and the number posted by each.
    """
    team = Team(taste, seed=20_011)
    seen = [one for _ in range(reviews) for one, _ in team.review()]
    count = round(share * len(seen))
    by_model = sorted(seen, key=lambda one: -model.probability_of(one))[:count]
    by_prior = sorted(seen, key=lambda one: -one.prior)[:count]
    return sum(o.accepted for o in by_model), sum(o.accepted for o in by_prior), count


def _shift(p: float, by: float) -> float:
    return float(1 / (1 + np.exp(-(np.log(p / (1 - p)) + by))))
