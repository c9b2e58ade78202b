"""The decoder against transformers', and the search against what it promises."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from transformers import T5Config, T5ForConditionalGeneration
from transformers.modeling_outputs import BaseModelOutput

from models.generators.line_edits import EditCodec, LineEdit, apply_edits
from models.generators.rules import EditRule, PlainRule
from models.generators.search import Anything, Ranking, beam_search, best_of
from models.generators.t5_arrays import T5Encoder
from models.generators.t5_decoder import T5Decoder
from models.training.tokenizer import train_tokenizer

END = 1
LINES = ("def f(x):", "    y = x + 1", "    return y")
PLAIN = np.arange(24) > END
SOURCES = [[5, 9, 3, 17, 20, 4, 8, 8, 2, 11, 6, 23, 7, 1], [4, 2, 22, 13, 13, 6, 19, 1, 3]]
SOURCES.append([21, 3, 6])


def tiny(**changes: object) -> T5ForConditionalGeneration:
    torch.manual_seed(4)
    options: dict[str, object] = {
        "vocab_size": 24, "d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 2, "num_heads": 4,
        "num_decoder_layers": 2, "dropout_rate": 0.0, "pad_token_id": 0, "eos_token_id": END,
        "decoder_start_token_id": 0, "initializer_factor": 2.0, **changes,
    }  # fmt: skip
    model = T5ForConditionalGeneration(T5Config(**options)).eval()
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "layer_norm" in name:  # ones as they are made, which would hide a scale left out
                weight.mul_(torch.rand(len(weight)) + 0.5)
    return model


def padded() -> tuple[torch.Tensor, torch.Tensor]:
    width = max(map(len, SOURCES))
    ids = torch.tensor([[*row, *[0] * (width - len(row))] for row in SOURCES])
    return ids, ids.ne(0)


def encoded_by_transformers(model: T5ForConditionalGeneration) -> torch.Tensor:
    ids, mask = padded()
    with torch.inference_mode():
        return model.encoder(input_ids=ids, attention_mask=mask).last_hidden_state


def search(model: T5ForConditionalGeneration, beams: int, longest: int, **options: object):
    ranking = Ranking(beams, **{"wanted": beams, "longest": longest, **options})
    steps = T5Decoder(model).begin(T5Encoder(model).encode(SOURCES))
    rules = [Anything(END) for _ in SOURCES]
    return beam_search(steps, rules, PLAIN, ranking, start=0, end=END)


SHAPES = [
    {},
    {"feed_forward_proj": "gated-gelu"},
    {"d_kv": 16, "num_decoder_layers": 3, "tie_word_embeddings": False},
    {"relative_attention_max_distance": 10, "relative_attention_num_buckets": 8},
]


@pytest.mark.parametrize("changes", SHAPES)
def test_the_encoder_gives_the_numbers_of_transformers(changes):
    model = tiny(**changes)
    wanted = encoded_by_transformers(model)
    found = T5Encoder(model).encode(SOURCES)
    ends = np.cumsum(found.lengths)
    for row, (length, end) in enumerate(zip(found.lengths, ends, strict=True)):
        np.testing.assert_allclose(
            found.hidden[end - length : end], wanted[row, :length], atol=2e-5, rtol=1e-4
        )


@pytest.mark.parametrize("changes", SHAPES)
def test_step_by_step_gives_the_numbers_of_transformers(changes):
    model = tiny(**changes)
    draw = torch.Generator().manual_seed(1)
    written = torch.randint(2, 24, (3, 60), generator=draw)
    written[:, 0] = 0
    with torch.inference_mode():
        whole = model(
            encoder_outputs=BaseModelOutput(last_hidden_state=encoded_by_transformers(model)),
            attention_mask=padded()[1],
            decoder_input_ids=written,
        ).logits.numpy()
    scale = np.abs(whole).max()
    state = T5Decoder(model).begin(T5Encoder(model).encode(SOURCES))
    tokens, parents = written.numpy(), np.zeros((3, 1), np.int64)
    # one by one; then several at once, of which some are taken back; then some windows only
    pieces = [state.step(tokens[:, i : i + 1], parents) for i in range(20)]
    wrong = tokens[:, 20:27].copy()
    wrong[:, 3:] = 5
    pieces.append(state.write(wrong)[:, :3])
    state.take_back(np.array([4, 4, 4]))
    pieces.append(state.write(tokens[:, 23:50]))
    np.testing.assert_allclose(
        np.concatenate(pieces, 1), whole[:, :50], atol=2e-4 * scale, rtol=1e-4
    )
    state.keep([0, 2])
    state.take_back(np.array([1, 3]))
    rest = np.stack([tokens[0, 49:56], tokens[2, 47:54]])
    again = state.write(rest)
    np.testing.assert_allclose(again[0], whole[0, 49:56], atol=2e-4 * scale, rtol=1e-4)
    np.testing.assert_allclose(again[1], whole[2, 47:54], atol=2e-4 * scale, rtol=1e-4)


def test_one_beam_writes_what_greedy_generation_writes():
    model = tiny()
    ids, mask = padded()
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


@pytest.mark.parametrize("mean", [False, True])
def test_five_beams_write_what_beam_search_of_transformers_writes(mean):
    model = tiny()
    ids, mask = padded()
    found, _ = search(model, 5, 8, mean=mean)
    wanted = model.generate(
        input_ids=ids, attention_mask=mask, do_sample=False, num_beams=5, num_return_sequences=5,
        max_new_tokens=8, suppress_tokens=[0], length_penalty=float(mean),
    )  # fmt: skip
    for window, answers in enumerate(found):
        rows = [row[1:] for row in wanted[window * 5 : window * 5 + 5].tolist()]
        closed = [tuple(row[: row.index(END) + 1]) for row in rows if END in row]
        assert [answer.ids for answer in answers][: len(closed)] == closed


def test_wide_beams_find_the_best_of_all_answers():
    model = tiny()
    found, first = search(model, 24 * 24, 3, wanted=4)
    mask = padded()[1]
    encoded = encoded_by_transformers(model)
    every = [
        (*body, END) for size in range(3) for body in itertools.product(range(2, 24), repeat=size)
    ]
    rows = torch.tensor([[0, *body, *[0] * (3 - len(body))] for body in every])
    for window, answers in enumerate(found):
        with torch.inference_mode():
            scores = model(
                encoder_outputs=BaseModelOutput(
                    last_hidden_state=encoded[window].expand(len(every), -1, -1)
                ),
                attention_mask=mask[window].expand(len(every), -1),
                decoder_input_ids=rows,
            ).logits.log_softmax(-1)
        totals = [
            float(sum(scores[row, step, token] for step, token in enumerate(body)))
            for row, body in enumerate(every)
        ]
        best = sorted(range(len(every)), key=lambda row: -totals[row])[:4]
        assert [answer.ids for answer in answers] == [every[row] for row in best]
        assert [a.total for a in answers] == pytest.approx([totals[r] for r in best], abs=1e-4)
        assert float(np.exp(first[window]).sum()) == pytest.approx(1, abs=1e-4)


def test_answers_that_never_end_are_given_up_or_cut():
    found, _ = search(tiny(), 2, 1)
    assert all(answer.ids == (END,) for answers in found for answer in answers)
    found, _ = search(tiny(), 3, 2, cut=True)
    assert all(len(answers) == 3 for answers in found)
    assert {len(answer.ids) for answers in found for answer in answers} <= {1, 2}


@pytest.mark.parametrize(("rows", "vocabulary"), [(1, 64), (3, 256), (5, 1000), (4, 24)])
@pytest.mark.parametrize("count", [1, 2, 10])
def test_the_best_are_those_of_a_whole_sort(rows, vocabulary, count):
    draw = np.random.default_rng(rows * vocabulary + count)
    held = draw.standard_normal((6, rows, vocabulary)).astype(np.float32)
    held[held > 2.2] = -np.inf
    offsets = draw.standard_normal((6, rows)).astype(np.float32)
    offsets[0, -1] = -np.inf if rows > 1 else 0
    values, chosen, entries = best_of(held, offsets, count)
    for window in range(6):
        every = np.sort((held[window] + offsets[window][:, None]).ravel())[::-1][:count]
        np.testing.assert_array_equal(values[window], every)
        picked = held[window, chosen[window], entries[window]] + offsets[window, chosen[window]]
        np.testing.assert_array_equal(picked, values[window])


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


@pytest.mark.parametrize("changes", SHAPES[:2])
def test_beams_apart_are_the_greedy_answers_after_the_likeliest_first_tokens(changes):
    model = tiny(**changes)
    found, first = search(model, 4, 12, apart=True, mean=True, cut=True)
    ids, mask = padded()
    for row, answers in enumerate(found):
        assert len(answers) == 4
        assert [one.mean for one in answers] == sorted((one.mean for one in answers), reverse=True)
        # id 0 is never written; an answer that ends at once leaves room for one more
        ranked = [int(token) for token in np.argsort(-first[row]) if token]
        assert {one.ids[0] for one in answers} <= set(ranked[:5])
        assert len({one.ids[0] for one in answers}) == 4
        for one in answers:
            written = [0]
            for token in one.ids:
                with torch.inference_mode():
                    logits = model(
                        input_ids=ids[row : row + 1],
                        attention_mask=mask[row : row + 1],
                        decoder_input_ids=torch.tensor([written]),
                    ).logits[0, -1]
                if len(written) > 1:
                    assert 1 + int(logits[1:].argmax()) == token
                written.append(token)
            assert one.ids[-1] == END or len(one.ids) == 12
