"""A T5 decoder for serving on a CPU: the same numbers as transformers', with less in between.

At this size the time of transformers' ``generate`` goes into Python and into copying the source's
keys and values for every beam. Here the source is projected once a window, all beams of a window
attend to it together, and one layer is a handful of products.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch.nn import functional
from transformers import T5ForConditionalGeneration
from transformers.activations import ACT2FN
from transformers.models.t5.modeling_t5 import T5Attention


@dataclass(frozen=True, slots=True)
class _Layer:
    """Weights of one decoder layer; products with several outputs are joined."""

    self_norm: torch.Tensor
    self_in: torch.Tensor
    self_out: torch.Tensor
    cross_norm: torch.Tensor
    cross_query: torch.Tensor
    cross_source: torch.Tensor
    cross_out: torch.Tensor
    feed_norm: torch.Tensor
    feed_in: torch.Tensor
    feed_out: torch.Tensor


@dataclass(slots=True)
class Decoding:
    """What one batch has decoded so far.

    ``sources`` are per layer the keys and values (batch x heads x source x head) of the encoder's
    output, ``masked`` is 0 where there is source and minus infinity where padding (batch x 1 x 1 x
    source), ``past`` per layer the keys and values (rows x heads x steps x head) of what was
    written, where rows = batch x beams, the beams of a window side by side.
    """

    sources: list[tuple[torch.Tensor, torch.Tensor]]
    masked: torch.Tensor
    past: list[tuple[torch.Tensor, torch.Tensor]]
    beams: int
    steps: int = 0

    def reorder(self, rows: torch.Tensor) -> None:
        """Let row i go on from what row ``rows[i]`` has written (of the same window)."""
        self.past = [(k.index_select(0, rows), v.index_select(0, rows)) for k, v in self.past]

    def keep(self, windows: torch.Tensor) -> None:
        """Go on with some windows of the batch only."""
        offsets = torch.arange(self.beams)
        rows = (windows.unsqueeze(1) * self.beams + offsets).flatten()
        self.reorder(rows)
        self.sources = [(k[windows], v[windows]) for k, v in self.sources]
        self.masked = self.masked[windows]


class T5Decoder:
    """The decoder and output layer of a T5, one step at a time.

    Args:
        model: in float32 and evaluation mode; its weights are read, not copied, where they are
            not joined.
    """

    def __init__(self, model: T5ForConditionalGeneration) -> None:
        config = model.config
        self.heads = config.num_heads
        self.gated = bool(config.is_gated_act)
        self.activation = ACT2FN[config.dense_act_fn]
        self.epsilon = config.layer_norm_epsilon
        self.embeddings = model.decoder.embed_tokens.weight.detach()
        self.final_norm = model.decoder.final_layer_norm.weight.detach()
        self.output = model.lm_head.weight.detach()
        scaled = getattr(config, "scale_decoder_outputs", config.tie_word_embeddings)
        self.scale = config.d_model**-0.5 if scaled else 1.0
        self.layers = [self._layer(block) for block in model.decoder.block]
        first = model.decoder.block[0].layer[0].SelfAttention
        self.bias_weight = first.relative_attention_bias.weight.detach()
        self.buckets = config.relative_attention_num_buckets
        self.farthest = config.relative_attention_max_distance

    def _layer(self, block: Any) -> _Layer:
        own, cross, feed = block.layer
        attention, source = own.SelfAttention, cross.EncDecAttention
        dense = feed.DenseReluDense
        feed_in = [dense.wi_0.weight, dense.wi_1.weight] if self.gated else [dense.wi.weight]
        return _Layer(
            own.layer_norm.weight.detach(),
            torch.cat([attention.q.weight, attention.k.weight, attention.v.weight]).detach(),
            attention.o.weight.detach(),
            cross.layer_norm.weight.detach(),
            source.q.weight.detach(),
            torch.cat([source.k.weight, source.v.weight]).detach(),
            source.o.weight.detach(),
            feed.layer_norm.weight.detach(),
            torch.cat(feed_in).detach(),
            dense.wo.weight.detach(),
        )

    def begin(self, encoded: torch.Tensor, mask: torch.Tensor, beams: int) -> Decoding:
        """Nothing written yet.

        Args:
            encoded: the encoder's output, batch x source x width.
            mask: batch x source, true (or 1) where there is source.
            beams: rows a window.
        """
        sources = []
        for layer in self.layers:
            keys, values = functional.linear(encoded, layer.cross_source).chunk(2, -1)
            sources.append((self._split(keys), self._split(values)))
        masked = torch.zeros(mask.shape).masked_fill(mask == 0, float("-inf"))
        rows = len(encoded) * beams
        head = self.layers[0].cross_query.shape[0] // self.heads
        nothing = torch.zeros(rows, self.heads, 0, head)
        past = [(nothing, nothing) for _ in self.layers]
        return Decoding(sources, masked[:, None, None, :], past, beams)

    def _split(self, joined: torch.Tensor) -> torch.Tensor:
        """rows x steps x (heads * head) as rows x heads x steps x head."""
        return joined.view(*joined.shape[:-1], self.heads, -1).transpose(1, 2)

    def _norm(self, hidden: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        return weight * hidden * torch.rsqrt(hidden.pow(2).mean(-1, keepdim=True) + self.epsilon)

    def _bias(self, first: int, count: int, known: int) -> torch.Tensor:
        """Position bias of ``count`` steps from ``first`` on over ``known``, and causality."""
        queries = torch.arange(first, first + count)[:, None]
        relative = torch.arange(known)[None, :] - queries
        buckets = T5Attention._relative_position_bucket(
            relative, bidirectional=False, num_buckets=self.buckets, max_distance=self.farthest
        )
        bias: torch.Tensor = self.bias_weight[buckets].permute(2, 0, 1)
        return bias.masked_fill(relative > 0, float("-inf"))

    def step(self, state: Decoding, tokens: torch.Tensor) -> torch.Tensor:
        """Write tokens (rows x count) to each row's end; log-probabilities of what follows each.

        Returns:
            rows x count x vocabulary.
        """
        rows, count = tokens.shape
        windows, beams = rows // state.beams, state.beams
        known = state.steps + count
        bias = self._bias(state.steps, count, known)
        hidden = self.embeddings[tokens]
        for index, layer in enumerate(self.layers):
            joined = functional.linear(self._norm(hidden, layer.self_norm), layer.self_in)
            query, key, value = (self._split(part) for part in joined.chunk(3, -1))
            old_key, old_value = state.past[index]
            key, value = torch.cat([old_key, key], 2), torch.cat([old_value, value], 2)
            state.past[index] = (key, value)
            weights = torch.softmax(query @ key.transpose(2, 3) + bias, -1)
            hidden = hidden + functional.linear(
                (weights @ value).transpose(1, 2).flatten(2), layer.self_out
            )
            query = functional.linear(self._norm(hidden, layer.cross_norm), layer.cross_query)
            # all beams of a window ask its source at once: batch x heads x (beams * count) x head
            query = self._split(query.view(windows, beams * count, -1))
            keys, values = state.sources[index]
            weights = torch.softmax(query @ keys.transpose(2, 3) + state.masked, -1)
            seen = (weights @ values).transpose(1, 2).flatten(2).view(rows, count, -1)
            hidden = hidden + functional.linear(seen, layer.cross_out)
            inner = functional.linear(self._norm(hidden, layer.feed_norm), layer.feed_in)
            if self.gated:
                left, right = inner.chunk(2, -1)
                inner = self.activation(left) * right
            else:
                inner = self.activation(inner)
            hidden = hidden + functional.linear(inner, layer.feed_out)
        state.steps = known
        final = self._norm(hidden, self.final_norm) * self.scale
        return torch.log_softmax(functional.linear(final, self.output), -1)
