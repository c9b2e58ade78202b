"""The operator's settings: what is refused before anything starts."""

from __future__ import annotations

import pytest

from bot.settings import Settings, SettingsError, SettingsFromOutside, load
from bot.settings_problems import mistyped
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


def settings_file(tmp_path, monkeypatch, content: bytes):
    file = tmp_path / "ours.toml"
    file.write_bytes(content)
    monkeypatch.setenv("MARGINALIA_CONFIG", str(file))
    return file


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"shadow = ", "not TOML: Invalid value"),
        (b"\x00\xff\xfe", "not UTF-8 text: save it as UTF-8"),
    ],
)
def test_a_file_of_settings_that_cannot_be_read_is_named(tmp_path, monkeypatch, content, said):
    file = settings_file(tmp_path, monkeypatch, content)
    with pytest.raises(SettingsError) as caught:
        load()
    assert str(caught.value).startswith(f"{file}: {said}")
    assert "\n" not in str(caught.value)


def test_a_setting_that_there_is_not_names_the_nearest_one(tmp_path, monkeypatch):
    settings_file(tmp_path, monkeypatch, b"shadows = true\nfrobnicate = 1\n")
    with pytest.raises(SettingsError) as caught:
        load()
    assert str(caught.value) == (
        "settings file: shadows: there is no such setting; did you mean shadow?; "
        "settings file: frobnicate: there is no such setting; deploy/README.md lists them"
    )


def test_a_polled_repository_has_an_owner_and_a_name():
    assert load(poll_repositories=("o/n",)).poll_repositories == ("o/n",)
    with pytest.raises(SettingsError, match=r'^MARGINALIA_POLL_REPOSITORIES: "flask" is not a rep'):
        load(poll_repositories=("o/n", "flask"))


def test_a_variable_that_is_nearly_a_setting_is_told():
    names = ["MARGINALIA_SHADOWS", "MARGINALIA_WEBHOOK_SECERT", "MARGINALIA_SHADOW", "PATH"]
    others = ["MARGINALIA_DATA", "MARGINALIA_CONFIG", "MARGINALIA_TEST_ALL"]
    foreign = ["MARGINALIA_SERVICE_HOST", "MARGINALIA_PORT_3000_TCP_ADDR"]
    assert mistyped(names + others + foreign, Settings.model_fields) == {
        "MARGINALIA_SHADOWS": "MARGINALIA_SHADOW",
        "MARGINALIA_WEBHOOK_SECERT": "MARGINALIA_WEBHOOK_SECRET",
    }
