"""The soak's own checks: each kind of damage is seen, and a good review is clean."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.diff import GitRepository
from models.change import Side
from models.review_types import Candidate
from tests import soak
from tests.bot.diff.repos import Repo
from tests.bot.review.formats.reviews import candidate, result

HEADS = {
    "src/app.py": b"import os\nx = []\ny = x\nz = 3\n",
    "win.py": b"a = 1\r\nb = 2\r\nc = 3\r\nd = 4\r\n",
}


class Heads:
    """The heads of the formats' example change."""

    def base(self, path: str) -> bytes | None:
        return None

    def head(self, path: str) -> bytes | None:
        return HEADS.get(path)


def complaints(*candidates: Candidate) -> str:
    return "\n".join(soak.unsafe_of(result(*candidates), Heads()))


def test_good_suggestions_are_safe():
    good = candidate(start=2, line=3, new=("x = ()", "y = list(x)"))
    assert complaints(good, candidate(), candidate(line=3, side=Side.LEFT)) == ""


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        (candidate(line=9), "outside its hunk"),
        (candidate(line=9, new=("z",)), "does not apply"),
        (candidate(path="absent.py"), "not in the change"),
        (candidate(new=("x = []",)), "changes nothing"),
        (candidate(new=("x = [",)), "parse errors instead of 0"),
        (candidate(path="logo.png", new=("x",)), "cannot be read"),
    ],
)
def test_each_kind_of_damage_is_seen(bad, says):
    assert says in complaints(bad)


def test_suggestions_that_only_break_a_file_together_are_seen():
    opened = candidate(line=2, new=("x = []", "y = 1"))
    assert "does not apply" in complaints(opened, candidate(start=2, line=3, new=("x = 4",)))


def test_commits_are_taken_in_turn_and_files_are_gits(tmp_path: Path):
    repos = [Repo(tmp_path / name) for name in ("a", "b")]
    for repo in repos:
        repo.commit({"one.py": "x = 1\n" * 9, "two.py": "y = 2\n"})
        repo.commit({"one.py": None, "moved \u00e9.py": "x = 1\n" * 9, "two.py": "y = 3\n"})
    taken = list(soak.work([repo.path for repo in repos], 3))
    assert [folder.name for folder, _ in taken] == ["a", "b", "a"]
    folder, newest = taken[0]
    assert soak.changed_files(folder, newest) == {"moved \u00e9.py", "two.py"}
    with GitRepository(folder) as repository:
        listed = {file.path for file in repository.change(f"{newest}^!")}
    assert soak.changed_files(folder, newest) == listed
    assert soak.changed_files(*taken[2]) == {"one.py", "two.py"}


def test_only_zeros_over_some_commits_are_clean():
    assert not soak.Tally().clean
    assert soak.Tally(commits=1).clean
    assert not soak.Tally(commits=1, unsafe=["x"]).clean
    assert "unsafe suggestions     1\nx" in soak.report(soak.Tally(commits=1, unsafe=["x"]))
