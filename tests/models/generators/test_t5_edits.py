"""The generator on a tiny checkpoint with random weights, in the published layout."""

from __future__ import annotations

import json
import shutil

import pytest
import torch
from transformers import AutoTokenizer, T5ForConditionalGeneration

from models.generators.base import GeneratorError, Window
from models.generators.line_edits import apply_edits
from models.generators.t5_edits import T5EditGenerator
from tests.models.tiny import tiny_checkpoint

CODE = ("def f(x):", "    y = x + 1", "    return y")
LONGER = (
    "class A:",
    "    def g(self):",
    "        pass",
    "",
    "    def h(self):",
    "        return 1",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("tiny")
    texts = [*CODE, *LONGER] * 30
    return tiny_checkpoint(made, texts, ["crb", "cra", "rcg"], layers=2, words=600)


@pytest.fixture(scope="module")
def generator(folder):
    return T5EditGenerator(folder, batch=4)


WINDOWS = [
    Window("python", CODE, frozenset({1})),
    Window("python", LONGER, frozenset({4, 5})),
    Window("python", ("x",), frozenset({0})),
    Window("go", CODE, comment="rename y to z"),
]


def test_every_answer_is_a_well_formed_edit_of_its_own_window(generator):
    answers = generator.revise(WINDOWS, answers=3)
    assert len(answers) == len(WINDOWS)
    for window, found in zip(WINDOWS, answers, strict=True):
        for answer in found:
            assert answer.edits
            apply_edits(window.lines, answer.edits)
            assert 0 <= answer.probability <= answer.weakest <= 1
            assert answer.weakest <= answer.confidence <= 1
            assert 0 <= answer.nothing <= 1


def test_answers_do_not_depend_on_what_else_is_in_the_batch(generator):
    together = generator.revise(WINDOWS)
    for window, found in zip(WINDOWS, together, strict=True):
        (alone,) = generator.revise([window])
        assert [a.edits for a in alone] == [a.edits for a in found]
        assert [a.probability for a in alone] == pytest.approx(
            [a.probability for a in found], rel=1e-3
        )


def test_comments_hold_no_markers(generator):
    for found in generator.comment(WINDOWS[:2], answers=2):
        for answer in found:
            assert answer.text
            assert "<l" not in answer.text or "<l0>" not in answer.text
            assert not answer.edits


def test_no_windows_no_answers(generator):
    assert generator.revise([]) == []
    assert generator.comment([]) == []


def test_the_folder_loads_by_transformers_alone(folder):
    model = T5ForConditionalGeneration.from_pretrained(folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    assert model.config.vocab_size == len(tokenizer)
    assert tokenizer.decode(tokenizer("    return y")["input_ids"]) == "    return y"


def test_the_name_carries_the_hash_of_the_weights(folder, generator, tmp_path):
    other = tmp_path / "other"
    shutil.copytree(folder, other)
    assert T5EditGenerator(other).name == generator.name
    model = T5ForConditionalGeneration.from_pretrained(other)
    torch.nn.init.zeros_(model.shared.weight)
    model.save_pretrained(other)
    assert T5EditGenerator(other).name != generator.name


def test_a_checkpoint_without_a_card_or_with_another_format_is_refused(folder, tmp_path):
    bare = tmp_path / "bare"
    shutil.copytree(folder, bare)
    (bare / "marginalia.json").unlink()
    with pytest.raises(GeneratorError, match=f"marginalia train --from {bare}"):
        T5EditGenerator(bare)
    (bare / "marginalia.json").write_text(json.dumps({"format": "spans-0"}))
    with pytest.raises(GeneratorError, match="this version reads line-edits-1"):
        T5EditGenerator(bare)


def test_a_hub_id_that_is_not_at_hand_is_one_clear_line():
    with pytest.raises(GeneratorError, match="name a folder or a Hub id"):
        T5EditGenerator("nobody/nothing-here")
