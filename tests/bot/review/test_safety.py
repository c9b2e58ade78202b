"""The safety gate, by the troubles that users of other reviewers report (13 to 18, 25)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.diff import parse_diff
from bot.review.safety import (
    check_anchor,
    check_replacement,
    check_syntax,
    check_text,
    is_comment,
    loops,
    revised,
    text_at_hand,
)
from bot.review.types import Reason
from models.change import Side
from models.review_types import Candidate, CandidateKind, Replacement

HEAD = b"""\
import os


def load(path, mode="r"):
    # keep the handle: callers close it
    handle = open(path)
    data = handle.read()
    return data
"""
DIFF = b"""\
diff --git a/load.py b/load.py
--- a/load.py
+++ b/load.py
@@ -4,2 +4,5 @@ import os
-def load(path):
-    return open(path).read()
+def load(path, mode="r"):
+    # keep the handle: callers close it
+    handle = open(path)
+    data = handle.read()
+    return data
"""


@pytest.fixture
def file():
    return parse_diff(DIFF).files[0]


def revision(start: int, end: int, *lines: str, **other) -> Candidate:
    made = Candidate(
        CandidateKind.REVISION,
        "t5-edits:0:crb",
        "load.py",
        Side.RIGHT,
        start,
        end,
        "The mode is passed on.",
        Replacement(start, end, lines),
    )
    return replace(made, **other)


def reason(verdict):
    return None if verdict is None else verdict.reason


def test_a_good_revision_passes(file):
    good = revision(6, 6, "    handle = open(path, mode)")
    assert check_text(good) is None
    assert check_anchor(good, file) is None
    assert check_replacement(good, file, HEAD) is None


@pytest.mark.parametrize(("start", "end"), [(1, 1), (2, 4), (8, 9), (9, 9), (40, 40), (7, 6)])
def test_trouble_1_a_remark_outside_its_hunk_is_held_back(file, start, end):
    assert reason(check_anchor(revision(start, end, "x"), file)) is Reason.OUTSIDE_HUNK


def test_trouble_18_deleted_lines_take_remarks_but_no_suggestion(file):
    on_left = revision(4, 4, "def load(p):", side=Side.LEFT)
    assert reason(check_anchor(on_left, file)) is Reason.WRONG_SIDE
    prose = replace(on_left, kind=CandidateKind.COMMENT, replacement=None)
    assert check_anchor(prose, file) is None


def test_trouble_18_a_suggestion_that_changes_nothing_is_held_back(file):
    same = revision(7, 7, "    data = handle.read()  ")
    assert reason(check_replacement(same, file, HEAD)) is Reason.NO_CHANGE


def test_trouble_14_a_range_past_the_file_is_held_back(file):
    assert reason(check_replacement(revision(8, 12, "x"), file, HEAD)) is Reason.DOES_NOT_APPLY
    off = revision(6, 6, "x", start_line=5)
    assert reason(check_replacement(off, file, HEAD)) is Reason.DOES_NOT_APPLY


def test_trouble_15_a_comment_is_not_overwritten(file):
    lost = revision(5, 6, "    handle = open(path, mode)")
    assert reason(check_replacement(lost, file, HEAD)) is Reason.COMMENT_OVERWRITTEN


@pytest.mark.parametrize(
    "line", ["  handle = open(path, mode)", "\thandle = open(path, mode)", "    handle=1\n"]
)
def test_trouble_16_indentation_is_kept(file, line):
    wrong = revision(6, 6, line)
    assert reason(check_replacement(wrong, file, HEAD)) in (
        Reason.INDENTATION,
        Reason.DOES_NOT_APPLY,
    )


def test_trouble_16_tabs_and_spaces_are_not_mixed(file):
    mixed = revision(6, 7, "    handle = open(path, mode)", "\tdata = handle.read()")
    assert reason(check_replacement(mixed, file, HEAD)) is Reason.INDENTATION


def test_trouble_16_carriage_returns_are_kept():
    head = HEAD.replace(b"\n", b"\r\n")
    after = revised(head, [Replacement(6, 6, ("    handle = open(path, mode)",))])
    assert after == head.replace(b"open(path)", b"open(path, mode)")


def test_what_the_author_took_away_is_not_brought_back(file):
    back = revision(4, 8, "def load(path):", "    return open(path).read()")
    back_half = revision(8, 8, "    return open(path).read()")
    assert reason(check_replacement(back, file, HEAD)) is Reason.UNDOES_CHANGE
    assert reason(check_replacement(back_half, file, HEAD)) is Reason.UNDOES_CHANGE


def test_trouble_13_code_that_does_not_parse_is_held_back():
    broken = revised(HEAD, [Replacement(6, 6, ("    handle = open(path",))])
    assert broken is not None
    assert reason(check_syntax(HEAD, broken, "python")) is Reason.BREAKS_SYNTAX
    fine = revised(HEAD, [Replacement(6, 6, ("    handle = open(path, mode)",))])
    assert fine is not None
    assert check_syntax(HEAD, fine, "python") is None
    assert reason(check_syntax(HEAD, fine, "")) is Reason.BREAKS_SYNTAX


def test_a_file_that_was_broken_before_may_stay_so():
    before = HEAD + b"def (:\n"
    after = revised(before, [Replacement(6, 6, ("    handle = open(path, mode)",))])
    assert after is not None
    assert check_syntax(before, after, "python") is None


def test_a_bare_diff_is_checked_on_its_hunk(file):
    good = revision(6, 6, "    handle = open(path, mode)")
    assert check_replacement(good, file, None) is None
    text = text_at_hand(file, None, good.replacement)
    after = revised(text, [good.replacement])
    assert after.decode().split("\n")[5] == "    handle = open(path, mode)"
    assert check_syntax(text, after, "python") is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", Reason.EMPTY),
        (" \n", Reason.EMPTY),
        ("x" * 2001, Reason.TOO_LONG),
        ("I think " * 12, Reason.REPETITION),
        ("we should use the same name " * 5, Reason.REPETITION),
        ("no " * 9, Reason.REPETITION),
        ("ask @maintainers about this", Reason.UNSAFE_TEXT),
        ("see https://example.org/evil", Reason.UNSAFE_TEXT),
        ("<img src=x> is better here", Reason.UNSAFE_TEXT),
        ("![x](y) is better here", Reason.UNSAFE_TEXT),
    ],
)
def test_trouble_25_empty_looping_and_steered_comments_are_held_back(text, why):
    said = Candidate(CandidateKind.COMMENT, "t5-edits:0:rcg", "a.py", Side.RIGHT, 1, 1, text)
    assert reason(check_text(said)) is why


@pytest.mark.parametrize(
    "text",
    [
        "Use a set here: `x in names` walks the whole list each time, and names grows with users.",
        "a < b and b > c: is this meant?",
        "The decorator `@cached` keeps self alive.",
    ],
)
def test_plain_remarks_are_let_through(text):
    said = Candidate(CandidateKind.COMMENT, "t5-edits:0:rcg", "a.py", Side.RIGHT, 1, 1, text)
    assert check_text(said) is None


def test_a_list_of_alike_words_is_no_loop():
    assert not loops("rename a to b, c to d, e to f, g to h")


@pytest.mark.parametrize(
    ("line", "yes"),
    [
        ("# note", True),
        ("// note", True),
        (" * note", True),
        ("#include <x.h>", False),
        ("#[derive(Debug)]", False),
        ("*pointer = 1;", False),
        ("x = 1  # note", False),
    ],
)
def test_comment_lines_are_known(line, yes):
    assert is_comment(line) is yes
