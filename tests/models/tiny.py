"""Tiny checkpoints of line edits with random weights, in the published layout."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from transformers import T5Config, T5ForConditionalGeneration

from models.training.tokenizer import train_tokenizer
from models.training.trainer import save_model


def tiny_model(tokenizer: Tokenizer, layers: int = 1) -> T5ForConditionalGeneration:
    """32 wide, with so many layers on each side; the same weights at every call."""
    torch.manual_seed(3)
    config = T5Config(
        vocab_size=tokenizer.get_vocab_size(), d_model=32, d_kv=8, d_ff=64, num_layers=layers,
        num_heads=4, num_decoder_layers=layers, dropout_rate=0.0, tie_word_embeddings=True,
        pad_token_id=0, eos_token_id=1, decoder_start_token_id=0,
    )  # fmt: skip
    return T5ForConditionalGeneration(config)


def tiny_checkpoint(
    folder: Path, texts: Sequence[str], tasks: Sequence[str], *, layers: int = 1, words: int = 500
) -> Path:
    """A checkpoint of these tasks whose tokenizer has seen the texts."""
    tokenizer = train_tokenizer(texts, words)
    card: dict[str, Any] = {
        "format": "line-edits-1",
        "tasks": list(tasks),
        "options": {},
        "progress": {"step": 0, "examples": 0, "tokens": 0, "seconds": 0.0},
        "validation": {},
    }
    save_model(folder, tokenizer, tiny_model(tokenizer, layers), card)
    return folder
