"""Examples as windows: which lines are marked, and how the text is joined again."""

from __future__ import annotations

from models.systems.cutting import MAX_LINES, marked_lines, window_of
from models.tasks import Example, Task


def test_marks_are_counted_in_lines() -> None:
    assert marked_lines("a\n<START> b <END>\nc") == {1}
    assert marked_lines("a\n<START> b\nc <END>\nd") == {1, 2}
    assert marked_lines("<START> a <END>") == {0}
    assert marked_lines("a\nb") == frozenset()
    assert marked_lines("a\n<START> b") == frozenset()


def test_only_who_is_asked_by_line_sees_marks_in_code_of_several_lines() -> None:
    code = "def a():\n    b()\n    c()"
    marked = "def a():\n<START>     b() <END>\n    c()"
    example = Example("1", code, marked, comment="drop it", language="python")
    by_line = window_of(example, Task.CRA, by_line=True)
    assert (by_line.window.changed, by_line.window.comment) == ({1}, "drop it")
    assert by_line.whole(["def a():", "    c()"]) == "def a():\n    c()"
    assert window_of(example, Task.CRA).window.changed == frozenset()
    assert window_of(example, Task.CRB, by_line=True).window.changed == frozenset()


def test_a_long_text_is_cut_around_its_marks_and_joined_whole() -> None:
    rows = [f"line {i}" for i in range(3 * MAX_LINES)]
    shown = [*rows]
    shown[70] = f"<START> {rows[70]} <END>"
    example = Example("1", "\n".join(rows), "\n".join(shown), comment="x", language="python")
    found = window_of(example, Task.CRA, by_line=True)
    assert len(found.window.lines) == MAX_LINES
    assert [found.window.lines[i] for i in found.window.changed] == ["line 70"]
    assert found.whole(found.window.lines) == "\n".join(rows)
