"""How probable a comment is given a revision, on a tiny checkpoint in the published layout."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer
from transformers import T5ForConditionalGeneration

from models.generators.base import GeneratorError, Window
from models.generators.line_edits import EditCodec, LineEdit
from models.generators.t5_said import LONGEST, CommentLikelihood
from tests.models.tiny import tiny_checkpoint

CODE = ("int METHOD_1 ( ) {", "int VAR_1 = 1 ;", "return VAR_1 ; }")
WINDOW = Window("abstracted", CODE, frozenset({1}), comment="inline VAR_1")
INLINED = (LineEdit(1, 3, ("return 1 ; }",)),)
RENAMED = (LineEdit(1, 3, ("int VAR_2 = 1 ;", "return VAR_2 ; }")),)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("said")
    return tiny_checkpoint(made, [*CODE, WINDOW.comment] * 30, ["said"])


@pytest.fixture(scope="module")
def model(folder: Path) -> CommentLikelihood:
    return CommentLikelihood(folder)


def test_the_question_is_the_window_with_the_edits_in_place_of_a_message(folder: Path) -> None:
    codec = EditCodec(Tokenizer.from_file(str(folder / "tokenizer.json")))
    asked = codec.said_source("abstracted", CODE, {1}, INLINED)
    plain = codec.source("rcg", "abstracted", CODE, {1})
    edits = codec.edits(INLINED)[:-1]
    assert asked == [*plain[:2], codec.ids["<msg>"], *edits, *plain[2:]]


def test_it_is_the_sum_over_the_comments_tokens_and_its_end(
    folder: Path, model: CommentLikelihood
) -> None:
    (value,) = model.log_likelihoods([(WINDOW, INLINED)])
    whole = T5ForConditionalGeneration.from_pretrained(folder, dtype=torch.float32)
    source = model.codec.said_source("abstracted", CODE, {1}, INLINED)
    reply = [*model.codec.text_ids([WINDOW.comment])[0], model.codec.end]
    with torch.inference_mode():
        logs = whole(
            input_ids=torch.tensor([source]), decoder_input_ids=torch.tensor([[0, *reply[:-1]]])
        ).logits.log_softmax(-1)[0]
    assert value == pytest.approx(sum(float(logs[i, token]) for i, token in enumerate(reply)))


def test_what_else_is_asked_changes_nothing(model: CommentLikelihood) -> None:
    short = Window("abstracted", CODE[:1], comment="VAR_1")
    asked = [(WINDOW, INLINED), (short, (LineEdit(0, 1, ("{",)),)), (WINDOW, RENAMED)]
    together = model.log_likelihoods(asked)
    alone = [model.log_likelihoods([one])[0] for one in asked]
    assert together == pytest.approx(alone, rel=1e-4)
    assert together[0] != pytest.approx(together[2], rel=1e-4)


def test_where_there_is_nothing_to_ask(model: CommentLikelihood) -> None:
    silent = Window("abstracted", CODE)
    endless = Window("abstracted", ("VAR_1 " * LONGEST,), comment="shorten")
    asked = [(silent, INLINED), (WINDOW, ()), (endless, INLINED)]
    assert model.log_likelihoods(asked) == [None, None, None]
    assert model.log_likelihoods([]) == []


def test_a_checkpoint_of_other_tasks_is_refused(tmp_path: Path) -> None:
    other = tiny_checkpoint(tmp_path / "other", list(CODE) * 30, ["crb", "cra"])
    with pytest.raises(GeneratorError, match="marginalia train --mixture said"):
        CommentLikelihood(other)
