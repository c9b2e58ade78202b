"""What every system of the papers offers: fit, predict, save, load.

A system answers one task at a time. It is made with a recipe, fitted on examples (or loaded), and
asked for predictions. Nothing here imports torch.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from models.systems.card import TaskCard, UnusableCheckpoint, read_card, write_card
from models.tasks import Example, Prediction, Task, can_ask, target_of

Progress = Callable[["Step"], None]


@dataclass(frozen=True, slots=True)
class Step:
    """Where a fit stands: step of steps, training and (where just measured) validation loss."""

    step: int
    steps: int
    loss: float
    validation: float | None = None


@dataclass(frozen=True, slots=True)
class FitReport:
    """What a fit did: steps made, losses, the step whose weights were kept, and seconds."""

    steps: int
    loss: float
    validation: float | None
    best_step: int
    seconds: float
    examples: int
    details: Mapping[str, Any] = field(default_factory=dict)


class SystemFault(ValueError):
    """A system was asked for what it cannot do; the message is one line for a person."""


class System(ABC):
    """One of the papers' systems.

    ``kind`` is its name in the registry, on the command line and on its card; ``tasks`` are those
    it can be fitted for. ``task`` is the one it is ready for, ``None`` while it is not.
    """

    kind: ClassVar[str]
    tasks: ClassVar[frozenset[Task]]

    def __init__(self) -> None:
        self.task: Task | None = None
        self.report: FitReport | None = None
        self.trained_on: str = ""

    @abstractmethod
    def fit(
        self,
        task: Task,
        train: Sequence[Example],
        valid: Sequence[Example] = (),
        progress: Progress | None = None,
        state: Path | None = None,
    ) -> FitReport:
        """Learn ``task`` from ``train``; keep the weights that do best on ``valid``.

        ``state`` is a folder in which a killed fit finds its place again. Examples without what
        the task needs are skipped. Raises SystemFault for a task outside ``tasks`` or no examples.
        """

    @abstractmethod
    def predict(self, examples: Sequence[Example], beams: int = 1) -> list[Prediction]:
        """One prediction an example, in order, with up to ``beams`` ranked answers each.

        An example that the task cannot be asked of gets an empty text with confidence 0.
        """

    @abstractmethod
    def write(self, folder: Path) -> Mapping[str, Any]:
        """Write weights and vocabulary into ``folder``; return what the card must remember."""

    @classmethod
    @abstractmethod
    def read(cls, folder: Path, details: Mapping[str, Any]) -> System:
        """Read back what ``write`` wrote; ``details`` is what it returned."""

    def save(self, folder: Path) -> None:
        """Write the fitted system and its task card. Raises SystemFault before it is fitted."""
        if self.task is None:
            raise SystemFault(f"{self.kind} is not fitted yet; fit it before it is saved")
        folder.mkdir(parents=True, exist_ok=True)
        details = self.write(folder)
        write_card(
            folder,
            TaskCard(
                system=self.kind,
                task=self.task,
                trained_on=self.trained_on,
                details=dict(details),
                report=self.report,
            ),
        )

    @classmethod
    def load(cls, folder: Path) -> System:
        """Load a saved system of this kind.

        Raises UnusableCheckpoint where the folder has no task card or is of another kind.
        """
        card = read_card(folder)
        if card.system != cls.kind:
            raise UnusableCheckpoint(
                f"{folder}: a checkpoint of {card.system}, not of {cls.kind}; "
                f"ask for --system {card.system}"
            )
        system = cls.read(folder, card.details)
        system.task = card.task
        system.trained_on = card.trained_on
        system.report = card.report
        return system

    def usable(self, task: Task, examples: Sequence[Example]) -> list[Example]:
        """The examples that ``task`` can be learnt from.

        Raises SystemFault for a task outside ``tasks`` and where none is left.
        """
        if task not in self.tasks:
            known = ", ".join(sorted(self.tasks))
            raise SystemFault(f"{self.kind} does {known}, not {task}")
        usable = [
            example
            for example in examples
            if can_ask(task, example) and target_of(task, example) is not None
        ]
        if not usable:
            raise SystemFault(f"no example holds what {task} needs; give other data")
        return usable

    def ready(self) -> Task:
        """The task it is ready for. Raises SystemFault where it was neither fitted nor loaded."""
        if self.task is None:
            raise SystemFault(
                f"{self.kind} has no weights; give a checkpoint with --model, or fit one with "
                f"marginalia bench run --system {self.kind} --train FILE"
            )
        return self.task


def answer_where_possible(
    task: Task,
    examples: Sequence[Example],
    answer: Callable[[list[Example]], list[Prediction]],
) -> list[Prediction]:
    """Ask ``answer`` for the examples that hold what the task needs; the others get nothing."""
    places = [place for place, example in enumerate(examples) if can_ask(task, example)]
    answers = answer([examples[place] for place in places]) if places else []
    result = [Prediction("", ("",), 0.0)] * len(examples)
    for place, prediction in zip(places, answers, strict=True):
        result[place] = prediction
    return result
