"""Edits inside a text as replacements of whole lines."""

from hypothesis import given, settings
from hypothesis import strategies as st

from models.analyzers.fixes import Edit, LineIndex, line_replacements
from models.review_types import Replacement


def applied(text: str, replacements) -> str:
    lines = text.split("\n")
    for one in sorted(replacements, key=lambda one: -one.start_line):
        lines[one.start_line - 1 : one.end_line] = one.lines
    return "\n".join(lines)


def test_part_of_a_line():
    assert line_replacements("a\nb = 1\nc\n", [Edit(2, 3, "x")]) == (Replacement(2, 2, ("x = 1",)),)


def test_a_whole_line_goes():
    assert line_replacements("a\nb\nc\n", [Edit(2, 4, "")]) == (Replacement(2, 2, ()),)


def test_an_insertion_keeps_a_neighbour():
    assert line_replacements("a\nb\n", [Edit(2, 2, "x\n")]) == (Replacement(2, 2, ("x", "b")),)


def test_an_insertion_at_the_end():
    assert line_replacements("a\nb\n", [Edit(4, 4, "x\n")]) == (Replacement(2, 2, ("b", "x")),)


def test_edits_far_apart_are_two_replacements():
    text = "".join(f"l{number}\n" for number in range(9))
    made = line_replacements(text, [Edit(0, 1, "X"), Edit(24, 25, "Y")])
    assert made == (Replacement(1, 1, ("X0",)), Replacement(9, 9, ("Y8",)))


def test_carriage_returns_do_not_reach_the_lines():
    text = "a\r\nb\r\nc\r\n"
    assert line_replacements(text, [Edit(3, 4, "x")]) == (Replacement(2, 2, ("x",)),)


def test_no_fix_where_lines_are_counted_in_two_ways():
    assert line_replacements("a\rb\n", [Edit(0, 1, "x")]) == ()


def test_no_fix_where_edits_overlap_or_change_nothing():
    assert line_replacements("abc\n", [Edit(0, 2, "x"), Edit(1, 3, "y")]) == ()
    assert line_replacements("abc\n", [Edit(0, 1, "a")]) == ()
    assert line_replacements("abc\n", []) == ()


@settings(deadline=None)
@given(
    st.lists(st.text(alphabet="ab é", max_size=4), min_size=1, max_size=8),
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 6), st.text(alphabet="x\n", max_size=4))),
)
def test_applied_line_by_line_it_is_the_edited_text(lines, spans):
    text = "\n".join(lines) + "\n"
    edits, position = [], 0
    for gap, length, new in spans:
        # The final line feed stays: a line replacement can't take it away.
        start = min(position + gap, len(text) - 1)
        end = min(start + length, len(text) - 1)
        edits.append(Edit(start, end, new))
        position = end
    pieces, position = [], 0
    for edit in edits:
        pieces += [text[position : edit.start], edit.text]
        position = edit.end
    wanted = "".join([*pieces, text[position:]])
    made = line_replacements(text, edits)
    assert applied(text, made) == wanted
    assert all(one.end_line >= one.start_line >= 1 for one in made)
    assert all(one.end_line <= len(lines) for one in made)


def test_offsets_count_characters_not_bytes():
    index = LineIndex("é = 1\nü = 2\n")
    assert index.offset(2, 4) == 10
    assert index.text[index.offset(2, 4)] == "2"
    assert index.row(10) == 2
    assert index.line(2) == "ü = 2"
    assert index.line(9) == ""
