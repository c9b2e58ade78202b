"""The shipped line-edit model as a system of the benchmark.

It reads data of any of the layouts: code in lines is cut into windows, one-line Java (raw or
abstracted) into pseudo-lines at statements. A revision is the code with the model's edits applied;
where no edit is probable enough, the code as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from models.generators.base import Answer, Window
from models.generators.line_edits import LANGUAGES, apply_edits
from models.hunk_text import parse_hunks
from models.systems.base import (
    FitReport,
    Progress,
    System,
    SystemFault,
    answer_where_possible,
)
from models.tasks import Example, Prediction, Task
from models.training.abstracted import marked_pieces
from models.training.examples import join, pieces

if TYPE_CHECKING:
    from models.generators.base import Generator

DEFAULT_FOLDER = Path(__file__).resolve().parents[1] / "weights" / "default"
ABSTRACTED_FOLDER = DEFAULT_FOLDER.parent / "abstracted"
"""The default model, trained on for Trans-Review's abstracted methods alone."""
MAX_LINES = 40
LEAST = 0.05
"""The least probability of an edit that is given for an answer: below it hardly any is right, and
the wrong ones cost Edit Progress. The largest of those tried that costs no exact match on the held
part of ``trans_review``'s training file (``tests.bench.abstracted_threshold``)."""


@dataclass(frozen=True, slots=True)
class _Cut:
    """An example as a window: what stands before and after it, and how lines join again."""

    window: Window
    before: tuple[str, ...]
    after: tuple[str, ...]
    one_line: bool

    def whole(self, lines: Sequence[str]) -> str:
        """The example's text with the window's lines replaced."""
        every = [*self.before, *lines, *self.after]
        return join(every) if self.one_line else "\n".join(every)


class ShippedSystem(System):
    """The shipped checkpoint that serves each example, or another one of its format.

    Args:
        task: what to predict.
        folder: a checkpoint for every example. ``None``: abstracted methods are answered by
            ``ABSTRACTED_FOLDER``, which knows nothing else, all other code by ``DEFAULT_FOLDER``.
    """

    kind = "default"
    tasks = frozenset({Task.CRB, Task.CRA, Task.RCG})

    def __init__(self, task: Task | None = None, folder: Path | None = None) -> None:
        super().__init__()
        self.task = task
        self.folder = folder
        self._generators: dict[Path, Generator] = {}

    def generator(self, abstracted: bool = False) -> Generator:
        """The model that serves abstracted or other code, loaded when first asked for.

        Raises:
            SystemFault: there is no usable checkpoint.
        """
        folder = self.folder or (ABSTRACTED_FOLDER if abstracted else DEFAULT_FOLDER)
        if folder not in self._generators:
            from models.generators.base import GeneratorError
            from models.generators.t5_edits import T5EditGenerator

            try:
                self._generators[folder] = T5EditGenerator(folder)
            except GeneratorError as error:
                raise SystemFault(str(error)) from error
        return self._generators[folder]

    def fit(
        self,
        task: Task,
        train: Sequence[Example],
        valid: Sequence[Example] = (),
        progress: Progress | None = None,
        state: Path | None = None,
    ) -> FitReport:
        """The shipped model is trained by ``marginalia train``, not here."""
        raise SystemFault(
            "the shipped model is not fitted here; use: marginalia train --out FOLDER"
        )

    def predict(self, examples: Sequence[Example], beams: int = 1) -> list[Prediction]:
        """One prediction an example (see ``System.predict``)."""
        result: dict[int, Prediction] = {}
        for abstracted in (False, True):
            chosen = [i for i, example in enumerate(examples) if example.abstracted is abstracted]
            some = [examples[i] for i in chosen]
            result.update(zip(chosen, self._predict(some, beams, abstracted), strict=True))
        return [result[i] for i in range(len(examples))]

    def _predict(
        self, examples: Sequence[Example], beams: int, abstracted: bool
    ) -> list[Prediction]:
        task = self.ready()
        if not examples:
            return []
        answer = self._remarks if task is Task.RCG else self._revisions
        return answer_where_possible(
            task, examples, lambda some: answer(some, beams, self.generator(abstracted))
        )

    def _revisions(
        self, examples: Sequence[Example], beams: int, generator: Generator
    ) -> list[Prediction]:
        cuts = [_cut(example, self.ready()) for example in examples]
        found = generator.revise([cut.window for cut in cuts], answers=max(1, beams))
        return [
            _ranked(cut, example, answers)
            for cut, example, answers in zip(cuts, examples, found, strict=True)
        ]

    def _remarks(
        self, examples: Sequence[Example], beams: int, generator: Generator
    ) -> list[Prediction]:
        windows = [_remark_window(example) for example in examples]
        found = generator.comment(windows, answers=max(1, beams))
        result: list[Prediction] = []
        for answers in found:
            best = sorted(answers, key=lambda answer: -answer.confidence)
            texts = tuple(answer.text for answer in best)
            result.append(
                Prediction(texts[0], texts, best[0].confidence)
                if best
                else Prediction("", ("",), 0.0)
            )
        return result

    def write(self, folder: Path) -> Mapping[str, Any]:
        """Remember where the checkpoint is; nothing where it is the shipped ones."""
        return {"folder": str(self.folder)} if self.folder else {}

    @classmethod
    def read(cls, folder: Path, details: Mapping[str, Any]) -> ShippedSystem:
        """See ``System.read``."""
        return cls(folder=Path(str(details["folder"])) if "folder" in details else None)


def _language(example: Example) -> str:
    if example.abstracted:
        return "abstracted"
    return example.language if example.language in LANGUAGES else "java"


def _cut(example: Example, task: Task) -> _Cut:
    code = example.unmarked()
    one_line = "\n" not in code.strip("\n")
    lines = pieces(code) if one_line else tuple(code.split("\n"))
    marked: frozenset[int] = frozenset()
    # CRB is asked before any review: where a comment will stand is not known
    if example.marked_code and one_line and task is Task.CRA:
        marked = frozenset(i for i in marked_pieces(example.marked_code) if i < len(lines))
    # a window as long as the model reads, around what is marked, else from the top
    low = 0
    if len(lines) > MAX_LINES:
        centre = min(marked) if marked else 0
        low = max(0, min(centre - MAX_LINES // 2, len(lines) - MAX_LINES))
    high = min(len(lines), low + MAX_LINES)
    window = Window(
        _language(example),
        lines[low:high],
        frozenset(i - low for i in marked if low <= i < high),
        comment=(example.comment or "") if task is Task.CRA else "",
    )
    return _Cut(window, lines[:low], lines[high:], one_line)


def _ranked(cut: _Cut, example: Example, answers: Sequence[Answer]) -> Prediction:
    edits = sorted(
        ((a.probability, cut.whole(apply_edits(cut.window.lines, a.edits))) for a in answers),
        key=lambda choice: -choice[0],
    )
    source = (answers[0].nothing if answers else 1.0, example.unmarked())
    sure = bool(edits) and edits[0][0] >= LEAST
    choices = [*edits, source] if sure else [source, *edits]
    return Prediction(choices[0][1], tuple(text for _, text in choices), choices[0][0])


def _remark_window(example: Example) -> Window:
    if example.diff:
        rows = [line for hunk in parse_hunks(example.diff) for line in hunk.lines][-14:]
        return Window(
            _language(example),
            tuple(line.text for line in rows),
            frozenset(i for i, line in enumerate(rows) if line.kind.value == "added"),
            frozenset(i for i, line in enumerate(rows) if line.kind.value == "deleted"),
        )
    shown = example.shown()
    lines = pieces(shown) if "\n" not in shown.strip("\n") else tuple(shown.split("\n"))
    return Window(_language(example), lines[:MAX_LINES])
