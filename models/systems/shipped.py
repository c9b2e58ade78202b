"""The shipped line-edit model as a system of the benchmark.

It reads data of any of the layouts: whole Java methods are abstracted and restored
(``java_methods``), other code in lines is cut into windows, one-line Java into pseudo-lines at
statements. A revision is the code with the model's edits applied;
where no edit that still parses is expected to be worth its risk (``models.systems.decision``), the
code as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from models.generators.base import Answer
from models.generators.line_edits import apply_edits
from models.generators.requests_model import available as requests_available
from models.systems.base import (
    FitReport,
    Progress,
    System,
    SystemFault,
    answer_where_possible,
)
from models.systems.cutting import Cut, remark_window, window_of
from models.systems.decision import Stakes, choose
from models.systems.explaining import Choices, comment_logs, weighed
from models.systems.java_methods import AbstractedMethod, abstracted_method
from models.systems.mending import mended
from models.systems.soundness import parses_like
from models.systems.views import View, views_of
from models.tasks import Example, Prediction, Task

if TYPE_CHECKING:
    from models.generators.base import Generator
    from models.generators.t5_said import CommentLikelihood

DEFAULT_FOLDER = Path(__file__).resolve().parents[1] / "weights" / "default"
ABSTRACTED_FOLDERS = (
    DEFAULT_FOLDER.parent / "abstracted",
    DEFAULT_FOLDER.parent / "abstracted_reshuffled",
    DEFAULT_FOLDER.parent / "abstracted_grown",
)
"""The default model trained on for Trans-Review's abstracted methods, on them as they are numbered,
then on more methods under numbers dealt out anew, then grown and trained on. Together they are
right more often than each."""
SAID_FOLDER = DEFAULT_FOLDER.parent / "said"
"""What comment led to a revision: the model that the revisions of ``ABSTRACTED_FOLDERS`` are
weighed by where there is a comment."""
EXPLAINED = 0.7
"""The power of the comment's probability (``explaining``), chosen as ``STAKES``."""
_BEAMS = 4
"""Width of the beam search on code that is not abstracted, whose answers are weighed together."""


@dataclass(frozen=True, slots=True)
class Asked:
    """How the models are asked about an abstracted method: under how many numberings, for how many
    answers each time (so wide is the beam search), and what each of ``ABSTRACTED_FOLDERS`` counts.
    """

    views: int
    answers: int
    shares: tuple[float, ...]


ASKED = {Task.CRA: Asked(3, 4, (1.0, 1.0, 1.0)), Task.CRB: Asked(1, 16, (1.0, 1.0, 2.0))}
"""With a comment the models often know what is to be done, and other numberings mend slips;
without one they are unsure, and what helps is to see more of what they hold possible (all on the
held part, as ``STAKES``)."""
STAKES = {Task.CRA: Stakes(0.002, 0.7), Task.CRB: Stakes(0.03, 0.85)}
"""What a wrong token costs in abstracted methods, chosen on the held part of ``trans_review``'s
training file (417 methods; ``tests.bench.abstracted_choice``): for an aggregate Edit Progress above
that of copying, which is 0, at the least loss of exact matches (with a comment, and some room)."""
REAL_CODE_STAKES = Stakes(0.02, 1.0)
"""The same in real code, where the model is hardly ever right and is surer than it should be."""


class ShippedSystem(System):
    """The shipped checkpoint that serves each example, or another one of its format.

    Args:
        task: what to predict.
        folder: a checkpoint for every example. ``None``: abstracted methods, and whole Java methods
            in that dialect (``java_methods``), are revised by ``ABSTRACTED_FOLDERS``, which know
            nothing else; all other code is by ``DEFAULT_FOLDER``.
    """

    kind = "default"
    tasks = frozenset({Task.CRB, Task.CRA, Task.RCG})

    def __init__(self, task: Task | None = None, folder: Path | None = None) -> None:
        super().__init__()
        self.task = task
        self.folder = folder
        self._generators: dict[tuple[Path, int], Generator] = {}
        self._said: CommentLikelihood | None = None

    def generators(self, abstracted: bool = False) -> list[Generator]:
        """The models that serve abstracted or other code, loaded when first asked for; for
        abstracted code with beams as wide as ``ASKED`` says.

        Raises:
            SystemFault: there is no usable checkpoint.
        """
        shipped = ABSTRACTED_FOLDERS if abstracted else (DEFAULT_FOLDER,)
        folders = (self.folder,) if self.folder else shipped
        asked = ASKED.get(self.task) if self.task and abstracted else None
        beams = asked.answers if asked else _BEAMS
        return [self._generator(folder, beams) for folder in folders]

    def _generator(self, folder: Path, beams: int) -> Generator:
        if (folder, beams) not in self._generators:
            from models.generators.base import GeneratorError
            from models.generators.t5_edits import load_reviewer

            try:
                self._generators[folder, beams] = load_reviewer(folder, beams=beams)
            except GeneratorError as error:
                raise SystemFault(str(error)) from error
        return self._generators[folder, beams]

    def _likelihood(self) -> CommentLikelihood:
        if self._said is None:
            from models.generators.base import GeneratorError
            from models.generators.t5_said import CommentLikelihood

            try:
                self._said = CommentLikelihood(SAID_FOLDER)
            except GeneratorError as error:
                raise SystemFault(str(error)) from error
        return self._said

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
        whole = [self._as_method(example) for example in examples]
        asked = [e if m is None else m.example for e, m in zip(examples, whole, strict=True)]
        found = self._predict_each(asked, beams)
        return [p if m is None else m.answered(p) for m, p in zip(whole, found, strict=True)]

    def _as_method(self, example: Example) -> AbstractedMethod | None:
        """A raw Java method that the models of the abstracted dialect are asked about."""
        return None if self.folder else abstracted_method(example, self.ready())

    def _predict_each(self, examples: Sequence[Example], beams: int) -> list[Prediction]:
        result: dict[int, Prediction] = {}
        by_server: dict[str, list[int]] = {}
        for place, example in enumerate(examples):
            by_server.setdefault(self._server(example), []).append(place)
        for server, chosen in by_server.items():
            some = [examples[i] for i in chosen]
            result.update(zip(chosen, self._predict(some, beams, server), strict=True))
        return [result[i] for i in range(len(examples))]

    def _server(self, example: Example) -> str:
        if example.abstracted:
            return "abstracted"
        return "requests" if self._is_request(example) else "default"

    def _is_request(self, example: Example) -> bool:
        """Whether it is a comment on marked lines of real code, for which there is a model."""
        return (
            self.folder is None
            and self.ready() is Task.CRA
            and not example.abstracted
            and bool(example.comment)
            and "\n" in example.marked_code.strip("\n")
            and requests_available()
        )

    def _predict(self, examples: Sequence[Example], beams: int, server: str) -> list[Prediction]:
        task = self.ready()

        def answer(some: list[Example]) -> list[Prediction]:
            if server == "requests":
                generators: list[Generator] = [self._rewriter]
            else:
                generators = self.generators(server == "abstracted")
            return (self._remarks if task is Task.RCG else self._revisions)(some, beams, generators)

        return answer_where_possible(task, examples, answer)

    @cached_property
    def _rewriter(self) -> Generator:
        from models.generators.rewriter import Rewriter

        return Rewriter()

    def _revisions(
        self, examples: Sequence[Example], beams: int, generators: Sequence[Generator]
    ) -> list[Prediction]:
        answered = self.choices(examples, generators, beams)
        logs = self.comment_logs(examples, [choices for choices, _ in answered])
        return [
            _ranked(
                weighed(choices, said, EXPLAINED), nothing, example, beams, self._stakes(example)
            )
            for (choices, nothing), said, example in zip(answered, logs, examples, strict=True)
        ]

    def _stakes(self, example: Example) -> Stakes:
        return STAKES[self.ready()] if example.abstracted else REAL_CODE_STAKES

    def choices(
        self, examples: Sequence[Example], generators: Sequence[Generator], beams: int = 1
    ) -> list[tuple[list[tuple[float, str]], float]]:
        """Revised texts with their probabilities, best first, and that of "nothing to revise".

        The answers of all models to all views of an example (``views_of``) are put together: a
        text's probability is the mean over them, by the models' shares. Those to an abstracted
        method count for what they mean (``mending``).
        """
        way = ASKED[self.ready()]
        asked = [
            (place, view, window_of(view.example, self.ready(), by_line=self._is_request(example)))
            for place, example in enumerate(examples)
            for view in views_of(example, way.views)
        ]
        abstracted = any(example.abstracted for example in examples)
        wanted = max(way.answers if abstracted else _BEAMS, beams)
        pools = [_Pool() for _ in examples]
        equal = not abstracted or len(generators) != len(way.shares)
        shares = (1.0,) * len(generators) if equal else way.shares
        for generator, share in zip(generators, shares, strict=True):
            written = generator.revise([cut.window for _, _, cut in asked], answers=wanted)
            for (place, view, cut), answers in zip(asked, written, strict=True):
                pools[place].add(view, cut, answers, share)
        for pool, example in zip(pools, examples, strict=True):
            if example.abstracted:
                pool.mend(example)
        return [pool.ranked() for pool in pools]

    def comment_logs(
        self, examples: Sequence[Example], found: Sequence[Choices]
    ) -> list[list[float | None]]:
        """How well each choice explains the comment, for abstracted methods with one that the
        shipped models answered (``explaining.comment_logs``); else no numbers."""
        if self.folder or self.ready() is not Task.CRA:
            return [[] for _ in found]
        abstracted = [i for i, example in enumerate(examples) if example.abstracted]
        if not abstracted:
            return [[] for _ in found]
        logs = comment_logs(
            self._likelihood(), [examples[i] for i in abstracted], [found[i] for i in abstracted]
        )
        by_place = dict(zip(abstracted, logs, strict=True))
        return [by_place.get(i, []) for i in range(len(found))]

    def _remarks(
        self, examples: Sequence[Example], beams: int, generators: Sequence[Generator]
    ) -> list[Prediction]:
        windows = [remark_window(example) for example in examples]
        # of one beam alone the text may be empty, which is no comment
        found = generators[0].comment(windows, answers=max(_BEAMS, beams))
        result: list[Prediction] = []
        for answers in found:
            best = sorted(answers, key=lambda answer: -answer.confidence)[: max(1, beams)]
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


class _Pool:
    """The answers to all views of one example, equal ones together."""

    def __init__(self) -> None:
        self.asked = 0.0
        self.texts: dict[str, float] = {}
        self.nothing = 0.0

    def add(self, view: View, cut: Cut, answers: Sequence[Answer], share: float) -> None:
        """Take in the answers to one view."""
        self.asked += share
        self.nothing += share * (answers[0].nothing if answers else 1.0)
        for answer in answers:
            text = cut.whole(apply_edits(cut.window.lines, answer.edits))
            own = view.restored(text)
            if own is not None:
                self.texts[own] = self.texts.get(own, 0.0) + share * answer.probability

    def mend(self, example: Example) -> None:
        """Put each text with a slip to the one that was meant; the source itself is no revision."""
        source, mend = example.unmarked().split(), mended(example)
        texts, self.texts = self.texts, {}
        for text, mass in texts.items():
            meant = mend(text)
            if meant.split() != source:
                self.texts[meant] = self.texts.get(meant, 0.0) + mass

    def ranked(self) -> tuple[list[tuple[float, str]], float]:
        """Each text's mean probability over the views, best first, and that of ``<none>``."""
        texts = [(mass / self.asked, text) for text, mass in self.texts.items()]
        return sorted(texts, key=lambda choice: -choice[0]), self.nothing / self.asked


def _ranked(
    edits: Sequence[tuple[float, str]],
    nothing: float,
    example: Example,
    beams: int,
    stakes: Stakes,
) -> Prediction:
    source = (nothing, example.unmarked())
    given = choose(source[1], edits, stakes, parses_like(example))
    most = max(1, beams)
    if given is None:
        choices = [source, *edits[:most]]
    else:
        others = [edit for place, edit in enumerate(edits) if place != given]
        choices = [edits[given], *others[: most - 1], source]
    return Prediction(choices[0][1], tuple(text for _, text in choices), choices[0][0])
