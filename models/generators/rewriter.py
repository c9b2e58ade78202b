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
from models.generators.base import Answer, GeneratorError, Window, answer_of
from models.generators.checkpoint import weights_hash
from models.generators.line_edits import LineEdit
from models.generators.lora import merge_lora
from models.generators.request_format import Request, request_of
from models.generators.requests_model import CARD, FOLDER, INSTALL, base_file
from models.generators.smollm2 import END, BaseModel, mark_id
from models.training.examples import diff_edits

BEAMS, BATCH = 4, 8
"""Answers that are followed at once, and windows that are."""
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
    reads_code = True

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
        """``causal-requests:`` and the hash of the difference, shortened."""
        return "causal-requests:" + weights_hash(self.folder)[:12]

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
        found: list[list[Answer]] = [[] for _ in windows]
        requests = {i: r for i, w in enumerate(windows) if (r := request_of(w)) is not None}
        if answers < 1 or not requests:
            return found
        tokenizer, _ = self._loaded
        prompts = {i: request.ids(tokenizer) for i, request in requests.items()}
        order = sorted(prompts, key=lambda i: len(prompts[i]))
        for start in range(0, len(order), BATCH):
            some = order[start : start + BATCH]
            written = self._written([prompts[i] for i in some])
            for i, rows in zip(some, written, strict=True):
                found[i] = self._revisions(windows[i], requests[i], prompts[i], rows, answers)
        return found

    def comment(self, windows: Sequence[Window], *, answers: int = 1) -> list[list[Answer]]:
        """Nothing: it was not taught to comment."""
        return [[] for _ in windows]

    def _revisions(
        self,
        window: Window,
        request: Request,
        prompt: Sequence[int],
        rows: Sequence[Sequence[int]],
        answers: int,
    ) -> list[Answer]:
        """The answers among finished rows of tokens, the most probable first."""
        tokenizer, _ = self._loaded
        first, end = min(window.changed), max(window.changed) + 1
        same: list[Sequence[int]] = []
        revisions: list[tuple[Sequence[int], tuple[LineEdit, ...]]] = []
        for row in rows:
            text = tokenizer.decode(row[:-1], skip_special_tokens=False)
            revised = (*window.lines[:first], *request.read(text), *window.lines[end:])
            edits = diff_edits(window.lines, revised)
            if edits:
                revisions.append((row, edits))
            else:
                same.append(row)
        kept = revisions[:answers]
        logs = self._log_probabilities(prompt, [row for row, _ in kept])
        nothing = sum(math.exp(sum(one)) for one in self._log_probabilities(prompt, same))
        made = [
            answer_of(one, nothing, edits=edits) for one, (_, edits) in zip(logs, kept, strict=True)
        ]
        return sorted(made, key=lambda answer: -answer.probability)

    @torch.inference_mode()
    def _written(self, prompts: Sequence[Sequence[int]]) -> list[list[list[int]]]:
        """For each prompt the finished answers of the beams, best first, with their end."""
        tokenizer, model = self._loaded
        end = mark_id(tokenizer, END)
        longest = max(map(len, prompts))
        # on the left, so that each prompt's last token is where its answer begins
        lead = [longest - len(prompt) for prompt in prompts]
        ids = [[*[end] * gap, *prompt] for gap, prompt in zip(lead, prompts, strict=True)]
        mask = [[0] * gap + [1] * (longest - gap) for gap in lead]
        made = model.generate(
            input_ids=torch.tensor(ids),
            attention_mask=torch.tensor(mask),
            num_beams=self.beams,
            num_return_sequences=self.beams,
            do_sample=False,
            length_penalty=0.0,
            early_stopping=False,
            max_new_tokens=MOST_TOKENS,
            eos_token_id=end,
            pad_token_id=end,
        )[:, longest:].tolist()
        rows = [row[: row.index(end) + 1] if end in row else [] for row in made]
        groups = (rows[i : i + self.beams] for i in range(0, len(rows), self.beams))
        return [[row for row in group if row] for group in groups]

    @torch.inference_mode()
    def _log_probabilities(
        self, prompt: Sequence[int], rows: Sequence[Sequence[int]]
    ) -> list[list[float]]:
        """The logarithms of the probabilities of each row's tokens after the prompt."""
        if not rows:
            return []
        _, model = self._loaded
        longest = max(map(len, rows))
        ids = torch.tensor([[*prompt, *row, *[0] * (longest - len(row))] for row in rows])
        hidden = model.model(input_ids=ids, use_cache=False).last_hidden_state
        logits = model.lm_head(hidden[:, len(prompt) - 1 : -1]).float()
        chosen = logits.log_softmax(-1).gather(2, ids[:, len(prompt) :, None])[:, :, 0]
        return [logs[: len(row)] for row, logs in zip(rows, chosen.tolist(), strict=True)]
