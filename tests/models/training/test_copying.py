"""The copying start and the games that train it."""

from __future__ import annotations

import random

import pytest
import torch
from transformers import T5Config, T5ForConditionalGeneration

from models.generators.line_edits import EditCodec
from models.training.batches import Encoded
from models.training.copying import games, start_copying
from models.training.tokenizer import train_tokenizer


@pytest.fixture(scope="module")
def codec() -> EditCodec:
    words = [f"word{a}{b} = value_{b}({a})" for a in "abcdefgh" for b in "ijklmnop"]
    return EditCodec(train_tokenizer(["\n".join(words)] * 4, 480))


def fresh(**changes: object) -> T5ForConditionalGeneration:
    torch.manual_seed(3)
    options: dict[str, object] = {
        "vocab_size": 480,
        "d_model": 128,
        "d_kv": 32,
        "num_heads": 4,
        "d_ff": 128,
        "num_layers": 2,
        "num_decoder_layers": 2,
        "feed_forward_proj": "relu",
        "tie_word_embeddings": True,
        "pad_token_id": 0,
        "eos_token_id": 1,
        "decoder_start_token_id": 0,
        **changes,
    }
    return T5ForConditionalGeneration(T5Config(**options)).eval()


def share_copied(model: T5ForConditionalGeneration) -> float:
    """How often the likeliest token is the one that follows the last written one in the source."""
    draw = torch.Generator().manual_seed(5)
    source = torch.stack([torch.randperm(380, generator=draw)[:24] + 100 for _ in range(32)])
    written, following = source[:, 4:20], source[:, 5:21]
    with torch.inference_mode():
        logits = model(input_ids=source, decoder_input_ids=written).logits
    return float(logits.argmax(-1).eq(following).float().mean())


def test_a_fresh_model_starts_by_copying():
    model = fresh()
    assert share_copied(model) < 0.1
    start_copying(model)
    assert share_copied(model) > 0.5


def test_a_model_that_cannot_hold_the_circuit_is_refused():
    with pytest.raises(ValueError, match="as wide as the model"):
        start_copying(fresh(d_kv=8))


def test_every_game_is_an_answer_about_its_own_window(codec):
    make = games(codec)
    rng = random.Random(2)
    kinds = set()
    for _ in range(300):
        puzzle = make(rng)
        assert isinstance(puzzle, Encoded)
        assert puzzle.source[-1] == puzzle.answer[-1] == codec.end
        markers = [n for n in puzzle.source if n in codec.line_ids]
        lines = len(markers) - 1
        assert markers == codec.line_ids[: lines + 1]
        answer = puzzle.answer[:-1]
        if answer == [codec.none]:
            kinds.add("nothing")
            continue
        first, end = codec.line_ids.index(answer[0]), codec.line_ids.index(answer[1])
        assert 0 <= first <= end <= lines
        old = puzzle.source[puzzle.source.index(markers[first]) + 1 :]
        old = old[: old.index(markers[first + 1])]
        new = answer[2:-1]
        if first == end:
            kinds.add("insert")
            assert old == [codec.ids["<+>"], *new]
        elif not answer[2:]:
            kinds.add("delete")
        elif len(new) == len(old):
            kinds.add("replace")
            changed = [(a, b) for a, b in zip(old, new, strict=True) if a != b]
            message = puzzle.source[puzzle.source.index(codec.ids["<msg>"]) + 1 :][:2]
            assert changed in ([tuple(message)], [])
        else:
            kinds.add("take out")
            assert len(new) == len(old) - 1
    assert kinds == {"nothing", "insert", "delete", "replace", "take out"}
