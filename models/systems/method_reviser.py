"""The shipped models of abstracted methods as a generator: a reviewer's comment on a Java method
in, the revision it asks for out (CRA).

It reads whole methods. Asked about other code, or about a method without a comment, it has no
answer: what it was trained on was revised always, so it cannot tell what needs no revision.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from models.generators.base import Answer, Window
from models.generators.checkpoint import weights_hash
from models.systems.as_generator import revision_example
from models.systems.java_methods import abstracted_method
from models.systems.shipped import ABSTRACTED_FOLDERS, SAID_FOLDER, ShippedSystem
from models.tasks import Example, Task
from models.training.examples import diff_edits

CALIBRATION: tuple[tuple[float, float], ...] = (
    (0.0, 0.0), (0.013, 0.04), (0.0397, 0.04), (0.062, 0.075), (0.0947, 0.12), (0.1285, 0.135),
    (0.1741, 0.135), (0.2393, 0.143), (0.3239, 0.314), (0.4698, 0.444), (0.7223, 0.708),
)  # fmt: skip
"""A revision's probability, and how often one of such a probability was exactly what people wrote,
on the held part of Trans-Review's training file (``tests.bench.method_answers --held``)."""


class MethodReviser:
    """Revisions of whole Java methods that a comment asks for (``generators.base.Generator``)."""

    tasks = frozenset({"cra"})
    reads_methods = True
    reads_code = False

    def __init__(self) -> None:
        self._system = ShippedSystem(Task.CRA)

    @cached_property
    def name(self) -> str:
        """``t5-methods:`` and the hashes of the four checkpoints' weights, shortened."""
        folders = (*ABSTRACTED_FOLDERS, SAID_FOLDER)
        return "t5-methods:" + "".join(weights_hash(folder)[:3] for folder in folders)

    @property
    def card(self) -> Mapping[str, Any]:
        """The one task, and the calibration of its revisions."""
        return {"tasks": ["cra"], "calibration": [list(pair) for pair in CALIBRATION]}

    def revise(self, windows: Sequence[Window], *, answers: int = 1) -> list[list[Answer]]:
        """For each window that is a whole Java method with a comment at most one revision.

        Its ``probability`` is the share of all that the models hold possible that this text has,
        weighed by how well it explains the comment; a token has none of its own.
        """
        result: list[list[Answer]] = [[] for _ in windows]
        asked: list[tuple[int, Example]] = []
        for place, window in enumerate(windows):
            example = revision_example(str(place), window)
            if window.comment and abstracted_method(example, Task.CRA) is not None:
                asked.append((place, example))
        found = self._system.predict([example for _, example in asked])
        for (place, _), prediction in zip(asked, found, strict=True):
            edits = diff_edits(windows[place].lines, prediction.text.split("\n"))
            if edits and answers > 0:
                p = prediction.confidence
                result[place].append(Answer(p, p, p, 0.0, edits))
        return result

    def comment(self, windows: Sequence[Window], *, answers: int = 1) -> list[list[Answer]]:
        """Nothing: it was asked about hunks by nobody."""
        return [[] for _ in windows]
