"""Where a training run begins: a fresh model, one of our own, or a published T5."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from tokenizers import AddedToken, Tokenizer
from transformers import AutoTokenizer, T5ForConditionalGeneration

from models.generators.base import GeneratorError
from models.generators.checkpoint import CARD, checkpoint_folder
from models.generators.line_edits import EditCodec, special_tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

_PROBE = "\tif a:\n    b = [1,  2]\n"


def load_start(source: str) -> tuple[Tokenizer, T5ForConditionalGeneration]:
    """Tokenizer and model to go on training from.

    A checkpoint of ours is taken as it is. A published T5 (CodeT5, CodeReviewer) keeps its own
    vocabulary and gains the markers of the line edit format that it lacks, with fresh embeddings
    about the mean of its own.

    Args:
        source: a folder or a Hub id.

    Raises:
        ValueError: no such checkpoint, none of the T5 family, or a tokenizer that loses white
            space (SentencePiece without line feeds), in which no code can be written.
    """
    try:
        folder = checkpoint_folder(source)
    except GeneratorError as error:
        raise ValueError(str(error)) from error
    if (folder / CARD).exists():
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        return tokenizer, _open(folder, source)
    kind = _kind(folder, source)
    if kind != "t5":
        raise ValueError(
            f"{source} is a {kind} model; this trains the T5 family. Other systems are fitted by "
            "`marginalia bench run --system NAME`"
        )
    try:
        loaded: Any = AutoTokenizer.from_pretrained(folder)
    except (OSError, ValueError) as error:
        raise ValueError(f"{source}: its tokenizer cannot be read: {error}") from error
    tokenizer = loaded.backend_tokenizer
    markers = [token for token in special_tokens() if tokenizer.token_to_id(token) is None]
    tokenizer.add_special_tokens([AddedToken(token, special=True) for token in markers])
    codec = EditCodec(tokenizer)
    try:
        codec.newline  # noqa: B018 - raises where there is none
        lossless = codec.text(codec.text_ids([_PROBE])[0]) == _PROBE
    except ValueError:
        lossless = False
    if not lossless:
        raise ValueError(
            f"{source}: its tokenizer loses white space, so that no code can be written with it; "
            "start from a byte-level one, as CodeT5's"
        )
    model = _open(folder, source)
    _widen(model, tokenizer, markers)
    return tokenizer, model


def _open(folder: Path, source: str) -> T5ForConditionalGeneration:
    try:
        return T5ForConditionalGeneration.from_pretrained(folder, dtype=torch.float32)
    except (OSError, ValueError) as error:
        raise ValueError(f"{source} cannot be read: {error}") from error


def _kind(folder: Path, source: str) -> str:
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(f"{source} has no readable config.json: {error}") from error
    return str(config.get("model_type", "unknown"))


@torch.no_grad()
def _widen(model: T5ForConditionalGeneration, tokenizer: Tokenizer, markers: Sequence[str]) -> None:
    size = max(tokenizer.get_vocab_size(), model.config.vocab_size)
    old = model.shared.weight
    mean, spread = old.mean(0), old.std(0)
    model.resize_token_embeddings(size, mean_resizing=False)
    generator = torch.Generator().manual_seed(1)
    for token in markers:
        number = tokenizer.token_to_id(token)
        noise = torch.randn(mean.shape, generator=generator)
        model.shared.weight[number] = mean + 0.5 * spread * noise
        if model.lm_head.weight is not model.shared.weight:
            model.lm_head.weight[number] = model.lm_head.weight[: len(old)].mean(0)
    model.config.pad_token_id = tokenizer.token_to_id("<pad>")
    model.config.eos_token_id = tokenizer.token_to_id("</s>")
    model.config.decoder_start_token_id = tokenizer.token_to_id("<pad>")
