"""The header of one file in git's diff: names, modes, what happened, before the first hunk.

unidiff reads these lines too, but not quoted names, copies, renames without a change in folders
with spaces, nor combined diffs; git's own words on the format are in git-diff, "Generating patch
text with -p" and "Combined diff format".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bot.diff.errors import DiffError
from bot.diff.names import (
    DEV_NULL,
    header_name,
    split_names,
    strip_prefixes,
    unquote,
)
from models.change import ChangedFile, Coverage, FileStatus

GITLINK = "160000"
SYMLINK = "120000"
UNMERGED = "the file has an unresolved conflict: resolve it first"

_INDEX = re.compile(r"index ([0-9a-f]+)\.\.([0-9a-f]+)(?: (\d{6}))?$")
_COMBINED = re.compile(r"diff --(?:cc|combined) (.+)$")
_SUBMODULE = re.compile(
    r"Submodule (?P<path>.+) (?:"
    r"(?P<old>[0-9a-f]{4,64})\.{2,3}(?P<new>[0-9a-f]{4,64})(?P<how>.*)"
    r"|contains (?P<dirt>untracked|modified) content)$"
)
_UNMERGED = re.compile(r"\* Unmerged path (.+)$")
_TWO_NAMES = re.compile(r"a/(.+) b/(.+)$")


@dataclass(slots=True)
class Header:
    """What the lines before the first hunk say; ``body`` is where the first hunk stands."""

    old_path: str | None = None
    new_path: str | None = None
    status: FileStatus = FileStatus.MODIFIED
    old_mode: str | None = None
    new_mode: str | None = None
    binary: bool = False
    ids: str = ""
    body: int = 0


def read_header(lines: Sequence[str], first_line: int) -> Header:
    """Reads the header of a ``diff --git`` section whose first line is ``lines[0]``.

    ``first_line`` is that line's 1-based number in the input, for messages. Raises
    :class:`DiffError` where the names cannot be told.
    """
    header = Header(body=len(lines))
    source = target = ""
    named = False  # by lines of a rename or a copy, which hold whole names without prefixes
    for at in range(1, len(lines)):
        line = lines[at]
        if line.startswith("@@"):
            header.body = at
            break
        key, _, value = line.partition(" ")
        if key == "---" and value and not source:
            source = header_name(value)
        elif key == "+++" and value and not target:
            target = header_name(value)
        elif key == "index":
            _read_index(header, line)
        elif key in {"old", "new", "deleted"}:
            _read_mode(header, line)
        elif line.startswith(("rename from ", "copy from ")):
            header.status = FileStatus.RENAMED if key == "rename" else FileStatus.COPIED
            header.old_path, named = unquote(line.partition(" from ")[2]), True
        elif line.startswith(("rename to ", "copy to ")):
            header.new_path, named = unquote(line.partition(" to ")[2]), True
        elif line.startswith("Binary files ") or line == "GIT binary patch":
            header.binary = True
            break
    if source and target and header.body == len(lines) and not header.binary:
        raise DiffError(
            "no hunk follows the --- and +++ lines",
            line=first_line,
            hint="the diff was cut or edited: make it again with git diff",
        )
    if not named:
        _name(header, lines[0].removeprefix("diff --git "), source, target, first_line)
    if header.status is FileStatus.ADDED or source == DEV_NULL:
        header.status, header.old_path = FileStatus.ADDED, None
    elif header.status is FileStatus.REMOVED or target == DEV_NULL:
        header.status, header.new_path = FileStatus.REMOVED, None
    if header.old_path is None and header.new_path is None:
        raise DiffError("no file name in this header", line=first_line)
    return header


def _read_index(header: Header, line: str) -> None:
    match = _INDEX.match(line)
    if match:
        header.ids = f"{match[1][:12]}..{match[2][:12]}"
        if match[3]:
            header.old_mode = header.old_mode or match[3]
            header.new_mode = header.new_mode or match[3]


def _read_mode(header: Header, line: str) -> None:
    what, _, mode = line.rpartition(" ")
    if what == "old mode":
        header.old_mode = mode
    elif what == "new mode":
        header.new_mode = mode
    elif what == "new file mode":
        header.status, header.new_mode = FileStatus.ADDED, mode
    elif what == "deleted file mode":
        header.status, header.old_mode = FileStatus.REMOVED, mode


def _name(header: Header, rest: str, source: str, target: str, first_line: int) -> None:
    """Names from the ``diff --git`` line, else from the ``---`` and ``+++`` lines."""
    names: tuple[str | None, str | None] | None = split_names(rest)
    if names is None and source and target:
        names = strip_prefixes(source, target)
    if names is None:
        two = _TWO_NAMES.match(rest)
        if two is None:
            raise DiffError(
                "cannot tell the two file names apart",
                line=first_line,
                hint="make the diff with git's own prefixes a/ and b/",
            )
        names = two[1], two[2]
    header.old_path, header.new_path = names


def read_combined(lines: Sequence[str]) -> ChangedFile | None:
    """A file of a merge's combined diff: named, not read. ``None`` if the line is none."""
    match = _COMBINED.match(lines[0])
    if not match:
        return None
    path = unquote(match[1])
    status = FileStatus.MODIFIED
    for line in lines[1:]:
        if line.startswith("@@@"):
            break
        if line.startswith("new file mode "):
            status = FileStatus.ADDED
        elif line.startswith("deleted file mode "):
            status = FileStatus.REMOVED
    return ChangedFile(
        old_path=None if status is FileStatus.ADDED else path,
        new_path=None if status is FileStatus.REMOVED else path,
        status=status,
        coverage=Coverage.PATCH_MISSING,
        note="a combined diff of a merge has several bases: give the diff against one parent",
    )


def read_submodule(line: str) -> ChangedFile | None:
    """A submodule as ``--submodule=log`` and ``--submodule=diff`` write it."""
    match = _SUBMODULE.match(line)
    if not match:
        return None
    path, old, new = match["path"], match["old"] or "", match["new"] or ""
    how = match["how"] or ""
    added = bool(old) and not old.strip("0")
    removed = bool(new) and not new.strip("0")
    if match["dirt"]:
        note = f"its own folder has {match['dirt']} content"
    else:
        note = submodule_note(None if added else old, None if removed else new)
        note += " (rewound)" if "(rewind)" in how else ""
    return ChangedFile(
        old_path=None if added else path,
        new_path=None if removed else path,
        status=FileStatus.ADDED
        if added
        else FileStatus.REMOVED
        if removed
        else FileStatus.MODIFIED,
        coverage=Coverage.SUBMODULE,
        note=note,
        old_mode=None if added else GITLINK,
        new_mode=None if removed else GITLINK,
    )


def submodule_note(old: str | None, new: str | None) -> str:
    """What a person is told of a gitlink: the two commits, shortened."""
    if old is None:
        return f"submodule added at {(new or '')[:12]}"
    if new is None:
        return f"submodule removed, was at {old[:12]}"
    return f"submodule moved from {old[:12]} to {new[:12]}"


def read_unmerged(line: str) -> ChangedFile | None:
    """A path with an unresolved conflict, for which git writes one line and no diff."""
    match = _UNMERGED.match(line)
    if not match:
        return None
    path = unquote(match[1])
    return ChangedFile(
        old_path=path,
        new_path=path,
        status=FileStatus.MODIFIED,
        coverage=Coverage.PATCH_MISSING,
        note=UNMERGED,
    )
