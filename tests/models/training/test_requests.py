"""Training examples for revisions that a comment asks for."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path

import pytest

from models.benchmark.suggestions import replaced_lines
from models.generators.base import Window
from models.generators.request_format import request_of
from models.syntax.grammar import parse
from models.training.requests import (
    Asked,
    Reviews,
    commits,
    suggestions,
    widened,
    written,
)


def test_a_suggestion_replaces_the_lines_that_it_is_most_like() -> None:
    side = ["a = 1", "if m := find(text):", "    code = m.group()"]
    assert replaced_lines(side, ("if match := find(text):", "    code = match.group()")) == 2
    assert replaced_lines(side, ("    code = m.group(0)",)) == 1
    assert replaced_lines(["x"], ("y", "z")) == 1


def test_tokens_are_written_as_java_with_the_tokens_of_each_line() -> None:
    text = (
        "public void a ( ) { for ( int i = 0 ; i < 3 ; i ++ ) { b ( i ) ; } "
        "if ( c ) { d ( ) ; } else { e ( ( ) - > { f ( ) ; } ) ; } }"
    )
    tokens = text.split()
    lines, places = written(tokens)
    assert lines == [
        "public void a() {",
        "    for (int i = 0; i < 3; i++) {",
        "        b(i);",
        "    }",
        "    if (c) {",
        "        d();",
        "    } else {",
        "        e(() -> { f(); });",
        "    }",
        "}",
    ]
    assert [tokens[low:high] for low, high in places][2] == ["b", "(", "i", ")", ";"]
    assert (places[0][0], places[-1][1]) == (0, len(tokens))


def test_now_and_then_a_line_more_is_asked_about_and_answered_as_it_is() -> None:
    lines = ("a", "b", "c")
    asked = Asked(Window("python", lines, frozenset({1}), comment="x"), ("B",))
    found = {
        (tuple(sorted(w.window.changed)), w.revised)
        for w in (widened(asked, random.Random(seed)) for seed in range(60))
    }
    assert found == {((1,), ("B",)), ((0, 1), ("a", "B")), ((1, 2), ("B", "c"))}


@pytest.mark.data
def test_reviews_are_named_anew_and_stay_java(data_folder: Path) -> None:
    reviews = Reviews(data_folder, held=True)
    rng = random.Random(1)
    drawn = [asked for row in reviews.rows[:60] if (asked := reviews.asked(row, rng)) is not None]
    assert len(drawn) > 45
    parsed = 0
    for asked in drawn:
        request = request_of(asked.window)
        assert request is not None
        text = "\n".join(asked.window.lines)
        assert not any(mark in text + asked.window.comment for mark in ("VAR_", "METHOD_", "START"))
        assert tuple(request.read(request.written(asked.revised))) == asked.revised
        whole = "class A {\n" + text + "\n}"
        parsed += not parse(whole.encode(), "java").root_node.has_error
    assert parsed > 0.5 * len(drawn)  # the others are cut at the window's end


@pytest.mark.data
def test_held_repositories_are_in_no_training_example(data_folder: Path) -> None:
    trained = {asked.window.lines for asked in suggestions(data_folder, "train")}
    held = {asked.window.lines for asked in suggestions(data_folder, "test")}
    assert len(held) > 70
    assert len(trained) > 4 * len(held)
    assert not trained & held


def test_commits_are_small_and_their_message_speaks_of_what_they_change(tmp_path: Path) -> None:
    row = {
        "repo": "o/r", "path": "a.py", "before": "a\nx = open(name)\nb", "groups": 1,
        "message": "Close the file that is opened (#12)", "first_changed": 1, "last_changed": 1,
        "new_lines": ["with open(name) as file:", "    x = file"],
    }  # fmt: skip
    others: list[dict[str, object]] = [
        {"message": "Rework the whole parser"},  # speaks of something else
        {"groups": 2},
        {"repo": "django/django"},  # held out
        {"new_lines": ["y"] * 9},
        {"last_changed": 0},  # only lines that are there can be commented on
        {"message": "Bump version", "new_lines": ["version = 2"]},
    ]
    (tmp_path / "edits").mkdir()
    with gzip.open(tmp_path / "edits" / "python.jsonl.gz", "wt") as handle:
        handle.writelines(json.dumps({**row, **other}) + "\n" for other in ({}, *others))
    (asked,) = commits(tmp_path, "train")
    assert asked.window == Window(
        "python", ("a", "x = open(name)", "b"), frozenset({1}),
        comment="Close the file that is opened",
    )  # fmt: skip
    assert asked.revised == ("with open(name) as file:", "    x = file")
    assert len(commits(tmp_path, "test")) == 1
    assert commits(tmp_path, "train", 0) == []
