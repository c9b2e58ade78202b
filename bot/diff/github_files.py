"""A ``Change`` from GitHub's "List pull requests files" rows, with what each row leaves out.

GitHub sends hunks without headers, no modes, and no patch at all for binary files, for a change
of mode and for a file whose patch is too large (one very long line is enough); past about 20,000
lines of patch on one page the rows come without counts too. It lists 3,000 files at most.
"""

from __future__ import annotations

import mimetypes
from collections.abc import Iterable, Mapping

from bot.diff.errors import DiffError
from bot.diff.hunks import read_files
from bot.diff.names import shown
from bot.diff.parse import covered, mark_undecodable
from models.change import Change, ChangedFile, Coverage, FileStatus, Hunk

MAX_FILES = 3000

_STATUS = {
    "added": FileStatus.ADDED,
    "removed": FileStatus.REMOVED,
    "modified": FileStatus.MODIFIED,
    "renamed": FileStatus.RENAMED,
    "copied": FileStatus.COPIED,
    "changed": FileStatus.TYPE_CHANGED,
    "unchanged": FileStatus.MODIFIED,
}
# the ids of a blob of no bytes, by SHA-1 and by SHA-256
_EMPTY = {
    "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
    "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
}
_BINARY_KINDS = ("image/", "audio/", "video/", "font/")
_BINARY_TYPES = {"application/pdf", "application/zip", "application/gzip", "application/x-tar"}
# GitHub puts this in the place of bytes that are no UTF-8
_REPLACEMENT = "\ufffd"


def change_from_files(
    rows: Iterable[Mapping[str, object]], *, repo: str = "", base: str = "", head: str = ""
) -> Change:
    """The change that a pull request's file rows describe, in their order.

    ``rows`` are the decoded JSON objects of all pages; ``base`` should be the merge base, to
    which GitHub's patches refer. A row without a patch, or with a damaged one, costs that file
    alone, and its coverage says why. Raises :class:`DiffError` for a row that is no file's.
    """
    return Change(repo, base, head, tuple(_file(row, at) for at, row in enumerate(rows, 1)))


def _file(row: Mapping[str, object], number: int) -> ChangedFile:
    name, status_name = row.get("filename"), row.get("status", "modified")
    if not isinstance(name, str) or not name or not isinstance(status_name, str):
        raise DiffError(
            f"row {number} of the files list names no file",
            hint='each row needs "filename" and "status"',
        )
    status = _STATUS.get(status_name, FileStatus.MODIFIED)
    previous = row.get("previous_filename")
    old: str | None = previous if isinstance(previous, str) and previous else name
    file = ChangedFile(
        old_path=None if status is FileStatus.ADDED else old,
        new_path=None if status is FileStatus.REMOVED else name,
        status=status,
    )
    patch = row.get("patch")
    if isinstance(patch, str) and patch:
        return _with_patch(file, patch)
    coverage, note = _without_patch(row, file)
    return _with(file, (), coverage, note)


def _with(file: ChangedFile, hunks: tuple[Hunk, ...], coverage: Coverage, note: str) -> ChangedFile:
    return ChangedFile(file.old_path, file.new_path, file.status, hunks, coverage, note)


def _with_patch(file: ChangedFile, patch: str) -> ChangedFile:
    lines = patch.split("\n")
    if not lines[-1]:
        lines.pop()
    damage = ""
    try:
        hunks = read_files(lines, first_line=1, headless=True)[0].hunks
    except DiffError as error:
        hunks, damage = _whole_hunks(lines), str(error).partition(";")[0]
    if damage or not hunks:
        coverage = Coverage.CLIPPED if hunks else Coverage.PATCH_MISSING
        return _with(file, hunks, coverage, f"GitHub's patch is damaged: {damage or 'no hunks'}")
    if any(_REPLACEMENT in line.text for hunk in hunks for line in hunk.lines):
        return _with(
            file, hunks, Coverage.UNDECODABLE, "GitHub replaced bytes that may be no UTF-8"
        )
    # JSON can hold half of a surrogate pair, which no one can print
    return mark_undecodable(covered(_with(file, hunks, Coverage.REVIEWED, "")))


def _whole_hunks(lines: list[str]) -> tuple[Hunk, ...]:
    """The hunks before the damage."""
    starts = [at for at, line in enumerate(lines) if line.startswith("@@ -")]
    for end in reversed(starts[1:]):
        try:
            return read_files(lines[:end], first_line=1, headless=True)[0].hunks
        except DiffError:
            continue
    return ()


def _without_patch(row: Mapping[str, object], file: ChangedFile) -> tuple[Coverage, str]:
    """Why GitHub sent no patch, as far as the row tells."""
    added, deleted = _count(row, "additions"), _count(row, "deletions")
    if added or deleted:
        # the diff was counted, so the file is text and only too large to be shown
        return Coverage.PATCH_MISSING, (
            f"too large for GitHub to show (+{added} -{deleted} lines, maybe very long ones)"
        )
    if file.status in {FileStatus.RENAMED, FileStatus.COPIED}:
        return Coverage.REVIEWED, f"{file.status.value} without a change"
    if row.get("sha") in _EMPTY and file.status in {FileStatus.ADDED, FileStatus.REMOVED}:
        return Coverage.REVIEWED, "an empty file"
    if row.get("status") == "unchanged":
        return Coverage.REVIEWED, "nothing in it changed"
    kind = mimetypes.guess_type(shown(file.path))[0] or ""
    binary = kind.startswith(_BINARY_KINDS) and kind != "image/svg+xml"
    if binary or kind in _BINARY_TYPES:
        return Coverage.BINARY, f"no patch, and its name says {kind}"
    return Coverage.PATCH_MISSING, (
        "GitHub sent neither patch nor counts: a binary file, a change of mode, or past the "
        "limit of one page (ask for smaller pages)"
    )


def _count(row: Mapping[str, object], key: str) -> int:
    value = row.get(key)
    return value if isinstance(value, int) else 0
