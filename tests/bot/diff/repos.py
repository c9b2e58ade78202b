"""Real git repositories for tests: small, made by git itself, deaf to the machine's settings."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from bot.diff.git import GitRepository
from models.change import Change

ENVIRONMENT = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")} | {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.org",
    "GIT_AUTHOR_DATE": "2024-01-01T00:00:00Z",
    "GIT_COMMITTER_DATE": "2024-01-01T00:00:00Z",
}


class Repo:
    """A repository in a folder, with just what the tests do to one."""

    def __init__(self, path: Path, *, branch: str = "main") -> None:
        self.path = path
        path.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", branch)

    def git(self, *arguments: str, data: bytes | None = None) -> bytes:
        return subprocess.run(
            ["git", "-C", str(self.path), *arguments],
            input=data,
            env=ENVIRONMENT,
            capture_output=True,
            check=True,
        ).stdout

    def write(self, files: dict[str, str | bytes | None]) -> None:
        for name, text in files.items():
            path = self.path / name
            if text is None:
                path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else text.encode())

    def commit(self, files: dict[str, str | bytes | None], message: str = "a change") -> str:
        """Writes (``None`` deletes), commits all, and gives the commit's id."""
        self.write(files)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.id("HEAD")

    def id(self, rev: str) -> str:
        return self.git("rev-parse", rev).decode().strip()

    def new_branch(self, name: str, start: str = "HEAD") -> None:
        self.git("checkout", "-q", "-b", name, start)

    def checkout(self, name: str) -> None:
        self.git("checkout", "-q", name)


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


def clone(repo: Repo, folder: str, *options: str) -> Repo:
    path = repo.path.parent / folder
    repo.git("clone", "-q", *options, f"file://{repo.path}", str(path))
    other = object.__new__(Repo)
    other.path = path
    return other
