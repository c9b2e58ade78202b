"""Real histories for the soak, by git's own word: which commits can be read, what each changed.

Nothing here uses ``bot.diff``: what it says is what the program's reading is held against.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path

from models.syntax import language_of

ENVIRONMENT = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")} | {
    # a clone that lacks an object must say so, not fetch it
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
}
RENAMES = ("--find-renames=50%", "-l1000")
_SUBMODULE, _LINK = "160000", "120000"
_HUNK = re.compile(rb"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)
_KINDS = {"A": "added", "D": "deleted", "M": "modified", "R": "renamed", "T": "type changed"}


class Unreadable(Exception):
    """A commit that this clone cannot show in whole; the message says why."""


@dataclass(frozen=True, slots=True)
class Step:
    """A piece of history to review: ``base`` is a commit or (for a root) the empty tree."""

    folder: Path
    base: str
    head: str

    @property
    def name(self) -> str:
        """Short, for people and for the record."""
        return f"{self.folder} {self.head[:12]}"

    @property
    def range_text(self) -> str:
        """What a person would write after ``marginalia review``."""
        return f"{self.base}..{self.head}"


@dataclass(frozen=True, slots=True)
class GitFile:
    """One changed file as git lists it; ``kinds`` are added, renamed, binary, mode only, ..."""

    old: str
    new: str
    kinds: frozenset[str]

    @property
    def path(self) -> str:
        """The name by which a review speaks of it."""
        return self.new


@dataclass(slots=True)
class Chosen:
    """The steps to review, and how many newer ones were left out because git cannot read them."""

    steps: list[Step] = field(default_factory=list)
    unreadable: int = 0
    without_code: int = 0


def git(folder: Path, *arguments: str, data: bytes | None = None) -> bytes:
    """What git prints; raises ``Unreadable`` with its complaint."""
    done = subprocess.run(
        ["git", "-C", str(folder), "-c", "core.quotePath=false", *arguments],
        input=data, capture_output=True, check=False, env=ENVIRONMENT,
    )  # fmt: skip
    if done.returncode != 0:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise Unreadable(lines[-1] if lines else f"git {arguments[0]} failed")
    return done.stdout


def choose(folders: Sequence[Path], count: int, *, span: int = 1, code: bool = False) -> Chosen:
    """The newest readable steps, taken from the folders in turn, ``count`` in all.

    A step is one commit (merges left out), or with ``span`` so many commits of the first-parent
    line as one range. ``code`` leaves out those that change no file of a known language.
    """
    chosen = Chosen()
    for row in zip_longest(*(_steps(folder, span) for folder in folders)):
        for step in filter(None, row):
            if len(chosen.steps) >= count:
                return chosen
            try:
                files = files_of(step)
                check_readable(step)
            except Unreadable:
                chosen.unreadable += 1
                continue
            if code and not any(language_of(file.path) for file in files):
                chosen.without_code += 1
                continue
            chosen.steps.append(step)
    return chosen


def _steps(folder: Path, span: int) -> Iterator[Step]:
    try:
        if span == 1:
            rows = git(folder, "rev-list", "--no-merges", "--parents", "HEAD").decode().split("\n")
        else:
            rows = git(folder, "rev-list", "--first-parent", "HEAD").decode().split("\n")[:-1]
            rows = [f"{a} {b}" for a, b in zip(rows[::span], rows[span::span], strict=False)]
    except Unreadable as error:
        raise SystemExit(f"soak: {folder}: no git repository with commits: {error}") from error
    for row in filter(None, rows):
        head, *parents = row.split()
        base = parents[0] if parents else _empty_tree(folder)
        yield Step(folder, base, head)


def _empty_tree(folder: Path) -> str:
    return git(folder, "hash-object", "-t", "tree", "--stdin", data=b"").decode().strip()


def _raw(step: Step) -> Iterator[tuple[list[str], list[str]]]:
    """Each changed file: the fields of git's raw line (modes, ids, status), and its names."""
    text = git(step.folder, "diff", "--raw", "--no-abbrev", "-z", *RENAMES, step.base, step.head)
    parts = text.decode("utf-8", "surrogateescape").split("\0")[:-1]
    while parts:
        fields = parts.pop(0).removeprefix(":").split()
        names = [parts.pop(0)]
        if fields[4][0] in "RC":
            names.append(parts.pop(0))
        yield fields, names


def check_readable(step: Step) -> None:
    """Raises ``Unreadable`` where a blob of a changed file is not in this clone."""
    wanted = [
        blob
        for fields, _ in _raw(step)
        for mode, blob in zip(fields[:2], fields[2:4], strict=True)
        if mode != _SUBMODULE and set(blob) != {"0"}
    ]
    listed = git(
        step.folder,
        "cat-file",
        "--batch-check",
        data="".join(f"{one}\n" for one in wanted).encode(),
    )
    missing = listed.decode().count(" missing")
    if missing:
        raise Unreadable(f"{missing} blobs are not in this clone")


def files_of(step: Step) -> list[GitFile]:
    """The changed files by git's own word."""
    counts = git(step.folder, "diff", "--numstat", "-z", *RENAMES, step.base, step.head)
    rows = counts.decode("utf-8", "surrogateescape").split("\0")[:-1]
    binary: set[str] = set()
    while rows:
        added, _, name = rows.pop(0).split("\t", 2)
        if not name:
            rows.pop(0)
            name = rows.pop(0)
        if added == "-":
            binary.add(name)
    found = []
    for fields, names in _raw(step):
        kinds = {_KINDS.get(fields[4][0], fields[4])}
        if names[-1] in binary:
            kinds.add("binary")
        if fields[2] == fields[3]:
            kinds.add("mode only" if len(names) == 1 else "renamed as it was")
        if _SUBMODULE in fields[:2]:
            kinds.add("submodule")
        if _LINK in fields[:2]:
            kinds.add("symbolic link")
        found.append(GitFile(names[0], names[-1], frozenset(kinds)))
    return found


def _patch(step: Step, *paths: str) -> bytes:
    return git(
        step.folder, "diff", "--patch", "--unified=3", "--inter-hunk-context=0", "--no-ext-diff",
        "--no-textconv", "--diff-algorithm=myers", "--indent-heuristic", *RENAMES,
        step.base, step.head, "--", *paths,
    )  # fmt: skip


def hunk_count(step: Step) -> int:
    """How many hunks git's diff of a step has."""
    return len(_HUNK.findall(_patch(step)))


def hunks_of(step: Step, file: GitFile) -> list[tuple[range, range]]:
    """The lines, context included, that each hunk shows of the two sides."""
    names = dict.fromkeys((file.old, file.new))
    patch = _patch(step, *(f":(top,literal){name}" for name in names))
    return [
        (_lines(found[1], found[2]), _lines(found[3], found[4])) for found in _HUNK.finditer(patch)
    ]


def _lines(start: bytes, count: bytes | None) -> range:
    first, many = int(start), 1 if count is None else int(count)
    return range(first, first + many)


def blob_at_head(step: Step, path: str) -> bytes:
    """A file's bytes at the head."""
    return git(step.folder, "cat-file", "blob", f"{step.head}:{path}")
