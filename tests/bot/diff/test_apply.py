"""Changes and replacements laid on text keep every byte that they do not speak of."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.diff.apply import apply_change, apply_file, apply_replacements
from bot.diff.errors import ApplyError
from bot.diff.parse import parse_diff
from models.review_types import Replacement

DIFF = b"diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -2,2 +2,2 @@\n b\n-c\n+C\n"


def test_a_patch_that_does_not_fit_says_where() -> None:
    (file,) = parse_diff(DIFF).files
    assert apply_file(file, b"a\nb\nc\nd") == b"a\nb\nC\nd"
    with pytest.raises(ApplyError, match="f: the hunk at old line 2 does not fit"):
        apply_file(file, b"a\nb\r\nc\nd")
    with pytest.raises(ApplyError, match="does not fit"):
        apply_file(file, b"a\nb\nc")
    with pytest.raises(ApplyError, match="f is not in the old tree"):
        apply_change(parse_diff(DIFF), {"g": b""})


def test_what_was_not_read_is_not_applied() -> None:
    data = b"diff --git a/f b/f\nindex 1..2 100644\nBinary files a/f and b/f differ\n"
    with pytest.raises(ApplyError, match=r"f: its patch was not read \(binary\)"):
        apply_change(parse_diff(data), {"f": b"\0"})


def test_a_removed_file_must_be_removed_whole() -> None:
    data = b"--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"
    assert apply_change(parse_diff(data), {"f": b"a\n", "g": b""}) == {"g": b""}
    with pytest.raises(ApplyError, match="lines are left in a removed file"):
        apply_change(parse_diff(data), {"f": b"a\nb\n"})


def replaced(text: bytes, *items: tuple[int, int, list[str]]) -> bytes:
    return apply_replacements(text, [Replacement(a, b, tuple(lines)) for a, b, lines in items])


@pytest.mark.parametrize(
    ("text", "start", "end", "lines", "expected"),
    [
        (b"a\nb\nc\n", 2, 2, ["x", "y"], b"a\nx\ny\nc\n"),
        (b"a\r\nb\r\nc\r\n", 2, 2, ["x", "y"], b"a\r\nx\r\ny\r\nc\r\n"),
        (b"a\r\nb\nc\r\n", 1, 2, ["x", "y", "z"], b"x\r\ny\nz\nc\r\n"),
        (b"a\nb", 2, 2, ["x", "y"], b"a\nx\ny"),
        (b"a\r\nb", 2, 2, ["x", "y"], b"a\r\nx\r\ny"),
        (b"a", 1, 1, ["x", "y"], b"x\ny"),
        (b"a\nb", 1, 2, ["x"], b"x"),
        (b"a\nb\nc\n", 2, 3, [], b"a\n"),
        (b"a\nb", 2, 2, [], b"a\n"),
        (b"\xef\xbb\xbfa\nb\n", 1, 1, ["x"], b"\xef\xbb\xbfx\nb\n"),
        (b"\xef\xbb\xbfa\nb\n", 1, 1, ["\ufeffx"], b"\xef\xbb\xbfx\nb\n"),
        (b"a\rb\nc\n", 1, 1, ["x\ry"], b"x\ry\nc\n"),
        (b"a\r\n", 1, 1, ["x\r"], b"x\r\n"),
        (b"\tif a:\n", 1, 1, ["\t\tif b:  "], b"\t\tif b:  \n"),
        (b"\xe9\nb\n", 2, 2, ["é\udce9"], b"\xe9\n\xc3\xa9\xe9\n"),
        (b"a\n\x0cb\xe2\x80\xa8c\nd\n", 3, 3, ["x"], b"a\n\x0cb\xe2\x80\xa8c\nx\n"),
    ],
)
def test_a_replacement_keeps_the_line_endings(
    text: bytes, start: int, end: int, lines: list[str], expected: bytes
) -> None:
    assert replaced(text, (start, end, lines)) == expected


def test_several_replacements_speak_of_the_same_text() -> None:
    text = b"1\n2\n3\n4\n5\n"
    assert replaced(text, (4, 5, ["x"]), (1, 1, ["a", "b"]), (2, 2, [])) == b"a\nb\n3\nx\n"
    assert replaced(text) == text


@pytest.mark.parametrize(
    ("items", "says"),
    [
        ([(0, 1, ["x"])], "lines 0 to 1 are not in a text of 2 lines"),
        ([(2, 3, ["x"])], "lines 2 to 3 are not in a text of 2 lines"),
        ([(2, 1, ["x"])], "lines 2 to 1 are not in a text"),
        ([(1, 2, ["x"]), (2, 2, ["y"])], "lines 2 to 2 overlap another replacement"),
        ([(1, 1, ["x\ny"])], "line 1 holds a line feed"),
    ],
)
def test_a_replacement_that_does_not_fit(
    items: list[tuple[int, int, list[str]]], says: str
) -> None:
    with pytest.raises(ApplyError, match=says):
        replaced(b"a\nb\n", *items)


@given(st.binary(max_size=60), st.data())
def test_a_line_replaced_by_itself_changes_nothing(text: bytes, data: st.DataObject) -> None:
    lines = text.split(b"\n")
    lines = lines if lines[-1] else lines[:-1]
    if not lines:
        return
    start = data.draw(st.integers(1, len(lines)))
    end = data.draw(st.integers(start, len(lines)))
    # the last line's carriage return, with no line feed behind it, is content
    same = tuple(line.decode("utf-8", "surrogateescape") for line in lines[start - 1 : end])
    assert apply_replacements(text, [Replacement(start, end, same)]) == text
