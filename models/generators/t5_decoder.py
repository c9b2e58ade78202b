"""A T5 decoder for serving on a CPU: the same numbers as transformers', with less in between.

The source is projected once a window and for all layers. All rows of a window (its beams, or the
tokens of a draft) ask the source and what was written side by side: what a row wrote is never
copied, only what each row may see changes when beams are dropped or a draft is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from transformers import T5ForConditionalGeneration

from models.generators.t5_arrays import (
    Bools,
    Encoded,
    Floats,
    Ints,
    activation,
    attend,
    bias_table,
    feed_in,
    normed,
    product,
)

_ROOM = 32
"""Columns of keys and values that are made room for at a time."""


@dataclass(frozen=True, slots=True)
class _Layer:
    self_in: Floats
    self_out: Floats
    cross_query: Floats
    cross_out: Floats
    feed_in: Floats
    feed_out: Floats


class T5Decoder:
    """The decoder and output layer of a T5.

    Args:
        model: its weights are read once; embeddings are shared with it.
    """

    def __init__(self, model: T5ForConditionalGeneration) -> None:
        config = model.config
        self.heads = config.num_heads
        self.head = config.d_kv
        self.epsilon = config.layer_norm_epsilon
        self.act = activation(config.dense_act_fn, config.is_gated_act)
        self.embeddings: Floats = model.decoder.embed_tokens.weight.detach().float().numpy()
        scaled = getattr(config, "scale_decoder_outputs", config.tie_word_embeddings)
        last = model.decoder.final_layer_norm.weight * (config.d_model**-0.5 if scaled else 1.0)
        self.output = product(model.lm_head.weight, norm=last)
        self.layers = [self._layer(block) for block in model.decoder.block]
        crossed = [block.layer[1].EncDecAttention for block in model.decoder.block]
        self.source = product(*(w for a in crossed for w in (a.k.weight, a.v.weight)))
        first = model.decoder.block[0].layer[0].SelfAttention
        self.farthest = first.relative_attention_max_distance
        table = bias_table(first, -np.arange(self.farthest + 1))
        barred = np.full((self.heads, 1), -np.inf, np.float32)
        self.table = np.concatenate([table, barred], 1)
        """heads x distance back; the last column is for what may not be seen."""

    @staticmethod
    def _layer(block: Any) -> _Layer:
        own, cross, feed = block.layer
        attention, source, dense = own.SelfAttention, cross.EncDecAttention, feed.DenseReluDense
        return _Layer(
            product(
                attention.q.weight, attention.k.weight, attention.v.weight,
                norm=own.layer_norm.weight,
            ),
            product(attention.o.weight),
            product(source.q.weight, norm=cross.layer_norm.weight),
            product(source.o.weight),
            product(*feed_in(dense), norm=feed.layer_norm.weight),
            product(dense.wo.weight),
        )  # fmt: skip

    def begin(self, encoded: Encoded) -> Decoding:
        """Nothing written yet for the windows that were encoded."""
        return Decoding(self, encoded)


class Decoding:
    """What a batch of windows has written so far, and how it goes on.

    Each window has the same number of rows (beams), one at the beginning. Every token that any of
    them wrote has a column; ``seen`` says which columns a row goes on from.
    """

    def __init__(self, decoder: T5Decoder, encoded: Encoded) -> None:
        self._decoder = decoder
        windows, heads, head = len(encoded.lengths), decoder.heads, decoder.head
        longest = max(encoded.lengths)
        projected = encoded.hidden @ decoder.source
        projected = projected.reshape(len(projected), -1, 2, heads, head)
        layers = len(decoder.layers)
        keys = np.zeros((layers, windows, heads, head, longest), np.float32)
        values = np.zeros((layers, windows, heads, longest, head), np.float32)
        self._masked = np.full((windows, 1, 1, longest), -np.inf, np.float32)
        end = 0
        for window, length in enumerate(encoded.lengths):
            own = projected[end : end + length]
            keys[:, window, ..., :length] = own[:, :, 0].transpose(1, 2, 3, 0)
            values[:, window, :, :length] = own[:, :, 1].transpose(1, 2, 0, 3)
            self._masked[window, ..., :length] = 0
            end += length
        self._source = (keys, values)
        self._keys = np.empty((layers, windows, heads, head, _ROOM), np.float32)
        self._values = np.empty((layers, windows, heads, _ROOM, head), np.float32)
        self._places = np.zeros((windows, _ROOM), np.int64)
        self._seen: Bools = np.zeros((windows, 1, 0), np.bool_)
        self._lengths: Ints = np.zeros(windows, np.int64)

    def keep(self, windows: Sequence[int]) -> None:
        """Go on with some windows of the batch only."""
        chosen, used = np.asarray(windows), self._seen.shape[2]
        keys, values = self._source
        self._source = (keys[:, chosen], values[:, chosen])
        self._masked = self._masked[chosen]
        room = used + _ROOM
        self._keys = _widened(self._keys[:, chosen, ..., :used], 4, room)
        self._values = _widened(self._values[:, chosen, :, :used], 3, room)
        self._places = _widened(self._places[chosen, :used], 1, room)
        self._seen, self._lengths = self._seen[chosen], self._lengths[chosen]

    def step(self, tokens: Ints, parents: Ints) -> Floats:
        """Write one token a row.

        Args:
            tokens: windows x rows.
            parents: which of the window's rows so far each goes on from, windows x rows.

        Returns:
            The logits of what follows, windows x rows x vocabulary.
        """
        windows, rows = tokens.shape
        seen = self._seen[np.arange(windows)[:, None], parents]
        own = np.broadcast_to(np.eye(rows, dtype=np.bool_), (windows, rows, rows))
        places = np.broadcast_to(self._lengths[:, None], (windows, rows))
        self._seen = np.concatenate([seen, own], 2)
        logits = self._write(tokens, places, self._seen)
        self._lengths = self._lengths + 1
        return logits

    def write(self, tokens: Ints) -> Floats:
        """Write several tokens (windows x count) to each window's only row.

        Returns:
            The logits of what follows each, windows x count x vocabulary.
        """
        windows, count = tokens.shape
        before = self._seen.shape[2]
        seen = np.empty((windows, count, before + count), np.bool_)
        seen[..., :before] = self._seen
        seen[..., before:] = np.tri(count, dtype=np.bool_)
        places = self._lengths[:, None] + np.arange(count)
        self._seen = seen[:, -1:].copy()
        logits = self._write(tokens, places, seen)
        self._lengths = self._lengths + count
        return logits

    def take_back(self, unwritten: Ints) -> None:
        """Forget each window's last tokens, as many as ``unwritten`` says, after ``write``."""
        used = self._seen.shape[2]
        self._seen &= np.arange(used) < (used - unwritten)[:, None, None]
        self._lengths = self._lengths - unwritten

    def _write(self, tokens: Ints, places: Ints, seen: Bools) -> Floats:
        decoder = self._decoder
        windows, rows = tokens.shape
        used = seen.shape[2]
        if used > self._keys.shape[-1]:
            room = used + _ROOM
            self._keys = _widened(self._keys, 4, room)
            self._values = _widened(self._values, 3, room)
            self._places = _widened(self._places, 1, room)
        self._places[:, used - rows : used] = places
        back = np.minimum(places[:, :, None] - self._places[:, None, :used], decoder.farthest)
        back[~seen] = decoder.farthest + 1
        bias = decoder.table.take(back, 1).swapaxes(0, 1)
        shape = (windows, rows, -1, decoder.heads, decoder.head)
        hidden = decoder.embeddings[tokens.ravel()]
        for index, layer in enumerate(decoder.layers):
            joined = normed(hidden, decoder.epsilon) @ layer.self_in
            query, key, value = joined.reshape(shape).transpose(2, 0, 3, 1, 4)
            keys, values = self._keys[index, ..., :used], self._values[index, :, :, :used]
            keys[..., -rows:] = key.swapaxes(2, 3)
            values[:, :, -rows:] = value
            scores = query @ keys
            scores += bias
            hidden += _joined(attend(scores, values)) @ layer.self_out
            asked = normed(hidden, decoder.epsilon) @ layer.cross_query
            query = asked.reshape(shape)[:, :, 0].swapaxes(1, 2)
            scores = query @ self._source[0][index]
            scores += self._masked
            hidden += _joined(attend(scores, self._source[1][index])) @ layer.cross_out
            inner = decoder.act(normed(hidden, decoder.epsilon) @ layer.feed_in)
            hidden += inner @ layer.feed_out
        logits: Floats = normed(hidden, decoder.epsilon) @ decoder.output
        return logits.reshape(windows, rows, -1)


def _joined(mixed: Floats) -> Floats:
    """windows x heads x rows x head as (windows * rows) x (heads * head)."""
    windows, heads, rows, head = mixed.shape
    return mixed.swapaxes(1, 2).reshape(windows * rows, heads * head)


def _widened(values: Any, axis: int, size: int) -> Any:
    """The same with room for ``size`` along an axis; zeros, which no row sees."""
    shape = list(values.shape)
    shape[axis] = size
    wider = np.zeros(shape, values.dtype)
    wider[(slice(None),) * axis + (slice(0, values.shape[axis]),)] = values
    return wider
