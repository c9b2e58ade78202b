"""What the operator adds, end to end: a folder of own rules, and models to choose from."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from bot.diff import parse_diff
from bot.errors import FatalError
from bot.repo_config import review_options
from bot.repo_config_reader import ConfigError, read_config
from bot.review.pipeline import ReviewPipeline
from bot.review.types import ReviewOptions
from bot.settings import SettingsError, load
from bot.wiring import load_reviewer, operator_of
from models.generators.base import Answer, Window
from tests.bot.commands.command_line import call
from tests.bot.diff.repos import Repo

RULE = """\
id: no-legacy-clock
language: Python
severity: error
message: Use clock.now() of our own; legacy_clock() is not patched in tests.
rule:
  pattern: legacy_clock()
fix: clock.now()
"""
DIFF = b"--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n x = 1\n-y = 2\n+y = legacy_clock()\n"


@pytest.fixture
def rules(tmp_path):
    folder = tmp_path / "rules"
    folder.mkdir()
    (folder / "clock.yml").write_text(RULE, encoding="utf-8")
    return folder


@pytest.fixture
def repo(tmp_path) -> Repo:
    repo = Repo(tmp_path / "r")
    repo.commit({"a.py": "import clock\n\nx = 1\n"})
    repo.commit({"a.py": "import clock\n\nx = legacy_clock()  # noqa: F821\nprint(x)\n"})
    return repo


def test_own_rules_speak_on_the_command_line_by_option_and_by_environment(repo, rules, monkeypatch):
    common = ("review", "HEAD~1..HEAD", "--repo", repo.path, "--no-model", "--json")
    done = call(*common, "--rules", rules)
    (comment,) = json.loads(done.out)["comments"]
    assert comment["origin"] == "ast-grep:no-legacy-clock"
    assert comment["suggestion"] == "x = clock.now()  # noqa: F821"
    assert comment["severity"] == "error"
    assert json.loads(call(*common).out)["comments"] == []
    monkeypatch.setenv("MARGINALIA_RULES", str(rules))
    assert len(json.loads(call(*common).out)["comments"]) == 1
    monkeypatch.setenv("MARGINALIA_RULES", str(rules / "absent"))
    refused = call(*common)
    assert refused.code == 2
    assert "name a folder of ast-grep rules" in refused.err


def test_a_rule_that_is_off_by_default_speaks_where_it_is_asked_for(repo):
    common = ("review", "HEAD~1..HEAD", "--repo", repo.path, "--no-model", "--json")
    done = call(*common, "--enable", "ruff:T201")
    assert [one["origin"] for one in json.loads(done.out)["comments"]] == ["ruff:T201"]
    config = read_config("analyzers:\n  rules_on: [ruff:T201]\n")
    assert review_options(config).enabled_rules == {"ruff:T201"}


def test_the_services_reviewer_has_the_operators_rules(rules):
    reviewer = load_reviewer(load(rules=rules, use_model=False))
    result = reviewer.review(parse_diff(DIFF), Heads(), ReviewOptions(), lambda *_: None)
    origins = [one.source.candidate.origin for one in result.review.comments]
    assert "ast-grep:no-legacy-clock" in origins


def test_rules_that_do_not_work_are_one_note_and_ours_still_speak(repo, rules):
    (rules / "broken.yml").write_text("id: broken\nlanguage: Python\nrule: {wrong: 1}\n")
    repo.commit({"b.py": "def f(x, y=x == 1 or 2):\n    return x is 'a'\n"})
    done = call(
        "review", "HEAD~1..HEAD", "--repo", repo.path, "--no-model", "--json", "--rules", rules
    )
    document = json.loads(done.out)
    assert any("rules in" in note and "do not work" in note for note in document["notes"])
    assert document["comments"]


def test_a_fix_that_another_own_rule_forbids_is_prose(repo, rules):
    other = RULE.replace("no-legacy-clock", "no-clock").replace("legacy_clock()", "clock.now()")
    (rules / "other.yml").write_text(other.replace("fix: clock.now()\n", ""), encoding="utf-8")
    done = call(
        "review", "HEAD~1..HEAD", "--repo", repo.path, "--no-model", "--json", "--explain",
        "--rules", rules,
    )  # fmt: skip
    document = json.loads(done.out)
    (comment,) = document["comments"]
    assert (comment["origin"], comment["suggestion"]) == ("ast-grep:no-legacy-clock", None)
    assert "adds-finding" in [one["reason"] for one in document["candidates"]]


def test_a_folder_of_rules_that_is_not_there_is_refused_at_the_start(tmp_path):
    with pytest.raises(SettingsError, match=r"^MARGINALIA_RULES: there is no folder"):
        load(rules=tmp_path / "absent")


@pytest.mark.parametrize(
    ("models", "says"),
    [
        ('{"off": "/m"}', '"off" has a meaning of its own'),
        ('{"a b": "/m"}', '"a b" is no name'),
        ('{"big": ""}', '"big" has no folder or Hub id'),
    ],
)
def test_names_of_models_are_checked(monkeypatch, models, says):
    monkeypatch.setenv("MARGINALIA_MODELS", models)
    with pytest.raises(SettingsError, match=f"^MARGINALIA_MODELS: {says}"):
        load()


def test_a_repository_chooses_only_from_the_operators_list(monkeypatch, tmp_path):
    settings = tmp_path / "operator.toml"
    settings.write_text('[models]\nbig = "/srv/models/big"\n', encoding="utf-8")
    monkeypatch.setenv("MARGINALIA_CONFIG", str(settings))
    limits = operator_of(load()).limits
    chosen = review_options(read_config("model: big\n", limits=limits))
    assert (chosen.model, chosen.use_model) == ("big", True)
    with pytest.raises(ConfigError, match="choose from default, off, big"):
        read_config("model: huge\n", limits=limits)
    off = review_options(read_config("model: off\n", limits=limits))
    assert (off.model, off.use_model) == ("", False)


class Heads:
    """The file of ``DIFF``."""

    def base(self, path: str) -> bytes | None:
        return b"x = 1\ny = 2\n" if path == "a.py" else None

    def head(self, path: str) -> bytes | None:
        return b"x = 1\ny = legacy_clock()\n" if path == "a.py" else None


class Named:
    """A generator that says its own name and nothing else."""

    card: Mapping[str, Any] = {}
    tasks = frozenset({"rcg"})

    def __init__(self, name: str) -> None:
        self.name = name

    def revise(self, windows: Sequence[Window], *, answers: int = 1) -> list[list[Answer]]:
        return [[] for _ in windows]

    def comment(self, windows: Sequence[Window], *, answers: int = 1) -> list[list[Answer]]:
        return [[Answer(1, 1, 1, 0, text=f"This is said by {self.name}.")] for _ in windows]


def test_the_chosen_model_speaks_and_is_loaded_once():
    loads: list[str] = []

    def big() -> Named:
        loads.append("big")
        return Named("t5-big")

    def broken() -> Named:
        raise FatalError("no model '/nowhere'")

    pipeline = ReviewPipeline(generator=Named("t5-own"), offered={"big": big, "broken": broken})

    def said(name: str) -> tuple[list[str], tuple[str, ...]]:
        options = ReviewOptions(sure=0, model=name, analyzers=frozenset({"lizard"}))
        result = pipeline.review(parse_diff(DIFF), Heads(), options)
        return [one.candidate.origin for one in result.candidates], result.notes

    assert said("") == (["t5-own:rcg"], ())
    assert said("big") == (["t5-big:rcg"], ())
    assert said("big") == (["t5-big:rcg"], ())
    assert loads == ["big"]
    for name, reason in (("broken", "no model '/nowhere'"), ("other", "does not offer it")):
        origins, notes = said(name)
        assert origins == ["t5-own:rcg"]
        assert [reason in note and name in note for note in notes] == [True]
