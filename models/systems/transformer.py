"""A Transformer with one or several encoders' inputs, for Trans-Review and AutoTransform.

Vaswani et al. (2017), layer norms before the sublayers, sinusoidal positions, one embedding for
sources, target and output. With two sources (Trans-Review's comment and code) the encoder is
shared and every decoder layer attends to each source in turn (Tufano et al., 2021).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import nn
from torch.nn import functional

from models.systems.recipes import Shape

PAD, START, END, UNKNOWN = 0, 1, 2, 3
"""Ids that every vocabulary begins with."""


@dataclass(slots=True)
class Memory:
    """What the decoder attends to: each source's states (rows, tokens, width) and its mask."""

    states: list[torch.Tensor]
    masks: list[torch.Tensor]

    def select(self, rows: torch.Tensor) -> Memory:
        """The memory of these rows."""
        return Memory([s[rows] for s in self.states], [m[rows] for m in self.masks])


@dataclass(slots=True)
class Cache:
    """Keys and values of the decoder's layers so far, so that a step costs one token.

    ``cross`` holds those of the sources by layer and source.
    """

    keys: list[torch.Tensor] = field(default_factory=list)
    values: list[torch.Tensor] = field(default_factory=list)
    cross: dict[tuple[int, int], tuple[torch.Tensor, torch.Tensor]] = field(default_factory=dict)

    def select(self, rows: torch.Tensor, moved: bool) -> Cache:
        """The cache of these rows; not ``moved`` where each has the same sources as its place."""
        cross = self.cross
        if moved:
            cross = {place: (k[rows], v[rows]) for place, (k, v) in cross.items()}
        return Cache([k[rows] for k in self.keys], [v[rows] for v in self.values], cross)


class Attention(nn.Module):
    """Multi-head attention; ``mask`` is True where a key may be seen."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.heads = shape.heads
        self.dropout = shape.attention_dropout
        self.query = nn.Linear(shape.width, shape.width)
        self.key = nn.Linear(shape.width, shape.width)
        self.value = nn.Linear(shape.width, shape.width)
        self.out = nn.Linear(shape.width, shape.width)

    def split(self, states: torch.Tensor) -> torch.Tensor:
        """(rows, tokens, width) -> (rows, heads, tokens, width / heads)."""
        rows, tokens, width = states.shape
        return states.view(rows, tokens, self.heads, width // self.heads).transpose(1, 2)

    def forward(
        self,
        states: torch.Tensor,
        keys: torch.Tensor,
        values: torch.Tensor,
        mask: torch.Tensor | None = None,
        causal: bool = False,
    ) -> torch.Tensor:
        """Attend with already split keys and values; gives (rows, tokens, width)."""
        mixed = functional.scaled_dot_product_attention(
            self.split(self.query(states)),
            keys,
            values,
            attn_mask=mask,
            dropout_p=self.dropout if self.training else 0.0,
            is_causal=causal,
        )
        rows, _, tokens, _ = mixed.shape
        merged: torch.Tensor = self.out(mixed.transpose(1, 2).reshape(rows, tokens, -1))
        return merged


class FeedForward(nn.Module):
    """Two linear maps with a rectifier between them."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.inner = nn.Linear(shape.width, shape.feed_forward)
        self.outer = nn.Linear(shape.feed_forward, shape.width)
        self.dropout = nn.Dropout(shape.feed_forward_dropout)

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        """Shape is kept."""
        out: torch.Tensor = self.outer(self.dropout(functional.relu(self.inner(states))))
        return out


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward, each normed before and added after."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.attention, self.forward_ = Attention(shape), FeedForward(shape)
        self.norms = nn.ModuleList(nn.LayerNorm(shape.width) for _ in range(2))
        self.dropout = nn.Dropout(shape.dropout)

    def forward(self, states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Shape is kept."""
        normed = self.norms[0](states)
        keys = self.attention.split(self.attention.key(normed))
        values = self.attention.split(self.attention.value(normed))
        states = states + self.dropout(self.attention(normed, keys, values, mask))
        out: torch.Tensor = states + self.dropout(self.forward_(self.norms[1](states)))
        return out


class DecoderLayer(nn.Module):
    """Causal self-attention, attention to each source in turn, then feed-forward."""

    def __init__(self, shape: Shape, sources: int) -> None:
        super().__init__()
        self.own = Attention(shape)
        self.cross = nn.ModuleList(Attention(shape) for _ in range(sources))
        self.forward_ = FeedForward(shape)
        self.norms = nn.ModuleList(nn.LayerNorm(shape.width) for _ in range(2 + sources))
        self.dropout = nn.Dropout(shape.dropout)

    def forward(
        self, states: torch.Tensor, memory: Memory, cache: Cache | None, layer: int
    ) -> torch.Tensor:
        """Shape is kept; with a cache, ``states`` is the newest token alone."""
        normed = self.norms[0](states)
        keys = self.own.split(self.own.key(normed))
        values = self.own.split(self.own.value(normed))
        if cache is not None:
            if layer < len(cache.keys):
                keys = cache.keys[layer] = torch.cat([cache.keys[layer], keys], 2)
                values = cache.values[layer] = torch.cat([cache.values[layer], values], 2)
            else:
                cache.keys.append(keys)
                cache.values.append(values)
        mixed = self.own(normed, keys, values, causal=cache is None)
        states = states + self.dropout(mixed)
        for index, attention in enumerate(self.cross):
            assert isinstance(attention, Attention)  # noqa: S101 - for the type checker
            normed = self.norms[1 + index](states)
            known = cache.cross.get((layer, index)) if cache is not None else None
            if known is None:
                source = memory.states[index]
                known = (
                    attention.split(attention.key(source)),
                    attention.split(attention.value(source)),
                )
                if cache is not None:
                    cache.cross[layer, index] = known
            keys, values = known
            states = states + self.dropout(
                attention(normed, keys, values, memory.masks[index][:, None, None])
            )
        out: torch.Tensor = states + self.dropout(self.forward_(self.norms[-1](states)))
        return out


class Transformer(nn.Module):
    """The whole model. ``sources`` is the number of input sequences a row."""

    def __init__(self, shape: Shape, entries: int, sources: int = 1) -> None:
        super().__init__()
        self.shape, self.sources = shape, sources
        self.embedding = nn.Embedding(entries, shape.width, padding_idx=PAD)
        nn.init.normal_(self.embedding.weight, std=shape.width**-0.5)
        self.encoder = nn.ModuleList(EncoderLayer(shape) for _ in range(shape.encoder_layers))
        self.decoder = nn.ModuleList(
            DecoderLayer(shape, sources) for _ in range(shape.decoder_layers)
        )
        self.encoder_norm = nn.LayerNorm(shape.width)
        self.decoder_norm = nn.LayerNorm(shape.width)
        self.dropout = nn.Dropout(shape.dropout)

    def _embed(self, ids: torch.Tensor, first: int = 0) -> torch.Tensor:
        width = self.shape.width
        places = torch.arange(first, first + ids.shape[1], dtype=torch.float32)
        scales = torch.exp(torch.arange(0, width, 2) * (-math.log(10_000.0) / width))
        angles = places[:, None] * scales
        waves = torch.stack([angles.sin(), angles.cos()], 2).flatten(1)
        out: torch.Tensor = self.dropout(self.embedding(ids) * math.sqrt(width) + waves)
        return out

    def encode(self, sources: Sequence[torch.Tensor]) -> Memory:
        """Each (rows, tokens) of ids into states and masks."""
        memory = Memory([], [])
        for ids in sources:
            mask = ids != PAD
            states = self._embed(ids)
            for layer in self.encoder:
                states = layer(states, mask[:, None, None])
            memory.states.append(self.encoder_norm(states))
            memory.masks.append(mask)
        return memory

    def decode(
        self, ids: torch.Tensor, memory: Memory, cache: Cache | None = None, first: int = 0
    ) -> torch.Tensor:
        """Logits (rows, tokens, entries) for the token after each; one token with a cache."""
        states = self._embed(ids, first)
        for number, layer in enumerate(self.decoder):
            states = layer(states, memory, cache, number)
        return functional.linear(self.decoder_norm(states), self.embedding.weight)

    def forward(
        self, sources: Sequence[torch.Tensor], target: torch.Tensor, smoothing: float = 0.0
    ) -> torch.Tensor:
        """The mean loss a token; ``target`` is START, tokens, END, padded."""
        logits = self.decode(target[:, :-1], self.encode(sources))
        return functional.cross_entropy(
            logits.flatten(0, 1), target[:, 1:].flatten(), ignore_index=PAD,
            label_smoothing=smoothing,
        )  # fmt: skip
