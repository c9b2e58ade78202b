"""What a step says to the job: go on, end, wait, or make another job.

Steps never let the forge's errors cross their border: the job library would store them as text.
What they mean is decided here, once for all steps.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from bot.store.tables import JobState

MIN_WAIT = 1.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """A step's result, small enough for the job database.

    ``end`` is the state in which the job ends, ``wait`` the least seconds before another try
    (``None``: no wait; 0: the usual delay), ``moved`` that the pull request has another head or
    base now. All empty: go on to the next step. ``data`` is what later steps need.
    """

    end: str = ""
    reason: str = ""
    wait: float | None = None
    patient: bool = False
    moved: bool = False
    data: Mapping[str, Any] | None = None

    @property
    def goes_on(self) -> bool:
        """Whether the next step follows."""
        return not self.end and self.wait is None and not self.moved

    def to_json(self) -> dict[str, Any]:
        """The value that the job library stores."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """The outcome that a step stored."""
        return cls(**value)


GO_ON = Outcome()


def end(state: JobState, reason: str) -> Outcome:
    """The job ends in this state."""
    return Outcome(end=state.value, reason=reason)


def wait(reason: str, seconds: float = 0, patient: bool = False) -> Outcome:
    """Try again later; ``patient`` waits do not make the next one longer."""
    return Outcome(wait=seconds, reason=reason, patient=patient)


def backoff(attempt: int, base: float, longest: float, at_least: float = 0) -> float:
    """Seconds to wait before retry number ``attempt`` (from 0): doubling, with jitter.

    Never less than ``at_least``, which is what the other side asked for.
    """
    delay = min(longest, base * 2.0 ** min(attempt, 30))
    return max(at_least, delay * random.uniform(0.5, 1.0))  # noqa: S311 - spreads load
