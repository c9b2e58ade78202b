"""The shipped family: a T5 that writes line edits (``line_edits``) and comments.

Loads from a folder or a Hub id. A checkpoint says by its task card (``marginalia.json``) which
format and tasks it was trained for; one without a card (a raw CodeT5 only fills masked spans) is
refused with the command that fine-tunes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from transformers import T5ForConditionalGeneration
from transformers.utils import logging as transformers_logging

from models.generators.base import Answer, GeneratorError, Window, answer_of
from models.generators.checkpoint import checkpoint_folder, read_card, weights_hash
from models.generators.cores import one_core
from models.generators.drafts import greedy_search
from models.generators.line_edits import CLAIMS, EditCodec, apply_edits
from models.generators.rules import EditRule, PlainRule
from models.generators.search import Floats, Found, Ranking, Rule, beam_search
from models.generators.t5_arrays import Encoded, T5Encoder
from models.generators.t5_decoder import T5Decoder

MAX_SOURCE = 256
MAX_ANSWER = 80
MAX_CLAIMS = 130
"""Tokens of all claims about a window; what is not ended by then is kept as it is."""
DRAFT = 12
"""Tokens of a draft at most: see ``tests.bench.serving``."""


class T5EditGenerator:
    """Revisions and comments by a T5 checkpoint in the line edit format.

    Args:
        source: folder or Hub id.
        beams: width of the beam search; 1 decodes greedily, with drafts copied from the window.
        batch: windows decoded at once.

    Raises:
        GeneratorError: no such checkpoint, or one that was not trained for this.
    """

    reads_methods = False
    reads_code = False

    def __init__(self, source: str | Path, *, beams: int = 4, batch: int = 16) -> None:
        self.folder = checkpoint_folder(source)
        self.card = read_card(self.folder, source)
        self.codec, model = read_weights(self.folder, source)
        self._encoder, self._decoder = T5Encoder(model), T5Decoder(model)
        self._start = int(model.config.decoder_start_token_id)
        self._plain = np.ones(model.config.vocab_size, np.bool_)
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
        for chosen, encoded in self._batches(rows):
            rules = [EditRule(self.codec, windows[i].lines) for i in chosen]
            found, first = self._revised(encoded, rules, answers)
            nothing = np.exp(first[:, self.codec.none]).tolist()
            for position, index in enumerate(chosen):
                lines = windows[index].lines
                for one in found[position]:
                    edits = self.codec.parse(one.ids, len(lines))
                    if not edits or apply_edits(lines, edits) == list(lines):
                        continue
                    parts = self.codec.parts(one.ids, one.tokens)
                    answer = answer_of(one.tokens, nothing[position], edits=edits, parts=parts)
                    result[index].append(answer)
                del result[index][answers:]
        return result

    def comment(self, windows: Sequence[Window], *, answers: int = 1) -> list[list[Answer]]:
        """Comments by as many beams, each of which begins with another token.

        What is posted is chosen among them by the judge, who needs something to choose from: the
        likeliest beams are one comment in several wordings (``tests.bench.rcg``).
        """
        rows = [
            self.codec.source("rcg", w.language, w.lines, w.changed, removed=w.removed)
            for w in windows
        ]
        result: list[list[Answer]] = [[] for _ in windows]
        for chosen, encoded in self._batches(rows):
            rules = [PlainRule(self.codec) for _ in chosen]
            ranking = Ranking(
                self.beams, min(answers, self.beams), MAX_ANSWER, mean=True, apart=True
            )
            found, _ = self._search(encoded, rules, ranking)
            for position, index in enumerate(chosen):
                for one in found[position]:
                    text = self.codec.text(one.ids).strip()
                    if text:
                        result[index].append(answer_of(one.tokens, 0.0, text=text))
                del result[index][answers:]
        return result

    def claims(self, windows: Sequence[Window]) -> list[list[str]]:
        """Claims about the change that each window shows, by beam search, in order, each once.

        A window too long for the model is read without its last lines.
        """
        rows = [self._claims_source(window) for window in windows]
        result: list[list[str]] = [[] for _ in windows]
        for chosen, encoded in self._batches(rows):
            rules = [PlainRule(self.codec) for _ in chosen]
            ranking = Ranking(self.beams, 1, MAX_CLAIMS, mean=True, cut=True)
            found, _ = self._search(encoded, rules, ranking)
            for position, index in enumerate(chosen):
                text = self.codec.text(found[position][0].ids) if found[position] else ""
                said = [line.strip() for line in text.split("\n")]
                result[index] = list(dict.fromkeys(line for line in said if line))
        return result

    def _claims_source(self, window: Window) -> list[int]:
        for size in range(len(window.lines), 0, -1):
            changed = [i for i in window.changed if i < size]
            removed = [i for i in window.removed if i < size]
            ids = self.codec.source(
                CLAIMS, window.language, window.lines[:size], changed, removed=removed
            )
            if len(ids) <= MAX_SOURCE:
                break
        return ids[:MAX_SOURCE]

    def fits(self, window: Window) -> bool:
        """Whether the model was trained on windows as long as this one."""
        task = "cra" if window.comment else "crb"
        ids = self.codec.source(task, window.language, window.lines, window.changed, window.comment)
        return len(ids) <= MAX_SOURCE

    def _batches(self, rows: Sequence[Sequence[int]]) -> Iterator[tuple[list[int], Encoded]]:
        order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
        for start in range(0, len(order), self.batch):
            chosen = order[start : start + self.batch]
            yield chosen, self._encoder.encode([rows[i] for i in chosen])

    def _revised(
        self, encoded: Encoded, rules: Sequence[EditRule], answers: int
    ) -> tuple[list[list[Found]], Floats]:
        if self.beams > 1:
            return self._search(
                encoded, rules, Ranking(self.beams, min(answers, self.beams), MAX_ANSWER)
            )
        with one_core():
            found, first, _ = greedy_search(
                self._decoder.begin(encoded),
                rules,
                self._plain,
                start=self._start,
                end=self.codec.end,
                longest=MAX_ANSWER,
                draft=DRAFT,
            )
        return found, first

    def _search(
        self, encoded: Encoded, rules: Sequence[Rule], ranking: Ranking
    ) -> tuple[list[list[Found]], Floats]:
        with one_core():
            steps = self._decoder.begin(encoded)
            return beam_search(
                steps, rules, self._plain, ranking, start=self._start, end=self.codec.end
            )


def read_weights(folder: Path, source: str | Path) -> tuple[EditCodec, T5ForConditionalGeneration]:
    """The codec and the float32 model of a checkpoint's folder; ``source`` is how it was named.

    Raises:
        GeneratorError: its files cannot be read.
    """
    transformers_logging.disable_progress_bar()  # "Loading weights", also where nobody looks
    try:
        codec = EditCodec(Tokenizer.from_file(str(folder / "tokenizer.json")))
        model = T5ForConditionalGeneration.from_pretrained(folder, dtype=torch.float32)
    except (OSError, ValueError) as error:
        raise GeneratorError(f"model {str(source)!r} cannot be read: {error}") from error
    return codec, model.eval()


def load_reviewer(source: str | Path, *, beams: int = 4) -> T5EditGenerator:
    """The generator of a checkpoint that can revise code or comment on it.

    Raises:
        GeneratorError: no such checkpoint, or one that was trained for something else only.
    """
    generator = T5EditGenerator(source, beams=beams)
    if not generator.tasks & {"crb", "cra", "rcg"}:
        raise GeneratorError(
            f"model {str(source)!r} was trained for {', '.join(sorted(generator.tasks))} only, not "
            f"to review; name another, or train it on: marginalia train --from {source}"
        )
    return generator
