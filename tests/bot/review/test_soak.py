"""The soak's own checks: each kind of damage is seen, and a good review is clean."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from bot.review.output_json import to_dict
from models.change import Side
from tests import soak
from tests.bot.diff.repos import Repo
from tests.bot.review.formats.reviews import candidate, result
from tests.soak_check import comment_faults, coverage_faults, damage, form_faults
from tests.soak_histories import Step, Unreadable, check_readable, choose, files_of, hunks_of
from tests.soak_report import Record, report

HEADS = {
    "src/app.py": b"import os\nx = []\ny = x\nz = 3\n",
    "win.py": b"a = 1\r\nb = 2\r\nc = 3\r\nd = 4\r\n",
}


@pytest.fixture(scope="module")
def history(tmp_path_factory) -> Repo:
    """A commit with every kind of change, upon a first one."""
    repo = Repo(tmp_path_factory.mktemp("soak") / "r")
    repo.commit(
        {
            "src/app.py": "import os\nx = 1\ny = 2\nz = 3\n",
            "moved.go": "package a\n\n// A is a.\nfunc A() int {\n\treturn 1\n}\n",
            "same.c": "int f(void) { return 1; }\n" * 3,
            "gone.rb": "x = 1\n",
            "logo.png": b"\x89PNG\0\1",
            "run.sh": "#!/bin/sh\necho a\n",
            "win.py": "a = 1\r\nd = 4\r\n",
        }
    )
    repo.write({"moved.go": None, "same.c": None})
    (repo.path / "run.sh").chmod(0o755)
    (repo.path / "link").symlink_to("src/app.py")
    repo.commit(
        {
            "src/app.py": HEADS["src/app.py"],
            "win.py": HEADS["win.py"],
            "pkg/moved.go": "package a\n\n// A is a.\nfunc A() int {\n\treturn 2\n}\n",
            "pkg/same.c": "int f(void) { return 1; }\n" * 3,
            "gone.rb": None,
            "logo.png": b"\x89PNG\0\2",
            "caf\u00e9 new.js": "export function f(x) {\n  debugger;\n  return x;\n}\n",
        }
    )
    return repo


@pytest.fixture
def newest(history) -> Step:
    return Step(history.path, history.id("HEAD~1"), history.id("HEAD"))


def complaints(step: Step, *candidates) -> str:
    document = to_dict(result(*candidates), explain=True)
    return "\n".join(comment_faults(document, step, files_of(step)))


def test_good_comments_are_safe(newest):
    good = candidate(start=2, line=3, new=("x = ()", "y = list(x)"))
    assert complaints(newest, good, candidate(), candidate(line=3, side=Side.LEFT)) == ""
    assert complaints(newest, candidate(path="win.py", line=2, new=("b = 22",))) == ""


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        (candidate(line=9), "outside its hunk"),
        (candidate(line=9, new=("z",)), "does not apply"),
        (candidate(line=3, side=Side.LEFT, new=("z",)), "a suggestion for removed lines"),
        (candidate(path="absent.py"), "not in the change"),
        (candidate(new=("x = []",)), "changes nothing"),
        (candidate(new=("x = [",)), "parse errors instead of 0"),
        (candidate(path="logo.png", line=1, new=("x",)), "no parser vouches"),
    ],
)
def test_each_kind_of_damage_is_seen(newest, bad, says):
    assert says in complaints(newest, bad)


def test_suggestions_that_only_break_a_file_together_are_seen(newest):
    opened = candidate(line=2, new=("x = []", "y = 1"))
    assert "overlap in line 2" in complaints(
        newest, opened, candidate(start=2, line=3, new=("x = 4",))
    )
    rows = [
        {"start_line": 1, "line": 1, "suggestion": "x = '''"},
        {"start_line": 3, "line": 3, "suggestion": "y = '''"},
    ]
    head = b"x = ''''''\nz = 1\ny = ''''''\n"
    assert list(damage("here", "a.py", head, rows)) == []
    (fault,) = damage("here", "a.py", head, [rows[0]])
    assert "parse errors instead of 0" in fault


def test_line_endings_are_kept_when_a_suggestion_is_tried():
    rows = [{"start_line": 2, "line": 3, "suggestion": "b = 2\nc = 3"}]
    (fault,) = damage("here", "win.py", HEADS["win.py"], rows)
    assert "changes nothing" in fault


def test_the_fixed_form_is_checked():
    document = to_dict(result(candidate()), explain=True)
    assert list(form_faults(document)) == []
    document["comments"][0]["line"] = None
    assert any("line" in fault for fault in form_faults(document))
    del document["candidates"]
    assert any("candidates" in fault for fault in form_faults(document))


def test_a_file_that_is_not_in_the_coverage_is_seen(newest):
    files = files_of(newest)
    document = {"coverage": [{"path": one.path, "status": "ignored"} for one in files]}
    assert list(coverage_faults(document, files)) == []
    document["coverage"][0]["path"] = "other"
    assert len(list(coverage_faults(document, files))) == 2


def test_kinds_and_hunks_are_gits(newest):
    kinds = {one.path: sorted(one.kinds) for one in files_of(newest)}
    assert kinds == {
        "caf\u00e9 new.js": ["added"],
        "gone.rb": ["deleted"],
        "link": ["added", "symbolic link"],
        "logo.png": ["binary", "modified"],
        "pkg/moved.go": ["renamed"],
        "pkg/same.c": ["renamed", "renamed as it was"],
        "run.sh": ["mode only", "modified"],
        "src/app.py": ["modified"],
        "win.py": ["modified"],
    }
    moved = next(one for one in files_of(newest) if one.path == "pkg/moved.go")
    assert hunks_of(newest, moved) == [(range(2, 7), range(2, 7))]


def test_every_kind_of_change_ends_in_the_coverage_by_the_command_itself(history, tmp_path, capsys):
    state = tmp_path / "state.jsonl"
    arguments = [str(history.path), "--no-model", "--state", str(state)]
    code = soak.main([*arguments, "--by-command", "--commits", "1"])
    table = capsys.readouterr().out
    assert code == 0, table
    assert "commits reviewed       1" in table
    for kind in ("added", "deleted", "renamed", "binary", "mode only", "symbolic link"):
        assert kind in table
    assert "comments, gate open" in table
    # the next call goes on from there: only the root commit is left, and it is done inside
    assert soak.main([*arguments, "--commits", "2"]) == 0
    assert "commits reviewed       2" in capsys.readouterr().out
    records = [Record.from_line(line) for line in state.read_text("utf-8").splitlines()]
    assert [record.default is None for record in records] == [True, False]
    assert sum((record.rules for record in records), Counter())["ast-grep:js-debugger"] == 1


def test_steps_are_taken_in_turn_and_only_readable_ones(tmp_path: Path):
    repos = [Repo(tmp_path / name) for name in ("a", "b")]
    for repo in repos:
        repo.commit({"one.py": "x = 1\n" * 9, "two.py": "y = 2\n"})
        repo.commit({"README": "x\n"})
        repo.commit({"one.py": None, "moved \u00e9.py": "x = 1\n" * 9, "two.py": "y = 3\n"})
    folders = [repo.path for repo in repos]
    taken = choose(folders, 3).steps
    assert [step.folder.name for step in taken] == ["a", "b", "a"]
    code = choose(folders, 9, code=True)
    assert (len(code.steps), code.without_code, code.unreadable) == (4, 2, 0)
    assert taken[0].range_text == f"{repos[0].id('HEAD~1')}..{repos[0].id('HEAD')}"
    (wide,) = choose(folders[:1], 9, span=2).steps
    assert (wide.base, wide.head) == (repos[0].id("HEAD~2"), repos[0].id("HEAD"))
    blob = repos[0].id("HEAD:two.py")
    (repos[0].path / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(Unreadable):
        check_readable(taken[0])
    left = choose(folders[:1], 9)
    assert (len(left.steps), left.unreadable) == (2, 1)


def test_only_zeros_over_some_commits_are_clean():
    none = choose([], 0)
    assert not report([], none, 0)[1]
    assert report([Record("a")], none, 0)[1]
    text, clean = report([Record("a", unsafe=["x"])], none, 0)
    assert not clean
    assert "unsafe comments        1\nx" in text
    assert not report([Record("a", crashes=["y"])], none, 0)[1]
