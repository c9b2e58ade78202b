from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from models.change import LineKind
from models.hunk_text import parse_hunks


def rows(hunk):
    sign = {LineKind.CONTEXT: " ", LineKind.ADDED: "+", LineKind.DELETED: "-"}
    return [sign[line.kind] + line.text for line in hunk.lines]


def test_a_plain_hunk():
    (hunk,) = parse_hunks("@@ -3,3 +3,4 @@ def f():\n a\n-b\n+c\n+d\n e\n")
    assert (hunk.old_start, hunk.old_count, hunk.new_start, hunk.new_count) == (3, 3, 3, 4)
    assert hunk.section == "def f():"
    assert [(line.old_no, line.new_no) for line in hunk.lines] == [
        (3, 3),
        (4, None),
        (None, 4),
        (None, 5),
        (5, 6),
    ]


def test_omitted_counts_are_one():
    (hunk,) = parse_hunks("@@ -7 +9 @@\n-a\n+b\n")
    assert hunk.header == "@@ -7,1 +9,1 @@"


def test_wrong_counts_give_way_to_the_lines():
    (hunk,) = parse_hunks("@@ -1,50 +1,2 @@\n a\n+b\n c\n")
    assert (hunk.old_count, hunk.new_count) == (2, 3)


def test_a_body_without_a_header_counts_from_one():
    (hunk,) = parse_hunks(" a\n-b\n+c")
    assert (hunk.old_start, hunk.new_start) == (1, 1)
    assert rows(hunk) == [" a", "-b", "+c"]


def test_a_text_without_signs_is_context():
    (hunk,) = parse_hunks("just words\nand more\n")
    assert rows(hunk) == [" just words", " and more"]
    assert not hunk.added
    assert not hunk.deleted


def test_trimmed_context_lines_keep_their_text():
    (hunk,) = parse_hunks("@@ -1,2 +1,2 @@\nreturn a\n-b\n+c\n")
    assert rows(hunk) == [" return a", "-b", "+c"]


def test_a_side_without_lines_names_the_line_before_the_gap():
    (added,) = parse_hunks("@@ -0,0 +1,2 @@\n+a\n+b\n")
    assert (added.old_start, added.old_count) == (0, 0)
    assert [line.new_no for line in added.lines] == [1, 2]
    (removed,) = parse_hunks("@@ -5,2 +4,0 @@\n-a\n-b\n")
    assert (removed.new_start, removed.new_count) == (4, 0)
    assert [line.old_no for line in removed.lines] == [5, 6]


def test_no_newline_marks_the_line_above():
    (hunk,) = parse_hunks("@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n")
    assert [line.no_newline for line in hunk.lines] == [True, False]


def test_several_hunks_and_files():
    text = (
        "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
        "diff --git a/y b/y\n--- a/y\n+++ b/y\n@@ -2 +2 @@\n-c\n+d\n@@ -9 +9 @@\n-e\n+f\n"
    )
    assert [rows(hunk) for hunk in parse_hunks(text)] == [["-a", "+b"], ["-c", "+d"], ["-e", "+f"]]


def test_dashes_inside_a_hunk_are_content():
    (hunk,) = parse_hunks("@@ -1,2 +1,2 @@\n--- old comment\n+++ new comment\n x\n")
    assert rows(hunk) == ["--- old comment", "+++ new comment", " x"]


def test_a_header_that_ends_in_a_carriage_return_means_that_all_lines_do():
    (hunk,) = parse_hunks("@@ -1 +1 @@\r\n-a\r\n+b\r\n")
    assert [line.text for line in hunk.lines] == ["a", "b"]
    (kept,) = parse_hunks("@@ -1 +1 @@\n-a\r\n+b\r\n")
    assert [line.text for line in kept.lines] == ["a\r", "b\r"]


def test_a_combined_diff():
    (hunk,) = parse_hunks("@@@ -1,2 -1,2 +1,3 @@@\n  a\n++b\n +c\n- d\n")
    assert rows(hunk) == [" a", "+b", "+c", "-d"]


def test_headers_without_numbers_and_with_huge_ones():
    (hunk,) = parse_hunks("@@ @@\n-a\n+b\n")
    assert (hunk.old_start, hunk.new_start) == (1, 1)
    huge = "9" * 5000
    (hunk,) = parse_hunks(f"@@ -{huge} +1 @@\n-a\n")
    assert rows(hunk) == [f" @@ -{huge} +1 @@", "-a"]


def test_nothing_gives_nothing():
    assert parse_hunks("") == ()
    assert parse_hunks("@@ -1 +1 @@\n") == ()


def test_blank_lines_at_the_end_belong_to_a_hunk_only_where_it_counts_them():
    (hunk,) = parse_hunks("@@ -1,1 +1,1 @@\n-a\n+b\n\n\n")
    assert rows(hunk) == ["-a", "+b"]
    (hunk,) = parse_hunks("@@ -1,2 +1,2 @@\n-a\n+b\n\n")
    assert rows(hunk) == ["-a", "+b", " "]


@given(st.text(alphabet="+- @\\\r\nab12,0d#\0é", max_size=300) | st.text(max_size=200))
def test_any_text_is_read(text):
    for hunk in parse_hunks(text):
        assert hunk.lines
        assert hunk.old_count == len(hunk.before)
        assert hunk.new_count == len(hunk.after)
        olds = [line.old_no for line in hunk.before]
        news = [line.new_no for line in hunk.after]
        if olds:
            assert olds == list(range(hunk.old_start, hunk.old_start + hunk.old_count))
        if news:
            assert news == list(range(hunk.new_start, hunk.new_start + hunk.new_count))
        # what is written out reads back
        again = parse_hunks(hunk.text().replace("\r", ""))
        assert [rows(h) for h in again] == [[r.replace("\r", "") for r in rows(hunk)]]
