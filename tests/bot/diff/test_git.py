"""Ranges and merge bases in real repositories."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bot.diff.errors import GitError
from bot.diff.git import GitRepository
from models.change import FileStatus

from .repos import Repo, change, clone, forked, paths


@pytest.mark.parametrize("text", ["main..topic", "main...topic", " main..topic "])
def test_the_base_is_the_merge_base_however_many_dots(repo: Repo, text: str) -> None:
    base, head, _ = forked(repo)
    found = change(repo, text)
    assert (found.repo, found.base, found.head) == ("project", base, head)
    assert paths(found) == ["a.py"]


def test_a_side_left_out_is_head(repo: Repo) -> None:
    base, head, upstream = forked(repo)
    assert change(repo, "topic..").head == upstream
    assert change(repo, "..topic").head == head
    assert change(repo, "topic") == change(repo, "topic..HEAD")
    assert change(repo, "topic").base == base


def test_an_ancestor_after_its_descendant_is_no_change(repo: Repo) -> None:
    base, head, _ = forked(repo)
    found = change(repo, f"{head}..{base}")
    assert (found.base, found.head, found.files) == (base, base, ())


def test_one_commit_by_gits_own_mark(repo: Repo) -> None:
    base, head, _ = forked(repo)
    found = change(repo, "topic^!")
    assert (found.base, found.head) == (base, head)


def test_a_root_commit_is_a_change_from_nothing(repo: Repo) -> None:
    root = repo.commit({"a.py": "a\n", "empty": ""})
    empty = repo.git("hash-object", "-t", "tree", "--stdin", data=b"").decode().strip()
    for text in (None, f"{root}^!", f"{empty}..{root}"):
        found = change(repo, text)
        assert (found.base, found.head) == (empty, root)
        assert {file.status for file in found} == {FileStatus.ADDED}
        assert paths(found) == ["a.py", "empty"]


def test_a_repository_of_sha256(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "old")
    repo.git("init", "-q", "--object-format=sha256", "-b", "main", str(tmp_path / "new"))
    repo.path = tmp_path / "new"
    head = repo.commit({"a.py": "a\n"})
    with GitRepository(repo.path) as repository:
        found = repository.change()
        assert (found.head, len(found.base), paths(found)) == (head, 64, ["a.py"])
        assert repository.blob(head, "a.py") == b"a\n"


# without a range


def test_uncommitted_work_comes_first_staged_or_not(repo: Repo) -> None:
    head = repo.commit({"a.py": "a\n", "b.py": "b\r\n", "gone.py": "x\n", "old.py": "1\n2\n3\n"})
    repo.write({"a.py": "A\n", "staged.py": "s\n", "untracked.py": "u\n"})
    repo.git("add", "staged.py")
    repo.git("rm", "-q", "gone.py")
    repo.git("mv", "old.py", "new.py")
    with GitRepository(repo.path) as repository:
        found = repository.change()
        sources = repository.sources(found)
        assert (found.base, found.head) == (head, "")
        assert paths(found) == ["a.py", "gone.py", "new.py", "staged.py"]
        heads = {name: sources.head(name) for name in ("a.py", "b.py", "staged.py", "new.py")}
        assert heads == {
            "a.py": b"A\n",
            "b.py": b"b\r\n",
            "staged.py": b"s\n",
            "new.py": b"1\n2\n3\n",
        }
        assert sources.head("gone.py") is sources.head("old.py") is sources.head("none") is None
        assert sources.base("a.py") == b"a\n"


def test_uncommitted_work_has_the_line_endings_that_git_compares(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.commit({"a.py": "a\nb\n"})
    config = tmp_path / "config"
    config.write_text("[core]\n autocrlf = true\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    repo.write({"a.py": "a\r\nB\r\n"})
    with GitRepository(repo.path) as repository:
        found = repository.change()
        assert [line.text for line in found.files[0].hunks[0].added] == ["B"]
        assert repository.sources(found).head("a.py") == b"a\nB\n"


def test_a_touched_file_is_no_uncommitted_work(repo: Repo) -> None:
    repo.commit({"a.py": "a\n"})
    head = repo.commit({"a.py": "b\n"})
    os.utime(repo.path / "a.py", (1, 1))
    assert change(repo).head == head


def test_staged_files_before_the_first_commit(repo: Repo) -> None:
    repo.write({"a.py": "a\n"})
    repo.git("add", "a.py")
    found = change(repo)
    assert (found.head, paths(found)) == ("", ["a.py"])


def test_a_branch_is_compared_with_main(repo: Repo) -> None:
    base, head, _ = forked(repo)
    repo.checkout("topic")
    found = change(repo)
    assert (found.base, found.head) == (base, head)


def test_on_main_itself_it_is_the_last_commit(repo: Repo) -> None:
    repo.commit({"a.py": "a\n"})
    base = repo.commit({"a.py": "b\n"})
    repo.git("branch", "master", "HEAD~1")
    head = repo.commit({"a.py": "c\n"})
    repo.git("branch", "-D", "master")
    found = change(repo)
    assert (found.base, found.head) == (base, head)


def test_a_pushed_branch_is_compared_with_the_remotes_default(repo: Repo) -> None:
    base, head, _ = forked(repo)
    other = clone(repo, "clone")
    other.git("checkout", "-q", "topic")
    found = change(other)
    assert (found.base, found.head) == (base, head)


def test_main_as_the_remote_has_it_is_its_last_commit(repo: Repo) -> None:
    base, _, upstream = forked(repo)
    repo.git("branch", "master", "topic")
    other = clone(repo, "clone")
    found = change(other)
    assert (found.base, found.head) == (base, upstream)


def test_an_upstream_of_another_name_is_where_the_branch_will_go(repo: Repo) -> None:
    _, topic, _ = forked(repo)
    other = clone(repo, "clone")
    other.git("checkout", "-q", "-b", "part", "--track", "origin/topic")
    head = other.commit({"c.py": "c\n"})
    found = change(other)
    assert (found.base, found.head, paths(found)) == (topic, head, ["c.py"])


def test_a_bare_repository_and_a_folder_inside(repo: Repo) -> None:
    base, head, _ = forked(repo)
    bare = clone(repo, "bare.git", "--bare")
    found = change(bare, "main..topic")
    assert (found.repo, found.base, found.head) == ("bare", base, head)
    repo.commit({"sub/dir/x.py": "x\n", "top.py": "x\n"})
    repo.path /= "sub/dir"
    found = change(repo, "HEAD~1..HEAD")
    assert (found.repo, paths(found)) == ("project", ["sub/dir/x.py", "top.py"])


# errors


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("nothere..main", "no commit 'nothere'"),
        ("main..nothere", "no commit 'nothere'"),
        ("nothere", "no commit 'nothere'"),
        ("--output=/tmp/pwned..main", "no commit '--output=/tmp/pwned'"),
        ("main..--output=pwned", "no commit '--output=pwned'"),
        ("-O/etc/passwd", "no commit '-O/etc/passwd'"),
        ("a..b..c", "no range"),
        ("..", "no range"),
        ("...", "no range"),
        ("", "the range is empty"),
        ("main\nHEAD", r"no commit 'main\\nHEAD'"),
        ("ma\0in", "no commit"),
        ("main..HEAD:a.py", "no commit 'HEAD:a.py'"),
    ],
)
def test_a_range_that_is_none_is_one_line(repo: Repo, text: str, says: str) -> None:
    repo.commit({"a.py": "a\n"})
    with pytest.raises(GitError) as caught:
        change(repo, text)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not list(repo.path.glob("*pwned*"))


def test_no_repository_and_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(GitError, match=r"no git repository in .*: not a git repository"):
        GitRepository(tmp_path)
    with pytest.raises(GitError, match="no folder"):
        GitRepository(tmp_path / "nothere")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GitError, match="git is not installed"):
        GitRepository(tmp_path)


def test_no_commits(repo: Repo) -> None:
    with pytest.raises(GitError, match=r"no commits in .* yet"):
        change(repo)


def test_unrelated_histories(repo: Repo) -> None:
    repo.commit({"a.py": "a\n"})
    repo.git("checkout", "-q", "--orphan", "other")
    repo.commit({"a.py": "b\n"})
    with pytest.raises(GitError, match="'main' and 'other' have no history in common"):
        change(repo, "main..other")


def test_a_shallow_clone_without_the_merge_base(repo: Repo) -> None:
    forked(repo)
    shallow = clone(repo, "shallow", "--depth=1", "--no-single-branch")
    with pytest.raises(GitError, match=r"shallow clone does not reach .* git fetch --unshallow"):
        change(shallow, "origin/main..origin/topic")
    with pytest.raises(GitError, match="this clone is shallow: fetch it first"):
        change(shallow, "HEAD~1..HEAD")
