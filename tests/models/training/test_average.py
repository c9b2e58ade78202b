"""The mean of two ends of a run, and what is no such pair."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer
from transformers import T5ForConditionalGeneration

from models.training.average import average_folders, averaged, main
from models.training.trainer import save_model
from tests.models.training.test_grow import small as tiny

SHIPPED = Path(__file__).resolve().parents[3] / "models" / "weights" / "abstracted"


def small(seed: int, width: int = 16) -> T5ForConditionalGeneration:
    return tiny(seed=seed, vocabulary=4096, width=width)


def saved(folder: Path, model: T5ForConditionalGeneration) -> Path:
    card = json.loads((SHIPPED / "marginalia.json").read_text(encoding="utf-8"))
    save_model(folder, Tokenizer.from_file(str(SHIPPED / "tokenizer.json")), model, card)
    return folder


def test_every_weight_is_the_mean():
    first, second = small(1), small(2)
    mean = averaged(first, second).state_dict()
    for name, weight in first.state_dict().items():
        assert torch.allclose(mean[name], (weight + second.state_dict()[name]) / 2)


def test_two_folders_make_a_third_that_says_so(tmp_path):
    first, second = saved(tmp_path / "a", small(1)), saved(tmp_path / "b", small(2))
    average_folders(first, second, tmp_path / "mean")
    card = json.loads((tmp_path / "mean" / "marginalia.json").read_text(encoding="utf-8"))
    assert card["options"]["mean_of"] == "a, b"
    assert card["validation"] == {}
    mean = T5ForConditionalGeneration.from_pretrained(tmp_path / "mean", dtype=torch.float32)
    ends = [
        T5ForConditionalGeneration.from_pretrained(one, dtype=torch.float32).state_dict()
        for one in (first, second)
    ]
    for name, weight in mean.state_dict().items():
        assert torch.allclose(weight, (ends[0][name] + ends[1][name]) / 2, atol=0.02)


def test_models_of_other_shapes_and_folders_without_a_card_are_refused_in_one_line(
    tmp_path, capsys
):
    with pytest.raises(ValueError, match="other shapes"):
        averaged(small(1), small(2, width=24))
    first = saved(tmp_path / "a", small(1))
    (tmp_path / "b").mkdir()
    with pytest.raises(SystemExit) as ended:
        main([str(first), str(tmp_path / "b"), "--out", str(tmp_path / "mean")])
    assert ended.value.code == 2
    assert str(tmp_path / "b") in capsys.readouterr().err.splitlines()[-1]
    assert not (tmp_path / "mean").exists()
