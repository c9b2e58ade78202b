"""git as a child process, deaf to what the reviewed repository and its user would have it do.

The repository is hostile (its code must never run), and a user's settings must not change what
a diff looks like. So: no shell; none of the caller's ``GIT_*`` variables; no system or user
configuration; and of the repository's own configuration everything that names a program
(hooks, file system monitor, external diffs, text conversion, filters, transports) is overridden.
"""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

from bot.diff.errors import GitError
from bot.diff.names import decode

_SETTINGS = (
    "core.fsmonitor=false",
    f"core.hooksPath={os.devnull}",
    f"core.attributesFile={os.devnull}",
    f"core.excludesFile={os.devnull}",
    "core.quotePath=true",
    "core.bigFileThreshold=512m",
    "diff.suppressBlankEmpty=false",
    "gc.auto=0",
    "maintenance.auto=false",
)
_CHUNK = 1 << 20


def environment(*, lazy_fetch: bool) -> dict[str, str]:
    """The child's environment: the caller's without git's variables, and git's set to be quiet."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    kept.update(
        LC_ALL="C",
        LANGUAGE="",
        GIT_CONFIG_NOSYSTEM="1",
        GIT_CONFIG_GLOBAL=os.devnull,
        GIT_ATTR_NOSYSTEM="1",
        GIT_TERMINAL_PROMPT="0",
        GIT_OPTIONAL_LOCKS="0",
        GIT_NO_REPLACE_OBJECTS="1",
        GIT_PAGER="cat",
    )
    if not lazy_fetch:
        # a blob that a partial clone lacks would be fetched, by whatever its config names
        kept.update(GIT_NO_LAZY_FETCH="1", GIT_ALLOW_PROTOCOL="none")
    return kept


class Git:
    """Runs git in one folder; every failure is a :class:`GitError` of one line."""

    def __init__(self, path: Path, *, lazy_fetch: bool = False) -> None:
        self.path = path
        self._environment = environment(lazy_fetch=lazy_fetch)
        self._settings = list(_SETTINGS)

    def trust(self, folders: Sequence[str]) -> None:
        """Lets git read a repository of another owner that the user has declared safe."""
        self._settings += [f"safe.directory={folder}" for folder in folders]

    def override(self, settings: Mapping[str, str]) -> None:
        """Settings for every later command, whose keys may hold any character.

        They go by the environment: ``-c`` would cut a key at its first equals sign.
        """
        count = int(self._environment.get("GIT_CONFIG_COUNT", "0"))
        for at, (key, value) in enumerate(settings.items(), count):
            self._environment[f"GIT_CONFIG_KEY_{at}"] = key
            self._environment[f"GIT_CONFIG_VALUE_{at}"] = value
        self._environment["GIT_CONFIG_COUNT"] = str(count + len(settings))

    def command(self, *arguments: str) -> list[str]:
        """The whole command line, for a caller that keeps the process."""
        settings = [part for setting in self._settings for part in ("-c", setting)]
        return ["git", "-C", str(self.path), "--no-pager", *settings, *arguments]

    def attempt(self, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        """Runs git and gives what came of it, whatever its exit status."""
        return _run(self.command(*arguments), self._environment)

    def run(self, *arguments: str) -> bytes:
        """Runs git and gives its standard output; a failure raises :class:`GitError`."""
        done = self.attempt(*arguments)
        if b"promisor remote" in done.stderr:
            raise GitError(f"the partial clone in {self.path} lacks objects: fetch them first")
        if done.returncode != 0:
            raise GitError(f"git {arguments[0]} failed in {self.path}: {complaint(done.stderr)}")
        return done.stdout

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Starts git with pipes to its standard input and output."""
        return subprocess.Popen(
            self.command(*arguments),
            env=self._environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )


def users_settings(key: str) -> list[str]:
    """All values of a key in the system's and the user's git settings; the last one counts."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    config = os.environ.get("GIT_CONFIG_GLOBAL")
    if config is not None:
        kept["GIT_CONFIG_GLOBAL"] = config
    found: list[str] = []
    for scope in ("--system", "--global"):
        done = _run(["git", "config", scope, "-z", "--get-all", key], kept)
        found += [decode(part) for part in done.stdout.split(b"\0")[:-1]]
    return found


def _run(command: list[str], env: Mapping[str, str]) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            command, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
    except FileNotFoundError:
        raise GitError(
            "git is not installed, or not on the PATH: install git 2.31 or newer"
        ) from None
    except ValueError as error:
        raise GitError(f"git cannot be asked that: {error}") from None


def complaint(stderr: bytes) -> str:
    """The first line in which git says what is wrong, without its prefix."""
    lines = stderr.decode("utf-8", "backslashreplace").splitlines()
    for line in lines:
        if line.startswith(("fatal: ", "error: ")):
            return line.partition(": ")[2]
    return lines[0] if lines else "no reason given"


class BlobReader:
    """Blobs by one ``git cat-file --batch`` process, started at the first question.

    Safe to share between threads. A blob over ``limit`` bytes is not read (``None``).
    """

    def __init__(self, git: Git, *, limit: int) -> None:
        self._git = git
        self._limit = limit
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def read(self, name: bytes) -> bytes | None:
        """The blob that ``name`` (``<commit>:<path>`` or an id, no line feed) stands for."""
        with self._lock:
            process = self._process
            if process is None or process.poll() is not None:
                process = self._process = self._git.start("cat-file", "--batch")
            try:
                return self._ask(process, name)
            except BrokenPipeError:
                self._stop()
                raise GitError(f"git cat-file ended early in {self._git.path}") from None

    def _ask(self, process: subprocess.Popen[bytes], name: bytes) -> bytes | None:
        assert process.stdin is not None  # noqa: S101 - both are pipes by construction
        assert process.stdout is not None  # noqa: S101
        process.stdin.write(name + b"\n")
        process.stdin.flush()
        header = process.stdout.readline().split()
        if not header:
            # git ends at an object that a partial clone lacks and that it must not fetch
            self._stop()
            return None
        # found: "<id> <type> <size>"; else the question comes back with "missing" behind it
        if len(header) != 3 or not header[2].isdigit():
            return None
        size = int(header[2])
        if header[1] == b"blob" and size <= self._limit:
            content = process.stdout.read(size)
            process.stdout.read(1)
            return content
        left = size + 1
        while left:
            part = process.stdout.read(min(left, _CHUNK))
            if not part:
                break
            left -= len(part)
        return None

    def close(self) -> None:
        """Ends the process; a later question starts another."""
        with self._lock:
            self._stop()

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()

    def __enter__(self) -> BlobReader:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
