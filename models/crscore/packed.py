"""A BERT encoder's forward pass without what pooling throws away.

The library's pass pads every batch to a rectangle and makes the last layer's vectors of every
token. Here the tokens of a batch stand one after the other, so that the matrix products, which
are four fifths of the time, see no padding; keys, queries and values come of one product; and the
last layer goes on only with the tokens that the mean keeps (two in three: the rest are stop
words). The numbers are the library's up to rounding.

``int8`` rounds the weights and what they are multiplied with to whole numbers. Before that the
columns are scaled as SmoothQuant does (Xiao et al. 2023, equation 4), since a few columns of a
BERT are ten times the others. The ranges come from fixed sentences, not from the batch, so that a
text's vector does not depend on its neighbours. Weights get 7 bits, not 8: without VNNI two
products are added in 16 bits, which 8 would overflow.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.nn import functional

Product = Callable[[torch.Tensor], torch.Tensor]
"""A linear layer: (tokens, in) to (tokens, out)."""

_SMOOTHING = 0.65
"""How much of a column's range moves from the inputs into the weights (SmoothQuant's alpha)."""
_LEVELS = 63
"""Largest weight: 7 bits with sign."""
_CODE = (
    "Why does `parse_config(path, strict=True)` return None here?",
    "self.assertEqual(len(result), 3)",
    "The variable `maxRetries` was renamed to `max_retries` in HttpClient.java.",
    "if (x == null || x.isEmpty()) { return Collections.emptyList(); }",
    "Nit: use f-strings instead of '%s' % name",
    "const { data, error } = await fetch(url, { method: 'POST' });",
    "@Override public void onCreate(Bundle savedInstanceState)",
    "import os, sys",
    "The method `get_user_by_id` now raises a ValueError where it returned -1.",
    "// remove this once the old servers are gone",
    "LGTM!",
    "for (int i = 0; i < n; i++) sum += a[i] * b[i];",
)
"""Beside plain prose, what the ranges of ``int8`` are measured on."""


class Ranges:
    """A linear layer that notes the range of each of its input's columns."""

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor) -> None:
        self.weight, self.bias = weight, bias
        self.low = torch.full((weight.shape[1],), torch.inf)
        self.high = torch.full((weight.shape[1],), -torch.inf)

    def __call__(self, inputs: torch.Tensor) -> torch.Tensor:
        """The layer's outputs."""
        self.low = torch.minimum(self.low, inputs.amin(0))
        self.high = torch.maximum(self.high, inputs.amax(0))
        return functional.linear(inputs, self.weight, self.bias)

    def rounded(self) -> Product:
        """The same layer in whole numbers, for inputs of the ranges that were seen."""
        reach = torch.maximum(self.high, -self.low).clamp(min=1e-5)
        size = self.weight.abs().amax(0).clamp(min=1e-5)
        scale = reach**_SMOOTHING / size ** (1 - _SMOOTHING)
        weight = self.weight * scale
        steps = weight.abs().amax(1).clamp(min=1e-8) / _LEVELS
        zeros = torch.zeros(len(weight), dtype=torch.int64)
        with warnings.catch_warnings():
            # the pinned PyTorch announces that such tensors will go; it has no other int8 product
            warnings.simplefilter("ignore", UserWarning)
            whole = torch.quantize_per_channel(weight, steps, zeros, 0, torch.qint8)
            packed = torch.ops.quantized.linear_prepack(whole, self.bias)
        low = min(0.0, float((self.low / scale).min()))
        high = max(0.0, float((self.high / scale).max()))
        step = max(high - low, 1e-8) / 255
        zero = round(-low / step)
        shrink = 1 / scale

        def product(inputs: torch.Tensor) -> torch.Tensor:
            out: torch.Tensor = torch.ops.quantized.linear_with_input_q_dq_qweight_dq_output_fp32(
                inputs * shrink, step, zero, packed
            )
            return out

        return product


def _plain(weight: torch.Tensor, bias: torch.Tensor) -> Product:
    return lambda inputs: functional.linear(inputs, weight, bias)


class _Layer:
    """One block: its four products and two norms."""

    def __init__(
        self, block: Any, make: Callable[[torch.Tensor, torch.Tensor], Product] = _plain
    ) -> None:
        def of(*parts: Any) -> Product:
            return make(
                torch.cat([part.weight for part in parts]), torch.cat([part.bias for part in parts])
            )

        seen = block.attention.self
        self.seen = of(seen.query, seen.key, seen.value)
        self.mixed = of(block.attention.output.dense)
        self.first_norm = block.attention.output.LayerNorm
        self.inner = of(block.intermediate.dense)
        self.outer = of(block.output.dense)
        self.last_norm = block.output.LayerNorm


class PackedBert:
    """The forward pass of a ``transformers`` ``BertModel`` in its own dtype, or in int8.

    ``calibration`` are token ids of sentences for the ranges of int8; without any the products
    are the model's own.
    """

    def __init__(self, bert: Any, calibration: Sequence[Sequence[int]] = ()) -> None:
        self._embeddings = bert.embeddings
        self._heads = int(bert.config.num_attention_heads)
        blocks = list(bert.encoder.layer)
        with torch.inference_mode():
            if not calibration:
                self._layers = [_Layer(block) for block in blocks]
                return
            self._layers = [_Layer(block, Ranges) for block in blocks]
            for start in range(0, len(calibration), 16):
                self.hidden(calibration[start : start + 16])
            for layer in self._layers:
                for name in ("seen", "mixed", "inner", "outer"):
                    setattr(layer, name, getattr(layer, name).rounded())

    @staticmethod
    def fits(model: Any) -> bool:
        """Whether this is the pass of a model: BERT as published, which most encoders are."""
        if type(model).__name__ != "BertModel":
            return False
        config = model.config
        return bool(
            config.hidden_act == "gelu"
            and getattr(config, "position_embedding_type", "absolute") == "absolute"
            and not config.is_decoder
        )

    def hidden(
        self, rows: Sequence[Sequence[int]], kept: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Vectors of the last layer, (tokens, width), and the row that each token is of.

        ``rows`` are token ids, special tokens included; ``kept`` (vocabulary,) says which ids
        are wanted, default all. To be called in ``torch.inference_mode()``.
        """
        sizes = torch.tensor([len(row) for row in rows])
        count, longest = len(rows), int(sizes.max())
        ids = torch.tensor([number for row in rows for number in row])
        of_row = torch.repeat_interleave(torch.arange(count), sizes)
        inside = torch.arange(len(ids)) - (sizes.cumsum(0) - sizes)[of_row]
        ragged = len(ids) < count * longest
        place = of_row * longest + inside
        mask = (torch.arange(longest) < sizes[:, None])[:, None, None, :] if ragged else None

        made = self._embeddings
        vectors = (
            made.word_embeddings.weight[ids]
            + made.token_type_embeddings.weight[0]
            + made.position_embeddings.weight[inside]
        )
        vectors = made.LayerNorm(vectors)
        width = vectors.shape[1]
        for layer in self._layers:
            seen = layer.seen(vectors)
            if ragged:
                # attention alone needs the rectangle, and it is a small part of the work
                seen = seen.new_zeros(count * longest, 3 * width).index_copy_(0, place, seen)
            query, key, value = seen.view(
                count, longest, 3, self._heads, width // self._heads
            ).permute(2, 0, 3, 1, 4)
            mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
            mixed = mixed.transpose(1, 2).reshape(count * longest, width)
            if layer is self._layers[-1] and kept is not None:
                wanted = kept[ids].nonzero()[:, 0]
                place, vectors, of_row = place[wanted], vectors[wanted], of_row[wanted]
                mixed = mixed[place]
            elif ragged:
                mixed = mixed[place]
            vectors = layer.first_norm(vectors + layer.mixed(mixed))
            inner = functional.gelu(layer.inner(vectors))
            vectors = layer.last_norm(vectors + layer.outer(inner))
        return vectors, of_row


def calibration_texts() -> list[str]:
    """The sentences that the ranges of int8 are measured on."""
    from models.crscore.idle import FILLINGS

    return [*FILLINGS, *_CODE]
