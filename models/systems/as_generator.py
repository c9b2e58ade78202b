"""Any system as a generator of the bot: windows in, line edits or comments out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from models.generators.base import Answer, GeneratorError, Window
from models.systems.base import System
from models.tasks import END_MARK, START_MARK, Example, Prediction, Task
from models.training.examples import diff_edits


class SystemGenerator:
    """A fitted system behind the interface of ``models.generators.base.Generator``.

    ``version`` tells weights apart in a candidate's origin. A system has one confidence an
    answer, so that stands for all of an answer's probabilities; where its first answer is the
    code as it is, that is the probability of "nothing to revise".
    """

    reads_methods = False
    reads_code = False

    def __init__(self, system: System, version: str = "") -> None:
        self.system = system
        self._task = system.ready()
        self._version = version

    @property
    def name(self) -> str:
        """The system's kind, with the version of its weights."""
        return f"{self.system.kind}:{self._version}" if self._version else self.system.kind

    @property
    def card(self) -> Mapping[str, Any]:
        """Format and tasks; revisions are not calibrated."""
        return {"format": self.system.kind, "tasks": [self._task.value]}

    @property
    def tasks(self) -> frozenset[str]:
        """The one task that the system is fitted for."""
        return frozenset({self._task.value})

    def revise(self, windows: Sequence[Window], *, answers: int = 1) -> list[list[Answer]]:
        """At most ``answers`` revisions a window; see ``Generator.revise``."""
        self._must_do(Task.CRB, Task.CRA)
        examples = [revision_example(str(i), window) for i, window in enumerate(windows)]
        found = self.system.predict(examples, answers)
        return [
            _revisions(window, prediction)
            for window, prediction in zip(windows, found, strict=True)
        ]

    def comment(self, windows: Sequence[Window], *, answers: int = 1) -> list[list[Answer]]:
        """At most ``answers`` comments a window; see ``Generator.comment``."""
        self._must_do(Task.RCG)
        examples = [_hunk_example(str(i), window) for i, window in enumerate(windows)]
        return [
            [
                Answer(one.confidence, one.confidence, one.confidence, 0.0, text=text)
                for text in one.ranked
                if text.strip()
            ]
            for one in self.system.predict(examples, answers)
        ]

    def _must_do(self, *tasks: Task) -> None:
        if self._task not in tasks:
            raise GeneratorError(
                f"{self.name} is fitted for {self._task}, not for {' or '.join(tasks)}; "
                "name another model for this"
            )


def revision_example(identity: str, window: Window) -> Example:
    """A window as an example of either task of revision; ``changed`` lines are what is marked."""
    lines = list(window.lines)
    marked = ""
    if window.changed:
        first, last = min(window.changed), max(window.changed)
        shown = [*lines]
        shown[first] = f"{START_MARK} {shown[first]}"
        shown[last] = f"{shown[last]} {END_MARK}"
        marked = "\n".join(shown)
    return Example(
        identity, "\n".join(lines), marked, comment=window.comment, language=window.language
    )


def _hunk_example(identity: str, window: Window) -> Example:
    signs = ["-" if i in window.removed else "+" if i in window.changed else " "
             for i in range(len(window.lines))]  # fmt: skip
    rows = [sign + line for sign, line in zip(signs, window.lines, strict=True)]
    old, new = sum(sign != "+" for sign in signs), sum(sign != "-" for sign in signs)
    return Example(
        identity,
        "\n".join(window.lines),
        diff="\n".join([f"@@ -1,{old} +1,{new} @@", *rows]),
        language=window.language,
    )


def _revisions(window: Window, prediction: Prediction) -> list[Answer]:
    confidence = prediction.confidence
    unchanged = prediction.text == "\n".join(window.lines)
    found: list[Answer] = []
    for text in prediction.ranked:
        edits = diff_edits(window.lines, text.split("\n"))
        if edits:
            nothing = confidence if unchanged else 0.0
            found.append(Answer(confidence, confidence, confidence, nothing, edits))
    return found
