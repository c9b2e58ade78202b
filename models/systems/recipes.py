"""The numbers that a system is made and trained with: the papers' own, and tiny ones.

A tiny recipe runs in seconds on a processor and shows that a system works, never how good it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal


@dataclass(frozen=True, slots=True)
class Schedule:
    """How weights are learnt.

    ``steps`` bounds the optimizer's steps, ``epochs`` the passes over the data (whichever comes
    first). ``warmup`` steps raise the rate; after them it falls by the inverse square root
    (``noam``, where ``rate`` is the factor of the original formula), linearly to zero, or not.
    ``patience`` counts validations without improvement before training stops (0 = never stops).
    """

    steps: int
    epochs: int
    batch: int
    rate: float
    warmup: int = 0
    decay: Literal["noam", "linear", "constant"] = "linear"
    optimizer: Literal["adam", "adamw"] = "adamw"
    weight_decay: float = 0.0
    smoothing: float = 0.0
    clip: float = 1.0
    validate_every: int = 1000
    patience: int = 0
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Shape:
    """The size of an encoder-decoder or of a causal model.

    ``encoder_layers`` is 0 for a causal model. ``vocabulary`` is the largest number of entries.
    ``source_tokens`` and ``target_tokens`` bound the two sequences; longer ones are cut.
    """

    encoder_layers: int
    decoder_layers: int
    width: int
    heads: int
    feed_forward: int
    vocabulary: int
    source_tokens: int = 512
    target_tokens: int = 512
    dropout: float = 0.1
    attention_dropout: float = 0.1
    feed_forward_dropout: float = 0.1


@dataclass(frozen=True, slots=True)
class Recipe:
    """A system's shape and schedule under a name that its card and its table row carry."""

    name: str
    shape: Shape
    schedule: Schedule
    merges: int = 0


# Tufano et al. (2021): the best configurations of their search, word vocabularies, OpenNMT.
TRANS_REVIEW_CRB = Recipe(
    "paper",
    Shape(1, 2, 256, 8, 512, 50_000, 400, 400, 0.319, 0.3985, 0.0998),
    Schedule(100_000, 10_000, 32, 0.5132, 8000, "noam", "adam", patience=4, validate_every=1000),
)
TRANS_REVIEW_CRA = Recipe(
    "paper",
    Shape(2, 4, 512, 4, 512, 50_000, 400, 400, 0.1168, 0.1794, 0.2809),
    Schedule(100_000, 10_000, 32, 0.3370, 8000, "noam", "adam", patience=4, validate_every=1000),
)

# Thongtanunam et al. (2022): BPE of 2,000 merges, the first of their Transformer settings.
AUTOTRANSFORM = Recipe(
    "paper",
    Shape(1, 2, 256, 8, 2048, 4000, 1200, 1200),
    Schedule(100_000, 10_000, 32, 0.2, 16_000, "noam", "adam", smoothing=0.1, patience=4),
    merges=2000,
)

# Zhou et al. (2023): AdamW, 5e-5, 512 tokens in and out, the best checkpoint on validation.
_FINE_TUNE = Schedule(200_000, 30, 32, 5e-5, 0, "linear", "adamw", patience=5)

# T5-small with its own 32k SentencePiece (Tufano et al., 2022).
T5_REVIEW = Recipe("paper", Shape(6, 6, 512, 8, 2048, 32_000), _FINE_TUNE)
CODET5 = Recipe("paper", Shape(12, 12, 768, 12, 3072, 32_100), _FINE_TUNE)
CODEREVIEWER = Recipe("paper", Shape(12, 12, 768, 12, 3072, 32_216), _FINE_TUNE)
CODEBERT = Recipe("paper", Shape(12, 12, 768, 12, 3072, 50_265), _FINE_TUNE)
GRAPHCODEBERT = Recipe("paper", Shape(12, 12, 768, 12, 3072, 50_265), _FINE_TUNE)

# GPT-2 small; Java8G: one epoch over 1.4 million files.
JAVA8G = Recipe(
    "paper",
    Shape(0, 12, 768, 12, 3072, 50_257, 1024, 16),
    Schedule(1_000_000, 1, 16, 5e-5, 1000, "linear", "adamw"),
)
CODEGPT = Recipe(
    "paper",
    Shape(0, 12, 768, 12, 3072, 50_000, 1024, 16),
    Schedule(200_000, 5, 16, 8e-5, 1000, "linear", "adamw"),
)

_TINY_SHAPE = Shape(1, 1, 32, 2, 64, 600, 96, 32, 0.0, 0.0, 0.0)
_TINY_SCHEDULE = Schedule(12, 100, 8, 5e-3, 3, "linear", "adamw", validate_every=6)

TINY = Recipe("tiny", _TINY_SHAPE, _TINY_SCHEDULE, merges=200)
TINY_CAUSAL = Recipe(
    "tiny", replace(_TINY_SHAPE, encoder_layers=0, target_tokens=16), _TINY_SCHEDULE
)
