"""Revisions that a comment asks for, in every language: SmolLM2 with a difference of ours.

The commented lines and a little around them go in, what replaces them comes out
(``request_format``). Other models of this project are asked where they know more: this one is for
all the rest. Its base model is an optional package of 90 MB.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import torch

from models.crscore.encoder import fast_bfloat16
from models.generators.base import Answer, GeneratorError, Window
from models.generators.checkpoint import weights_hash
from models.generators.lora import merge_lora
from models.generators.request_format import Request, request_of
from models.generators.requests_model import CARD, FOLDER, INSTALL, base_file
from models.generators.smollm2 import END, BaseModel
from models.training.examples import diff_edits

BEAMS = 4
MOST_TOKENS = 160
"""Tokens of an answer at most; one that does not end by then is none."""


class Rewriter:
    """Revisions of commented lines (``generators.base.Generator``).

    Args:
        folder: the difference, with its card.
        base: the GGUF file of the base model; default: the installed package's.
        beams: answers that are followed at once.

    Raises:
        GeneratorError: on the way in where the base model is not installed, later where a file of
            either is damaged.
    """

    tasks = frozenset({"cra"})
    reads_methods = False

    def __init__(
        self, folder: Path = FOLDER, base: Path | None = None, *, beams: int = BEAMS
    ) -> None:
        self.folder = folder
        self.beams = beams
        found = base or base_file()
        if found is None:
            raise GeneratorError(f"the base model is not installed; to get it: {INSTALL}")
        self._base = found

    @cached_property
    def name(self) -> str:
        """``smollm2-requests:`` and the hash of the difference, shortened."""
        return "smollm2-requests:" + weights_hash(self.folder)[:12]

    @cached_property
    def card(self) -> Mapping[str, Any]:
        """The one task, and the calibration of its revisions."""
        path = self.folder / CARD
        try:
            read: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise GeneratorError(f"{path}: no card that can be read: {error}") from error
        return read

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        """Tokenizer and model, read when the first comment comes."""
        base = BaseModel(self._base)
        model = base.model(torch.float32)
        merge_lora(model, self.folder)
        return base.tokenizer(), model.to(torch.bfloat16 if fast_bfloat16() else torch.float32)

    def revise(self, windows: Sequence[Window], *, answers: int = 1) -> list[list[Answer]]:
        """For each window with a comment on its ``changed`` lines at most ``answers`` revisions.

        ``nothing`` is the probability of the lines as they are, where that was among the beams.
        """
        return [self._revisions(window, answers) for window in windows]

    def comment(self, windows: Sequence[Window], *, answers: int = 1) -> list[list[Answer]]:
        """Nothing: it was not taught to comment."""
        return [[] for _ in windows]

    def _revisions(self, window: Window, answers: int) -> list[Answer]:
        request = request_of(window)
        if request is None or answers < 1:
            return []
        found = self._written(request)
        same = request.written([request.margin + line for line in request.asked])
        nothing = sum(math.exp(sum(logs)) for text, logs in found if text == same)
        revisions: list[Answer] = []
        first, end = min(window.changed), max(window.changed) + 1
        for text, logs in found:
            revised = (*window.lines[:first], *request.read(text), *window.lines[end:])
            edits = diff_edits(window.lines, revised)
            if edits:
                product = math.exp(sum(logs))
                mean, weakest = math.exp(sum(logs) / len(logs)), math.exp(min(logs))
                revisions.append(Answer(mean, weakest, product, nothing, edits))
        return revisions[:answers]

    @torch.inference_mode()
    def _written(self, request: Request) -> list[tuple[str, list[float]]]:
        """Finished answers, the most probable first, with the logarithms of their tokens'
        probabilities (that of the end included)."""
        tokenizer, model = self._loaded
        prompt = tokenizer.encode(request.prompt).ids
        end = tokenizer.token_to_id(END)
        ids = torch.tensor([prompt])
        made = model.generate(
            input_ids=ids,
            attention_mask=torch.ones_like(ids),
            num_beams=self.beams,
            num_return_sequences=self.beams,
            do_sample=False,
            length_penalty=0.0,
            early_stopping=False,
            max_new_tokens=MOST_TOKENS,
            eos_token_id=end,
            pad_token_id=end,
        )[:, len(prompt) :]
        rows = [row[: row.index(end) + 1] for row in made.tolist() if end in row]
        found = [
            (tokenizer.decode(row[:-1], skip_special_tokens=False), logs)
            for row, logs in zip(rows, self._log_probabilities(prompt, rows), strict=True)
        ]
        return sorted(found, key=lambda one: -sum(one[1]))

    def _log_probabilities(
        self, prompt: Sequence[int], rows: Sequence[Sequence[int]]
    ) -> list[list[float]]:
        if not rows:
            return []
        _, model = self._loaded
        longest = max(map(len, rows))
        ids = torch.tensor([[*prompt, *row, *[0] * (longest - len(row))] for row in rows])
        hidden = model.model(input_ids=ids, use_cache=False).last_hidden_state
        logits = model.lm_head(hidden[:, len(prompt) - 1 : -1]).float()
        chosen = logits.log_softmax(-1).gather(2, ids[:, len(prompt) :, None])[:, :, 0]
        return [logs[: len(row)] for row, logs in zip(rows, chosen.tolist(), strict=True)]
