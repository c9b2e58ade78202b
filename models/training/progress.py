"""Where a training run stands, what it has measured so far, and the chart of it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from models.benchmark.plot import Series, line_chart
from models.training.card import LOSS_PLOT, write_card

MOST_POINTS = 100
"""Points of a curve that a card keeps."""


@dataclass(slots=True)
class Progress:
    """Where a run stands; written with the state and into the model card."""

    step: int = 0
    seconds: float = 0.0
    examples: int = 0
    tokens: int = 0
    best: float = math.inf


@dataclass(slots=True)
class History:
    """Losses over the minutes spent in steps: (minutes, loss) each."""

    training: list[tuple[float, float]] = field(default_factory=list)
    validation: list[tuple[float, float]] = field(default_factory=list)

    @classmethod
    def read(cls, stored: Mapping[str, Any]) -> History:
        """What ``asdict`` made of one."""
        return cls(
            *(
                [(float(minutes), float(loss)) for minutes, loss in stored.get(name, ())]
                for name in cls.__slots__
            )
        )

    def chart(self) -> str:
        """Both curves as SVG. The validation loss is the sum over its sets, so each has its own
        height; what matters is which way they go."""
        return line_chart(
            "Loss while training",
            "minutes in steps",
            "loss",
            [Series("training", self.training), Series("validation", self.validation)],
        )


@dataclass(frozen=True, slots=True)
class Position:
    """A run after one more step, for whoever shows it.

    ``share`` (0 to 1) of the run is done, about ``seconds_left`` of it are left; ``loss`` is the
    step's, ``validation`` the last one measured (``None`` before the first).
    """

    step: int
    share: float
    seconds: float
    seconds_left: float
    loss: float
    validation: float | None
    stage: str


Show = Callable[[Position], None]


def position(
    progress: Progress, share: float, loss: float, history: History, stage: str
) -> Position:
    """The position after a step; the time left is that of a run as fast as so far."""
    left = progress.seconds * (1 - share) / share if share > 0 else math.inf
    checked = history.validation[-1][1] if history.validation else None
    return Position(
        progress.step, min(1.0, share), progress.seconds, max(0.0, left), loss, checked, stage
    )


def write_chart(folder: Path, history: History) -> None:
    """Put the chart beside the run's state and, with its numbers in the card, beside the best."""
    chart = history.chart()
    (folder / LOSS_PLOT).write_text(chart, encoding="utf-8")
    best = folder / "best"
    if not (best / "marginalia.json").exists():
        return
    (best / LOSS_PLOT).write_text(chart, encoding="utf-8")
    card = json.loads((best / "marginalia.json").read_text(encoding="utf-8"))
    card["losses"] = {name: _thinned(points) for name, points in asdict(history).items()}
    write_card(best, card)


def _thinned(points: list[tuple[float, float]]) -> list[list[float]]:
    every = math.ceil(len(points) / MOST_POINTS) or 1
    return [[round(minutes, 2), round(loss, 4)] for minutes, loss in points[::every]]
