"""Blobs out of real repositories."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.diff.errors import GitError
from bot.diff.git import GitRepository
from models.change import Coverage

from .repos import Repo, clone, forked


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
