"""Trans-Review and AutoTransform: a Transformer trained on review data alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

import torch
from safetensors.torch import load_file, save_file

from models.preprocess.abstraction import Abstraction, UnknownPlaceholder, abstract
from models.preprocess.bpe import Bpe
from models.preprocess.comments import dialect_comment
from models.preprocess.java_lexer import tokenize
from models.preprocess.layout import lay_out
from models.systems.base import FitReport, Progress, System, answer_where_possible
from models.systems.beam import Hypothesis, beam_search
from models.systems.fitting import fit_model
from models.systems.recipes import AUTOTRANSFORM, TRANS_REVIEW_CRA, TRANS_REVIEW_CRB, Recipe, Shape
from models.systems.transformer import END, PAD, START, Transformer
from models.systems.words import Words
from models.tasks import Example, Prediction, Task

Pieces = list[str]
Read = Callable[[Sequence[str]], str]

_BATCH = 32


@dataclass(frozen=True, slots=True)
class _Row:
    sources: tuple[tuple[int, ...], ...]
    target: tuple[int, ...]


class FromScratch(System):
    """An encoder-decoder over a vocabulary of pieces; what a piece is, the subclasses say."""

    def __init__(self, recipe: Recipe | None = None) -> None:
        super().__init__()
        self._asked = recipe
        self.recipe: Recipe | None = None
        self.words: Words | None = None
        self.model: Transformer | None = None

    def default_recipe(self, task: Task) -> Recipe:
        """The paper's."""
        raise NotImplementedError

    def learn_pieces(self, task: Task, examples: Sequence[Example], recipe: Recipe) -> None:
        """Learn what cuts texts into pieces, where anything must be learnt."""

    def pieces(
        self, task: Task, example: Example, answer: str | None
    ) -> tuple[list[Pieces], Pieces, Read]:
        """The sources' pieces, those of the answer, and what reads an answer's pieces back."""
        raise NotImplementedError

    def fit(
        self,
        task: Task,
        train: Sequence[Example],
        valid: Sequence[Example] = (),
        progress: Progress | None = None,
        state: Path | None = None,
    ) -> FitReport:
        """See ``System.fit``."""
        usable = self.usable(task, train)
        recipe = self._asked or self.default_recipe(task)
        torch.manual_seed(recipe.schedule.seed)
        self.learn_pieces(task, usable, recipe)
        cut = [self.pieces(task, example, example.revised)[:2] for example in usable]
        words = Words.learn(
            (text for sources, target in cut for text in (*sources, target)),
            recipe.shape.vocabulary,
        )
        model = Transformer(recipe.shape, len(words), len(cut[0][0]))
        self.words, self.model, self.recipe = words, model, recipe
        rows = [self._row(sources, target) for sources, target in cut]
        checked = [
            self._row(*self.pieces(task, example, example.revised)[:2])
            for example in (self.usable(task, valid) if valid else ())
        ]
        smoothing = recipe.schedule.smoothing

        def loss(batch: Sequence[_Row]) -> torch.Tensor:
            out: torch.Tensor = model(
                _sources([row.sources for row in batch]),
                _pad([row.target for row in batch]),
                smoothing if model.training else 0.0,
            )
            return out

        def length(row: _Row) -> int:
            return max(len(row.target), *map(len, row.sources))

        report = fit_model(
            model, rows, checked, loss, length, recipe.schedule, recipe.shape.width, progress, state
        )
        self.task, self.report = task, report
        return report

    def _row(self, sources: Sequence[Pieces], target: Pieces) -> _Row:
        words, shape = self._fitted()[1:]
        return _Row(
            tuple(self._source_ids(pieces, words, shape) for pieces in sources),
            (START, *words.encode(target)[: shape.target_tokens - 1], END),
        )

    @staticmethod
    def _source_ids(pieces: Pieces, words: Words, shape: Shape) -> tuple[int, ...]:
        return (*words.encode(pieces)[: shape.source_tokens - 1], END)

    def _fitted(self) -> tuple[Transformer, Words, Shape]:
        if self.model is None or self.words is None or self.recipe is None:
            self.ready()
            raise AssertionError(f"{self.kind} has a task but no weights")
        return self.model, self.words, self.recipe.shape

    def predict(self, examples: Sequence[Example], beams: int = 1) -> list[Prediction]:
        """See ``System.predict``."""
        task = self.ready()
        return answer_where_possible(task, examples, lambda some: self._answer(task, some, beams))

    def _answer(self, task: Task, examples: list[Example], beams: int) -> list[Prediction]:
        model, words, shape = self._fitted()
        cut = [self.pieces(task, example, None) for example in examples]
        sources = [
            tuple(self._source_ids(pieces, words, shape) for pieces in row[0]) for row in cut
        ]
        order = sorted(range(len(cut)), key=lambda index: max(map(len, sources[index])))
        answers = [Prediction("")] * len(cut)
        for start in range(0, len(order), _BATCH):
            part = order[start : start + _BATCH]
            longest = max(len(sources[index][-1]) for index in part)
            limit = min(shape.target_tokens, 2 * longest + 16)
            found = beam_search(model, _sources([sources[i] for i in part]), beams, limit)
            for index, hypotheses in zip(part, found, strict=True):
                answers[index] = self._prediction(hypotheses, words, cut[index][2])
        return answers

    @staticmethod
    def _prediction(hypotheses: Sequence[Hypothesis], words: Words, read: Read) -> Prediction:
        texts = tuple(read(words.decode(hypothesis.ids)) for hypothesis in hypotheses)
        return Prediction(texts[0], texts, math.exp(hypotheses[0].score))

    def write(self, folder: Path) -> Mapping[str, Any]:
        """See ``System.write``."""
        model, words, _ = self._fitted()
        save_file(model.state_dict(), folder / "model.safetensors")
        words.save(folder / "words.json")
        recipe = self.recipe
        return {
            "recipe": recipe.name if recipe else "",
            "shape": asdict(model.shape),
            "sources": model.sources,
        }

    @classmethod
    def read(cls, folder: Path, details: Mapping[str, Any]) -> FromScratch:
        """See ``System.read``."""
        system = cls()
        shape = Shape(**details["shape"])
        system.words = Words.load(folder / "words.json")
        system.model = Transformer(shape, len(system.words), details["sources"])
        system.model.load_state_dict(load_file(folder / "model.safetensors"))
        system.model.eval()
        system.recipe = Recipe(details["recipe"], shape, TRANS_REVIEW_CRB.schedule)
        return system


class TransReview(FromScratch):
    """Tufano et al. (2021): abstracted code; the comment is a second source for CRA.

    Raw Java is abstracted on the way in and restored, in the source's layout, on the way out. An
    answer with a placeholder that stands for nothing cannot be restored and becomes the source.
    """

    kind = "trans_review"
    tasks = frozenset({Task.CRB, Task.CRA})

    def default_recipe(self, task: Task) -> Recipe:
        """One encoder's best configuration for CRB, two encoders' for CRA."""
        return TRANS_REVIEW_CRB if task is Task.CRB else TRANS_REVIEW_CRA

    def pieces(
        self, task: Task, example: Example, answer: str | None
    ) -> tuple[list[Pieces], Pieces, Read]:
        """Abstracted tokens: of the code, or of the comment and the marked code."""
        code = example.asked(task)
        comment = example.comment or ""
        if example.abstracted:
            sources = [code.split()] if task is Task.CRB else [comment.split(), code.split()]
            return sources, (answer or "").split(), " ".join
        pair = abstract(code, answer) if answer is not None else abstract(code)
        source = pair.texts[0].split()
        target = pair.texts[1].split() if answer is not None else []
        read = _restorer(example.unmarked(), pair)
        if task is Task.CRB:
            return [source], target, read
        return [dialect_comment(comment, pair).split(), source], target, read


def _restorer(code: str, abstraction: Abstraction) -> Read:
    tokens = tokenize(code)

    def read(pieces: Sequence[str]) -> str:
        try:
            # Literals may hold spaces, so each token is restored by itself.
            restored = [abstraction.restore(piece) for piece in pieces]
        except UnknownPlaceholder:
            return code
        return lay_out(code, tokens, restored) if restored else ""

    return read


class AutoTransform(FromScratch):
    """Thongtanunam et al. (2022): BPE subwords of the code as it is, and a Transformer."""

    kind = "autotransform"
    tasks: ClassVar[frozenset[Task]] = frozenset({Task.CRB})

    def __init__(self, recipe: Recipe | None = None) -> None:
        super().__init__(recipe)
        self.bpe: Bpe | None = None

    def default_recipe(self, task: Task) -> Recipe:
        """BPE of 2,000 merges, one encoder layer, two decoder layers."""
        return AUTOTRANSFORM

    def learn_pieces(self, task: Task, examples: Sequence[Example], recipe: Recipe) -> None:
        """Learn the BPE from the training texts, both sides."""
        self.bpe = Bpe.learn(
            (text for example in examples for text in (example.unmarked(), example.revised or "")),
            recipe.merges,
        )

    def pieces(
        self, task: Task, example: Example, answer: str | None
    ) -> tuple[list[Pieces], Pieces, Read]:
        """Subwords."""
        if self.bpe is None:
            self.ready()
            raise AssertionError("an AutoTransform with weights has a BPE")
        return [self.bpe.encode(example.unmarked())], self.bpe.encode(answer or ""), Bpe.decode

    def write(self, folder: Path) -> Mapping[str, Any]:
        """See ``System.write``."""
        details = super().write(folder)
        if self.bpe is not None:
            self.bpe.save(folder / "bpe.json")
        return details

    @classmethod
    def read(cls, folder: Path, details: Mapping[str, Any]) -> AutoTransform:
        """See ``System.read``."""
        system = super().read(folder, details)
        assert isinstance(system, AutoTransform)  # noqa: S101 - for the type checker
        system.bpe = Bpe.load(folder / "bpe.json")
        return system


def _pad(rows: Sequence[Sequence[int]]) -> torch.Tensor:
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[PAD] * (longest - len(row))] for row in rows])


def _sources(rows: Sequence[tuple[tuple[int, ...], ...]]) -> list[torch.Tensor]:
    return [_pad([row[number] for row in rows]) for number in range(len(rows[0]))]
