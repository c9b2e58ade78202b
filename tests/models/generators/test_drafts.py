"""Drafts copied from the input change nothing but the number of passes."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch
from transformers import T5Config, T5ForConditionalGeneration

from models.generators.drafts import greedy_search
from models.generators.line_edits import EditCodec, LineEdit
from models.generators.rules import EditRule
from models.generators.search import Ranking, beam_search
from models.generators.t5_arrays import T5Encoder
from models.generators.t5_decoder import T5Decoder
from models.systems.shipped import DEFAULT_FOLDER
from models.training.tokenizer import train_tokenizer

WORDS = [
    "if",
    "return",
    "self",
    "value",
    "count",
    "total",
    "for",
    "in",
    "len",
    "None",
    "x",
    "items",
]


def windows(count: int, seed: int) -> list[tuple[str, ...]]:
    draw = random.Random(seed)
    return [
        tuple(
            "    " * draw.randrange(3) + " ".join(draw.choices(WORDS, k=draw.randrange(1, 7)))
            for _ in range(draw.randrange(1, 9))
        )
        for _ in range(count)
    ]


class Short:
    """An edit rule that ends an answer after 14 tokens, which a random model never would."""

    def __init__(self, codec: EditCodec, lines: tuple[str, ...]) -> None:
        self.inner = EditRule(codec, lines)

    def start(self):
        return 0, self.inner.start()

    def allowed(self, state):
        return (
            (False, [self.inner.codec.end], []) if state[0] >= 14 else self.inner.allowed(state[1])
        )

    def advance(self, state, token: int):
        return state[0] + 1, self.inner.advance(state[1], token)

    def draft(self, state, most: int):
        return self.inner.draft(state[1], most)


class Both:
    """Greedy decoding of the same windows with and without drafts, and as a beam of one."""

    def __init__(self, model: T5ForConditionalGeneration, codec: EditCodec, rule=EditRule) -> None:
        self.codec, self.rule = codec, rule
        self.encoder, self.decoder = T5Encoder(model), T5Decoder(model)
        self.plain = np.ones(model.config.vocab_size, np.bool_)
        self.plain[list(codec.special)] = False
        self.passes = {0: 0, 12: 0}

    def compare(self, some: list[tuple[str, ...]], longest: int) -> int:
        """Assert that all ways write the same; the number of finished answers."""
        encoded = self.encoder.encode([self.codec.source("crb", "python", w) for w in some])
        rules = [self.rule(self.codec, lines) for lines in some]
        ways = []
        for draft in (0, 12):
            found, first, passes = greedy_search(
                self.decoder.begin(encoded), rules, self.plain,
                start=0, end=self.codec.end, longest=longest, draft=draft,
            )  # fmt: skip
            self.passes[draft] += passes
            ways.append((found, first))
        ways.append(
            beam_search(
                self.decoder.begin(encoded), rules, self.plain, Ranking(1, 1, longest),
                start=0, end=self.codec.end,
            )
        )  # fmt: skip
        plainly, first = ways[0]
        for found, again in ways[1:]:
            np.testing.assert_allclose(again, first, atol=1e-4)
            for one, other in zip(plainly, found, strict=True):
                assert [a.ids for a in one] == [a.ids for a in other]
                for a, b in zip(one, other, strict=True):
                    assert a.tokens == pytest.approx(b.tokens, abs=1e-3)
        return sum(map(len, plainly))


def test_drafts_of_a_random_model_change_no_answer():
    codec = EditCodec(train_tokenizer([" ".join(WORDS)] * 40, 480))
    finished = 0
    for seed in range(4):
        torch.manual_seed(seed)
        model = T5ForConditionalGeneration(
            T5Config(
                vocab_size=codec.tokenizer.get_vocab_size(), d_model=32, d_kv=8, d_ff=48,
                num_layers=2, num_heads=4, num_decoder_layers=2, dropout_rate=0.0,
                pad_token_id=0, eos_token_id=1, decoder_start_token_id=0, initializer_factor=2.0,
            )
        ).eval()  # fmt: skip
        both = Both(model, codec, Short)
        for size in (1, 3, 8):
            finished += both.compare(windows(size, seed * 10 + size), 24)
    assert finished == 4 * 12


@pytest.mark.weights
def test_drafts_of_the_shipped_model_change_no_answer_and_save_passes():
    from tokenizers import Tokenizer

    codec = EditCodec(Tokenizer.from_file(str(DEFAULT_FOLDER / "tokenizer.json")))
    model = T5ForConditionalGeneration.from_pretrained(DEFAULT_FOLDER, dtype=torch.float32).eval()
    both = Both(model, codec)
    sizes = [1] * 8 + [8] * 6
    finished = sum(both.compare(windows(n, seed), 80) for seed, n in enumerate(sizes))
    assert finished > 40
    assert both.passes[12] < 0.9 * both.passes[0]


def follow(rule: EditRule, ids: list[int]):
    state = rule.start()
    for token in ids:
        state = rule.advance(state, token)
    return state


def test_a_draft_is_the_rest_of_the_lines_that_are_replaced():
    lines = ("x = 1", "value = total + count", "return value")
    codec = EditCodec(train_tokenizer([*lines] * 40, 480))
    rule = EditRule(codec, lines)
    old = codec.edits([LineEdit(1, 2, (lines[1],))])
    assert list(rule.draft(rule.start(), 9)) == []
    assert list(rule.draft(follow(rule, old[:1]), 99)) == old[1:-1]
    for given in range(2, len(old) - 1):
        assert list(rule.draft(follow(rule, old[:given]), 99)) == old[given:]
        assert list(rule.draft(follow(rule, old[:given]), 2)) == old[given:][:2]
    # another token in place of one, or none: the copy goes on behind it
    body = old[2:-1]
    other = codec.text_ids(["return"])[0][0]
    replaced = [*old[:2], *body[:1], other]
    assert list(rule.draft(follow(rule, replaced), 99)) == [*body[2:], codec.end]
    left_out = [*old[:2], *body[:1], body[2]]
    assert list(rule.draft(follow(rule, left_out), 99)) == [*body[3:], codec.end]
