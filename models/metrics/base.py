"""Metric, Score and Signature: a number never travels without how it was made.

The manner is sacrebleu's; the values are fractions (0 to 1; Edit Progress may fall below 0)
throughout, and turn into per cent only where a person reads them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

VERSION = "2"
"""Raised whenever any metric here gives another number for the same records."""


@dataclass(frozen=True, slots=True)
class Record:
    """One prediction beside its source and its target.

    ``source`` is what the model was given to revise (for comment generation, the change),
    ``target`` what people wrote, ``prediction`` the first answer. ``predictions`` are all
    answers, best first, where the model gave several; empty means the one above alone.
    ``category`` sorts records into rows of a table ("" = not sorted).
    """

    source: str
    target: str
    prediction: str
    predictions: tuple[str, ...] = ()
    category: str = ""

    @property
    def ranked(self) -> tuple[str, ...]:
        """All predictions, best first; never empty."""
        return self.predictions or (self.prediction,)


@dataclass(frozen=True, slots=True)
class Signature:
    """How a number was made: the metric's name, then every choice that could change it."""

    metric: str
    choices: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        fields = (*self.choices, ("version", VERSION))
        return "|".join([self.metric, *(f"{key}:{value}" for key, value in fields)])


@dataclass(frozen=True, slots=True)
class Score:
    """A metric's answer over ``n`` records.

    ``value`` is the headline, a fraction, or ``None`` where no record could be scored.
    ``parts`` are the other numbers of the same computation, under their field names.
    """

    name: str
    value: float | None
    n: int
    signature: Signature
    parts: Mapping[str, float | None] = field(default_factory=dict)

    def format(self, digits: int = 2) -> str:
        """The headline in per cent, or ``n/a``: ``exact_match 12.16 (n = 1719)``."""
        value = "n/a" if self.value is None else f"{100 * self.value:.{digits}f}"
        return f"{self.name} {value} (n = {self.n})"


class Metric(ABC):
    """A metric over records: stateless, so one instance serves any number of calls."""

    name: str

    @abstractmethod
    def signature(self) -> Signature:
        """The choices that this instance makes."""

    @abstractmethod
    def score(self, records: Sequence[Record]) -> Score:
        """Score the records; an empty sequence gives a value of ``None``."""


def mean(values: Sequence[float]) -> float | None:
    """The arithmetic mean, or ``None`` of nothing."""
    return sum(values) / len(values) if values else None


def tokens(text: str) -> list[str]:
    """Tokens apart by white space, the unit of the papers' token-level metrics."""
    return text.split()
