"""Git over HTTP, and the lines of a diff."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.github_double import anchors
from tests.github_double.fixtures import CHANGED, Scene
from tests.github_double.git_store import Conflict, GitRepo


def git(*args: str, cwd: Path) -> str:
    env = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "GIT_CONFIG_GLOBAL": os.devnull}
    done = subprocess.run(["git", *args], cwd=cwd, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def address(scene: Scene, token: str) -> str:
    host = scene.github.url.removeprefix("http://")
    return f"http://x-access-token:{token}@{host}/{scene.repo}.git"


def test_a_blobless_fetch_by_an_installation(scene: Scene, tmp_path: Path) -> None:
    token = scene.github.installation_token(scene.installation)
    git("init", "-q", "--bare", ".", cwd=tmp_path)
    git(
        "fetch",
        "-q",
        "--filter=blob:none",
        "--no-tags",
        address(scene, token),
        scene.pull.head_sha,
        scene.pull.base_sha,
        cwd=tmp_path,
    )
    names = git("diff", "--name-only", scene.pull.base_sha, scene.pull.head_sha, cwd=tmp_path)
    assert names == "calc.py\n"
    objects = git("cat-file", "--batch-check", "--batch-all-objects", cwd=tmp_path)
    assert " blob " not in objects


def test_the_pulls_head_is_a_ref(scene: Scene, tmp_path: Path) -> None:
    token = scene.github.installation_token(scene.installation)
    rows = git("ls-remote", address(scene, token), "refs/pull/1/head", cwd=tmp_path)
    assert rows.split() == [scene.pull.head_sha, "refs/pull/1/head"]


def test_an_installation_that_only_reads_does_not_push(scene: Scene, tmp_path: Path) -> None:
    token = scene.github.installation_token(scene.installation)
    git("clone", "-q", address(scene, token), "work", cwd=tmp_path)
    done = subprocess.run(
        ["git", "push", "origin", "HEAD:refs/heads/new"],
        cwd=tmp_path / "work",
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0
    assert "403" in done.stderr


def test_a_persons_push_moves_the_pull_request(scene: Scene, tmp_path: Path) -> None:
    git(
        "clone",
        "-q",
        "--branch",
        "change",
        address(scene, scene.github.token()),
        "work",
        cwd=tmp_path,
    )
    work = tmp_path / "work"
    (work / "calc.py").write_text(CHANGED + "# more\n")
    git("-c", "user.name=A", "-c", "user.email=a@b", "commit", "-qam", "More", cwd=work)
    git("push", "-q", cwd=work)
    head = git("rev-parse", "HEAD", cwd=work).strip()
    assert scene.github.pull(scene.repo, 1).head_sha == head


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    return GitRepo.create(tmp_path / "r.git")


def test_files_of_every_kind(repo: GitRepo) -> None:
    old = repo.commit(
        "main",
        {
            "keep.txt": "a\nb\nc\n",
            "old name.txt": "1\n2\n3\n4\n",
            "gone.txt": "x\n",
            "mode.sh": "#!/bin/sh\n",
            "bin": b"\0\1\2",
        },
        when=1,
    )
    new = repo.commit(
        "main",
        {
            "keep.txt": "a\nB\nc",
            "old name.txt": None,
            "new näme.txt": "1\n2\n3\n4\n",
            "gone.txt": None,
            "mode.sh": {"content": "#!/bin/sh\n", "mode": "100755"},
            "bin": b"\0\1\3",
            "sub": {"submodule": old},
            "link": {"content": "bin", "mode": "120000"},
            "crlf.txt": "a\r\nb\r\n",
        },
        when=2,
        parent=old,
    )
    rows = {f.path: f for f in repo.files(old, new)}
    assert {p: f.status for p, f in rows.items()} == {
        "bin": "modified",
        "crlf.txt": "added",
        "gone.txt": "removed",
        "keep.txt": "modified",
        "link": "added",
        "mode.sh": "modified",
        "new näme.txt": "renamed",
        "sub": "added",
    }
    assert rows["new näme.txt"].old_path == "old name.txt"
    assert rows["keep.txt"].patch == (
        b"@@ -1,3 +1,3 @@\n a\n-b\n-c\n+B\n+c\n\\ No newline at end of file"
    )
    assert (rows["bin"].binary, rows["bin"].patch, rows["mode.sh"].patch) == (True, b"", b"")
    assert rows["crlf.txt"].patch == b"@@ -0,0 +1,2 @@\n+a\r\n+b\r"
    assert rows["sub"].patch.startswith(b"@@ -0,0 +1 @@\n+Subproject commit ")


def test_a_file_that_becomes_a_link(repo: GitRepo) -> None:
    old = repo.commit("main", {"a": "text\n", "b": "1\n"}, when=1)
    new = repo.commit(
        "main", {"a": {"content": "b", "mode": "120000"}, "b": "2\n"}, when=2, parent=old
    )
    assert [(f.path, f.status) for f in repo.files(old, new)] == [
        ("a", "changed"),
        ("b", "modified"),
    ]


def test_a_conflict_is_an_error(repo: GitRepo) -> None:
    first = repo.commit("main", {"a": "1\n"}, when=1)
    ours = repo.commit("ours", {"a": "2\n"}, when=2, parent=first)
    theirs = repo.commit("main", {"a": "3\n"}, when=3, parent=first)
    with pytest.raises(Conflict):
        repo.rebase(ours, first, theirs, 4)
    with pytest.raises(Conflict):
        repo.merge(ours, theirs, "Merge", 4)


@given(
    st.lists(st.sampled_from("abcdef"), min_size=1, max_size=12),
    st.lists(st.sampled_from("abcdef"), min_size=1, max_size=12),
)
def test_a_patch_numbers_both_sides_completely(old: list[str], new: list[str]) -> None:
    import difflib

    rows = list(difflib.unified_diff(old, new, lineterm="", n=1))[2:]
    lines = anchors.read_patch("\n".join(rows))
    for line in lines:
        assert line.old is None or rows[line.position][1:] == old[line.old - 1]
        assert line.new is None or rows[line.position][1:] == new[line.new - 1]
    removed = [old[x.old - 1] for x in lines if x.sign == "-" and x.old]
    assert removed == [r[1:] for r in rows if r.startswith("-")]
