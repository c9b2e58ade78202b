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
from transformers import T5ForConditionalGeneration

from models.generators.base import Answer, GeneratorError, Window
from models.generators.checkpoint import checkpoint_folder, read_card, weights_hash
from models.generators.line_edits import EditCodec, apply_edits
from models.generators.rules import EditRule, PlainRule
from models.generators.search import Found, Rule, beam_search
from models.generators.t5_decoder import T5Decoder

MAX_SOURCE = 256
MAX_ANSWER = 80


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
        self.decoder = T5Decoder(self.model)
        self._plain = torch.ones(model.config.vocab_size, dtype=torch.bool)
        self._plain[list(self.codec.special)] = False
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
            rules = [EditRule(self.codec, windows[i].lines) for i in chosen]
            found, first = self._search(encoded, mask, rules, answers)
            nothing = first[:, self.codec.none].exp().tolist()
            for position, index in enumerate(chosen):
                lines = windows[index].lines
                for one in found[position]:
                    edits = self.codec.parse(one.ids, len(lines))
                    if not edits or apply_edits(lines, edits) == list(lines):
                        continue
                    parts = self.codec.parts(one.ids, one.tokens)
                    answer = _answer(one.tokens, nothing[position], edits=edits, parts=parts)
                    result[index].append(answer)
                del result[index][answers:]
        return result

    def comment(self, windows: Sequence[Window], *, answers: int = 1) -> list[list[Answer]]:
        """Comments by beam search."""
        rows = [
            self.codec.source("rcg", w.language, w.lines, w.changed, removed=w.removed)
            for w in windows
        ]
        result: list[list[Answer]] = [[] for _ in windows]
        for chosen, encoded, mask in self._batches(rows):
            rules = [PlainRule(self.codec) for _ in chosen]
            found, _ = self._search(encoded, mask, rules, answers, by_mean=True)
            for position, index in enumerate(chosen):
                for one in found[position]:
                    text = self.codec.text(one.ids).strip()
                    if text:
                        result[index].append(_answer(one.tokens, 0.0, text=text))
                del result[index][answers:]
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

    def _search(
        self,
        encoded: torch.Tensor,
        mask: torch.Tensor,
        rules: Sequence[Rule],
        wanted: int,
        by_mean: bool = False,
    ) -> tuple[list[list[Found]], torch.Tensor]:
        return beam_search(
            self.decoder,
            encoded,
            mask,
            rules,
            self._plain,
            start=self.model.config.decoder_start_token_id,
            end=self.codec.end,
            beams=self.beams,
            wanted=min(wanted, self.beams),
            longest=MAX_ANSWER,
            by_mean=by_mean,
        )


def _answer(tokens: Sequence[float], nothing: float, **content: Any) -> Answer:
    values = torch.tensor(tokens, dtype=torch.float64)
    return Answer(
        confidence=float(values.mean().exp()),
        weakest=float(values.min().exp()),
        probability=float(values.sum().exp()),
        nothing=nothing,
        **content,
    )
