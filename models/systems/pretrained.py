"""What the systems on pre-trained encoder-decoders share: loading, fitting, generating.

Weights come from a folder, a Hub id or a fresh start, through transformers. Texts become ids in
``encode``, ids texts in ``decode``; the subclasses say how their papers write each task.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import torch
from transformers import AutoTokenizer
from transformers.utils import logging as transformers_logging

from models.systems.base import FitReport, Progress, System, answer_where_possible
from models.systems.card import UnusableCheckpoint
from models.systems.fitting import fit_model
from models.systems.recipes import Recipe
from models.tasks import Example, Prediction, Task, target_of

_BATCH = 16
IGNORED = -100
"""The label that carries no loss, as transformers has it."""


@dataclass(frozen=True, slots=True)
class Row:
    """One example as ids; ``extra`` is what a subclass needs beside the source's ids."""

    source: tuple[int, ...]
    target: tuple[int, ...]
    extra: Any = None


class Pretrained(System):
    """An encoder-decoder of transformers, with its tokenizer."""

    paper: ClassVar[Recipe]

    def __init__(self, recipe: Recipe | None = None) -> None:
        super().__init__()
        self.recipe = recipe or self.paper
        self.tokenizer: Any = None
        self.model: Any = None

    def build(self, texts: Sequence[str]) -> None:
        """Make a tokenizer from texts, and a fresh model, by the recipe."""
        raise NotImplementedError

    def open_weights(self, name: str) -> None:
        """Open a published checkpoint's tokenizer and model."""
        raise NotImplementedError

    def read_weights(self, folder: Path) -> None:
        """Open what ``write`` wrote; as a published checkpoint unless a subclass differs."""
        self.open_weights(str(folder))

    def encode(self, task: Task, example: Example) -> Row:
        """The example's source as ids; its ``target`` is empty."""
        raise NotImplementedError

    def encode_target(self, task: Task, example: Example, text: str) -> tuple[int, ...]:
        """The answer as ids, its end included."""
        raise NotImplementedError

    def decode(self, task: Task, example: Example, ids: Sequence[int]) -> str:
        """The answer's text, from generated ids without padding, start and end."""
        raise NotImplementedError

    def inputs(self, rows: Sequence[Row]) -> dict[str, Any]:
        """The model's keyword arguments for the sources of some rows."""
        pad = self.tokenizer.pad_token_id
        longest = max(len(row.source) for row in rows)
        ids = torch.tensor([[*row.source, *[pad] * (longest - len(row.source))] for row in rows])
        return {"input_ids": ids, "attention_mask": (ids != pad).long()}

    @classmethod
    def start_from(cls, name: str, recipe: Recipe | None = None) -> Pretrained:
        """Published weights, to be fine-tuned; not ready to predict.

        ``name`` is a folder or a Hub id. Raises UnusableCheckpoint where it cannot be had.
        """
        system = cls(recipe)
        system.open_weights(name)
        return system

    def fit(
        self,
        task: Task,
        train: Sequence[Example],
        valid: Sequence[Example] = (),
        progress: Progress | None = None,
        state: Path | None = None,
    ) -> FitReport:
        """See ``System.fit``. Without weights yet, fresh ones are made by the recipe."""
        usable = self.usable(task, train)
        torch.manual_seed(self.recipe.schedule.seed)
        if self.model is None:
            self.build([text for example in usable for text in _texts(task, example)])
        rows = [self._row(task, example) for example in usable]
        checked = [self._row(task, row) for row in (self.usable(task, valid) if valid else ())]
        report = fit_model(
            self.model,
            rows,
            checked,
            self._loss,
            lambda row: max(len(row.source), len(row.target)),
            self.recipe.schedule,
            self.recipe.shape.width,
            progress,
            state,
        )
        self.task, self.report = task, report
        return report

    def _row(self, task: Task, example: Example) -> Row:
        row = self.encode(task, example)
        target = self.encode_target(task, example, target_of(task, example) or "")
        return Row(row.source, target, row.extra)

    def _loss(self, rows: Sequence[Row]) -> torch.Tensor:
        longest = max(len(row.target) for row in rows)
        labels = torch.tensor(
            [[*row.target, *[IGNORED] * (longest - len(row.target))] for row in rows]
        )
        loss: torch.Tensor = self.model(**self.inputs(rows), labels=labels).loss
        return loss

    def predict(self, examples: Sequence[Example], beams: int = 1) -> list[Prediction]:
        """See ``System.predict``."""
        task = self.ready()
        return answer_where_possible(task, examples, lambda some: self._answer(task, some, beams))

    def _answer(self, task: Task, examples: list[Example], beams: int) -> list[Prediction]:
        self.model.eval()
        rows = [self.encode(task, example) for example in examples]
        order = sorted(range(len(rows)), key=lambda index: len(rows[index].source))
        answers = [Prediction("")] * len(rows)
        for start in range(0, len(order), _BATCH):
            part = order[start : start + _BATCH]
            found = self._generate([rows[index] for index in part], beams)
            for index, ranked in zip(part, found, strict=True):
                texts = tuple(self.decode(task, examples[index], ids) for ids, _ in ranked)
                answers[index] = Prediction(texts[0], texts, ranked[0][1])
        return answers

    @torch.inference_mode()
    def _generate(self, rows: Sequence[Row], beams: int) -> list[list[tuple[list[int], float]]]:
        """For each row the ids of ``beams`` answers, each with its confidence."""
        inputs = self.inputs(rows)
        made = self.model.generate(
            **inputs,
            num_beams=beams,
            num_return_sequences=beams,
            do_sample=False,
            max_new_tokens=self.recipe.shape.target_tokens,
        )
        confidences = self._confidences(rows, made, beams)
        fixed = self._fixed_ids()
        ids = [[number for number in row if number not in fixed] for row in made.tolist()]
        scored = list(zip(ids, confidences, strict=True))
        return [scored[start : start + beams] for start in range(0, len(scored), beams)]

    def _fixed_ids(self) -> frozenset[int]:
        tokenizer = self.tokenizer
        return frozenset(
            number
            for number in (
                tokenizer.pad_token_id, tokenizer.bos_token_id, tokenizer.eos_token_id,
                tokenizer.cls_token_id, tokenizer.sep_token_id,
            )
            if number is not None
        )  # fmt: skip

    def _confidences(self, rows: Sequence[Row], made: torch.Tensor, beams: int) -> list[float]:
        """The geometric mean of the generated tokens' probabilities, by one more pass."""
        pad = self.tokenizer.pad_token_id
        labels = made[:, 1:].clone()  # without the decoder's start token
        labels[labels == pad] = IGNORED
        repeated = [row for row in rows for _ in range(beams)]
        logits = self.model(**self.inputs(repeated), labels=labels).logits
        chosen = labels.clamp(min=0)
        logs = logits.log_softmax(-1).gather(2, chosen[:, :, None])[:, :, 0]
        counted = labels != IGNORED
        means = (logs * counted).sum(1) / counted.sum(1).clamp(min=1)
        return [float(value) for value in means.exp()]

    def write(self, folder: Path) -> Mapping[str, Any]:
        """See ``System.write``: safetensors and the tokenizer, in transformers' layout."""
        with quiet():
            self.model.save_pretrained(folder)
            self.tokenizer.save_pretrained(folder)
        shape = self.recipe.shape
        return {
            "recipe": self.recipe.name,
            "source_tokens": shape.source_tokens,
            "target_tokens": shape.target_tokens,
        }

    @classmethod
    def read(cls, folder: Path, details: Mapping[str, Any]) -> Pretrained:
        """See ``System.read``."""
        from dataclasses import replace

        system = cls()
        shape = replace(
            cls.paper.shape,
            source_tokens=details["source_tokens"],
            target_tokens=details["target_tokens"],
        )
        system.recipe = Recipe(details["recipe"], shape, cls.paper.schedule)
        system.read_weights(folder)
        return system


def _texts(task: Task, example: Example) -> list[str]:
    fields = (example.asked(task), example.revised, example.comment)
    return [text for text in fields if text]


class quiet:
    """Keeps transformers' progress bars and advice off standard error."""

    def __enter__(self) -> None:
        self._level = transformers_logging.get_verbosity()
        self._bars = transformers_logging.is_progress_bar_enabled()
        transformers_logging.set_verbosity_error()
        transformers_logging.disable_progress_bar()

    def __exit__(self, *_: object) -> None:
        transformers_logging.set_verbosity(self._level)
        if self._bars:
            transformers_logging.enable_progress_bar()


def open_tokenizer(name: str) -> Any:
    """A published tokenizer. Raises UnusableCheckpoint where it cannot be had."""
    try:
        with quiet():
            return AutoTokenizer.from_pretrained(name, clean_up_tokenization_spaces=False)
    except (OSError, ValueError, KeyError) as error:
        raise cannot_load(name, "tokenizer") from error


def open_model(auto: Any, name: str, **arguments: Any) -> Any:
    """Published weights by one of transformers' classes, in float32, ready to predict.

    Raises UnusableCheckpoint where they cannot be had.
    """
    try:
        with quiet():
            model = auto.from_pretrained(name, dtype=torch.float32, **arguments)
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise cannot_load(name, "weights") from error
    model.eval()
    return model


def cannot_load(name: str, what: str) -> UnusableCheckpoint:
    """The one line for a checkpoint that is not there or not whole."""
    return UnusableCheckpoint(
        f"{name}: its {what} cannot be loaded; give a folder with the checkpoint's files, or a Hub "
        "id that is in the local cache (or unset HF_HUB_OFFLINE to fetch it)"
    )
