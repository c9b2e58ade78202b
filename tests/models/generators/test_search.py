"""The decoder against transformers', and the search against what it promises."""

from __future__ import annotations

import itertools

import pytest
import torch
from transformers import T5Config, T5ForConditionalGeneration
from transformers.modeling_outputs import BaseModelOutput

from models.generators.line_edits import EditCodec, LineEdit, apply_edits
from models.generators.rules import EditRule, PlainRule
from models.generators.search import beam_search
from models.generators.t5_decoder import T5Decoder
from models.training.tokenizer import train_tokenizer

END = 1
LINES = ("def f(x):", "    y = x + 1", "    return y")


def tiny(**changes: object) -> T5ForConditionalGeneration:
    torch.manual_seed(4)
    options: dict[str, object] = {
        "vocab_size": 24, "d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 2, "num_heads": 4,
        "num_decoder_layers": 2, "dropout_rate": 0.0, "pad_token_id": 0, "eos_token_id": END,
        "decoder_start_token_id": 0, "initializer_factor": 2.0, **changes,
    }  # fmt: skip
    return T5ForConditionalGeneration(T5Config(**options)).eval()


def sources(rows: int = 3) -> tuple[torch.Tensor, torch.Tensor]:
    draw = torch.Generator().manual_seed(9)
    ids = torch.randint(2, 24, (rows, 14), generator=draw)
    ids[1, 9:] = 0
    return ids, ids.ne(0)


def encode(model: T5ForConditionalGeneration, ids: torch.Tensor, mask: torch.Tensor):
    with torch.inference_mode():
        return model.encoder(input_ids=ids, attention_mask=mask).last_hidden_state


class Anything:
    """Any token but padding."""

    def start(self) -> int:
        return 0

    def allowed(self, state: int) -> tuple[bool, list[int], list[int]]:
        return True, [END], []

    def advance(self, state: int, token: int) -> int:
        return state + 1


def search(model: T5ForConditionalGeneration, beams: int, longest: int, **options: object):
    ids, mask = sources()
    plain = torch.ones(24, dtype=torch.bool)
    plain[[0, END]] = False
    return beam_search(
        T5Decoder(model), encode(model, ids, mask), mask, [Anything() for _ in ids], plain,
        start=0, end=END, beams=beams, longest=longest, **{"wanted": beams, **options},
    )  # fmt: skip


@pytest.mark.parametrize(
    "changes",
    [{}, {"feed_forward_proj": "gated-gelu"}, {"d_kv": 16, "num_decoder_layers": 3}],
)
def test_step_by_step_gives_the_numbers_of_transformers(changes):
    model = tiny(**changes)
    ids, mask = sources()
    encoded = encode(model, ids, mask)
    draw = torch.Generator().manual_seed(1)
    written = torch.randint(2, 24, (3, 40), generator=draw)
    written[:, 0] = 0
    with torch.inference_mode():
        whole = model(
            encoder_outputs=BaseModelOutput(last_hidden_state=encoded),
            attention_mask=mask,
            decoder_input_ids=written,
        ).logits.log_softmax(-1)
        decoder = T5Decoder(model)
        state = decoder.begin(encoded, mask, 1)
        # one by one, then several at once
        pieces = [decoder.step(state, written[:, i : i + 1]) for i in range(30)]
        pieces.append(decoder.step(state, written[:, 30:]))
    torch.testing.assert_close(torch.cat(pieces, 1), whole, atol=2e-5, rtol=1e-4)


def test_one_beam_writes_what_greedy_generation_writes():
    model = tiny()
    ids, mask = sources()
    found, _ = search(model, 1, 12)
    wanted = model.generate(
        input_ids=ids, attention_mask=mask, do_sample=False, num_beams=1, max_new_tokens=12,
        suppress_tokens=[0],
    )  # fmt: skip
    for row, answers in zip(wanted.tolist(), found, strict=True):
        body = row[1:]
        if END in body:
            assert answers[0].ids == tuple(body[: body.index(END) + 1])
        else:
            assert not answers


def test_wide_beams_find_the_best_of_all_answers():
    model = tiny(vocab_size=24)
    found, first = search(model, 24 * 24, 3, wanted=4)
    ids, mask = sources()
    encoded = encode(model, ids, mask)
    every = [
        (*body, END) for size in range(3) for body in itertools.product(range(2, 24), repeat=size)
    ]
    padded = torch.tensor([[0, *body, *[0] * (3 - len(body))] for body in every])
    for window, answers in enumerate(found):
        with torch.inference_mode():
            scores = model(
                encoder_outputs=BaseModelOutput(
                    last_hidden_state=encoded[window].expand(len(every), -1, -1)
                ),
                attention_mask=mask[window].expand(len(every), -1),
                decoder_input_ids=padded,
            ).logits.log_softmax(-1)
        totals = [
            float(sum(scores[row, step, token] for step, token in enumerate(body)))
            for row, body in enumerate(every)
        ]
        best = sorted(range(len(every)), key=lambda row: -totals[row])[:4]
        assert [answer.ids for answer in answers] == [every[row] for row in best]
        assert [a.total for a in answers] == pytest.approx([totals[r] for r in best], abs=1e-4)
        assert float(first[window].exp().sum()) == pytest.approx(1, abs=1e-4)


def test_answers_that_never_end_are_given_up():
    found, _ = search(tiny(), 2, 1)
    assert all(answer.ids == (END,) for answers in found for answer in answers)


@pytest.fixture(scope="module")
def codec() -> EditCodec:
    return EditCodec(train_tokenizer([*LINES] * 40, 480))


def follow(rule: EditRule, codec: EditCodec, ids: list[int]) -> tuple[bool, list[int], list[int]]:
    state = rule.start()
    for token in ids:
        text, others, barred = rule.allowed(state)
        plain = token not in codec.special
        assert (plain and text and token not in barred) or token in others, (ids, token)
        state = rule.advance(state, token)
    text, others, barred = rule.allowed(state)
    return text, list(others), list(barred)


@pytest.mark.parametrize(
    "edits",
    [
        (LineEdit(1, 2, ("    y = x",)),),
        (LineEdit(0, 0, ("x",)), LineEdit(1, 3, ())),
        (LineEdit(0, 2, ("def f(x):", "    y = x")), LineEdit(3, 3, ("", ""))),
        (LineEdit(2, 2, ("    y = x + 1",)),),
    ],
)
def test_every_edit_that_a_diff_makes_can_be_written(codec, edits):
    ids = codec.edits(edits)
    assert apply_edits(LINES, edits) != list(LINES)
    text, others, _ = follow(EditRule(codec, LINES), codec, ids[:-1])
    assert text
    assert codec.end in others


def test_the_old_lines_cannot_be_written_again(codec):
    rule = EditRule(codec, LINES)
    for edit in (LineEdit(1, 2, LINES[1:2]), LineEdit(0, 3, LINES)):
        ids = codec.edits([edit])
        text, others, barred = follow(rule, codec, ids[:-2])
        assert text
        assert barred == [codec.newline]
        assert codec.end not in others


def test_edits_ascend_inside_the_window_and_write_whole_lines(codec):
    rule = EditRule(codec, LINES)
    assert follow(rule, codec, []) == (False, codec.line_ids[:4], [])
    assert follow(rule, codec, [codec.line_ids[2]]) == (False, codec.line_ids[2:4], [])
    _, stops, _ = follow(rule, codec, [codec.line_ids[1], codec.line_ids[2]])
    assert stops == [codec.end, codec.line_ids[3]]
    insertion = [codec.line_ids[1], codec.line_ids[1]]
    assert follow(rule, codec, insertion)[1] == []
    word = codec.text_ids(["return"])[0]
    assert follow(rule, codec, [*insertion, *word])[1] == []
    stops = follow(rule, codec, [*insertion, *word, codec.newline])[1]
    assert stops == [codec.end, *codec.line_ids[2:4]]


def test_plain_text_is_at_least_one_token(codec):
    rule = PlainRule(codec)
    assert rule.allowed(rule.start()) == (True, (), ())
    assert rule.allowed(rule.advance(rule.start(), 200)) == (True, [codec.end], ())
