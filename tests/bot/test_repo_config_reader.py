# ruff: noqa: E501 - one broken file a line reads best
"""Broken configuration files: each names its line, its column and what to do."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.repo_config import Limits, RepoConfig
from bot.repo_config_reader import ConfigError, read_config
from tests.bot.commands.command_line import call

BROKEN = [
    # (name, text, line, column, what the message must say)
    ("unknown key", "sure: 0.5\nmax_comment: 3\n", 2, 1, 'did you mean "max_comments"?'),
    ("key in a section", "paths:\n  exlude: [a]\n", 2, 3, 'did you mean "exclude"?'),
    ("key one level too high", "exclude: [docs/]\n", 1, 1, 'it belongs under "paths"'),
    ("key one level too low", "when:\n  sure: 0.3\n", 2, 3, "it belongs at the top level"),
    ("no near key", "zzz: 1\n", 1, 1, "known are accepted_as, analyzers, check_run"),
    ("text for a number", "sure: high\n", 1, 7, '"sure" must be a number, not "high"'),
    ("quoted number", 'sure: "0.5"\n', 1, 7, "remove the quotes"),
    ("number out of range", "sure: 1.5\n", 1, 7, '"sure" must be at most 1, not 1.5'),
    ("negative", "a: 1\nmax_comments: -1\n", 2, 15, "must be at least 0, not -1"),
    ("fraction for a whole number", "max_comments: 2.5\n", 1, 15, "must be a whole number, not 2.5"),
    ("yes for true", "enabled: yes\n", 1, 10, 'must be true or false, not "yes": write true'),
    ("text for a list", "languages: python\n", 1, 12, 'must be a list, as in [a, b], not "python"'),
    ("unknown language", "languages:\n  - go\n  - pyton\n", 3, 5, 'did you mean "python"?'),
    ("unknown analyzer", "analyzers:\n  only: [ruf]\n", 2, 10, 'did you mean "ruff"?'),
    ("unknown length", "summary: huge\n", 1, 10, "choose from short, normal, long"),
    ("rule without analyzer", "analyzers:\n  rules_off: [E501]\n", 2, 15, "write analyzer:rule"),
    ("number in a list of text", "when:\n  skip_labels: [1]\n", 2, 17, "must be text, not 1: put it in"),
    ("list for a section", "paths: [src]\n", 1, 8, "must be a section with keys of its own"),
    ("key without a value", "sure: 0.1\npaths:\nsummary: long\n", 2, 7, '"paths" has no value'),
    ("key twice", "sure: 0.1\nmax_comments: 2\nsure: 0.2\n", 3, 1, "the first is in line 1"),
    ("tab", "paths:\n\tinclude: [a]\n", 2, 1, "a tab stands where spaces are needed"),
    ("bad indentation", "paths:\n  include: [a]\n exclude: [b]\n", 3, 2, "indentation does not match"),
    ("colon in text", "summary: short: or long\n", 1, 15, "quote the text"),
    ("open bracket", "languages: [go, rust\nsure: 0.1\n", 2, 5, "never closed"),
    ("open quote", "model: 'abc\n", 2, 1, "a quote is never closed"),
    (
        "no analyzer",
        "analyzers:\n  rules_off: [rufff:B006]\n",
        2,
        15,
        'there is no analyzer "rufff": did you mean ruff?',
    ),
    ("missing colon", "sure: 0.1\nenabled\nmax_comments: 3\n", 3, 1, 'a ":" is missing after a key'),
    ("alias", "when: &w {}\n", 1, 7, "anchors and aliases are not used"),
    ("object tag", "sure: !!python/object/apply:os.system [id]\n", 1, 7, "must be a number, not a list"),
    ("scalar tag", "model: !secret x\n", 1, 8, "the tag !secret is not used here"),
    ("list at the top", "- sure: 1\n", 1, 1, "the file must hold keys"),
    ("two documents", "sure: 0.1\n---\nsure: 0.2\n", 2, 1, "only one document"),
    ("pattern of git", 'paths:\n  exclude: ["!"]\n', 2, 13, "not a pattern that git understands"),
    ("comment for a pattern", 'paths:\n  exclude: ["#a"]\n', 2, 13, "matches nothing"),
    ("too many stars", 'paths:\n  exclude: ["*a*a*a*a*b"]\n', 2, 13, "too many stars"),
    ("wrong version", "version: 2\n", 1, 10, 'is not known for "version": choose from 1'),
    ("infinite", "sure: .inf\n", 1, 7, "not a number to use here"),
    ("number as a key", "1: a\n", 1, 1, "a key must be plain text"),
    ("control character", "sure: 0.1\nmodel: a\x07b\n", 2, 9, "U+0007 is not allowed"),
    ("too deep", "a: " + "[" * 30, 1, 23, "nested more than 20 deep"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "line", "column", "message"), [b[1:] for b in BROKEN], ids=[b[0] for b in BROKEN]
)
def test_a_broken_file_names_its_line_and_what_to_do(text, line, column, message):
    with pytest.raises(ConfigError) as caught:
        read_config(text.encode())
    matching = [p for p in caught.value.problems if message in p.message]
    assert matching, caught.value.lines()
    assert (matching[0].line, matching[0].column) == (line, column)
    assert all("\n" not in row for row in caught.value.lines())


def test_not_utf8_is_placed():
    with pytest.raises(ConfigError) as caught:
        read_config(b"sure: 0.1\nmodel: \xff\n")
    assert caught.value.lines() == [
        ".github/marginalia.yml:2:8: not UTF-8 text: save the file as UTF-8"
    ]


def test_all_problems_are_told_at_once_in_order():
    with pytest.raises(ConfigError) as caught:
        read_config("max_comments: 99\nsuer: 1\nlanguages: [cobol]\n")
    assert [p.line for p in caught.value.problems] == [1, 2, 3]


def test_too_large_is_refused_before_parsing():
    with pytest.raises(ConfigError, match="too large"):
        read_config("#" * 70_000)


def test_a_good_file_and_the_words_of_yaml_1_2():
    config = read_config(
        b"\xef\xbb\xbfmodel: off\nsure: 1e-1\nmax_comments: 0\npaths: {exclude: [docs/, '*.md']}\n"
        b"when: {skip_labels: [no, 'on']}\n"
    )
    assert config.model == "off"
    assert config.sure == pytest.approx(0.1)
    assert config.paths.exclude == ("docs/", "*.md")
    assert config.when.skip_labels == ("no", "on")


@pytest.mark.parametrize("text", ["", "# only a comment\n", "---\n", "{}"])
def test_an_empty_file_changes_nothing(text):
    assert read_config(text).model_fields_set == set()


def test_limits_are_told_at_their_place():
    limits = Limits(models=("codet5",), max_comments=5, min_sure=0.2, analyzers=frozenset({"ruff"}))
    text = "model: gpt\nmax_comments: 9\nsure: 0.1\nanalyzers:\n  only: [ruff, oxlint]\n"
    with pytest.raises(ConfigError) as caught:
        read_config(text, "org.yml", limits)
    assert caught.value.lines() == [
        'org.yml:1:8: "gpt" is not offered here: choose from default, off, codet5',
        "org.yml:2:15: the operator allows at most 5 comments",
        "org.yml:3:7: the operator asks for at least 0.2",
        'org.yml:5:16: "oxlint" is not offered here: choose from ruff',
    ]


def test_limits_hold_only_what_a_file_says():
    limits = Limits(max_comments=5, min_sure=0.9)
    assert read_config("summary: long\n", limits=limits).summary == "long"


@settings(max_examples=150, deadline=None)
@given(
    st.one_of(st.binary(max_size=80), st.text("[]{}:-&*!|>'\"#%@`, \n\tasure0.:<\\", max_size=60))
)
def test_anything_is_read_or_refused_with_a_place(raw):
    try:
        config: RepoConfig | None = read_config(raw)
        problems = ()
    except ConfigError as error:
        config, problems = None, error.problems
    assert (config is None) == bool(problems)
    assert all(p.line >= 1 and p.column >= 1 and p.message for p in problems)


def test_the_command_tells_each_broken_file_with_its_line(tmp_path):
    files = []
    for number, (_, text, *_) in enumerate(BROKEN):
        files.append(tmp_path / f"{number}.yml")
        files[-1].write_bytes(text.encode())
    told = call("config", "validate", *files)
    assert told.code == 1
    for path, (_, _, line, column, message) in zip(files, BROKEN, strict=True):
        rows = [row for row in told.err.splitlines() if row.startswith(f"{path}:{line}:{column}: ")]
        assert any(message in row for row in rows), (path, told.err)
    asked = json.loads(call("config", "validate", "--json", *files).out)
    assert {row["file"] for row in asked} == {str(path) for path in files}
