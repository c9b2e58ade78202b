"""A start from which copying is quickly learnt.

Most of a revision is its input, yet a small transformer spends its first millions of tokens
without an induction circuit (attend to what followed the last written token, and write that;
Olsson et al. 2022, "In-context Learning and Induction Heads"). Two means bring it within minutes:
``start_copying`` sets the fresh weights to a rough circuit of that kind, which training then
refines, and ``games`` are short puzzles over random tokens that nothing but copying solves.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TYPE_CHECKING

import torch

from models.generators.line_edits import EditCodec
from models.training.batches import Encoded

if TYPE_CHECKING:
    from transformers import T5ForConditionalGeneration

PREVIOUS_BUCKET = 1
"""T5's relative position bucket of the token just before (distance 1, to the left)."""


def _rotation(size: int, generator: torch.Generator) -> torch.Tensor:
    rotation: torch.Tensor = torch.linalg.qr(torch.randn(size, size, generator=generator))[0]
    return rotation


@torch.no_grad()
def start_copying(model: T5ForConditionalGeneration, seed: int = 1) -> None:
    """Set a fresh model's weights, in place, to a rough induction circuit.

    The first encoder layer attends to the previous token and adds its embedding, turned by a
    random rotation, to the stream; the last decoder layer's cross-attention looks for the place
    whose previous token is the one written last, and adds that place's own embedding, which the
    tied output layer reads off as the next token. All other outputs start small, so that the
    circuit is heard.

    Raises:
        ValueError: the heads together are not as wide as the model.
    """
    config = model.config
    width, heads, head = config.d_model, config.num_heads, config.d_kv
    if heads * head != width:
        raise ValueError(f"copying needs {heads} heads as wide as the model ({width}) together")
    generator = torch.Generator().manual_seed(seed)
    turn, values = _rotation(width, generator), _rotation(width, generator)
    first = model.encoder.block[0].layer[0].SelfAttention
    first.relative_attention_bias.weight[PREVIOUS_BUCKET] += 6.0
    first.q.weight.mul_(0.1)
    first.v.weight.copy_(values)
    first.o.weight.copy_(turn @ values.T)
    for block in model.encoder.block:
        block.layer[-1].DenseReluDense.wo.weight.mul_(0.3)
    for block in model.encoder.block[1:]:
        block.layer[0].SelfAttention.o.weight.mul_(0.3)
    for block in model.decoder.block:
        block.layer[0].SelfAttention.o.weight.mul_(0.3)
        block.layer[1].EncDecAttention.o.weight.mul_(0.3)
        block.layer[-1].DenseReluDense.wo.weight.mul_(0.3)
    last = model.decoder.block[-1].layer[1].EncDecAttention
    for index in range(heads):
        rows = slice(index * head, (index + 1) * head)
        look = torch.randn(head, width, generator=generator) / width**0.5
        last.q.weight[rows] = 0.6 * look
        last.k.weight[rows] = look @ turn.T
    back = _rotation(width, generator)
    last.v.weight.copy_(back)
    last.o.weight.copy_(2.0 * back.T)


def games(codec: EditCodec, lines: int = 5, longest: int = 8) -> Callable[[random.Random], Encoded]:
    """A maker of puzzles over random tokens in the line edit format.

    Insert a copy of the marked line; put the comment's second token in the place of its first;
    take out the comment's token; write a doubled token once; delete a line written twice;
    nothing to revise.

    Args:
        codec: whose markers and vocabulary to use.
        lines: most lines of a window.
        longest: most tokens of a line.
    """
    size = codec.tokenizer.get_vocab_size()
    plain = [number for number in range(size) if number not in codec.special]

    def make(rng: random.Random) -> Encoded:
        rows = [rng.choices(plain, k=rng.randint(2, longest)) for _ in range(rng.randint(2, lines))]
        at = rng.randrange(len(rows))
        row = rows[at]
        place = rng.randrange(len(row))
        comment: list[int] = []
        marked = -1
        first, end, new = at, at + 1, list(row)
        game = rng.randrange(7)
        if game == 0:
            marked, end = at, at
        elif game in (1, 2):
            comment = [row[place], rng.choice(plain)]
            new[place] = comment[1]
        elif game == 3:
            comment = [row[place]]
            del new[place]
        elif game == 4:
            row.insert(place, row[place])
        elif game == 5:
            rows.insert(at, list(row))
            new = []
        source = [codec.ids["<cra>" if comment else "<crb>"], codec.ids["<other>"]]
        if comment:
            source += [codec.ids["<msg>"], *comment]
        for index, ids in enumerate(rows):
            source.append(codec.line_ids[index])
            if index == marked:
                source.append(codec.ids["<+>"])
            source += ids
        # the end of a window is marked by the number of the line after its last, as in the codec
        source += [codec.line_ids[len(rows)], codec.end]
        if game == 6:
            return Encoded(source, [codec.none, codec.end])
        answer = [codec.line_ids[first], codec.line_ids[end], *new]
        return Encoded(source, [*answer, *([codec.newline] if new else ()), codec.end])

    return make
