"""Opening a checkpoint by folder or Hub id: what it is, and whether it may review."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from models.generators import checkpoint as generators
from models.generators.base import GeneratorError
from models.systems import system_class
from models.systems.base import System, SystemFault
from models.systems.card import CARD_FILE, UnusableCheckpoint, no_card, read_card
from models.systems.pretrained import cannot_load, open_tokenizer
from models.systems.recipes import Recipe
from models.tasks import Task


def checkpoint_folder(name: str) -> Path:
    """As ``models.generators.checkpoint.checkpoint_folder``; raises UnusableCheckpoint."""
    try:
        return generators.checkpoint_folder(name)
    except GeneratorError as error:
        raise UnusableCheckpoint(str(error)) from error


def open_checkpoint(name: str, task: Task | None = None) -> System:
    """A system that is ready for ``task`` (any, where ``None``), from its weights.

    A folder with a task card is what its card says (the shipped model's kind has a card of its
    own, for all tasks). Without one, only weights that were made for
    reviewing are taken: CodeReviewer's, which know its format's tokens. Raises UnusableCheckpoint
    for everything else, with the command that fine-tunes it.
    """
    folder = checkpoint_folder(name)
    if (folder / generators.CARD).exists():
        from models.systems.shipped import ShippedSystem

        return ShippedSystem(task or Task.CRB, folder)
    if (folder / CARD_FILE).exists():
        card = read_card(folder)
        try:
            found = system_class(card.system)
        except KeyError as error:
            raise UnusableCheckpoint(
                f"{name}: made by {card.system}, which is no system here; fit it again"
            ) from error
        system = found.load(folder)
    else:
        from models.systems.codereviewer import CodeReviewer, speaks_codereviewer

        try:
            speaks = speaks_codereviewer(open_tokenizer(str(folder)))
        except UnusableCheckpoint:
            speaks = False
        if not speaks:
            raise no_card(name)
        system = CodeReviewer.start_from(str(folder))
        system.task = task or Task.RCG
    if task is not None and system.task is not task:
        raise SystemFault(f"{name}: answers {system.task}, not {task}; give another checkpoint")
    return system


_KINDS = {"t5": "codet5", "roberta": "codebert", "gpt2": "codegpt"}


def starting_point(name: str, kind: str = "", recipe: Recipe | None = None) -> System:
    """Published weights as a system to be fine-tuned: ``kind``, or what the checkpoint is.

    A T5 with CodeReviewer's tokens is that, one with ``TokenizerModel.vocab`` is T5-Review, any
    other CodeT5; a RoBERTa is CodeBERT (say ``graphcodebert`` for the other), a GPT-2 CodeGPT.
    Raises UnusableCheckpoint for what is none of these.
    """
    folder = checkpoint_folder(name)
    if not kind:
        try:
            config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
            kind = _KINDS.get(config.get("model_type", ""), "")
        except (OSError, json.JSONDecodeError) as error:
            raise cannot_load(name, "config.json") from error
        if kind == "codet5":
            if (folder / "TokenizerModel.vocab").exists():
                kind = "t5_review"
            elif (folder / "added_tokens.json").exists() and "<msg>" in (
                folder / "added_tokens.json"
            ).read_text(encoding="utf-8"):
                kind = "codereviewer"
    if not kind:
        raise UnusableCheckpoint(
            f"{name}: neither a T5, a RoBERTa nor a GPT-2; give another checkpoint"
        )
    found: Any = system_class(kind)
    if not hasattr(found, "start_from"):
        raise UnusableCheckpoint(f"{kind} starts from no published weights; leave --from out")
    system: System = found.start_from(str(folder), recipe)
    return system
