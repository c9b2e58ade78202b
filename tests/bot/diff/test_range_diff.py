"""What is new since the last review, in real histories: rebases, merges, amended commits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bot.diff.git import GitRepository
from bot.diff.parse import parse_diff
from bot.diff.range_diff import new_hunks
from models.change import Change, Hunk, LineKind

from .repos import Repo


def numbered(*, first: int = 1, last: int = 60, **changes: str) -> str:
    """A file of telling lines, some replaced (``l7="x"``; "" deletes, "\\n" inside adds)."""
    rows = [changes.get(f"l{at}", f"line number {at}") for at in range(first, last + 1)]
    return "".join(f"{row}\n" for row in rows if row)


class History:
    """A repository with a branch under review, and the change that was last reviewed."""

    def __init__(self, path: Path) -> None:
        self.repo = Repo(path)
        self.repository = GitRepository(path)
        self.repo.commit({"a.py": numbered(), "b.py": numbered(), "README": "hello\n"})
        self.repo.new_branch("topic")
        self.repo.commit({"a.py": numbered(l10="mine ten", l40="mine forty\nand more")})
        self.reviewed = self.change()

    def change(self) -> Change:
        return self.repository.change("main..topic")

    def upstream(self, files: dict[str, str | bytes | None]) -> None:
        self.repo.checkout("main")
        self.repo.commit(files)
        self.repo.checkout("topic")

    def new(self) -> Change:
        return new_hunks(self.reviewed, self.change())


@pytest.fixture
def history(tmp_path: Path) -> Iterator[History]:
    made = History(tmp_path / "project")
    yield made
    made.repository.close()


def texts(change: Change) -> dict[str, list[str]]:
    """By path, the changed lines with their signs."""
    sign = {LineKind.ADDED: "+", LineKind.DELETED: "-"}
    return {
        file.path: [
            sign[line.kind] + line.text
            for hunk in file.hunks
            for line in hunk.lines
            if line.kind is not LineKind.CONTEXT
        ]
        for file in change
    }


def assert_inside(part: Change, whole: Change) -> None:
    """Every line of the part stands in the whole, at the same numbers; the counts hold."""
    for file in part:
        found = whole.file(file.path)
        assert found is not None
        lines = {line for hunk in found.hunks for line in hunk.lines}
        for hunk in file.hunks:
            assert set(hunk.lines) <= lines
            assert_whole(hunk)


def assert_whole(hunk: Hunk) -> None:
    assert len(hunk.before) == hunk.old_count
    assert len(hunk.after) == hunk.new_count
    if hunk.before:
        assert hunk.before[0].old_no == hunk.old_start
    if hunk.after:
        assert hunk.after[0].new_no == hunk.new_start
    # the text is a diff that reads back as the same hunk
    assert parse_diff(b"--- a/f\n+++ b/f\n" + hunk.text().encode()).files[0].hunks == (hunk,)


def test_the_same_patch_has_nothing_new(history: History) -> None:
    assert history.new().files == ()


def test_a_new_commit_brings_its_own_hunk_only(history: History) -> None:
    history.repo.commit({"b.py": numbered(l5="five"), "README": "hello\n"})
    assert texts(history.new()) == {"b.py": ["-line number 5", "+five"]}


def test_a_rebase_brings_in_nothing_of_upstreams(history: History) -> None:
    history.upstream(
        {
            "b.py": numbered(l20="theirs"),
            "c.py": "their file\n",
            "a.py": "their line above\n" * 7 + numbered(),
        }
    )
    history.repo.git("rebase", "-q", "main")
    assert history.new().files == ()


def test_context_that_upstream_changed_is_no_news(history: History) -> None:
    history.upstream({"a.py": numbered(l13="their thirteen", l8="", l43="x")})
    history.repo.git("merge", "-q", "--no-edit", "main")
    current = history.change()
    assert current.files[0].hunks != history.reviewed.files[0].hunks
    assert history.new().files == ()


def test_a_merge_of_main_and_work_after_it(history: History) -> None:
    history.upstream({"b.py": numbered(l20="theirs"), "a.py": "above\n" + numbered()})
    history.repo.git("merge", "-q", "--no-edit", "main")
    history.repo.commit({"b.py": numbered(l20="theirs", l22="mine in b")})
    new = history.new()
    assert texts(new) == {"b.py": ["-line number 22", "+mine in b"]}
    assert_inside(new, history.change())


def test_an_amended_commit_after_a_force_push(history: History) -> None:
    history.repo.write({"a.py": numbered(l10="mine ten", l40="mine forty\nand less")})
    history.repo.git("commit", "-q", "-a", "--amend", "-m", "again")
    assert texts(history.new()) == {"a.py": ["-line number 40", "+mine forty", "+and less"]}


def test_a_squash_of_what_was_reviewed_is_no_news(history: History) -> None:
    history.repo.commit({"b.py": numbered(l5="five")})
    history.reviewed = history.change()
    history.repo.git("reset", "-q", "--soft", "main")
    history.repo.git("commit", "-q", "-m", "one")
    assert history.new().files == ()


def test_a_part_taken_back_leaves_nothing_new(history: History) -> None:
    history.repo.commit({"a.py": numbered(l40="mine forty\nand more")})
    assert history.new().files == ()


def test_a_hunk_that_grew_together_is_cut_down_to_what_is_new(history: History) -> None:
    history.repo.commit(
        {"a.py": numbered(l10="mine ten", l14="mine fourteen", l40="mine forty\nand more")}
    )
    current = history.change()
    new = history.new()
    assert len(current.files[0].hunks) == 2
    assert texts(new) == {"a.py": ["-line number 14", "+mine fourteen"]}
    (hunk,) = new.files[0].hunks
    assert [line.text for line in hunk.lines if line.kind is LineKind.CONTEXT] == [
        f"line number {at}" for at in (11, 12, 13, 15, 16, 17)
    ]
    assert new.files[0].note == "only what is new since the last review"
    assert_inside(new, current)


def test_a_short_line_elsewhere_is_new_though_the_same_stood_here(history: History) -> None:
    history.repo.commit({"a.py": numbered(l30="line number 30\n    return")})
    history.reviewed = history.change()
    history.repo.commit({"a.py": numbered(l50="line number 50\n    return")})
    assert texts(history.new()) == {"a.py": ["+    return"]}


def test_the_same_short_line_twice_is_one_new(history: History) -> None:
    first = numbered(l30="line number 30\n    return")
    history.repo.commit({"a.py": first})
    history.reviewed = history.change()
    history.repo.commit(
        {"a.py": numbered(l30="line number 30\n    return", l50="line number 50\n    return")}
    )
    new = history.new()
    assert texts(new) == {"a.py": ["+    return"]}
    assert new.files[0].hunks[0].added[0].new_no == 52


def test_a_new_file_that_grew_is_not_read_again_as_a_whole(history: History) -> None:
    history.repo.commit({"n.py": numbered()})
    history.reviewed = history.change()
    history.repo.commit({"n.py": numbered(l30="thirty\nand a half", l50="")})
    current, new = history.change(), history.new()
    assert texts(new) == {"n.py": ["+thirty", "+and a half", "+line number 49", "+line number 51"]}
    assert [hunk.header for hunk in new.files[0].hunks] == ["@@ -0,0 +30,2 @@", "@@ -0,0 +50,2 @@"]
    assert_inside(new, current)


def test_a_large_block_that_is_quite_another_is_new_as_a_whole(history: History) -> None:
    history.repo.commit({"n.py": numbered()})
    history.reviewed = history.change()
    history.repo.commit({"n.py": numbered(first=100, last=160)})
    assert len(texts(history.new())["n.py"]) == 61


def test_a_renamed_file_keeps_what_was_reviewed(history: History) -> None:
    history.repo.git("mv", "a.py", "z.py")
    history.repo.commit({})
    assert history.new().files == ()
    history.repo.commit(
        {"z.py": numbered(l10="mine ten", l20="twenty", l40="mine forty\nand more")}
    )
    assert texts(history.new()) == {"z.py": ["-line number 20", "+twenty"]}


def test_a_new_file_under_another_name_is_known_again(history: History) -> None:
    history.repo.commit({"n.py": numbered(last=30)})
    history.reviewed = history.change()
    history.repo.git("mv", "n.py", "m.py")
    history.repo.commit({"m.py": numbered(last=30, l3="three")})
    assert texts(history.new()) == {"m.py": ["+three"]}


def test_a_removed_file_is_news_once(history: History) -> None:
    history.repo.commit({"README": None})
    assert texts(history.new()) == {"README": ["-hello"]}
    history.reviewed = history.change()
    assert history.new().files == ()


def test_what_cannot_be_compared_by_lines(history: History) -> None:
    history.repo.commit({"x.bin": b"\0\1", "e.py": ""})
    history.reviewed = history.change()
    assert history.new().files == ()
    history.repo.commit({"x.bin": b"\0\2"})
    assert [file.path for file in history.new()] == ["x.bin"]


def test_a_missing_patch_counts_as_new(history: History) -> None:
    from bot.diff.github_files import change_from_files

    row = {"filename": "a.py", "status": "modified", "additions": 9, "deletions": 9}
    change = change_from_files([row])
    assert [file.path for file in new_hunks(change, change)] == ["a.py"]
    read = history.reviewed
    unread = replace(read, files=(change.files[0],))
    assert new_hunks(unread, read).files == read.files


def test_twenty_thousand_lines_are_compared(history: History) -> None:
    many = numbered(last=20_000)
    history.repo.commit({"n.py": many})
    history.reviewed = history.change()
    history.repo.commit({"n.py": "first\n" + many.replace("number 9000\n", "nine thousand\n")})
    assert texts(history.new()) == {"n.py": ["+first", "+line nine thousand"]}
