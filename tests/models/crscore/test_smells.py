"""Smells as CRScore makes them: each linter's own words, and only on changed lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.analyzers.base import Analyzer
from models.crscore.smells import (
    SMELL_ANALYZERS,
    JsHint,
    Pylint,
    Radon,
    on_changed_lines,
    smells_of,
)
from models.hunk_text import parse_hunks
from models.review_types import Finding, ReferenceKind
from tests.tools.pmd import pmd_on_the_path

__all__ = ["pmd_on_the_path"]

PYTHON = """import os


def load(path):
    try:
        return open(path).read()
    except Exception:
        pass
"""
PYTHON_DIFF = """@@ -4,3 +4,5 @@ import os
 def load(path):
-    return open(path).read()
+    try:
+        return open(path).read()
+    except Exception:
+        pass
"""
COMPLEX = "def deep(x):\n" + "".join(f"    if x == {n}: return {n}\n" for n in range(12))
EXAMPLES = {
    "pylint": ("a.py", PYTHON, PYTHON_DIFF, "Catching too general exception Exception."),
    "radon": (
        "b.py",
        COMPLEX,
        "@@ -1 +1 @@\n-def deep(y):\n+def deep(x):\n",
        "deep is too complex (13).",
    ),
    "jshint": (
        "a.js",
        "var a = 1;\neval('a');\n",
        "@@ -1 +1,2 @@\n var a = 1;\n+eval('a');\n",
        "eval can be harmful.",
    ),
    "pmd-quickstart": (
        "A.java",
        "package a;\nclass A {\n    private int unused;\n}\n",
        "@@ -2,2 +2,3 @@\n class A {\n+    private int unused;\n }\n",
        "Avoid unused private fields such as 'unused'.",
    ),
}


@pytest.mark.parametrize("analyzer", SMELL_ANALYZERS, ids=lambda one: one.name)
def test_a_real_smell_on_a_changed_line(analyzer: Analyzer) -> None:
    path, after, diff, text = EXAMPLES[analyzer.name]
    smells, notes = smells_of({path: after.encode()}, {path: parse_hunks(diff)}, [analyzer], 240.0)
    reason = analyzer.available()
    if reason is not None:
        assert smells == ()
        assert notes == (f"{analyzer.name}: not run: {reason}",)
        assert analyzer.how_to_get in notes[0]
        return
    assert notes == ()
    [smell] = [one for one in smells if one.text == text]
    assert smell.kind is ReferenceKind.SMELL
    assert smell.path == path
    assert smell.origin.startswith(f"{analyzer.name}:")
    untouched = parse_hunks("@@ -1 +1 @@\n-zzz\n+yyy\n")
    assert smells_of({path: after.encode()}, {path: untouched}, [analyzer])[0] == ()


def test_the_line_filter_is_the_papers() -> None:
    after = {"a.py": b"x = 1\n\n  y = 2\nz = 3\nx = 1\n"}
    hunks = {"a.py": parse_hunks("@@ -1,2 +1,2 @@\n-y = 2\n+x = 1\n \n")}

    def finding(line: int, path: str = "a.py") -> Finding:
        return Finding("tool", "rule", path, line, line, "Message.")

    lines = [finding(number) for number in range(7)] + [finding(1, "b.py")]
    # line 3 equals a deleted line, and line 5 stands elsewhere with an added line's text: both stay
    assert [one.line for one in on_changed_lines(lines, after, hunks)] == [1, 3, 5]


def script(folder: Path, name: str, answer: str, code: int) -> str:
    """An executable that prints a tool's recorded answer."""
    path = folder / name
    path.write_text(f"#!/bin/sh\ncat <<'END'\n{answer}\nEND\nexit {code}\n")
    path.chmod(0o755)
    return str(path)


def test_recorded_answers_are_read(tmp_path: Path) -> None:
    pylint = """{"messages": [{"type": "refactor", "symbol": "no-else-return", "message":
        "Unnecessary \\"else\\" after \\"return\\"", "line": 2, "endLine": null, "path": "a.py"}],
        "statistics": {}}"""
    radon = """{"./a.py": [{"type": "function", "rank": "C", "lineno": 1, "complexity": 12,
        "endline": 3, "name": "deep"}], "./b.py": {"error": "invalid syntax"}}"""
    jshint = "./a.js:1:3: eval can be harmful.\n\n1 error"
    after = {"a.py": b"def deep(x):\n    return x\n\n", "b.py": b"(\n", "a.js": b"eval()\n"}
    hunks = {
        "a.py": parse_hunks("@@ -0,0 +1,2 @@\n+def deep(x):\n+    return x\n"),
        "a.js": parse_hunks("@@ -0,0 +1 @@\n+eval()\n"),
    }
    analyzers = [
        Pylint(script(tmp_path, "pylint", pylint, 8)),
        Radon(script(tmp_path, "radon", radon, 0)),
        JsHint(script(tmp_path, "jshint", jshint, 2)),
    ]
    smells, notes = smells_of(after, hunks, analyzers)
    assert notes == ()
    assert [(smell.origin, smell.text, smell.lines) for smell in smells] == [
        ("jshint:jshint", "eval can be harmful.", (1,)),
        ("radon:complexity-C", "deep is too complex (12).", (1, 2, 3)),
        ("pylint:no-else-return", 'Unnecessary "else" after "return".', (2,)),
    ]


def test_an_answer_of_another_shape_is_a_note(tmp_path: Path) -> None:
    broken = [Pylint(script(tmp_path, "pylint", "not json", 0))]
    smells, notes = smells_of({"a.py": b"x = 1\n"}, {}, broken)
    assert smells == ()
    assert len(notes) == 1
    assert notes[0].startswith("pylint: broke off: unreadable output")
