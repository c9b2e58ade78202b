"""The shipped models of Java methods as who answers a reviewer's comment."""

from __future__ import annotations

from models.generators.base import Generator, Window
from models.generators.line_edits import LineEdit
from models.systems.method_reviser import CALIBRATION, MethodReviser

LINES = (
    "    public String first() {",
    "        String result = names.get(0);",
    "        System.out.println(result);",
    "        return result;",
    "    }",
)


def test_a_comment_on_a_method_is_answered_with_line_edits():
    reviser: Generator = MethodReviser()
    assert (reviser.tasks, reviser.reads_methods) == (frozenset({"cra"}), True)
    assert reviser.name.startswith("t5-methods:")
    windows = [
        Window("java", LINES, frozenset({0}), comment="this should be private"),
        Window("python", ("def a():", "    return 1"), frozenset({0}), comment="make it private"),
        Window("java", LINES, frozenset({2}), comment="Remove this println."),
        Window("java", LINES[1:3], frozenset({0}), comment="make this final"),
        Window("java", LINES, frozenset({0})),
    ]
    (private,), other, (removed,), part, silent = reviser.revise(windows)
    assert private.edits == (LineEdit(0, 1, ("    private String first() {",)),)
    assert removed.edits == (LineEdit(2, 3, ()),)
    assert 0.5 < removed.probability <= private.probability <= 1.0
    assert other == part == silent == []
    assert reviser.comment(windows) == [[], [], [], [], []]


def test_its_calibration_rises_with_the_probability():
    places, right = zip(*CALIBRATION, strict=True)
    assert list(places) == sorted(places)
    assert list(right) == sorted(right)
    assert (places[0], MethodReviser().card["calibration"][0]) == (0.0, list(CALIBRATION[0]))
