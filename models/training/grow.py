"""Larger models that begin by answering as a smaller one does (Chen et al. 2016, Net2Net)."""

from __future__ import annotations

import torch
from torch import nn
from transformers import T5Config, T5ForConditionalGeneration
from transformers.models.t5.modeling_t5 import T5Stack

QUIET = 0.1
"""Size of what new parts add to the residual stream, against what their models add.

Not zero: steps are relative to a weight's size (``trainer.scale_rates``), so a weight of zero would
hardly move.
"""


SPLIT = 0.5
"""How far apart the two halves of a doubled weight may lie, as a share of it."""


@torch.no_grad()
def widened(model: T5ForConditionalGeneration, seed: int = 1) -> T5ForConditionalGeneration:
    """The model with twice the width, heads and feed-forward units; it answers exactly as before.

    The residual stream is there twice, so that its root mean square, by which T5 normalises, stays
    the same. What reads it divides each weight among the two copies, unequally, so that they learn
    different things; what writes it writes to both. Four times the weights in every layer.

    Args:
        model: a T5 whose output layer is its embeddings, scaled by the width; left as it is.
        seed: fixes how weights are divided.

    Raises:
        ValueError: a model with another output layer.
    """
    old = model.config
    if not old.tie_word_embeddings:
        raise ValueError("a model whose output layer is not its embeddings cannot be widened")
    sizes = {"d_model": 2 * old.d_model, "num_heads": 2 * old.num_heads, "d_ff": 2 * old.d_ff}
    large = T5ForConditionalGeneration(T5Config(**{**old.to_dict(), **sizes}))
    generator = torch.Generator().manual_seed(seed)
    weights = model.state_dict()
    outputs = {"shared.weight", "encoder.embed_tokens.weight", "decoder.embed_tokens.weight"}
    outputs.add("lm_head.weight")
    for name, weight in large.state_dict().items():
        small = weights[name]
        if small.ndim == 1:
            # T5 divides logits by the root of the width: the sum over both copies is too large
            twice = 2**0.5 if name == "decoder.final_layer_norm.weight" else 1.0
            weight.copy_(torch.cat([small, small]) / twice)
        elif name in outputs or "relative_attention_bias" in name:
            weight.copy_(torch.cat([small, small], 1))
        else:
            part = 0.5 + SPLIT * (torch.rand(small.shape, generator=generator) - 0.5)
            both = torch.cat([part * small, (1 - part) * small], 1)
            weight.copy_(torch.cat([both, both]))
    return large


@torch.no_grad()
def grown(
    model: T5ForConditionalGeneration, blocks: int, feed_forward: int, seed: int = 1
) -> T5ForConditionalGeneration:
    """The model with more blocks in encoder and decoder and wider feed-forward layers.

    Every old weight stays. A new block is a copy of the last one, a new hidden unit is a fresh
    one of the old ones' spread; what either adds to the residual stream is made ``QUIET``, so that
    the model begins close to where the smaller one ended.

    Args:
        model: a T5 without gated feed-forward layers; it is left as it is.
        blocks: how many to add to each stack.
        feed_forward: hidden units of each feed-forward layer, the present number or more.
        seed: fixes the new units.

    Raises:
        ValueError: a model that this cannot grow, or fewer units than it has.
    """
    old = model.config
    if old.is_gated_act:
        raise ValueError("a model with gated feed-forward layers cannot be grown")
    if blocks < 0 or feed_forward < old.d_ff:
        raise ValueError(f"a model of {old.d_ff} feed-forward units cannot shrink")
    large = T5ForConditionalGeneration(
        T5Config(
            **{
                **old.to_dict(),
                "d_ff": feed_forward,
                "num_layers": old.num_layers + blocks,
                "num_decoder_layers": old.num_decoder_layers + blocks,
            }
        )
    )
    large.shared.load_state_dict(model.shared.state_dict())
    large.lm_head.load_state_dict(model.lm_head.state_dict())
    generator = torch.Generator().manual_seed(seed)
    for small_stack, large_stack in (
        (model.encoder, large.encoder),
        (model.decoder, large.decoder),
    ):
        _grow(small_stack, large_stack, generator)
    return large


def _grow(small: T5Stack, large: T5Stack, generator: torch.Generator) -> None:
    large.final_layer_norm.load_state_dict(small.final_layer_norm.state_dict())
    last = len(small.block) - 1
    for index, block in enumerate(large.block):
        source = small.block[min(index, last)].state_dict()
        if index > last:  # only the first block of a stack holds its relative positions
            source = {k: v for k, v in source.items() if "relative_attention_bias" not in k}
        for name, weight in block.state_dict().items():
            weight.copy_(_extended(source[name], weight.shape, generator))
        if index > last:
            for name, module in block.named_modules():
                if isinstance(module, nn.Linear) and name.endswith((".o", ".wo")):
                    module.weight.mul_(QUIET)


def _extended(old: torch.Tensor, shape: torch.Size, generator: torch.Generator) -> torch.Tensor:
    if old.shape == shape:
        return old
    (axis,) = (i for i, (a, b) in enumerate(zip(old.shape, shape, strict=True)) if a != b)
    missing = [*shape]
    missing[axis] -= old.shape[axis]
    fresh = torch.randn(missing, generator=generator) * old.pow(2).mean().sqrt()
    # rows of ``wi`` are new hidden units, columns of ``wo`` what they add to the stream
    return torch.cat([old, fresh if axis == 0 else QUIET * fresh], dim=axis)
