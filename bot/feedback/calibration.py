"""How sure: the probability that this team accepts a candidate, learnt from what it accepted.

``AcceptanceModel`` starts from what was believed before (the worth of ``bot.review.worth``: the
rule's severity, the model's own calibration, the judge) and moves with a team's outcomes: first
by what other repositories of the installation answered, then by the repository's own. How far is
decided by evidence (``bot.feedback.fit``), so that one thumbs-down or five outcomes hardly move
it and three hundred do. With no outcome it answers the prior exactly.

A rule that a team keeps dismissing falls under the operator's ``sure`` by itself and is listed
(``AcceptanceModel.standings``); old outcomes fade (half of their weight in ``HALF_LIFE``
outcomes), so that it is tried again one day. A person's pins and bans stand above all of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from math import exp, log, sqrt
from typing import Any

from bot.feedback.fit import Cell, Component, fit, prior_components
from bot.feedback.measures import Z90
from models.review_types import Candidate, Score

HALF_LIFE = 800
"""Outcomes after which an outcome counts half."""
WINDOW = 2000
"""Outcomes of a repository that are looked at, the latest."""
MOST_OF_ONE = 200
"""What one repository weighs at most in its installation's pool, in outcomes."""
PRIOR_CENTRE = 0.7
"""The prior at which the slope's effect is nothing: a warning's."""
LEAST = 0.01
"""Priors are kept this far from 0 and from 1."""
VERSION = 1


@dataclass(frozen=True, slots=True)
class Observed:
    """One posted candidate whose end is known.

    ``key`` names it (the same key twice counts once), ``prior`` is its worth before learning,
    ``rel`` its score's relevance, ``confidence`` the generator's own; ``at`` is when it ended
    (seconds since the epoch), ``repository_id`` whose it is.
    """

    key: str
    at: float
    origin: str
    prior: float
    accepted: bool
    rel: float = 0.5
    confidence: float = 1.0
    repository_id: int = 0


@dataclass(frozen=True, slots=True)
class Choices:
    """What a person decided in the configuration: rules (``ruff:B006``) or origins (``ruff``).

    A pinned one never falls under its prior; a banned one is never posted.
    """

    pinned: frozenset[str] = frozenset()
    banned: frozenset[str] = frozenset()


class Status(StrEnum):
    """How a rule stands with a team at the operator's ``sure``."""

    SPEAKS = "speaks"
    FADED = "faded"
    PINNED = "pinned"
    BANNED = "banned"


@dataclass(frozen=True, slots=True)
class Standing:
    """A rule with its counts; ``low``..``high`` is the 90 % interval of ``probability``.

    ``prior`` is the mean prior of its outcomes, the place at which ``probability`` is taken.
    """

    rule: str
    total: int
    accepted: int
    prior: float
    probability: float
    low: float
    high: float

    def status(self, sure: float, choices: Choices) -> Status:
        """Whether it is posted at ``sure``, and by whose decision."""
        names = names_of(self.rule)
        if names & choices.banned:
            return Status.BANNED
        if names & choices.pinned:
            return Status.PINNED
        return Status.FADED if self.probability < sure <= self.prior else Status.SPEAKS


@dataclass(frozen=True, slots=True)
class AcceptanceModel:
    """A repository's learnt taste; immutable, made by ``shipped`` and ``learn``."""

    pool: tuple[Component, ...] = field(default_factory=prior_components)
    own: tuple[Component, ...] = field(default_factory=prior_components)
    standings: tuple[Standing, ...] = ()
    outcomes: int = 0
    pooled: int = 0
    choices: Choices = Choices()

    @classmethod
    def shipped(cls) -> AcceptanceModel:
        """The model of a team that has not answered yet: probability is the prior."""
        return cls()

    def probability(self, candidate: Candidate, score: Score, prior: float) -> float:
        """The probability (0 to 1) that this team accepts the candidate.

        Args:
            candidate: what would be posted; its origin and confidence count.
            score: its CRScore; its relevance counts.
            prior: its worth before learning, 0 to 1 (``bot.review.worth.sureness``).
        """
        learnt = self._at(candidate.origin, prior, score.rel, candidate.confidence)
        return self._chosen(candidate.origin, prior, learnt)

    def probability_of(self, observed: Observed) -> float:
        """``probability`` of something posted before, pins and bans aside."""
        return self._at(observed.origin, observed.prior, observed.rel, observed.confidence)

    def chosen_probability_of(self, observed: Observed) -> float:
        """``probability`` of something posted before, under a person's pins and bans."""
        return self._chosen(observed.origin, observed.prior, self.probability_of(observed))

    def learn(
        self, outcomes: Iterable[Observed], installation: Iterable[Observed] = ()
    ) -> AcceptanceModel:
        """A model of these outcomes; what this one learnt before is not used.

        Args:
            outcomes: all of this repository's; order and repetition do not matter.
            installation: those of the installation's other repositories. The repository's own
                among them are left out: they must not count twice.
        """
        mine = _ordered(outcomes)
        ids = {one.repository_id for one in mine}
        keys = {one.key for one in mine}
        others = [
            one
            for one in _ordered(installation)
            if one.key not in keys and not (one.repository_id and one.repository_id in ids)
        ]
        pool = fit(_pool_steps(others))
        recent = mine[-WINDOW:]
        steps = []
        for at, one in enumerate(recent):
            weight = 0.5 ** ((len(recent) - 1 - at) / HALF_LIFE)
            steps.append([_cell(one, weight, pool)])
        made = replace(
            self, pool=pool, own=fit(steps), outcomes=len(mine), pooled=len(others), standings=()
        )
        return replace(made, standings=made._standings(recent))

    def with_choices(self, choices: Choices) -> AcceptanceModel:
        """The same model under a person's pins and bans."""
        return replace(self, choices=choices)

    def faded(self, sure: float) -> tuple[Standing, ...]:
        """The rules that were posted at their prior and are no longer, most dismissed first."""
        return tuple(
            one for one in self.standings if one.status(sure, self.choices) is Status.FADED
        )

    def to_json(self) -> dict[str, Any]:
        """The state as a JSON value (pins and bans belong to the configuration, not here)."""
        return {
            "version": VERSION,
            "outcomes": self.outcomes,
            "pooled": self.pooled,
            "pool": [_dump(one) for one in self.pool],
            "own": [_dump(one) for one in self.own],
            "standings": [
                [s.rule, s.total, s.accepted, s.prior, s.probability, s.low, s.high]
                for s in self.standings
            ],
        }

    @classmethod
    def from_json(cls, state: Mapping[str, Any]) -> AcceptanceModel:
        """Read ``to_json``'s value; raises ``ValueError`` for another version or shape."""
        if state.get("version") != VERSION:
            raise ValueError(
                f"the calibration's state is of version {state.get('version')!r}, not {VERSION}: "
                "learn it again from the ledger"
            )
        try:
            return cls(
                pool=tuple(_load(one) for one in state["pool"]),
                own=tuple(_load(one) for one in state["own"]),
                standings=tuple(Standing(*row) for row in state["standings"]),
                outcomes=int(state["outcomes"]),
                pooled=int(state["pooled"]),
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(
                f"the calibration's state is damaged ({error}): learn it again from the ledger"
            ) from error

    def _chosen(self, origin: str, prior: float, learnt: float) -> float:
        names = names_of(origin)
        if names & self.choices.banned:
            return 0.0
        return max(prior, learnt) if names & self.choices.pinned else learnt

    def _at(self, origin: str, prior: float, rel: float, confidence: float) -> float:
        effects = _effects(origin, prior, rel, confidence)
        moved = sum(one.weight * one.effect(effects) for one in self.pool)
        if moved == 0 and all(one.effect(effects) == 0 for one in self.own):
            return prior
        start = _logit(prior) + moved
        return sum(one.weight * _sigmoid(start + one.effect(effects)) for one in self.own)

    def _interval(self, one: Observed) -> tuple[float, float]:
        effects = _effects(one.origin, one.prior, one.rel, one.confidence)
        start = _logit(one.prior) + sum(c.weight * c.effect(effects) for c in self.pool)
        centres = [start + c.effect(effects) for c in self.own]
        mean = sum(c.weight * x for c, x in zip(self.own, centres, strict=True))
        variance = sum(
            c.weight * (c.spread(effects) + (x - mean) ** 2)
            for c, x in zip(self.own, centres, strict=True)
        )
        half = Z90 * sqrt(variance)
        return _sigmoid(mean - half), _sigmoid(mean + half)

    def _standings(self, recent: Sequence[Observed]) -> tuple[Standing, ...]:
        rules: dict[str, list[Observed]] = {}
        for one in recent:
            rules.setdefault(rule_of(one.origin), []).append(one)
        made = []
        for rule, rows in rules.items():
            count = len(rows)
            typical = replace(
                rows[-1],
                origin=rule,
                prior=sum(row.prior for row in rows) / count,
                rel=sum(row.rel for row in rows) / count,
                confidence=sum(row.confidence for row in rows) / count,
            )
            low, high = self._interval(typical)
            made.append(
                Standing(
                    rule,
                    count,
                    sum(row.accepted for row in rows),
                    round(typical.prior, 6),
                    round(self.probability_of(typical), 6),
                    round(low, 6),
                    round(high, 6),
                )
            )
        return tuple(sorted(made, key=lambda one: (one.probability - one.prior, one.rule)))


def rule_of(origin: str) -> str:
    """The rule of an origin: ``ruff:B006``; of a model its family and task, without its hash."""
    return ":".join(origin.split(":")[:2])


def origin_of(origin: str) -> str:
    """Who speaks: the analyzer's or the model family's name."""
    return origin.split(":", 1)[0]


def names_of(origin: str) -> frozenset[str]:
    """What a person may call it in pins and bans: its rule, or who speaks."""
    return frozenset({rule_of(origin), origin_of(origin)})


def _effects(
    origin: str, prior: float, rel: float, confidence: float
) -> tuple[tuple[str, float], ...]:
    """What applies to a candidate, in steps coarse enough that outcomes can be merged."""
    slope = round(_logit(prior) - _logit(PRIOR_CENTRE), 1)
    return (
        ("team=", 1.0),
        ("slope=prior", slope),
        ("slope=rel", round(rel - 0.5, 1)),
        ("slope=confidence", round(confidence - 1.0, 1)),
        (f"origin={origin_of(origin)}", 1.0),
        (f"rule={rule_of(origin)}", 1.0),
    )


def _cell(one: Observed, weight: float, pool: Sequence[Component]) -> Cell:
    effects = _effects(one.origin, one.prior, one.rel, one.confidence)
    moved = sum(part.weight * part.effect(effects) for part in pool)
    offset = round(_logit(one.prior) + moved, 1 if not moved else 2)
    return Cell(effects, offset, weight if one.accepted else 0.0, weight)


def _pool_steps(others: Sequence[Observed]) -> list[list[Cell]]:
    counts: dict[int, int] = {}
    for one in others:
        counts[one.repository_id] = counts.get(one.repository_id, 0) + 1
    return [
        [_cell(one, min(1.0, MOST_OF_ONE / counts[one.repository_id]), ())]
        for one in others[-5 * WINDOW :]
    ]


def _ordered(outcomes: Iterable[Observed]) -> list[Observed]:
    unique = {one.key: one for one in sorted(outcomes, key=lambda o: (o.at, o.key, o.accepted))}
    return sorted(unique.values(), key=lambda one: (one.at, one.key))


def _dump(one: Component) -> dict[str, Any]:
    return {
        "weight": round(one.weight, 8),
        "scale": one.scale,
        "mean": {name: round(value, 6) for name, value in one.mean.items()},
        "variance": {name: round(value, 6) for name, value in one.variance.items()},
    }


def _load(row: Mapping[str, Any]) -> Component:
    return Component(
        float(row["weight"]), float(row["scale"]), dict(row["mean"]), dict(row["variance"])
    )


def _logit(p: float) -> float:
    p = min(1 - LEAST, max(LEAST, p))
    return log(p / (1 - p))


def _sigmoid(x: float) -> float:
    return 1 / (1 + exp(-x)) if x >= 0 else exp(x) / (1 + exp(x))
