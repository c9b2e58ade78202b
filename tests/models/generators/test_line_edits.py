from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from models.generators.base import Answer, confident_part
from models.generators.line_edits import EditCodec, LineEdit, apply_edits
from models.training.examples import diff_edits
from models.training.tokenizer import train_tokenizer

TEXTS = ["def f(x):", "    return x + 1", "\tfoo.bar(baz)", "if a == b:", "        pass", "é ü 漢"]


@pytest.fixture(scope="module")
def codec() -> EditCodec:
    return EditCodec(train_tokenizer(TEXTS * 40, 700))


line = st.text(
    st.characters(blacklist_characters="\n\r", blacklist_categories=("Cs",)), max_size=20
)


@given(before=st.lists(line, min_size=1, max_size=12), after=st.lists(line, max_size=12))
@settings(max_examples=150, deadline=None)
def test_edits_of_any_two_texts_come_back_from_their_ids(codec, before, after):
    edits = diff_edits(before, after)
    assert apply_edits(before, edits) == after
    ids = codec.edits(edits)
    assert codec.parse(ids, len(before)) == edits


@given(text=line)
@settings(max_examples=200, deadline=None)
def test_text_is_coded_without_loss(codec, text):
    assert codec.text(codec.text_ids([text])[0]) == text


def test_source_text_cannot_write_a_marker(codec):
    ids = codec.source("crb", "python", ["<none></s><l3><+>", "x"], changed=[1])
    special = [i for i in ids if i in codec.special]
    names = [codec.tokenizer.id_to_token(i) for i in special]
    assert names == ["<crb>", "<python>", "<l0>", "<l1>", "<+>", "<l2>", "</s>"]


def test_an_unknown_language_and_a_comment_have_their_places(codec):
    ids = codec.source("cra", "cobol", ["x"], comment="rename it")
    names = [codec.tokenizer.id_to_token(i) for i in ids]
    assert names[:3] == ["<cra>", "<other>", "<msg>"]
    assert codec.text(ids[3 : names.index("<l0>")]) == "rename it"


def test_nothing_to_revise_is_an_empty_answer(codec):
    assert codec.parse(codec.edits(()), 4) == ()


@pytest.mark.parametrize(
    "tokens",
    [
        [],
        ["<l1>"],
        ["<l2>", "<l1>"],
        ["<l1>", "<l9>"],
        ["<l1>", "<l1>"],
        ["<none>", "<none>"],
        ["<l1>", "<+>"],
    ],
)
def test_what_is_no_edit_is_refused(codec, tokens):
    ids = [codec.ids[token] for token in tokens]
    assert codec.parse([*ids, codec.end], 4) is None


def test_text_without_its_line_feed_is_refused(codec):
    ids = [codec.ids["<l1>"], codec.ids["<l2>"], *codec.text_ids(["pass"])[0], codec.end]
    assert codec.parse(ids, 4) is None


def test_touching_edits_are_refused(codec):
    newline = codec.newline
    ids = [codec.ids[t] for t in ("<l0>", "<l1>")] + [newline]
    ids += [codec.ids[t] for t in ("<l1>", "<l2>")] + [newline]
    assert codec.parse([*ids, codec.end], 4) is None


def test_edits_outside_the_window_are_an_error():
    with pytest.raises(ValueError, match=r"edit 1\.\.5 does not fit 3 lines"):
        apply_edits(["a", "b", "c"], [LineEdit(1, 5, ("x",))])


def test_a_tokenizer_without_the_markers_is_an_error():
    from tokenizers.models import BPE

    with pytest.raises(ValueError, match="was not made for line edits"):
        EditCodec(Tokenizer(BPE()))


def test_each_edit_has_the_probability_of_its_own_tokens(codec):
    edits = (LineEdit(0, 1, ("a = 1",)), LineEdit(2, 3, ()))
    ids = codec.edits(edits)
    tokens = [math.log(0.5) if n in codec.line_ids else 0.0 for n in ids]
    tokens[-1] = math.log(0.1)
    assert codec.parts(ids, tokens) == pytest.approx((0.25, 0.25))


@pytest.mark.parametrize(
    ("parts", "kept"), [((0.9, 0.2), 1), ((0.9, 0.6), 2), ((0.3, 0.9), 2), ((), 2)]
)
def test_an_answer_is_cut_to_its_confident_part(parts, kept):
    edits = (LineEdit(0, 1, ("a",)), LineEdit(2, 3, ()))
    whole = Answer(0.5, 0.1, math.prod(parts), 0.0, edits, parts=parts)
    part = confident_part(whole)
    assert part.edits == edits[:kept]
    assert part.probability == pytest.approx(math.prod(parts[:kept]))
