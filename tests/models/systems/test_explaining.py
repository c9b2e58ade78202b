"""Revisions weighed by the comment's probability, on a tiny checkpoint and on the shipped one."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from models.generators.base import Window
from models.generators.t5_said import CommentLikelihood
from models.systems.explaining import MOST, Choices, comment_logs, weighed
from models.systems.shipped import SAID_FOLDER, ShippedSystem
from models.tasks import Example, Task
from models.training.examples import diff_edits, pieces
from tests.models.tiny import tiny_checkpoint

CODE = "public int METHOD_1 ( int VAR_1 ) { int VAR_2 = VAR_1 ; return VAR_2 ; }"
EXAMPLE = Example("1", CODE, comment="make METHOD_1 private", abstracted=True)
PRIVATE = CODE.replace("public", "private")
STATIC = CODE.replace("public", "public static")
INLINED = "public int METHOD_1 ( int VAR_1 ) { return VAR_1 ; }"


def explained(
    model: CommentLikelihood, examples: list[Example], choices: list[Choices], power: float
) -> list[Choices]:
    logs = comment_logs(model, examples, choices)
    return [weighed(found, said, power) for found, said in zip(choices, logs, strict=True)]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> CommentLikelihood:
    folder: Path = tmp_path_factory.mktemp("said")
    return CommentLikelihood(tiny_checkpoint(folder, [CODE, "make private"] * 30, ["said"]))


def test_probabilities_are_multiplied_and_keep_their_sum(model: CommentLikelihood) -> None:
    choices = [(0.4, PRIVATE), (0.2, INLINED), (0.1, STATIC)]
    (found,) = explained(model, [EXAMPLE], [choices], 0.5)
    lines = pieces(CODE)
    window = Window("abstracted", lines, comment=str(EXAMPLE.comment))
    logs = [
        model.log_likelihoods([(window, diff_edits(lines, pieces(text)))])[0] for _, text in choices
    ]
    weights = [p * math.exp(0.5 * (log or 0.0)) for (p, _), log in zip(choices, logs, strict=True)]
    expected = {
        text: 0.7 * weight / sum(weights)
        for (_, text), weight in zip(choices, weights, strict=True)
    }
    assert {text: p for p, text in found} == pytest.approx(expected, rel=1e-3)
    assert [p for p, _ in found] == sorted((p for p, _ in found), reverse=True)


def test_nothing_changes_without_a_comment_a_power_or_a_choice(model: CommentLikelihood) -> None:
    choices = [(0.4, PRIVATE), (0.2, INLINED)]
    silent = Example("2", CODE, abstracted=True)
    assert explained(model, [silent, EXAMPLE], [choices, []], 0.5) == [choices, []]
    ((first, second),) = explained(model, [EXAMPLE], [choices], 0.0)
    assert (first[0], second[0]) == pytest.approx((0.4, 0.2))
    assert explained(model, [], [], 0.5) == []


def test_what_comes_after_the_most_probable_keeps_its_probability(
    model: CommentLikelihood,
) -> None:
    choices = [(0.1 / (i + 1), CODE.replace("VAR_2 ;", f"VAR_2 + {i} ;")) for i in range(MOST + 3)]
    (found,) = explained(model, [EXAMPLE], [choices], 0.5)
    assert {text for _, text in found} == {text for _, text in choices}
    assert set(choices[MOST:]) <= set(found)
    assert sum(p for p, _ in found) == pytest.approx(sum(p for p, _ in choices))


def test_a_method_longer_than_a_window_keeps_its_choices(model: CommentLikelihood) -> None:
    code = "void METHOD_1 ( ) { " + "METHOD_2 ( ) ; " * 60 + "}"
    long = Example("3", code, comment="shorten", abstracted=True)
    choices = [(0.5, code.replace("METHOD_2 ( ) ; }", "}"))]
    assert explained(model, [long], [choices], 0.5) == [choices]


@pytest.mark.weights
def test_the_shipped_one_prefers_what_the_comment_asks_for() -> None:
    shipped = CommentLikelihood(SAID_FOLDER)
    even = [(0.2, INLINED), (0.2, PRIVATE)]
    asked = {"make private": PRIVATE, "VAR_2 redundant": INLINED, "inline VAR_2": INLINED}
    for comment, text in asked.items():
        example = Example("1", CODE, comment=comment, abstracted=True)
        (found,) = explained(shipped, [example], [even], 1.0)
        assert found[0][1] == text


@pytest.mark.weights
def test_only_abstracted_methods_with_a_comment_are_asked_about(tmp_path: Path) -> None:
    named = Example("4", CODE.replace("METHOD_1", "total"), comment="make private", language="java")
    silent = Example("5", CODE, comment="", abstracted=True)
    found = [[(0.2, PRIVATE)], [(0.2, "x")], [(0.2, PRIVATE)]]
    asked, other, none = ShippedSystem(Task.CRA).comment_logs([EXAMPLE, named, silent], found)
    assert len(asked) == 1
    assert asked[0] is not None
    assert asked[0] < 0
    assert (other, none) == ([], [None])
    for system in (ShippedSystem(Task.CRB), ShippedSystem(Task.CRA, tmp_path)):
        assert system.comment_logs([EXAMPLE], found[:1]) == [[]]
