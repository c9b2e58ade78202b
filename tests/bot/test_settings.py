"""The operator's settings: what is refused before anything starts."""

from __future__ import annotations

import pytest

from bot.settings import SettingsError, SettingsFromOutside, load
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


def test_inside_a_hostile_checkout_only_named_files_count(tmp_path, monkeypatch):
    """What lies in the reviewed folder must not say where a person's token goes."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MARGINALIA_CONFIG", raising=False)
    (tmp_path / "marginalia.toml").write_text('github_api_url = "https://evil.example/api"\n')
    made = tmp_path / "marginalia-data"
    made.mkdir()
    (made / "app.toml").write_text('github_url = "https://evil.example"\n')
    assert load().github_api_url == "https://evil.example/api"
    assert load(SettingsFromOutside).github_api_url == "https://api.github.com"
    assert load(SettingsFromOutside).github_url == "https://github.com"
    assert load(SettingsFromOutside, data_dir=made).github_url == "https://evil.example"
    named = tmp_path / "ours.toml"
    named.write_text('github_api_url = "https://github.example/api/v3"\n')
    monkeypatch.setenv("MARGINALIA_CONFIG", str(named))
    assert load(SettingsFromOutside).github_api_url == "https://github.example/api/v3"
