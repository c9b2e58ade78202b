"""A T5's weights as arrays, and its encoder, for serving on a CPU.

The models served here are small: most of the time of transformers' ``generate`` goes into Python
and into the price of each of torch's calls. The same products over plain arrays cost a fraction of
that, so that the whole of serving is written over numpy. Weights are stored as they are multiplied
(input x output), each layer norm's scale is part of the product that follows it, and products of
one input are joined.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from transformers import T5ForConditionalGeneration
from transformers.activations import ACT2FN
from transformers.models.t5.modeling_t5 import T5Attention

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Activation = Callable[[Floats], Floats]


@dataclass(frozen=True, slots=True)
class Encoded:
    """The encoder's output: the windows' tokens one after another (tokens x width)."""

    hidden: Floats
    lengths: tuple[int, ...]


def product(*weights: torch.Tensor, norm: torch.Tensor | None = None) -> Floats:
    """Linear maps of one input as one array (input x outputs), the norm's scale in it."""
    joined = torch.cat(list(weights)).detach().float().T
    if norm is not None:
        joined = joined * norm.detach().float()[:, None]
    return np.ascontiguousarray(joined.numpy())


def normed(hidden: Floats, epsilon: float) -> Floats:
    """Rows over their root mean square; the scale is in the product that follows."""
    square = np.einsum("ij,ij->i", hidden, hidden) / np.float32(hidden.shape[1])
    scaled: Floats = hidden * (np.float32(1) / np.sqrt(square + np.float32(epsilon)))[:, None]
    return scaled


def attend(scores: Floats, values: Floats) -> Floats:
    """Softmax of the scores (overwritten) over the last axis, times the values."""
    scores -= scores.max(-1, keepdims=True)
    np.exp(scores, out=scores)
    mixed: Floats = scores @ values
    mixed /= scores.sum(-1, keepdims=True)
    return mixed


def activation(name: str, gated: bool) -> Activation:
    """What stands between the two products of a feed-forward layer."""
    act = ACT2FN[name]

    def plain(inner: Floats) -> Floats:
        result: Floats = act(torch.from_numpy(inner)).numpy()
        return result

    def gate(inner: Floats) -> Floats:
        left, right = np.split(inner, 2, -1)
        return plain(np.ascontiguousarray(left)) * right

    def rectified(inner: Floats) -> Floats:
        return np.maximum(inner, 0, out=inner)

    if gated:
        return gate
    return rectified if name == "relu" else plain


def bias_table(attention: T5Attention, distances: Ints) -> Floats:
    """The position bias (heads x distances) of keys at these distances from their query."""
    buckets = T5Attention._relative_position_bucket(
        torch.from_numpy(distances),
        bidirectional=not attention.is_decoder,
        num_buckets=attention.relative_attention_num_buckets,
        max_distance=attention.relative_attention_max_distance,
    )
    table = attention.relative_attention_bias.weight.detach().float()[buckets]
    return np.ascontiguousarray(table.T.numpy())


@dataclass(frozen=True, slots=True)
class _Layer:
    attention_in: Floats
    attention_out: Floats
    feed_in: Floats
    feed_out: Floats


class T5Encoder:
    """The encoder of a T5.

    Args:
        model: its weights are read once; embeddings are shared with it.
    """

    def __init__(self, model: T5ForConditionalGeneration) -> None:
        config = model.config
        self.heads = config.num_heads
        self.epsilon = config.layer_norm_epsilon
        self.act = activation(config.dense_act_fn, config.is_gated_act)
        self.embeddings: Floats = model.encoder.embed_tokens.weight.detach().float().numpy()
        self.scale: Floats = model.encoder.final_layer_norm.weight.detach().float().numpy()
        self.layers = [self._layer(block) for block in model.encoder.block]
        first = model.encoder.block[0].layer[0].SelfAttention
        self.farthest = first.relative_attention_max_distance
        self.table = bias_table(first, np.arange(-self.farthest, self.farthest + 1))

    @staticmethod
    def _layer(block: Any) -> _Layer:
        own, feed = block.layer
        attention, dense = own.SelfAttention, feed.DenseReluDense
        return _Layer(
            product(
                attention.q.weight, attention.k.weight, attention.v.weight,
                norm=own.layer_norm.weight,
            ),
            product(attention.o.weight),
            product(*feed_in(dense), norm=feed.layer_norm.weight),
            product(dense.wo.weight),
        )  # fmt: skip

    def encode(self, rows: Sequence[Sequence[int]]) -> Encoded:
        """Encode windows, each a sequence of token ids of its own length."""
        lengths = tuple(len(row) for row in rows)
        ends = np.cumsum(lengths).tolist()
        hidden = self.embeddings[np.concatenate([np.asarray(row, np.int64) for row in rows])]
        bias = self._bias(max(lengths))
        for layer in self.layers:
            joined = normed(hidden, self.epsilon) @ layer.attention_in
            query, key, value = joined.reshape(len(joined), 3, self.heads, -1).transpose(1, 2, 0, 3)
            mixed = np.empty((len(joined), self.heads, query.shape[-1]), np.float32)
            # a window sees itself alone, and nothing is padded
            for length, end in zip(lengths, ends, strict=True):
                own = slice(end - length, end)
                scores = query[:, own] @ key[:, own].swapaxes(1, 2)
                scores += bias[:, :length, :length]
                mixed[own] = attend(scores, value[:, own]).swapaxes(0, 1)
            hidden += mixed.reshape(len(joined), -1) @ layer.attention_out
            hidden += self.act(normed(hidden, self.epsilon) @ layer.feed_in) @ layer.feed_out
        return Encoded(normed(hidden, self.epsilon) * self.scale, lengths)

    def _bias(self, length: int) -> Floats:
        """heads x queries x keys; a view, since it depends on the distance alone."""
        places = np.clip(np.arange(1 - length, length), -self.farthest, self.farthest)
        line = np.ascontiguousarray(self.table[:, places + self.farthest])
        step = line.strides[1]
        return np.lib.stride_tricks.as_strided(
            line[:, length - 1 :],
            (self.heads, length, length),
            (line.strides[0], -step, step),
            writeable=False,
        )


def feed_in(dense: Any) -> list[torch.Tensor]:
    """The first product of a feed-forward layer, gated or not."""
    if hasattr(dense, "wi_0"):
        return [dense.wi_0.weight, dense.wi_1.weight]
    return [dense.wi.weight]
