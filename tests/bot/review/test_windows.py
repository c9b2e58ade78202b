from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.review.windows import (
    replacement_of,
    replacement_of_edits,
    revision_window,
    smallest_edits,
)
from models.change import Hunk, Line, LineKind
from models.generators.base import Answer, Window
from models.generators.line_edits import LineEdit
from models.review_types import Replacement, Target


def answer(*edits: LineEdit) -> Answer:
    return Answer(1.0, 1.0, 1.0, 0.0, edits)


LINES = ("def f(x):", "    y = x", "", "    return y")


def made(*edits: LineEdit) -> Replacement | None:
    return replacement_of(Window("python", LINES), answer(*edits), 10)


def test_a_replacement_is_as_small_as_the_difference():
    whole = LineEdit(0, 4, ("def f(x):", "    y = x + 1", "", "    return y"))
    assert made(whole) == Replacement(11, 11, ("    y = x + 1",))


def test_an_insertion_takes_the_line_before_it_along():
    assert made(LineEdit(4, 4, ("x = 1",))) == Replacement(13, 13, ("    return y", "x = 1"))


def test_an_insertion_at_the_top_takes_the_line_after_it_along():
    found = made(LineEdit(0, 0, ("import os",)))
    assert found == Replacement(10, 10, ("import os", "def f(x):"))


def test_a_deletion_is_never_an_empty_or_blank_suggestion():
    assert made(LineEdit(1, 2, ())) == Replacement(10, 11, ("def f(x):",))
    assert made(LineEdit(3, 4, ())) == Replacement(11, 13, ("    y = x", ""))


def test_several_edits_become_one_replacement():
    found = made(LineEdit(1, 2, ("    z = x",)), LineEdit(3, 4, ("    return z",)))
    assert found == Replacement(11, 13, ("    z = x", "", "    return z"))


def test_an_answer_that_changes_nothing_is_none():
    assert made(LineEdit(1, 2, ("    y = x",))) is None


text = st.text("ab \t", max_size=4)


@given(before=st.lists(text, min_size=1, max_size=9), after=st.lists(text, max_size=9))
@settings(max_examples=300, deadline=None)
def test_a_replacement_does_what_its_edits_do(before, after):
    found = replacement_of_edits(before, smallest_edits(before, after), 5)
    if before == after:
        assert found is None
    elif found is not None:
        result = before[: found.start_line - 5] + list(found.lines) + before[found.end_line - 4 :]
        assert result == after
        assert any(line.strip() for line in found.lines)
    else:
        assert not any(line.strip() for line in after)


def target(count: int, changed: tuple[int, ...], width: int = 10) -> Target:
    lines = tuple("x" * width for _ in range(count))
    hunk = Hunk(
        1, 0, 1, count, tuple(Line(LineKind.ADDED, None, i + 1, s) for i, s in enumerate(lines))
    )
    return Target("a.py", "python", hunk, (), lines, 1, 21, changed)


def test_the_window_keeps_the_changed_lines_and_trims_context():
    window, start = revision_window(target(60, (30, 33)))
    assert start == 21 + 25
    assert len(window.lines) == 14
    assert window.changed == {5, 8}


def test_a_window_that_cannot_hold_the_changed_lines_is_none():
    assert revision_window(target(60, tuple(range(50)))) is None
    assert revision_window(target(60, (30,), width=2000)) is None
    assert revision_window(target(5, ())) is None


def test_long_context_gives_way_to_the_changed_lines():
    window, start = revision_window(target(60, (30,), width=300))
    assert sum(map(len, window.lines)) <= 1400
    assert window.lines[30 - (start - 21)]
    assert window.changed == {30 - (start - 21)}
