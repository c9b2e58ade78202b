"""CodeReviewer's format (Li et al., 2022): <add>, <del>, <keep> before lines, <msg> for comments.

Comment generation reads a hunk, ``<keep>line<del>line<add>line``, and answers ``<msg>comment``;
refinement reads ``<add>line<add>line<msg>comment`` and answers ``<add>line<add>line``. The
published weights read lines without their indentation, so that is what they are given; the
indentation of a refined line is taken from the old line that is most like it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from rapidfuzz import fuzz, process
from safetensors.torch import load_file
from transformers import T5ForConditionalGeneration

from models.change import LineKind
from models.hunk_text import parse_hunks
from models.systems.card import UnusableCheckpoint
from models.systems.pretrained import Row, cannot_load, open_model, open_tokenizer
from models.systems.recipes import CODEREVIEWER
from models.systems.t5 import T5Family
from models.systems.tokenizers import CODEREVIEWER_TOKENS, CODET5_SPECIALS, roberta_tokenizer
from models.tasks import Example, Task

_SIGNS = {LineKind.CONTEXT: "<keep>", LineKind.ADDED: "<add>", LineKind.DELETED: "<del>"}
_ADD, _MESSAGE = "<add>", "<msg>"
_MARKS = re.compile("|".join(CODEREVIEWER_TOKENS))
"""Marks that a model puts where none belongs."""


class CodeReviewer(T5Family):
    """A T5 with CodeReviewer's tokens and, where the checkpoint has it, its quality head."""

    kind = "codereviewer"
    tasks = frozenset({Task.CRA, Task.RCG})
    paper = CODEREVIEWER

    def build(self, texts: Sequence[str]) -> None:
        """A tokenizer in CodeReviewer's layout and a fresh model."""
        size = self.recipe.shape.vocabulary - len(CODEREVIEWER_TOKENS)
        self.tokenizer = roberta_tokenizer(texts, size, CODET5_SPECIALS, CODEREVIEWER_TOKENS)
        self.model = self.fresh_model()

    def open_weights(self, name: str) -> None:
        """A checkpoint with CodeReviewer's tokens."""
        self.tokenizer = open_tokenizer(name)
        if not speaks_codereviewer(self.tokenizer):
            raise UnusableCheckpoint(
                f"{name}: its tokenizer lacks <add>, <del>, <keep> and <msg>, so it was not made "
                "for CodeReviewer's format; give another checkpoint"
            )
        self.model = open_model(T5ForConditionalGeneration, name)

    def encode(self, task: Task, example: Example) -> Row:
        """See the module."""
        start, end = self.tokenizer.bos_token_id, self.tokenizer.eos_token_id
        if task is Task.RCG:
            text = _hunk_text(example)
        else:
            lines = example.unmarked().split("\n")
            text = "".join(_ADD + line.strip() for line in lines) + _MESSAGE
            text += example.comment or ""
        ids = self._ids(text)[: self.recipe.shape.source_tokens - 2]
        return Row((start, *ids, end), ())

    def encode_target(self, task: Task, example: Example, text: str) -> tuple[int, ...]:
        """``<msg>comment`` or ``<add>line`` for each line."""
        if task is Task.RCG:
            text = _MESSAGE + text
        else:
            text = "".join(_ADD + line.strip() for line in text.split("\n"))
        ids = self._ids(text)[: self.recipe.shape.target_tokens - 1]
        return (*ids, self.tokenizer.eos_token_id)

    def decode(self, task: Task, example: Example, ids: Sequence[int]) -> str:
        """The comment, or the refined lines with an indentation."""
        text = str(
            self.tokenizer.decode(
                list(ids), skip_special_tokens=False, clean_up_tokenization_spaces=False
            )
        )
        if task is Task.RCG:
            return _MARKS.sub("", text.split(_MESSAGE, 1)[-1]).strip()
        pieces = text.split(_ADD)[1:] or [text]
        lines = [_MARKS.sub("", piece).strip() for piece in pieces]
        return "\n".join(_indented(lines, example.unmarked().split("\n")))

    @torch.inference_mode()
    def needs_comment(self, examples: Sequence[Example], head: Any) -> list[float]:
        """The probability, by a quality head on the first state, that a hunk needs a comment.

        ``head`` is a linear map from the model's width to (fine, needs a comment): the published
        checkpoint's ``cls_head``, read by ``quality_head``.
        """
        self.model.eval()
        answers: list[float] = []
        for example in examples:
            inputs = self.inputs([self.encode(Task.RCG, example)])
            states = self.model.encoder(**inputs).last_hidden_state
            answers.append(float(head(states[:, 0]).softmax(-1)[0, 1]))
        return answers


def speaks_codereviewer(tokenizer: Any) -> bool:
    """Whether a tokenizer has the format's tokens."""
    return {"<add>", "<del>", "<keep>", _MESSAGE} <= set(tokenizer.get_vocab())


def quality_head(name: str, width: int) -> torch.nn.Linear:
    """The quality head of a checkpoint's folder.

    Raises UnusableCheckpoint where the folder has no weights or no head.
    """
    folder = Path(name)
    stored: dict[str, torch.Tensor] = {}
    if (folder / "model.safetensors").exists():
        stored = load_file(folder / "model.safetensors")
    elif (folder / "pytorch_model.bin").exists():
        stored = torch.load(folder / "pytorch_model.bin", weights_only=True)
    if "cls_head.weight" not in stored:
        raise cannot_load(name, "quality head (cls_head)")
    head = torch.nn.Linear(width, 2)
    head.load_state_dict({"weight": stored["cls_head.weight"], "bias": stored["cls_head.bias"]})
    return head


def _hunk_text(example: Example) -> str:
    """The lines of a hunk under their signs; code without a diff is kept lines."""
    if not example.diff:
        lines = example.unmarked().split("\n")
        return "".join("<keep>" + line.strip() for line in lines if line.strip())
    return "".join(
        _SIGNS[line.kind] + line.text.strip()
        for hunk in parse_hunks(example.diff)
        for line in hunk.lines
        if line.text.strip()
    )


def _indented(lines: Sequence[str], old: Sequence[str]) -> list[str]:
    """The lines with the indentation of the old line most like each; else of the line before."""
    stripped = [line.strip() for line in old]
    indentation = ""
    result: list[str] = []
    for line in lines:
        found = process.extractOne(line, stripped, scorer=fuzz.ratio, score_cutoff=50)
        if found is not None:
            match = old[found[2]]
            indentation = match[: len(match) - len(match.lstrip())]
        result.append(indentation + line if line else line)
    return result
