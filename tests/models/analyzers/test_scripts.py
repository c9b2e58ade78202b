"""Scripts without an ending are analyzed as files of their language are."""

from __future__ import annotations

import pytest

from models.analyzers.base import analyze, run_analyzers
from models.analyzers.ruff import Ruff
from models.analyzers.scripts import shown_names
from tests.models.analyzers.test_analyzer_frame import script

PYTHON = b"def f(x=[]):\n    return x == None\n"
BRANCHES = "".join(f"  return {n} if a == {n}\n" for n in range(30)).encode()
SCRIPTS = {
    "py": (b"#!/usr/bin/env python3\n", PYTHON, ".py"),
    "js": (b"#!/usr/bin/env node\n", b"debugger;\nconst x = 1;\nx = 2;\n", ".js"),
    "ts": (b"#!/usr/bin/env -S tsx\n", b"const x: number = 1;\nx = 2;\n", ".tsx"),
    "sh": (b"#!/bin/sh\n", b"cd $1\nrm -rf $X/*\n", ".sh"),
    "bash": (b"#!/usr/bin/env bash\n", b"cd $1\nrm -rf $X/*\n", ".sh"),
    "ruby": (b"#!/usr/bin/ruby -w\n", b"def f(a)\n" + BRANCHES + b"end\n", ".rb"),
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_has_the_findings_of_a_file_with_an_ending(name):
    first, rest, ending = SCRIPTS[name]
    report = run_analyzers({f"bin/{name}": first + rest, f"bin/named{ending}": first + rest})
    found: dict[str, list[tuple[str, str, int]]] = {}
    for one in report.findings:
        found.setdefault(one.path, []).append((one.analyzer, one.rule, one.line))
    assert found[f"bin/{name}"] == found[f"bin/named{ending}"]
    assert found.keys() == {f"bin/{name}", f"bin/named{ending}"}
    assert report.notes == ()


@pytest.mark.parametrize(
    "path", ["notes", "bin/perl", "Makefile", "data.in", "tool.j2", ".profile.d/x.conf"]
)
def test_what_is_no_script_of_a_known_language_keeps_its_name(path):
    first = b"#!/usr/bin/perl\n" if path == "bin/perl" else b""
    if path in ("data.in", "tool.j2"):
        first = b"#!/usr/bin/env python3\n"  # a template is not the script that it becomes
    assert shown_names({path: first + PYTHON}) == {}


def test_the_name_that_tools_see_is_no_other_files():
    python = b"#!/usr/bin/python3\n" + PYTHON
    files = {"a": python, "a.py": PYTHON, "a_.py": PYTHON, "b": python}
    assert shown_names(files) == {"a": "a__.py", "b": "b.py"}
    report = run_analyzers(files, names=["ruff"])
    assert [(one.path, one.line) for one in report.findings if one.rule == "B006"] == [
        ("a", 2), ("a.py", 1), ("a_.py", 1), ("b", 2),
    ]  # fmt: skip


def test_a_fix_is_made_for_the_scripts_own_lines():
    report = run_analyzers({"tool": b"#!/usr/bin/env python3\nx = 1 == None\n"}, names=["ruff"])
    assert [one.path for one in report.findings] == ["tool"]
    not_utf8 = run_analyzers({"tool": b"#!/usr/bin/env python3\n# \xe9\n" + PYTHON})
    assert [(one.line, one.fix) for one in not_utf8.findings if one.rule == "B006"] == [(3, ())]


def test_notes_speak_of_the_files_own_names(tmp_path):
    class Notes(Ruff):
        def run(self, work):
            work.notes.extend(f"{path!a} left out" for path in work.files)
            return []

    report = analyze([Notes(script(tmp_path, ""))], {"bin/tool": b"#!/usr/bin/python\nx = 1\n"})
    assert report.notes == ("ruff: 'bin/tool' left out",)


@pytest.mark.parametrize("shell", ["zsh", "fish", "tcsh", "csh"])
@pytest.mark.parametrize("path", ["run", "run.sh"])
def test_a_shell_that_shellcheck_does_not_know_is_not_called_an_error(shell, path):
    text = f"#!/usr/bin/env {shell}\necho ${{(k)foo}}\n".encode()
    assert run_analyzers({path: text}, names=["shellcheck"]).findings == ()
