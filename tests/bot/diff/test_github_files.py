"""GitHub's file rows: patches without headers, and everything that they leave out."""

from __future__ import annotations

import pytest

from bot.diff.errors import DiffError
from bot.diff.github_files import change_from_files
from models.change import ChangedFile, Coverage, FileStatus, LineKind


def row(name: str = "src/a.py", **more: object) -> dict[str, object]:
    base: dict[str, object] = {
        "sha": "bbcd538c8e72b8c175046e27cc8f907076331401",
        "filename": name,
        "status": "modified",
        "additions": 0,
        "deletions": 0,
        "changes": 0,
    }
    return base | more


def read(**more: object) -> ChangedFile:
    (file,) = change_from_files([row(**more)]).files  # type: ignore[arg-type]
    return file


def test_a_patch_without_headers() -> None:
    file = read(patch="@@ -1,2 +1,2 @@ def f():\n a\r\n-b\n+c\n\\ No newline at end of file")
    assert (file.status, file.coverage) == (FileStatus.MODIFIED, Coverage.REVIEWED)
    (hunk,) = file.hunks
    assert hunk.section == "def f():"
    assert [(line.kind, line.old_no, line.new_no, line.text) for line in hunk.lines] == [
        (LineKind.CONTEXT, 1, 1, "a\r"),
        (LineKind.DELETED, 2, None, "b"),
        (LineKind.ADDED, None, 2, "c"),
    ]
    assert hunk.lines[-1].no_newline


def test_omitted_counts_and_hunks_that_only_delete() -> None:
    file = read(status="removed", patch="@@ -1 +0,0 @@\n-a")
    assert (file.old_path, file.new_path) == ("src/a.py", None)
    assert file.hunks[0].deleted[0].old_no == 1


def test_each_status_has_its_paths() -> None:
    assert read(status="added", patch="@@ -0,0 +1 @@\n+a").old_path is None
    renamed = read(status="renamed", previous_filename="old.py")
    assert (renamed.old_path, renamed.new_path) == ("old.py", "src/a.py")
    assert (renamed.coverage, renamed.note) == (Coverage.REVIEWED, "renamed without a change")
    assert read(status="copied", previous_filename="o.py").status is FileStatus.COPIED
    assert read(status="changed", patch="@@ -1 +1 @@\n-a\n+b").status is FileStatus.TYPE_CHANGED
    assert read(status="unchanged").note == "nothing in it changed"
    assert read(status="something new").status is FileStatus.MODIFIED


def test_the_change_keeps_order_and_names() -> None:
    change = change_from_files([row("b"), row("a")], repo="o/r", base="1", head="2")
    assert (change.repo, change.base, change.head) == ("o/r", "1", "2")
    assert [file.path for file in change] == ["b", "a"]


EMPTY = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"


@pytest.mark.parametrize(
    ("more", "coverage", "note"),
    [
        ({"additions": 1, "deletions": 1}, Coverage.PATCH_MISSING, "too large for GitHub to show"),
        ({}, Coverage.PATCH_MISSING, "neither patch nor counts"),
        ({"status": "added"}, Coverage.PATCH_MISSING, "ask for smaller pages"),
        ({"status": "added", "sha": EMPTY}, Coverage.REVIEWED, "an empty file"),
        ({"status": "removed", "sha": EMPTY}, Coverage.REVIEWED, "an empty file"),
        ({"name": "x/logo.png"}, Coverage.BINARY, "image/png"),
        ({"name": "x/logo.svg"}, Coverage.PATCH_MISSING, "neither"),
        ({"name": "x/book.pdf", "status": "added"}, Coverage.BINARY, "application/pdf"),
        ({"patch": ""}, Coverage.PATCH_MISSING, "neither"),
        ({"patch": None}, Coverage.PATCH_MISSING, "neither"),
        ({"patch": "no hunk"}, Coverage.PATCH_MISSING, "damaged"),
        ({"patch": "@@ -1,9 +1,9 @@\n a"}, Coverage.PATCH_MISSING, "damaged: line 2"),
        ({"patch": "@@ -1 +1 @@\n-caf\ufffd\n+b"}, Coverage.UNDECODABLE, "no UTF-8"),
    ],
)
def test_why_a_file_was_not_read(more: dict[str, object], coverage: Coverage, note: str) -> None:
    file = read(**more)
    assert file.coverage is coverage
    assert note in file.note


def test_a_damaged_patch_costs_its_damaged_hunks_only() -> None:
    file = read(patch="@@ -1 +1 @@\n-a\n+b\n@@ -9,3 +9,3 @@\n c\n-d")
    assert (file.coverage, len(file.hunks)) == (Coverage.CLIPPED, 1)
    assert "damaged" in file.note


def test_a_submodule_has_no_mode_here_but_its_line() -> None:
    old, new = "1" * 40, "2" * 40
    patch = f"@@ -1 +1 @@\n-Subproject commit {old}\n+Subproject commit {new}"
    file = read(patch=patch)
    assert (file.coverage, file.hunks) == (Coverage.SUBMODULE, ())
    assert file.note == "submodule moved from 111111111111 to 222222222222"


@pytest.mark.parametrize(
    "bad", [{}, {"filename": ""}, {"filename": 3}, {"filename": "a", "status": 1}]
)
def test_a_row_that_is_no_files(bad: dict[str, object]) -> None:
    with pytest.raises(DiffError, match="row 2 of the files list names no file"):
        change_from_files([row(), bad])
