"""The change by git, for what GitHub's API does not show: two commits, and only the blobs between.

A bare repository in a temporary folder gets the merge base and the head, each one commit deep and
without blobs; git then fetches in one batch the blobs that differ. The token travels in the child's
environment, never on its command line and never on disk.
"""

from __future__ import annotations

import base64
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from bot.diff.errors import DiffError, GitError
from bot.diff.git import GitRepository
from bot.diff.git_process import complaint, environment
from bot.jobs.forge import Refused, Transient
from models.change import Change

FETCH_SECONDS = 300.0
"""How long git may take before the fetch counts as failed."""


class FetchedByGit:
    """A change with both sides' texts (``bot.review.types.Sources``) out of a temporary repository.

    Only the blobs of changed files are there; the folder goes when this object does.
    """

    def __init__(
        self, folder: tempfile.TemporaryDirectory[str], name: str, base: str, head: str
    ) -> None:
        self._folder = folder
        self._repository = GitRepository(Path(folder.name), name=name)
        # a depth of one commit has no merge base to find: the base is given as its tree
        found = self._repository.change(f"{base}^{{tree}}..{head}")
        self._sources = self._repository.sources(found)
        self.change: Change = replace(found, base=base)

    def base(self, path: str) -> bytes | None:
        """The file at the merge base, ``None`` where it was not fetched."""
        return self._sources.base(path)

    def head(self, path: str) -> bytes | None:
        """The file at the head, ``None`` where it was not fetched."""
        return self._sources.head(path)

    def close(self) -> None:
        """Remove the folder at once."""
        self._repository.close()
        self._folder.cleanup()


def fetch(url: str, token: str, name: str, base: str, head: str) -> FetchedByGit:
    """Fetch the change from ``base`` (the merge base) to ``head``, both commit ids.

    ``url`` is where git clones from, ``name`` the repository's for people. Raises ``Transient``
    where git could not fetch or took too long, ``Refused`` where what came is no diff.
    """
    folder = tempfile.TemporaryDirectory(prefix="marginalia-git-")
    env = environment(lazy_fetch=True) | _credentials(url, token)
    where = Path(folder.name)
    try:
        _git(where, env, "init", "--quiet", "--bare", ".")
        for setting in (
            ("remote.origin.url", url),
            ("remote.origin.promisor", "true"),
            ("remote.origin.partialclonefilter", "blob:none"),
            ("extensions.partialClone", "origin"),
            ("core.repositoryFormatVersion", "1"),
        ):
            _git(where, env, "config", *setting)
        _git(
            where, env, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--depth=1",
            "--filter=blob:none", "origin", base, head,
        )  # fmt: skip
        # looking at every changed file makes git fetch what differs, in one batch
        _git(where, env, "diff", "--numstat", "--no-ext-diff", "--no-textconv", base, head)
        return FetchedByGit(folder, name, base, head)
    except GitError as error:
        folder.cleanup()
        raise Transient(f"git fetch of {name}: {error}") from error
    except DiffError as error:
        folder.cleanup()
        raise Refused(f"git's diff of {name}: {error}") from error


def _git(where: Path, env: dict[str, str], *arguments: str) -> None:
    command: Sequence[str] = ("git", "-C", str(where), "--no-pager", *arguments)
    try:
        done = subprocess.run(
            command,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=FETCH_SECONDS,
            check=False,
        )
    except FileNotFoundError:
        raise GitError("git is not installed, or not on the PATH") from None
    except subprocess.TimeoutExpired:
        raise GitError(f"git {arguments[0]} took more than {FETCH_SECONDS:g} seconds") from None
    if done.returncode != 0:
        raise GitError(f"git {arguments[0]} failed: {complaint(done.stderr)}")


def _credentials(url: str, token: str) -> dict[str, str]:
    """Environment that lets git reach ``url``'s host, with the token, and no other scheme."""
    parts = urlsplit(url)
    env = {"GIT_ALLOW_PROTOCOL": parts.scheme or "file", "GIT_PROTOCOL_FROM_USER": "0"}
    if not token or parts.scheme not in ("http", "https"):
        return env
    pair = base64.b64encode(f"x-access-token:{token}".encode()).decode("ascii")
    return env | {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"http.{parts.scheme}://{parts.netloc}/.extraHeader",
        "GIT_CONFIG_VALUE_0": f"Authorization: Basic {pair}",
    }
