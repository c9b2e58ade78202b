"""Ranges, merge bases, blobs and hostile settings, in real repositories."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from bot.diff.errors import GitError
from bot.diff.git import GitRepository
from models.change import Change, Coverage, FileStatus

from .repos import Repo


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo(tmp_path / "project")


def change(repo: Repo, range_text: str | None = None) -> Change:
    with GitRepository(repo.path) as repository:
        return repository.change(range_text)


def paths(change: Change) -> list[str]:
    return [file.path for file in change]


def forked(repo: Repo) -> tuple[str, str, str]:
    """A fork point, a branch ``topic`` with one commit on it, and one more commit on ``main``."""
    base = repo.commit({"a.py": "a\n", "b.py": "b\n"})
    repo.new_branch("topic")
    head = repo.commit({"a.py": "A\n"})
    repo.checkout("main")
    upstream = repo.commit({"b.py": "B\n"})
    return base, head, upstream


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


def clone(repo: Repo, folder: str, *options: str) -> Repo:
    path = repo.path.parent / folder
    repo.git("clone", "-q", *options, f"file://{repo.path}", str(path))
    other = object.__new__(Repo)
    other.path = path
    return other


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


# what a hostile repository or a user's settings would have git do


def trap(tmp_path: Path) -> tuple[str, Path]:
    """A program that leaves a trace when it is run."""
    trace = tmp_path / "trace"
    program = tmp_path / "trap.sh"
    program.write_text(f'#!/bin/sh\necho "$0 $*" >> {trace}\ncat\n')
    program.chmod(0o755)
    return str(program), trace


ATTRIBUTES = "* diff=evil filter=evil\nb.txt filter=e=vil\n"


def test_no_program_that_the_repository_names_is_run(repo: Repo, tmp_path: Path) -> None:
    program, trace = trap(tmp_path)
    repo.commit({"a.py": "a\n", "b.txt": "b\n", ".gitattributes": ATTRIBUTES})
    head = repo.commit({"a.py": "A\n"})
    for key in (
        "diff.external",
        "diff.evil.command",
        "diff.evil.textconv",
        "filter.evil.clean",
        "filter.evil.process",
        "filter.evil.smudge",
        "core.fsmonitor",
        "core.pager",
        "pager.diff",
        "core.sshCommand",
    ):
        repo.git("config", key, program)
    included = tmp_path / "included"
    included.write_text(f'[filter "e=vil"]\n clean = {program}\n')
    repo.git("config", "include.path", str(included))
    repo.git("config", "core.hooksPath", str(tmp_path))
    (tmp_path / "post-index-change").symlink_to(program)
    with GitRepository(repo.path) as repository:
        assert repository.change("HEAD~1..HEAD").file("a.py") is not None
        assert repository.blob(head, "a.py") == b"A\n"
        (repo.path / "b.txt").write_text("dirty\n")
        assert paths(repository.change()) == ["b.txt"]
    assert not trace.exists()


def test_no_setting_changes_what_a_diff_looks_like(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.commit({"naïve q.py": "a\n\n1\n2\n3\n4\n5\n6\n7\n8\n9\n", "z.py": "z\n", "b.py": "b\n"})
    repo.commit(
        {
            "naïve q.py": "A\n\n1\n2\n3\n4\n5\n6\n7\n8\nnine\n",
            "z.py": "Z\n",
            "b.py": None,
            "c d.py": "b\n",
        }
    )
    plain = change(repo, "HEAD~1..HEAD")
    assert [file.status.value for file in plain] == ["renamed", "modified", "modified"]
    order = tmp_path / "order"
    order.write_text("z.py\n*\n")
    config = tmp_path / "config"
    config.write_text(
        "[diff]\n noprefix = true\n mnemonicPrefix = true\n renames = false\n context = 0\n"
        f" interHunkContext = 9\n orderFile = {order}\n suppressBlankEmpty = true\n"
        " algorithm = patience\n relative = true\n submodule = log\n srcPrefix = x/\n"
        "[core]\n quotePath = false\n[color]\n ui = always\n diff = always\n"
    )
    section = ""
    for line in config.read_text().splitlines():
        section = line.strip("[]") if line.startswith("[") else section
        if "=" in line:
            key, _, value = line.partition("=")
            repo.git("config", f"{section}.{key.strip()}", value.strip())
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", "false")
    monkeypatch.setenv("GIT_DIFF_OPTS", "-u0")
    monkeypatch.setenv("GIT_DIR", str(tmp_path))
    assert change(repo, "HEAD~1..HEAD") == plain


def test_an_attribute_does_not_hide_code_from_its_review(repo: Repo) -> None:
    repo.commit({"a.py": "a\n", "old.py": "1\n2\n3\n4\n5\n", "b.png": b"\x89PNG\0\1"})
    repo.commit(
        {
            ".gitattributes": "* -diff\n",
            "a.py": "evil()\n",
            "b.png": b"\x89PNG\0\2",
            "old.py": None,
            "new.py": "1\n2\n3\n4\nfive\n",
            "c.py": "new()\n",
        }
    )
    found = {file.path: file for file in change(repo, "HEAD~1..HEAD")}
    covered = {path: file.coverage for path, file in found.items()}
    assert covered == {
        ".gitattributes": Coverage.REVIEWED,
        "a.py": Coverage.REVIEWED,
        "b.png": Coverage.BINARY,
        "c.py": Coverage.REVIEWED,
        "new.py": Coverage.REVIEWED,
    }
    assert found["a.py"].hunks[0].added[0].text == "evil()"
    assert found["new.py"].status is FileStatus.RENAMED


def test_an_attribute_does_not_hide_uncommitted_code(repo: Repo) -> None:
    repo.commit({".gitattributes": "* -diff\n", "a.py": "a\n"})
    repo.write({"a.py": "b\n"})
    (file,) = change(repo).files
    assert file.hunks[0].added[0].text == "b"


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="needs root to give files away")
def test_another_owners_repository_needs_the_users_word(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.commit({"a.py": "a\n"})
    subprocess.run(["chown", "-R", "12345", str(repo.path)], check=True)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    with pytest.raises(GitError, match=r"belongs to another user.*safe\.directory"):
        GitRepository(repo.path)
    (tmp_path / ".gitconfig").write_text(f"[safe]\n directory = {repo.path}\n")
    assert paths(change(repo)) == ["a.py"]


# blobs


def test_blobs_by_one_process(repo: Repo) -> None:
    odd = {
        "new\nline.py": "n\n",
        "b c.py": "c\r\n",
        "naïve.py": "é\n",
        "empty": "",
        "x missing": "there",
        "bin": b"\0\1\n\n",
    }
    head = repo.commit({**odd, "dir/f": "f"})
    with GitRepository(repo.path) as repository:
        wanted = [(head, path) for path in odd]
        assert repository.blobs(wanted) == [
            text if isinstance(text, bytes) else text.encode() for text in odd.values()
        ]
        nothing = [
            (head, "dir"),
            (head, "no such"),
            (head, "a 1 2 3"),
            (head, ""),
            ("", "bin"),
            ("--help", "bin"),
            ("nothere", "bin"),
            (head, "a\0b"),
            (head, "no\nsuch"),
        ]
        assert repository.blobs(nothing) == [None] * len(nothing)
        # the process still answers in step
        assert repository.blob("main", "dir/f") == b"f"
        repository.close()
        assert repository.blob("main", "dir/f") == b"f"


def test_a_blob_over_the_limit_is_not_known(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    head = repo.commit({"big": "x" * 3000, "small": "s"})
    monkeypatch.setattr("bot.diff.git.MAX_BLOB", 2999)
    with GitRepository(repo.path) as repository:
        assert repository.blob(head, "big") is None
        assert repository.blob(head, "small") == b"s"


def test_what_a_partial_clone_lacks_is_not_fetched(repo: Repo) -> None:
    base, head, _ = forked(repo)
    repo.git("config", "uploadpack.allowFilter", "true")
    partial = clone(repo, "partial", "--filter=blob:none", "--no-checkout")
    with GitRepository(partial.path) as repository:
        assert repository.blob(head, "a.py") is None
        with pytest.raises(GitError, match="lacks objects"):
            repository.change("origin/main..origin/topic")
    with GitRepository(partial.path, lazy_fetch=True) as repository:
        assert repository.change("origin/main..origin/topic").base == base
        assert repository.blob(head, "a.py") == b"A\n"


def test_a_submodule_and_a_link_on_the_way(repo: Repo, tmp_path: Path) -> None:
    inner = Repo(tmp_path / "inner")
    inner.commit({"s.c": "1\n"})
    moved = inner.commit({"s.c": "2\n"})
    repo.git(
        "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner.path), "lib"
    )
    repo.git("-C", "lib", "checkout", "-q", "HEAD~1")
    (repo.path / "link.py").symlink_to("/etc/passwd")
    repo.commit({"a.py": "a\n"})
    repo.git("-C", "lib", "checkout", "-q", moved)
    head = repo.commit({"a.py": "b\n"})
    with GitRepository(repo.path) as repository:
        found = repository.change("HEAD~1..HEAD")
        assert {file.path: file.coverage for file in found} == {
            "a.py": Coverage.REVIEWED,
            "lib": Coverage.SUBMODULE,
        }
        assert repository.blob(head, "lib") is None
        assert repository.blob(head, "link.py") == b"/etc/passwd"
        (repo.path / "lib/s.c").write_text("dirty\n")
        assert repository.change().head == head
