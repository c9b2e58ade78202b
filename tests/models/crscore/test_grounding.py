"""Subjects, sentences and quotes: whether what a review speaks of is in the change."""

from __future__ import annotations

import time

import pytest

from models.crscore.change_text import read_change
from models.crscore.grounding import grounding_columns
from models.crscore.subjects import (
    NAMING,
    SPACE,
    SUBJECTS,
    said_subjects,
    shown_subjects,
    subject_columns,
)
from models.crscore.words import Rarity

COMMENT = """@@ -3,4 +3,4 @@
 def load(path):
-    # reads the old format
+    # reads both formats
     raw = open(path)
     return parse(raw)
"""
RARITY = dict.fromkeys(SUBJECTS, 1.0)


@pytest.mark.parametrize(
    ("review", "here", "absent"),
    [
        ("The comment is outdated.", 1, 0),
        ("This loop could be a comprehension.", 0, 1),
        ("Why does this loop not raise?", 0, 2),
    ],
)
def test_what_is_said_is_looked_for(review: str, here: int, absent: int) -> None:
    shown = read_change(COMMENT).subjects
    columns = subject_columns(review, shown, RARITY)
    assert columns["pair_subjects_here"] == here / 4
    assert columns["pair_subjects_absent"] == absent / 4


def test_a_return_on_an_unchanged_line_is_near() -> None:
    shown = read_change(COMMENT).subjects
    assert "return" in shown.kept
    assert "return" not in shown.changed
    columns = subject_columns("Return early.", shown, RARITY)
    assert columns["pair_subjects_near"] == 1 / 3
    assert columns["pair_subjects_here"] == columns["pair_subjects_rarest"] == 0.0


def test_white_space_and_names_are_read_by_form() -> None:
    assert SPACE in shown_subjects(["x = 1", ""], [], []).changed
    assert SPACE in shown_subjects(["  foo( a )"], ["foo(a)"], []).changed
    many = shown_subjects(["a", "b", "c", "d", ""], [], [])
    assert SPACE in many.kept
    assert SPACE not in many.changed
    assert NAMING in shown_subjects(["total = 1"], ["sum = 1"], []).changed
    assert NAMING not in shown_subjects(["total = 1"], [], []).changed
    assert said_subjects("Please fix the indentation") == {SPACE}


def test_each_sentence_counts() -> None:
    change = read_change(COMMENT)
    rarity = Rarity({}, 5.0)

    def of(*sentences: str) -> dict[str, float]:
        return grounding_columns(" ".join(sentences), sentences, change, rarity)

    tied, loose = "Say which formats are read.", "Databases deserve thought."
    assert of(tied)["pair_sentence_least"] > 0.3
    both = of(tied, loose)
    assert both["pair_sentence_least"] == 0.0
    assert both["pair_sentence_most"] == of(tied)["pair_sentence_most"]
    assert both["pair_sentence_bare"] == 0.5
    assert of(loose)["pair_sentence_subjects_least"] == pytest.approx(-0.7)


def test_quotes_are_compared_with_changed_lines() -> None:
    change = read_change(COMMENT)
    rarity = Rarity({}, 5.0)
    near = grounding_columns("Write `# reads all formats`", ["Write it"], change, rarity)
    far = grounding_columns("Write `SELECT 1`", ["Write it"], change, rarity)
    none = grounding_columns("Write it", ["Write it"], change, rarity)
    assert near["pair_quote_whole"] > 0.8 > far["pair_quote_whole"]
    assert near["pair_quote_part"] > far["pair_quote_part"]
    assert none["pair_quote_part"] == none["pair_quote_part_mean"] == 0.0
    assert grounding_columns("", [""], read_change(""), rarity)["pair_near_line"] == 0.0


@pytest.mark.parametrize("piece", ["(a,", "{'a':", "x y(", "<a", "/a", "@", "\\", "a = "])
def test_hostile_lines_take_no_longer_than_others(piece: str) -> None:
    diff = "@@ -0,0 +1,96 @@\n" + f"+{piece * 120}\n" * 96
    start = time.perf_counter()
    read_change(diff)
    said_subjects(piece * 3000)
    # a pattern that goes back over its text would take minutes
    assert time.perf_counter() - start < 5.0
