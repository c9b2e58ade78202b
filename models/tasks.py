"""The three tasks of code review automation: what goes in, what comes out.

Zhou et al., "Generation-based Code Review Automation: How Far Are We?" (2023), section II:

* CRB, code revision before review: the submitted code in, the revised code out.
* CRA, code revision after review: a reviewer's comment and the code that it marks in, the revised
  code out.
* RCG, review comment generation: the submitted code, or a diff hunk, in; a comment out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from models.metrics.base import Record

START_MARK = "<START>"
END_MARK = "<END>"
"""Around the part of the code that a comment is about (Tufano et al., 2021)."""


class Task(StrEnum):
    """The tasks under their names in the papers."""

    CRB = "crb"
    CRA = "cra"
    RCG = "rcg"


NEEDS: Mapping[Task, str] = MappingProxyType(
    {
        Task.CRB: "code",
        Task.CRA: "code and a comment",
        Task.RCG: "code or a hunk",
    }
)
"""What an example must hold for a task, in words for a person (``can_ask``)."""


@dataclass(frozen=True, slots=True)
class Example:
    """One record of a review data set.

    What a data set does not have is empty, or ``None`` for the two that are answers. ``code`` is
    the submitted code, ``marked_code`` the same with START_MARK and END_MARK, ``diff`` a unified
    diff hunk, ``revised`` the code after the review and ``comment`` what the reviewer wrote.
    ``abstracted`` says that names are placeholders already. ``project`` keeps splits apart.
    """

    id: str
    code: str = ""
    marked_code: str = ""
    diff: str = ""
    revised: str | None = None
    comment: str | None = None
    language: str = ""
    project: str = ""
    abstracted: bool = False

    def unmarked(self) -> str:
        """The code without marks, whichever field it is in."""
        return self.code or without_marks(self.marked_code)

    def shown(self) -> str:
        """What a comment is about: the marked code, else the hunk, else the code."""
        return self.marked_code or self.diff or self.code

    def asked(self, task: Task) -> str:
        """What a task puts in beside the comment: for CRB the code without marks, for CRA the
        marked code where there is one, for RCG the hunk where there is one."""
        if task is Task.CRB:
            return self.unmarked()
        if task is Task.CRA:
            return self.marked_code or self.code
        return self.diff or self.shown()


@dataclass(frozen=True, slots=True)
class Prediction:
    """A system's answer to one example.

    ``ranked`` are all its answers, best first, ``text`` being the first. ``confidence`` is the
    system's own probability of it (0 to 1; the geometric mean over tokens for a neural model).
    """

    text: str
    ranked: tuple[str, ...] = ()
    confidence: float = 1.0


def without_marks(code: str) -> str:
    """The code with the two marks taken out, and the space that one of them leaves behind."""
    for mark in (START_MARK, END_MARK):
        code = code.replace(f"{mark} ", "").replace(mark, "")
    return code


def can_ask(task: Task, example: Example) -> bool:
    """Whether the example holds what the task puts in."""
    if task is Task.CRB:
        return bool(example.unmarked())
    if task is Task.CRA:
        return bool(example.unmarked()) and example.comment is not None
    return bool(example.asked(task))


def target_of(task: Task, example: Example) -> str | None:
    """What people wrote: the revised code or the comment; ``None`` where it is not given."""
    return example.comment if task is Task.RCG else example.revised


def source_of(task: Task, example: Example) -> str:
    """What Edit Progress starts from: the unmarked code; for RCG what is shown."""
    return example.asked(task) if task is Task.RCG else example.unmarked()


def records(
    task: Task, examples: Sequence[Example], predictions: Sequence[Prediction]
) -> list[Record]:
    """Predictions beside sources and targets, for scoring; examples without a target are left out.

    Raises ValueError unless there is one prediction an example.
    """
    rows: list[Record] = []
    for example, prediction in zip(examples, predictions, strict=True):
        target = target_of(task, example)
        if target is not None:
            source = source_of(task, example)
            rows.append(Record(source, target, prediction.text, prediction.ranked))
    return rows
