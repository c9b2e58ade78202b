"""Smells of rows' whole files, by option: which linters, which files, and what is missing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot.commands.score import app
from bot.errors import FatalError
from models.analyzers.base import Analyzer
from models.crscore.file_smells import (
    FileSmells,
    SmellsError,
    check_files,
    chosen_analyzers,
    hunks_of_files,
)
from models.crscore.judge import row_of
from models.crscore.rows import RowError, read_rows
from models.crscore.smells import Pylint, Radon
from models.review_types import PseudoReference, ReferenceKind

DIFF = "@@ -1 +1 @@\n-def deep(y):\n+def deep(x):\n"
ROW = {"diff": DIFF, "review": "Split it.", "files": {"b.py": "def deep(x):\n    return x\n"}}
ANSWER = """{"./b.py": [{"type": "function", "rank": "C", "lineno": 1, "complexity": 12,
"endline": 2, "name": "deep"}]}"""


def radon(folder: Path, answer: str = ANSWER) -> Radon:
    path = folder / "radon"
    path.write_text(f"#!/bin/sh\necho ran >> {folder}/runs\ncat <<'END'\n{answer}\nEND\n")
    path.chmod(0o755)
    return Radon(str(path))


def test_linters_are_chosen_by_name(tmp_path: Path) -> None:
    here, absent = radon(tmp_path), Pylint(str(tmp_path / "pylint"))
    known: tuple[Analyzer, ...] = (absent, here)
    assert chosen_analyzers("radon", known) == chosen_analyzers(" radon, radon", known) == (here,)
    assert chosen_analyzers("all", known) == (here,)
    with pytest.raises(SmellsError, match=r"pylint is not installed.*pip install pylint"):
        chosen_analyzers("radon,pylint", known)
    with pytest.raises(SmellsError, match="'ruff' is not known; name some of pylint, radon"):
        chosen_analyzers("ruff", known)
    with pytest.raises(SmellsError, match="no linter is installed"):
        chosen_analyzers("all", (absent,))
    with pytest.raises(SmellsError, match="name some of"):
        chosen_analyzers(",", known)


def test_smells_of_a_row_are_made_once_a_change(tmp_path: Path) -> None:
    told: list[str] = []
    smells = FileSmells((radon(tmp_path),), told.append)
    [smell] = smells.of(ROW)
    assert (smell.text, smell.origin) == ("deep is too complex (12).", "radon:complexity-C")
    assert smells.of({**ROW, "review": "Another."}) == (smell,)
    assert (tmp_path / "runs").read_text() == "ran\n"
    assert smells.of({"diff": DIFF, "review": "x"}) == ()
    assert smells.without == 1
    assert told == []
    broken = FileSmells((radon(tmp_path, "not json"),), told.append)
    assert broken.of(ROW) == ()
    assert broken.of({**ROW, "diff": f"{DIFF} x\n"}) == ()
    assert len(told) == 1
    assert told[0].startswith("radon: broke off: unreadable output")


def test_a_diff_of_several_files_is_split() -> None:
    diff = (
        "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x\n+y\n--- a/b.py\n+++ b/b.py\n@@ -0,0 +1 @@\n+z\n"
    )
    hunks = hunks_of_files(diff, ["a.py", "b.py", "c.py"])
    assert {
        path: [line.text for h in part for line in h.added] for path, part in hunks.items()
    } == {
        "a.py": ["y"],
        "b.py": ["z"],
    }
    assert [
        line.text for hunk in hunks_of_files(DIFF, ["b.py"])["b.py"] for line in hunk.added
    ] == ["def deep(x):"]


def test_files_of_another_shape_are_named() -> None:
    check_files(ROW, "x")
    lines = [json.dumps({**ROW, "files": given}).encode() for given in (["b.py"], {"b.py": 1})]
    for line in lines:
        with pytest.raises(RowError, match="in, line 1: 'files' must be an object"):
            list(read_rows([line], "in", files=True))
        assert len(list(read_rows([line], "in"))) == 1
    faults: list[RowError] = []
    assert list(read_rows([*lines, json.dumps(ROW).encode()], "in", faults.append, True)) == [ROW]
    assert len(faults) == 2


def test_smells_alone_do_not_stand_for_claims() -> None:
    smell = PseudoReference(ReferenceKind.SMELL, "deep is too complex (12).", origin="radon:C")
    read = row_of(DIFF, "x").own
    assert read
    assert row_of(DIFF, "x", [smell]).own == (*read, smell.text)
    given = row_of(DIFF, "x", ["A claim.", smell])
    assert given.own == (*read, smell.text)
    assert given.references == ("A claim.",)


def test_the_option_says_what_is_missing() -> None:
    fault = CliRunner().invoke(app, ["--smells", "ruff"], input="").exception
    assert isinstance(fault, FatalError)
    assert str(fault).startswith("--smells: 'ruff' is not known; name some of pmd, jshint, ")


@pytest.mark.weights
def test_the_option_adds_smells_to_the_claims(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # the tool itself where it is installed beside the interpreter, else its recorded answer
    answer = """{"./b.py": [{"type": "function", "rank": "C", "lineno": 1, "complexity": 13,
    "endline": 13, "name": "deep"}]}"""
    radon(tmp_path, answer)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    code = "def deep(x):\n" + "".join(f"    if x == {n}: return {n}\n" for n in range(12))
    row = {"diff": DIFF, "review": "The function deep is too complex.", "files": {"b.py": code}}
    rows = [row, {"diff": DIFF, "review": row["review"]}]
    source = "".join(json.dumps(one) + "\n" for one in rows)
    done = CliRunner().invoke(app, ["--no-judge", "--smells", "radon"], input=source)
    assert done.exit_code == 0
    assert done.stderr == "marginalia: rows without 'files', so without smells: 1\n"
    with_smell, without = map(json.loads, done.stdout.splitlines())
    assert "refs:radon+syntax" in with_smell["signature"]
    assert "refs:syntax" in without["signature"]
    assert with_smell["con"] == 1.0
