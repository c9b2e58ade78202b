"""The operator's settings: what is refused before anything starts."""

from __future__ import annotations

import pytest

from bot.settings import SettingsError, load
from bot.wiring import operator_of


def test_the_operator_may_ask_for_as_many_comments_as_a_repository_may() -> None:
    settings = load(max_comments=50)
    assert operator_of(settings).defaults.max_comments == 50


@pytest.mark.parametrize("wrong", [-1, 51])
def test_a_number_of_comments_that_no_repository_could_have_is_refused(wrong: int) -> None:
    with pytest.raises(SettingsError, match=r"^MARGINALIA_MAX_COMMENTS: [^\n]+$"):
        load(max_comments=wrong)


def test_an_analyzer_that_there_is_not_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MARGINALIA_ANALYZERS", '["ruff", "nope"]')
    with pytest.raises(SettingsError, match=r"^MARGINALIA_ANALYZERS\.1: [^\n]+$"):
        load()
