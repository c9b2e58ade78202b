"""What every system must beat: copying the code, and saying the same to everyone."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from models.systems.base import FitReport, Progress, System, answer_where_possible
from models.tasks import Example, Prediction, Task


class Copy(System):
    """Answers CRB and CRA with the code as it is: Edit Progress 0 by definition."""

    kind = "copy"
    tasks = frozenset({Task.CRB, Task.CRA})

    def __init__(self, task: Task | None = None) -> None:
        super().__init__()
        self.task = task

    def fit(
        self,
        task: Task,
        train: Sequence[Example],
        valid: Sequence[Example] = (),
        progress: Progress | None = None,
        state: Path | None = None,
    ) -> FitReport:
        """Nothing to learn."""
        self.usable(task, train)
        self.task = task
        self.report = FitReport(0, 0.0, None, 0, 0.0, len(train))
        return self.report

    def predict(self, examples: Sequence[Example], beams: int = 1) -> list[Prediction]:
        """The unmarked code."""

        def answer(some: list[Example]) -> list[Prediction]:
            return [Prediction(one.unmarked(), (one.unmarked(),)) for one in some]

        return answer_where_possible(self.ready(), examples, answer)

    def write(self, folder: Path) -> Mapping[str, Any]:
        """Nothing to write."""
        return {}

    @classmethod
    def read(cls, folder: Path, details: Mapping[str, Any]) -> Copy:
        """See ``System.read``."""
        return cls()


class ConstantComment(System):
    """Answers RCG with the training set's most frequent comments, the same for everyone."""

    kind = "constant"
    tasks = frozenset({Task.RCG})

    def __init__(self) -> None:
        super().__init__()
        self.comments: tuple[str, ...] = ()

    def fit(
        self,
        task: Task,
        train: Sequence[Example],
        valid: Sequence[Example] = (),
        progress: Progress | None = None,
        state: Path | None = None,
    ) -> FitReport:
        """Count comments; ties go by the alphabet."""
        usable = self.usable(task, train)
        counts = Counter(example.comment or "" for example in usable)
        ranked = sorted(counts, key=lambda comment: (-counts[comment], comment))
        self.comments = tuple(ranked[:10])
        self.task = task
        self.report = FitReport(0, 0.0, None, 0, 0.0, len(usable))
        return self.report

    def predict(self, examples: Sequence[Example], beams: int = 1) -> list[Prediction]:
        """The most frequent comments."""
        self.ready()
        texts = self.comments[:beams]
        return [Prediction(texts[0], texts) for _ in examples]

    def write(self, folder: Path) -> Mapping[str, Any]:
        """The comments as JSON."""
        (folder / "comments.json").write_text(json.dumps(self.comments), encoding="utf-8")
        return {}

    @classmethod
    def read(cls, folder: Path, details: Mapping[str, Any]) -> ConstantComment:
        """See ``System.read``."""
        system = cls()
        stored = (folder / "comments.json").read_text(encoding="utf-8")
        system.comments = tuple(json.loads(stored))
        return system
