"""Dropout that costs next to nothing on a CPU.

Drawing a random number for every activation takes a third of a training step there. Here the
masks are cut from one long random vector, each at a random place.
"""

from __future__ import annotations

import torch
from torch import nn
from transformers.models.t5.modeling_t5 import T5Attention

POOL = 1 << 23
"""Random values that masks are cut from."""


class _Masks:
    """Masks of any shape for one share, of 0 and of 1 / (1 - share)."""

    def __init__(self, share: float, seed: int) -> None:
        self.generator = torch.Generator().manual_seed(seed)
        kept = torch.rand(POOL, generator=self.generator) >= share
        self.values = kept.float() / (1.0 - share)
        self.by_type = {torch.float32: self.values}

    def drop(self, states: torch.Tensor) -> torch.Tensor:
        if states.dtype not in self.by_type:
            self.by_type[states.dtype] = self.values.to(states.dtype)
        pool, size = self.by_type[states.dtype], states.numel()
        if size >= POOL:
            pool = pool.repeat(size // POOL + 1)
        at = int(torch.randint(len(pool) - size, (), generator=self.generator))
        return states * pool[at : at + size].view(states.shape)


class PooledDropout(nn.Module):
    """Sets a share of what it gets to zero in training, and scales up the rest."""

    def __init__(self, masks: _Masks) -> None:
        super().__init__()
        self.masks = masks

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        """The states, some of them dropped while training."""
        return self.masks.drop(states) if self.training else states


def set_dropout(model: nn.Module, share: float, seed: int = 0) -> None:
    """Drop this share of activations in training; the model's configuration stays as it is.

    Attention weights are not dropped: that would take the place of the fused attention. ``share``
    0 takes all dropout away.
    """
    masks = _Masks(share, seed) if share > 0 else None
    for module in list(model.modules()):
        if isinstance(module, T5Attention):
            module.dropout = 0.0
        for name, child in list(module.named_children()):
            if isinstance(child, nn.Dropout | PooledDropout):
                setattr(module, name, PooledDropout(masks) if masks else nn.Identity())
