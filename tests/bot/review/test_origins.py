"""Who wrote a candidate, by its origin."""

from __future__ import annotations

import pytest

from bot.review.local import answerers, default_model, load_generator
from bot.review.origins import by_generator, by_trained_model
from models.generators.instructions import Instructions
from models.generators.requests_model import available


def test_everyone_who_answers_comments_is_known_for_what_it_is() -> None:
    spelled_out, *trained = answerers(load_generator(None))
    assert isinstance(spelled_out, Instructions)
    assert not by_trained_model(spelled_out.name)
    assert by_generator(spelled_out.name)
    for one in trained:
        assert by_trained_model(f"{one.name}:cra"), one.name
        assert by_generator(f"{one.name}:cra")
    names = [one.name.partition(":")[0] for one in trained]
    assert names == ["t5-methods", "causal-requests" if available() else "t5-edits"]


def test_without_its_base_model_the_model_that_reviews_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("bot.review.local._rewriter", tuple)
    model = load_generator(None)
    assert getattr(model, "folder", None) == default_model()
    assert answerers(model)[-1] is model
    assert [type(one) for one in answerers(None)] == [Instructions]


def test_an_analyzer_is_no_generator() -> None:
    for origin in ("ruff:F401", "ast-grep:go-error-not-wrapped", "lizard:length"):
        assert not by_generator(origin)
        assert not by_trained_model(origin)
    assert by_generator("retrieval:0:past")
