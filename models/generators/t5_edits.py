"""The shipped family: a T5 that writes line edits (``line_edits``) and comments.

Loads from a folder or a Hub id. A checkpoint says by its task card (``marginalia.json``) which
format and tasks it was trained for; one without a card (a raw CodeT5 only fills masked spans) is
refused with the command that fine-tunes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from transformers import LogitsProcessor, LogitsProcessorList, T5ForConditionalGeneration
from transformers.modeling_outputs import BaseModelOutput

from models.generators.base import Answer, GeneratorError, Window
from models.generators.checkpoint import checkpoint_folder, read_card, weights_hash
from models.generators.line_edits import EditCodec

MAX_SOURCE = 256
MAX_ANSWER = 80


class _WellFormed(LogitsProcessor):  # type: ignore[misc]
    """Lets each beam continue only as a well-formed edit of its own window."""

    def __init__(self, codec: EditCodec, line_counts: Sequence[int], beams: int, size: int) -> None:
        self.codec = codec
        self.counts = [count for count in line_counts for _ in range(beams)]
        plain = torch.ones(size, dtype=torch.bool)
        plain[list(codec.special)] = False
        self.plain = plain

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Masks what may not follow each row's ids (which begin with the start token)."""
        allowed = torch.zeros_like(scores, dtype=torch.bool)
        for row, ids in enumerate(input_ids.tolist()):
            prefix = ids[1:]
            if self.codec.end in prefix:
                allowed[row, [self.codec.pad, self.codec.end]] = True
                continue
            following = self.codec.allowed(prefix, self.counts[row])
            if following is not None:
                allowed[row, [i for i in following if prefix or i != self.codec.none]] = True
            else:
                allowed[row] = self.plain
                allowed[row, self.codec.free_text_stops(prefix, self.counts[row])] = True
        return scores.masked_fill(~allowed, float("-inf"))


class _PlainText(LogitsProcessor):  # type: ignore[misc]
    """Lets a comment be only plain tokens and the end."""

    def __init__(self, codec: EditCodec, size: int) -> None:
        allowed = torch.ones(size, dtype=torch.bool)
        allowed[list(codec.special - {codec.end, codec.pad})] = False
        self.allowed = allowed

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Masks every marker."""
        return scores.masked_fill(~self.allowed, float("-inf"))


class T5EditGenerator:
    """Revisions and comments by a T5 checkpoint in the line edit format.

    Args:
        source: folder or Hub id.
        beams: width of the beam search.
        batch: windows decoded at once.

    Raises:
        GeneratorError: no such checkpoint, or one that was not trained for this.
    """

    def __init__(self, source: str | Path, *, beams: int = 4, batch: int = 16) -> None:
        self.folder = checkpoint_folder(source)
        self.card = read_card(self.folder, source)
        token_file = self.folder / "tokenizer.json"
        try:
            self.codec = EditCodec(Tokenizer.from_file(str(token_file)))
            model = T5ForConditionalGeneration.from_pretrained(self.folder, dtype=torch.float32)
        except (OSError, ValueError) as error:
            raise GeneratorError(f"model {str(source)!r} cannot be read: {error}") from error
        self.model = model.eval()
        self.beams = beams
        self.batch = batch

    @property
    def tasks(self) -> frozenset[str]:
        """The tasks on the card."""
        return frozenset(self.card["tasks"])

    @cached_property
    def name(self) -> str:
        """``t5-edits:`` and the weights' hash."""
        return f"t5-edits:{weights_hash(self.folder)}"

    def revise(self, windows: Sequence[Window], *, answers: int = 1) -> list[list[Answer]]:
        """Revisions by constrained beam search; CRA where a window has a comment, else CRB."""
        rows = [
            self.codec.source(
                "cra" if w.comment else "crb", w.language, w.lines, w.changed, w.comment
            )
            for w in windows
        ]
        result: list[list[Answer]] = [[] for _ in windows]
        for chosen, encoded, mask in self._batches(rows):
            counts = [len(windows[i].lines) for i in chosen]
            nothing = self._nothing(encoded, mask)
            size = self.model.config.vocab_size
            processor = _WellFormed(self.codec, counts, self.beams, size)
            sequences = self._search(encoded, mask, processor, answers)
            for (position, ids), tokens in zip(
                sequences, self._probabilities(encoded, mask, sequences), strict=True
            ):
                index = chosen[position]
                edits = self.codec.parse(ids, counts[position])
                # a beam cut off by the length limit is no edit
                if not edits or self.codec.end not in ids:
                    continue
                parts = self.codec.parts(ids, tokens)
                result[index].append(_answer(tokens, nothing[position], edits=edits, parts=parts))
        return result

    def comment(self, windows: Sequence[Window], *, answers: int = 1) -> list[list[Answer]]:
        """Comments by beam search."""
        rows = [
            self.codec.source("rcg", w.language, w.lines, w.changed, removed=w.removed)
            for w in windows
        ]
        result: list[list[Answer]] = [[] for _ in windows]
        processor = _PlainText(self.codec, self.model.config.vocab_size)
        for chosen, encoded, mask in self._batches(rows):
            sequences = self._search(encoded, mask, processor, answers)
            probabilities = self._probabilities(encoded, mask, sequences)
            for (position, ids), tokens in zip(sequences, probabilities, strict=True):
                text = self.codec.text(ids).strip()
                if text and self.codec.end in ids:
                    result[chosen[position]].append(_answer(tokens, 0.0, text=text))
        return result

    def fits(self, window: Window) -> bool:
        """Whether the model was trained on windows as long as this one."""
        task = "cra" if window.comment else "crb"
        ids = self.codec.source(task, window.language, window.lines, window.changed, window.comment)
        return len(ids) <= MAX_SOURCE

    def _batches(
        self, rows: Sequence[Sequence[int]]
    ) -> Iterator[tuple[list[int], torch.Tensor, torch.Tensor]]:
        order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
        for start in range(0, len(order), self.batch):
            chosen = order[start : start + self.batch]
            width = max(len(rows[i]) for i in chosen)
            ids = torch.full((len(chosen), width), self.codec.pad)
            for position, index in enumerate(chosen):
                ids[position, : len(rows[index])] = torch.tensor(rows[index])
            mask = ids.ne(self.codec.pad)
            with torch.inference_mode():
                encoded = self.model.encoder(input_ids=ids, attention_mask=mask).last_hidden_state
            yield chosen, encoded, mask

    def _logits(
        self, encoded: torch.Tensor, mask: torch.Tensor, inputs: torch.Tensor
    ) -> torch.Tensor:
        with torch.inference_mode():
            output = self.model(
                encoder_outputs=BaseModelOutput(last_hidden_state=encoded),
                attention_mask=mask,
                decoder_input_ids=inputs,
            )
        logits: torch.Tensor = output.logits.float()
        return logits

    def _nothing(self, encoded: torch.Tensor, mask: torch.Tensor) -> list[float]:
        start = torch.full((len(encoded), 1), self.codec.pad)
        first = torch.softmax(self._logits(encoded, mask, start)[:, 0], -1)
        values: list[float] = first[:, self.codec.none].tolist()
        return values

    def _search(
        self,
        encoded: torch.Tensor,
        mask: torch.Tensor,
        processor: LogitsProcessor,
        answers: int,
    ) -> list[tuple[int, list[int]]]:
        with torch.inference_mode():
            sequences = self.model.generate(
                encoder_outputs=BaseModelOutput(last_hidden_state=encoded),
                attention_mask=mask,
                num_beams=self.beams,
                num_return_sequences=min(answers, self.beams),
                max_new_tokens=MAX_ANSWER,
                do_sample=False,
                early_stopping=True,
                logits_processor=LogitsProcessorList([processor]),
            )
        each = min(answers, self.beams)
        found = []
        for row, ids in enumerate(sequences.tolist()):
            body = ids[1:]
            if self.codec.end in body:
                body = body[: body.index(self.codec.end) + 1]
            found.append((row // each, body))
        return found

    def _probabilities(
        self,
        encoded: torch.Tensor,
        mask: torch.Tensor,
        sequences: Sequence[tuple[int, list[int]]],
    ) -> list[list[float]]:
        """Each token's log-probability, from one pass over all sequences of a batch."""
        if not sequences:
            return []
        depth = max(len(ids) for _, ids in sequences)
        labels = torch.full((len(sequences), depth), self.codec.pad)
        for row, (_, ids) in enumerate(sequences):
            labels[row, : len(ids)] = torch.tensor(ids)
        start = torch.full((len(sequences), 1), self.codec.pad)
        inputs = torch.cat([start, labels[:, :-1]], 1)
        owners = torch.tensor([position for position, _ in sequences])
        logits = self._logits(encoded[owners], mask[owners], inputs)
        chosen = torch.log_softmax(logits, -1).gather(-1, labels.unsqueeze(-1)).squeeze(-1)
        return [chosen[row, : len(ids)].tolist() for row, (_, ids) in enumerate(sequences)]


def _answer(tokens: Sequence[float], nothing: float, **content: Any) -> Answer:
    values = torch.tensor(tokens, dtype=torch.float64)
    return Answer(
        confidence=float(values.mean().exp()),
        weakest=float(values.min().exp()),
        probability=float(values.sum().exp()),
        nothing=nothing,
        **content,
    )
