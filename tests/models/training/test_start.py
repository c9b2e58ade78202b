"""Training goes on from published weights, which keep what they know."""

from __future__ import annotations

import pytest
import torch
from tokenizers import Tokenizer
from transformers import T5ForConditionalGeneration

from models.generators.base import Window
from models.generators.line_edits import EditCodec, LineEdit, special_tokens
from models.generators.t5_edits import T5EditGenerator
from models.training.start import load_start
from models.training.trainer import save_model
from tests.models.systems import published

CARD = {
    "format": "line-edits-1",
    "tasks": ["crb", "cra", "rcg"],
    "options": {"seed": 1},
    "progress": {"step": 0, "examples": 0, "tokens": 0, "seconds": 0.0},
    "validation": {},
}


def test_a_published_codet5_gains_the_markers_and_keeps_its_weights(tmp_path):
    model = published.codet5(tmp_path)
    old = model.shared.weight.detach().clone()
    tokenizer, started = load_start(str(tmp_path))
    assert isinstance(tokenizer, Tokenizer)
    assert all(tokenizer.token_to_id(token) is not None for token in special_tokens())
    assert torch.equal(started.shared.weight[: len(old)], old)
    codec = EditCodec(tokenizer)
    for number in codec.line_ids:
        row = started.shared.weight[number]
        assert bool(torch.isfinite(row).all())
        assert float(row.detach().std()) > 0
    edits = (LineEdit(1, 2, ("    return  name;", "")), LineEdit(3, 3, ("\t}",)))
    assert codec.parse(codec.edits(edits), 4) == edits


def test_what_was_started_from_it_is_saved_as_a_model_that_revises(tmp_path):
    published.codet5(tmp_path)
    tokenizer, model = load_start(str(tmp_path))
    save_model(tmp_path / "ours", tokenizer, model, CARD)
    generator = T5EditGenerator(tmp_path / "ours", beams=2)
    (answers,) = generator.revise([Window("java", ("int a;", "a = 1;"), frozenset({1}))], answers=2)
    assert all(answer.edits for answer in answers)
    again, same = load_start(str(tmp_path / "ours"))
    assert again.get_vocab_size() == tokenizer.get_vocab_size()
    assert isinstance(same, T5ForConditionalGeneration)
    assert torch.equal(same.shared.weight, model.shared.weight.bfloat16().float())


@pytest.mark.parametrize(
    ("layout", "said"),
    [("codegpt", "bench run --system"), ("codebert", "bench run --system"), ("t5_review", ":")],
)
def test_what_cannot_write_line_edits_is_refused_in_one_line(tmp_path, layout, said):
    getattr(published, layout)(tmp_path)
    with pytest.raises(ValueError, match=said) as caught:
        load_start(str(tmp_path))
    assert str(tmp_path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_name_that_is_nowhere_is_said(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ValueError, match="no model 'nobody/nothing'"):
        load_start("nobody/nothing")
