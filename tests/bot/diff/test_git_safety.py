"""What a hostile repository or a user's settings would have git do."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from bot.diff.errors import GitError
from bot.diff.git import GitRepository
from models.change import Coverage, FileStatus

from .repos import Repo, change, paths


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
