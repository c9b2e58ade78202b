"""The schema, the stacking of layers, the operator's limits, and the command."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import get_args

import jsonschema
import pytest
import yaml
from typer.testing import CliRunner

from bot.commands.config import app, schema_text
from bot.diff.github_files import change_from_files
from bot.repo_config import (
    Analyzer,
    Language,
    Limits,
    RepoConfig,
    json_schema,
    keep_languages,
    review_options,
    stack,
)
from bot.repo_config_reader import read_config

FULL = """
version: 1
enabled: true
accepted_as: person
sure: 0.3
max_comments: 4
summary: short
model: off
languages: [python, go]
incremental: false
check_run: true
resolve_threads: false
paths:
  include: ["src/**"]
  exclude: ["*.lock", "!important.lock"]
analyzers:
  only: [ruff]
  rules_off: ["ruff:B006"]
when:
  drafts: true
  base_branches: [main, "release/*"]
  skip_labels: [wip]
  only_labels: [review]
  skip_authors: ["renovate[bot]"]
  bots: false
mode: approve
feedback:
  learn: false
  pinned: ["ruff:B006"]
  banned: [sqlfluff]
  answers: comments
"""


def test_the_published_schema_is_the_generated_one():
    published = files("bot").joinpath("schemas/marginalia.schema.json").read_text("utf-8")
    assert published == schema_text()


def test_the_schema_accepts_what_the_reader_accepts_and_refuses_unknown_keys():
    schema = json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    data = yaml.safe_load(FULL.replace("model: off", 'model: "off"'))
    assert not list(validator.iter_errors(data))
    assert read_config(FULL).model_fields_set == set(RepoConfig.model_fields)
    for broken in ({"sur": 1}, {"sure": 2}, {"paths": {"x": []}}, {"languages": None}):
        assert list(validator.iter_errors(broken)), broken


def test_layers_stack_key_by_key_and_the_later_counts():
    operator = read_config("sure: 0.9\npaths: {exclude: [vendor/]}\nmax_comments: 3\n")
    organisation = read_config("sure: 0.7\npaths: {include: [src/]}\n")
    repository = read_config("max_comments: 5\npaths: {exclude: []}\n")
    merged = stack([operator, organisation, repository])
    assert (merged.sure, merged.max_comments) == (0.7, 5)
    assert merged.paths.include == ("src/",)
    assert merged.paths.exclude == ()
    assert merged.summary == "normal"


def test_clamp_brings_defaults_inside_the_limits():
    limits = Limits(models=("big",), max_comments=5, min_sure=0.6, analyzers=frozenset({"ruff"}))
    clamped = limits.clamp(read_config("model: other\nanalyzers: {only: [ruff, oxlint]}\n"))
    assert (clamped.model, clamped.max_comments, clamped.sure) == ("default", 5, 0.6)
    assert clamped.analyzers.only == ("ruff",)
    assert limits.clamp(RepoConfig()).analyzers.only == ("ruff",)
    assert limits.problems(clamped) == ()


def test_options_for_the_pipeline():
    options = review_options(read_config(FULL), frozenset({"a"}), frozenset({"b"}))
    assert (options.sure, options.max_comments, options.use_model) == (0.3, 4, False)
    assert options.analyzers == frozenset({"ruff"})
    assert options.disabled_rules == frozenset({"ruff:B006"})
    assert options.include == ("src/**",)
    assert (options.known_fingerprints, options.dismissed_fingerprints) == ({"a"}, {"b"})
    assert options.languages == frozenset({"python", "go"})
    assert review_options(RepoConfig()).analyzers is None


def test_names_are_those_that_the_program_knows():
    from models.analyzers import ANALYZERS
    from models.syntax.table import LANGUAGES

    assert set(get_args(Language)) == {row.name for row in LANGUAGES}
    assert set(ANALYZERS) <= set(get_args(Analyzer))


def test_other_languages_are_left_out():
    row = {"status": "modified", "patch": "@@ -1 +1 @@\n-a\n+b"}
    change = change_from_files([{"filename": name, **row} for name in ("a.py", "b.go", "c.txt")])
    kept = keep_languages(change, frozenset({"go"}))
    assert [file.coverage.value for file in kept] == ["ignored", "reviewed", "ignored"]
    assert keep_languages(change, None) is change


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runner = CliRunner()
    return lambda *args, **kwargs: runner.invoke(app, args, **kwargs)


def test_validate_command(run, tmp_path):
    (tmp_path / "good.yml").write_text("sure: 0.1\n")
    (tmp_path / "bad.yml").write_text("sure: 0.1\nsummry: long\n")
    good = run("validate", "good.yml")
    assert (good.exit_code, good.output) == (0, "good.yml: good\n")
    bad = run("validate", "good.yml", "bad.yml")
    assert bad.exit_code == 1
    assert 'bad.yml:2:1: unknown key "summry": did you mean "summary"?' in bad.output
    listed = run("validate", "--json", "bad.yml")
    assert json.loads(listed.stdout)[0]["line"] == 2
    missing = run("validate")
    assert missing.exit_code == 2
    assert ".github/marginalia.yml: cannot be read (No such file or directory)" in missing.output
    assert run("validate", "-", input="sure: 0.5\n").exit_code == 0


def test_show_names_the_layer_of_every_setting(run, tmp_path):
    (tmp_path / "org.yml").write_text("sure: 0.2\nwhen: {drafts: true}\n")
    (tmp_path / "repo.yml").write_text("sure: 0.3\n")
    shown = run("show", "repo.yml", "--org", "org.yml")
    assert shown.exit_code == 0
    rows = shown.output.splitlines()
    assert "sure: 0.3  # repository" in rows
    assert "  drafts: true  # organisation" in rows
    assert "max_comments: 10  # default" in rows
    assert run("show").exit_code == 0


def test_schema_command_prints_the_schema(run):
    assert json.loads(run("schema").stdout) == json_schema()


def test_the_analyzers_that_can_be_named_are_those_that_there_are():
    from typing import get_args

    from bot.repo_config import Analyzer
    from models.analyzers import ANALYZERS

    assert set(get_args(Analyzer)) == set(ANALYZERS)
