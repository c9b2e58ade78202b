"""The T5 family: T5-Review (Tufano et al., 2022) and CodeT5 (Wang et al., 2021).

T5-Review writes ``code2code: `` and its like before the source and puts a comment between
``<technical_language>`` tags; CodeT5 reads the comment, a separator and the code.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import torch
from transformers import AutoModelForSeq2SeqLM, T5Config, T5ForConditionalGeneration

from models.systems.base import FitReport, Progress
from models.systems.card import UnusableCheckpoint
from models.systems.fitting import fit_model
from models.systems.pretrained import Pretrained, Row, cannot_load, open_model, open_tokenizer
from models.systems.recipes import CODET5, T5_REVIEW
from models.systems.tokenizers import (
    CODET5_SPECIALS,
    roberta_tokenizer,
    sentinels,
    unigram_from_vocab,
    unigram_tokenizer,
)
from models.tasks import Example, Task

ALL = frozenset(Task)
_NOISE, _SPAN = 0.15, 3


class T5Family(Pretrained):
    """What both share: the architecture."""

    tasks = ALL

    def fresh_model(self) -> T5ForConditionalGeneration:
        """A model of the recipe's shape with random weights."""
        shape, tokenizer = self.recipe.shape, self.tokenizer
        config = T5Config(
            vocab_size=len(tokenizer),
            d_model=shape.width,
            d_kv=shape.width // shape.heads,
            d_ff=shape.feed_forward,
            num_layers=shape.encoder_layers,
            num_decoder_layers=shape.decoder_layers,
            num_heads=shape.heads,
            dropout_rate=shape.dropout,
            pad_token_id=tokenizer.pad_token_id,
            eos_token_id=tokenizer.eos_token_id,
            bos_token_id=tokenizer.bos_token_id,
            decoder_start_token_id=tokenizer.pad_token_id,
        )
        return T5ForConditionalGeneration(config)

    def open_weights(self, name: str) -> None:
        """A T5 checkpoint with its tokenizer."""
        self.tokenizer = open_tokenizer(name)
        self.model = open_model(AutoModelForSeq2SeqLM, name)
        if self.model.config.model_type != "t5":
            raise UnusableCheckpoint(
                f"{name}: a {self.model.config.model_type} model, not a T5; give another checkpoint"
            )

    def _ids(self, text: str) -> list[int]:
        ids: list[int] = self.tokenizer(text, add_special_tokens=False).input_ids
        return ids

    def _text(self, ids: Sequence[int]) -> str:
        return str(
            self.tokenizer.decode(
                list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False
            )
        )

    def decode(self, task: Task, example: Example, ids: Sequence[int]) -> str:
        """See ``Pretrained.decode``."""
        return self._text(ids)


class T5Review(T5Family):
    """Tufano et al. (2022): T5-small, SentencePiece of 32k, pre-trained by denoising."""

    kind = "t5_review"
    paper = T5_REVIEW
    _PREFIX: ClassVar[Mapping[Task, str]] = {
        Task.CRB: "code2code: ",
        Task.CRA: "code&comment2code: ",
        Task.RCG: "code2comment: ",
    }
    _LINE_FEED = "<nl>"

    def build(self, texts: Sequence[str]) -> None:
        """A unigram tokenizer, which drops layout: a line feed is written as a word."""
        self.tokenizer = unigram_tokenizer(
            (self._flat(text) for text in texts), self.recipe.shape.vocabulary
        )
        self.model = self.fresh_model()

    def open_weights(self, name: str) -> None:
        """A folder of the published dumps (with ``TokenizerModel.vocab``), or any T5's."""
        vocabulary = Path(name) / "TokenizerModel.vocab"
        if not vocabulary.exists():
            super().open_weights(name)
            return
        try:
            self.tokenizer = unigram_from_vocab(vocabulary)
        except (OSError, ValueError) as error:
            raise cannot_load(name, "TokenizerModel.vocab") from error
        self.model = open_model(T5ForConditionalGeneration, name)

    def _flat(self, text: str) -> str:
        return f" {self._LINE_FEED} ".join(text.split("\n"))

    def encode(self, task: Task, example: Example) -> Row:
        """Prefix, the comment in its tags (CRA), then the code."""
        code = example.asked(task)
        text = f"<code>{code}</code>"
        if task is Task.CRA:
            text = f"<technical_language>{example.comment}</technical_language>{text}"
        ids = self._ids(self._flat(self._PREFIX[task] + text))
        limit = self.recipe.shape.source_tokens - 1
        return Row((*ids[:limit], self.tokenizer.eos_token_id), ())

    def encode_target(self, task: Task, example: Example, text: str) -> tuple[int, ...]:
        """The answer as it is."""
        limit = self.recipe.shape.target_tokens - 1
        return (*self._ids(self._flat(text))[:limit], self.tokenizer.eos_token_id)

    def decode(self, task: Task, example: Example, ids: Sequence[int]) -> str:
        """Line feeds back from their word."""
        lines = self._text(ids).split(self._LINE_FEED)
        return "\n".join(line.strip() for line in lines)

    def pretrain(
        self,
        texts: Sequence[str],
        valid: Sequence[str] = (),
        progress: Progress | None = None,
        state: Path | None = None,
    ) -> FitReport:
        """Learn to fill spans of code and prose (T5's denoising, 15 % in spans of 3 tokens).

        The system is not ready after it: it must be fitted for a task.
        """
        torch.manual_seed(self.recipe.schedule.seed)
        if self.model is None:
            self.build(texts)
        rng = random.Random(self.recipe.schedule.seed)  # noqa: S311 - noise, not secrecy
        rows, checked = (
            [self._spans(self._ids(self._flat(text)), rng) for text in some if text.strip()]
            for some in (texts, valid)
        )
        return fit_model(
            self.model,
            rows,
            checked,
            self._loss,
            lambda row: len(row.source),
            self.recipe.schedule,
            self.recipe.shape.width,
            progress,
            state,
        )

    def _spans(self, ids: list[int], rng: random.Random) -> Row:
        """T5's corruption: spans become sentinels, the answer is sentinels and spans."""
        ids = ids[: self.recipe.shape.source_tokens - 1]
        first = self.tokenizer.convert_tokens_to_ids("<extra_id_0>")
        count = max(1, min(round(len(ids) * _NOISE / _SPAN), 99))
        starts = sorted(rng.sample(range(len(ids)), min(count, len(ids))))
        source: list[int] = []
        target: list[int] = []
        position = 0
        for number, start in enumerate(starts):
            start = max(start, position)
            mark = self.tokenizer.convert_tokens_to_ids(f"<extra_id_{number}>")
            source += [*ids[position:start], mark]
            target += [mark, *ids[start : start + _SPAN]]
            position = min(start + _SPAN, len(ids))
        end = self.tokenizer.eos_token_id
        return Row((*source, *ids[position:], end), (*(target or [first]), end))


class CodeT5(T5Family):
    """Wang et al. (2021): T5 on code with RoBERTa's byte-level BPE; fine-tuned by task."""

    kind = "codet5"
    paper = CODET5

    def build(self, texts: Sequence[str]) -> None:
        """A tokenizer in CodeT5's layout and a fresh model."""
        size = self.recipe.shape.vocabulary - len(sentinels())
        self.tokenizer = roberta_tokenizer(texts, size, CODET5_SPECIALS, sentinels())
        self.model = self.fresh_model()

    def encode(self, task: Task, example: Example) -> Row:
        """``<s>``, the comment and a separator (CRA), the code, ``</s>``."""
        start, end = self.tokenizer.bos_token_id, self.tokenizer.eos_token_id
        code = example.asked(task)
        ids = self._ids(code)
        if task is Task.CRA:
            ids = [*self._ids(example.comment or ""), end, *ids]
        return Row((start, *ids[: self.recipe.shape.source_tokens - 2], end), ())

    def encode_target(self, task: Task, example: Example, text: str) -> tuple[int, ...]:
        """``<s>``, the answer, ``</s>``."""
        limit = self.recipe.shape.target_tokens - 2
        ids: Any = self._ids(text)[:limit]
        return (self.tokenizer.bos_token_id, *ids, self.tokenizer.eos_token_id)
