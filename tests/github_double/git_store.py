"""Bare git repositories behind the double: commits from plain files, rewrites, diffs, blobs.

Everything is real git, run as a process: what the App reads through the API and what it fetches
over HTTP are the same objects.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from tests.github_double.file_specs import FileSpec, data_command, file_command

_ENV = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_AUTHOR_NAME": "Octo Cat",
    "GIT_AUTHOR_EMAIL": "octo@example.test",
    "GIT_COMMITTER_NAME": "Octo Cat",
    "GIT_COMMITTER_EMAIL": "octo@example.test",
    "LC_ALL": "C.UTF-8",
}


class GitError(RuntimeError):
    """git said no; the message is its standard error."""


class Conflict(GitError):
    """A merge or a rebase met a conflict."""


def run_git(
    folder: Path,
    *args: str,
    stdin: bytes | None = None,
    env: Mapping[str, str] | None = None,
) -> bytes:
    """Run git in a folder and return its standard output; ``GitError`` where it fails."""
    done = subprocess.run(
        ["git", "-C", str(folder), *args],
        input=stdin,
        capture_output=True,
        env={**os.environ, **_ENV, **(env or {})},
    )
    if done.returncode != 0:
        raise GitError(f"git {' '.join(args[:3])}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout


@dataclass(frozen=True, slots=True)
class Commit:
    """What the API tells of a commit."""

    sha: str
    tree: str
    parents: tuple[str, ...]
    author: str
    email: str
    date: str
    message: str


@dataclass(frozen=True, slots=True)
class FileDiff:
    """One file between two commits; ``patch`` are git's own bytes from the first ``@@`` on."""

    path: str
    old_path: str
    status: str
    sha: str
    additions: int
    deletions: int
    patch: bytes
    binary: bool


class GitRepo:
    """One bare repository."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = threading.RLock()
        self.git = lru_cache(maxsize=4096)(self._git)

    @classmethod
    def create(cls, folder: Path, default_branch: str = "main") -> GitRepo:
        """Make an empty bare repository which serves partial clones and any object asked for."""
        folder.mkdir(parents=True)
        run_git(folder, "init", "-q", "--bare", "--template=", f"--initial-branch={default_branch}")
        with (folder / "config").open("a") as config:
            config.write(
                "[uploadpack]\n\tallowFilter = true\n\tallowAnySHA1InWant = true\n"
                "[http]\n\treceivepack = true\n[gc]\n\tauto = 0\n[core]\n\tquotePath = true\n"
            )
        return cls(folder)

    def fork(self, folder: Path) -> GitRepo:
        """Copy this repository with its branches (without its pull requests)."""
        shutil.copytree(self.folder, folder)
        shutil.rmtree(folder / "refs" / "pull", ignore_errors=True)
        return GitRepo(folder)

    def _git(self, *args: str) -> bytes:
        """Ask git something whose answer never changes: arguments hold only object ids."""
        return run_git(self.folder, *args)

    def run(
        self, *args: str, stdin: bytes | None = None, env: Mapping[str, str] | None = None
    ) -> bytes:
        """Ask git something that may change with time (names of branches, writes)."""
        return run_git(self.folder, *args, stdin=stdin, env=env)

    # -- names -----------------------------------------------------------------------------

    def resolve(self, name: str) -> str | None:
        """The commit id of a branch, a tag, a full ref or a commit id; ``None`` if unknown."""
        if name.startswith("-") or not name:
            return None
        if _WHOLE_ID.fullmatch(name):
            # no branch is called like this, and what it means never changes
            with contextlib.suppress(GitError):
                wanted = f"{name}^{{commit}}"
                found = self.git("rev-parse", "-q", "--verify", "--end-of-options", wanted)
                return found.decode().strip()
        whole = name.startswith("refs/")
        if whole and ".." not in name:
            with contextlib.suppress(OSError, UnicodeDecodeError):
                # nothing is packed here: a branch is a file with a commit's id in it
                said = (self.folder / name).read_text("ascii").strip()
                if _WHOLE_ID.fullmatch(said) and name.startswith("refs/heads/"):
                    return said
        for candidate in (name,) if whole else (f"refs/heads/{name}", f"refs/tags/{name}", name):
            try:
                return (
                    self.run(
                        "rev-parse", "-q", "--verify", "--end-of-options", candidate + "^{commit}"
                    )
                    .decode()
                    .strip()
                )
            except GitError:
                continue
        return None

    def branches(self) -> dict[str, str]:
        """Every branch with its commit id."""
        rows = self.run("for-each-ref", "--format=%(refname:lstrip=2) %(objectname)", "refs/heads")
        return {r.rsplit(" ", 1)[0]: r.rsplit(" ", 1)[1] for r in rows.decode().splitlines()}

    def set_ref(self, ref: str, sha: str) -> None:
        """Point a full ref name at a commit."""
        self.run("update-ref", ref, sha)

    def delete_ref(self, ref: str) -> None:
        """Remove a full ref name."""
        self.run("update-ref", "-d", ref)

    # -- writing ---------------------------------------------------------------------------

    def commit(
        self,
        branch: str,
        files: Mapping[str, FileSpec],
        *,
        message: str = "Change",
        parent: str | None = None,
        when: int,
        author: str = "Octo Cat",
    ) -> str:
        """Commit files onto a parent (or onto nothing) and point the branch at the result."""
        name = re.sub(r"[<>\n]", "", author)
        out = [f"commit refs/heads/{branch}\n"]
        who = f"{name} <{name.replace(' ', '.').lower()}@example.test> {when} +0000\n"
        out.append(f"author {who}committer {who}")
        body: list[bytes] = ["".join(out).encode(), data_command(message.encode())]
        if parent:
            body.append(f"from {parent}\n".encode())
        else:
            body.append(b"deleteall\n")
        for path, spec in files.items():
            body.append(file_command(path, spec))
        body.append(b"\n")
        with self._lock:
            self.run("fast-import", "--quiet", "--force", "--date-format=raw", stdin=b"".join(body))
        sha = self.resolve(f"refs/heads/{branch}")
        if sha is None:
            raise GitError(f"the branch {branch} is missing after the commit")
        return sha

    @contextlib.contextmanager
    def worktree(self, sha: str) -> Iterator[Path]:
        """A temporary checkout of one commit, for the rewrites that need files."""
        parent = Path(tempfile.mkdtemp(prefix="double-"))
        folder = parent / "tree"
        try:
            self.run("worktree", "add", "-q", "--detach", str(folder), sha)
            yield folder
        finally:
            shutil.rmtree(parent, ignore_errors=True)
            self.run("worktree", "prune")

    def rebase(self, head: str, old_base: str, new_base: str, when: int) -> str:
        """Replay ``old_base..head`` on ``new_base``; the new head's commit id."""
        date = f"{when} +0000"
        with self.worktree(new_base) as folder:
            commits = self.git("rev-list", "--reverse", "--no-merges", f"{old_base}..{head}")
            for sha in commits.decode().split():
                try:
                    run_git(
                        folder,
                        "cherry-pick",
                        "--allow-empty",
                        "--keep-redundant-commits",
                        sha,
                        env={"GIT_COMMITTER_DATE": date},
                    )
                except GitError as error:
                    raise Conflict(f"{sha} does not apply on {new_base}: {error}") from None
            return run_git(folder, "rev-parse", "HEAD").decode().strip()

    def merge(self, into: str, other: str, message: str, when: int, *, squash: bool = False) -> str:
        """Merge one commit into another (as a squash if asked); the new commit's id."""
        date = {"GIT_COMMITTER_DATE": f"{when} +0000", "GIT_AUTHOR_DATE": f"{when} +0000"}
        if self.is_ancestor(into, other):
            # what comes of it is the other's tree: no checkout is needed
            parents = ["-p", into] if squash else ["-p", into, "-p", other]
            made = self.run("commit-tree", f"{other}^{{tree}}", *parents, "-m", message, env=date)
            return made.decode().strip()
        with self.worktree(into) as folder:
            try:
                if squash:
                    run_git(folder, "merge", "-q", "--squash", other)
                    run_git(folder, "commit", "-q", "--allow-empty", "-m", message, env=date)
                else:
                    run_git(folder, "merge", "-q", "--no-ff", "-m", message, other, env=date)
            except GitError as error:
                raise Conflict(f"{other} does not merge into {into}: {error}") from None
            return run_git(folder, "rev-parse", "HEAD").decode().strip()

    def fetch_from(self, other: GitRepo, sha: str) -> None:
        """Bring a commit of another repository here (a fork's head into the base)."""
        if other.folder != self.folder:
            self.run("fetch", "-q", "--no-tags", "--no-write-fetch-head", str(other.folder), sha)

    # -- reading ---------------------------------------------------------------------------

    def merge_base(self, one: str, other: str) -> str | None:
        """The best common ancestor of two commits, or ``None``."""
        try:
            return self.git("merge-base", one, other).decode().strip()
        except GitError:
            return None

    def is_ancestor(self, old: str, new: str) -> bool:
        """Whether ``new`` was reached from ``old`` without rewriting."""
        return self.merge_base(old, new) == old

    def commits(self, spec: str, limit: int = 250) -> list[Commit]:
        """Commits of a revision range made of commit ids, newest first."""
        fmt = "%H%x00%T%x00%P%x00%an%x00%ae%x00%at%x00%B%x00%x01"
        raw = self.git("log", f"--max-count={limit}", f"--format={fmt}", spec).decode(
            errors="replace"
        )
        rows = [row.lstrip("\n").split("\0") for row in raw.split("\1") if row.strip("\n")]
        return [
            Commit(r[0], r[1], tuple(r[2].split()), r[3], r[4], _iso(int(r[5])), r[6].rstrip("\n"))
            for r in rows
        ]

    def diff(self, base: str, head: str, *, context: int = 3) -> bytes:
        """git's unified diff between two commits with renames found, bytes untouched."""
        return self.git(*_DIFF, f"--unified={context}", base, head)

    def files(self, base: str, head: str) -> list[FileDiff]:
        """The changed files between two commits with their patches, in git's order."""
        return list(_files(self, base, head))

    def tree(self, sha: str, *, recursive: bool) -> list[dict[str, Any]]:
        """The entries of a commit's or tree's tree."""
        args = ("-r", "-t") if recursive else ()
        raw = self.git("ls-tree", "-z", "-l", *args, sha)
        out = []
        for row in raw.split(b"\0"):
            if not row:
                continue
            meta, path = row.split(b"\t", 1)
            mode, kind, oid, size = meta.decode().split()
            entry: dict[str, Any] = {
                "path": path.decode(errors="replace"),
                "mode": mode,
                "type": kind,
                "sha": oid,
            }
            if size != "-":
                entry["size"] = int(size)
            out.append(entry)
        return out

    def entry(self, commit: str, path: str) -> dict[str, Any] | None:
        """The tree entry of one path at a commit, or ``None``."""
        if not path:
            return {"path": "", "mode": "040000", "type": "tree", "sha": commit}
        raw = self.git("--literal-pathspecs", "ls-tree", "-z", "-l", commit, "--", path)
        row = raw.split(b"\0")[0]
        if not row:
            return None
        mode, kind, oid, size = row.split(b"\t", 1)[0].decode().split()
        return {
            "path": path,
            "mode": mode,
            "type": kind,
            "sha": oid,
            "size": 0 if size == "-" else int(size),
        }

    def blob(self, sha: str) -> bytes | None:
        """The bytes of a blob, or ``None``."""
        try:
            return self.git("cat-file", "blob", sha)
        except GitError:
            return None


_WHOLE_ID = re.compile(r"[0-9a-f]{40}")
_DIFF = ("-c", "core.quotePath=true", "diff", "--no-color", "--no-ext-diff", "--find-renames")


def _files(repo: GitRepo, base: str, head: str) -> Iterator[FileDiff]:
    raw = repo.git(*_DIFF, "--raw", "-z", "--no-abbrev", base, head).split(b"\0")
    stat = repo.git(*_DIFF, "--numstat", "-z", base, head).split(b"\0")
    patches = iter(_split_patches(repo.diff(base, head)))
    words = {"A": "added", "D": "removed", "M": "modified", "R": "renamed", "C": "copied"}
    i = j = 0
    for patch in patches:
        meta = raw[i].decode().lstrip(":").split()
        letter = meta[4][0]
        if letter == "T":
            # git writes a change of kind as a removal and an addition.
            patch = next(patches)
        old = raw[i + 1].decode(errors="replace")
        renamed = letter in "RC"
        new = raw[i + 2].decode(errors="replace") if renamed else old
        i += 3 if renamed else 2
        added, deleted, _ = stat[j].decode(errors="replace").split("\t", 2)
        j += 3 if renamed else 1
        sha = meta[3] if letter != "D" else meta[2]
        binary = added == "-"
        yield FileDiff(
            path=new,
            old_path=old,
            status=words.get(letter, "changed"),
            sha=sha,
            additions=0 if binary else int(added),
            deletions=0 if binary else int(deleted),
            patch=patch,
            binary=binary,
        )


def _split_patches(diff: bytes) -> list[bytes]:
    """The hunks of every file of a diff, headers dropped, in order (empty where none)."""
    out: list[list[bytes]] = []
    in_hunks = False
    for line in diff.split(b"\n"):
        if line.startswith(b"diff --git "):
            out.append([])
            in_hunks = False
        elif line.startswith(b"@@ "):
            in_hunks = True
        if in_hunks and out:
            out[-1].append(line)
    return [b"\n".join(lines).rstrip(b"\n") for lines in out]


def _iso(when: int) -> str:
    return datetime.fromtimestamp(when, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
