"""Matters of taste are silent where a file's own lines go against them; layout always is."""

from __future__ import annotations

import pytest

from models.analyzers.base import introduced, run_analyzers
from models.review_types import Finding, Severity
from tests.models.analyzers.test_introduced import changed

WRAP = 'func F%d(err error) error {\n\treturn fmt.Errorf("load %d: %%v", err)\n}\n\n'
GO = 'package a\n\nimport "fmt"\n\n'
RULE = "go-error-not-wrapped"


def wraps(numbers) -> str:
    return GO + "".join(WRAP % (n, n) for n in numbers)


def brought_in(old: str, new: str, path: str = "a.go", **more) -> list[tuple[str, int]]:
    base, head = (
        run_analyzers({path: text.encode()}, names=["ast-grep"]).findings if text else ()
        for text in (old, new)
    )
    file = changed(old, new, old_path=path, new_path=path)
    found = introduced(file, base, head, lines=new.count("\n"), **more)
    return [(one.rule, one.line) for one in found]


def test_the_first_of_a_kind_is_told():
    assert brought_in(wraps([]), wraps([1])) == [(RULE, 6)]
    assert brought_in("", wraps([1, 2, 3])) == [(RULE, 6), (RULE, 10), (RULE, 14)]


def test_one_before_it_is_no_habit():
    assert brought_in(wraps([1]), wraps([1, 2])) == [(RULE, 10)]


def test_a_file_that_does_so_is_not_told_again():
    assert brought_in(wraps([1, 2]), wraps([1, 2, 3])) == []
    assert brought_in(wraps([1, 2, 3, 4]), wraps([1, 2, 9, 3, 4])) == []


def test_in_a_long_file_two_are_rare():
    filler = "".join(f"const c{n} = {n}\n" for n in range(600))
    old, new = wraps([1, 2]) + filler, wraps([1, 2, 3]) + filler
    assert brought_in(old, new) == [(RULE, 14)]
    assert brought_in(wraps(range(4)) + filler, wraps(range(5)) + filler) == []


def test_lines_that_the_change_itself_rewrites_are_no_habit():
    old = wraps([1, 2])
    new = GO + "".join(
        f"func G{n}(rows []string, err error) error {{\n"
        f'\treturn fmt.Errorf("the rows of part {n} cannot be read: %v", err)\n}}\n\n'
        for n in range(3)
    )
    # two of the three are edits of the old ones
    assert brought_in(old, new) == [(RULE, 14)]


def test_what_a_person_pinned_speaks_all_the_same():
    old, new = wraps([1, 2]), wraps([1, 2, 3])
    assert brought_in(old, new, always={"ast-grep"}) == [(RULE, 14)]
    assert brought_in(old, new, always={f"ast-grep:{RULE}"}) == [(RULE, 14)]
    assert brought_in(old, new, always={"ast-grep:other"}) == []


@pytest.mark.parametrize("severity", list(Severity))
def test_a_defect_is_told_however_often_it_is_there(severity):
    old = "x = 1\n" * 10
    rows = [Finding("other", "r", "a.py", n, n, "Bad.", severity) for n in range(1, 12)]
    found = introduced(changed(old, old + "x = 2\n"), rows[:10], rows, lines=11)
    assert [one.line for one in found] == ([] if severity is Severity.INFO else [11])


LONG = "x" * 300
LAYOUT = {
    "a.py": f"def f(a):  \n\tif a:\n\t    return 1   \n        # {LONG}\n\treturn '{LONG}'  ",
    "a.js": f"export const f = (a) => {{  \n\tif (a)\n        return '{LONG}';   \n  return 2 }}",
    "A.java": f'class A {{  \n\tString f() {{   \n        return "{LONG}";  \n\t}} }}',
    "a.go": f'package a  \n\nfunc F() string {{   \n        return "{LONG}"  \n}}',
    "a.c": f"int f(void) {{  \n\tint a = 1;   \n        /* {LONG} */  \n\treturn a; }}",
    "a.rs": f"pub fn f() -> i32 {{  \n\tlet a = 1;   \n        // {LONG}  \n\ta }}",
    "a.sh": f"#!/bin/sh  \nif true; then  \n\techo {LONG}   \n        echo b  \nfi",
    "a.sql": f"select a   \n,   b from t where a = '{LONG}' order by a",
    "a.yml": f"a:  \n    - b   \n    - '{LONG}'   \nc:   {{a: 1 , b: 2}}",
    "Dockerfile": f"FROM debian:12.1   \nRUN  echo {LONG}   \n\tUSER a",
}


def test_no_shipped_rule_is_about_layout():
    """Trailing blanks, mixed tabs, lines of 300 characters, no line feed at the end."""
    report = run_analyzers({path: text.encode() for path, text in LAYOUT.items()})
    assert [(one.path, one.rule, one.line) for one in report.findings] == []
    assert report.notes == ()
