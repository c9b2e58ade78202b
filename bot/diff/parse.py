"""A ``Change`` from the bytes of ``git diff`` (or of any unified diff).

The input is cut at lines that only a file's header begins with; git's headers are read in
``bot.diff.headers``, the hunks by unidiff in ``bot.diff.hunks``. Lines end at a line feed and
nowhere else: a carriage return, a form feed or U+2028 is content.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

from bot.diff.errors import DiffError
from bot.diff.headers import (
    GITLINK,
    SYMLINK,
    UNMERGED,
    Header,
    read_combined,
    read_header,
    read_submodule,
    read_unmerged,
    submodule_note,
)
from bot.diff.hunks import PlainFile, read_files
from bot.diff.names import DEV_NULL, decode, is_utf8, shown, strip_prefixes, unquote
from models.change import Change, ChangedFile, Coverage, FileStatus, Hunk, LineKind

_STARTS = ("diff --git ", "diff --cc ", "diff --combined ", "Submodule ", "* Unmerged path ")
_GITLINK_LINE = re.compile(r"Subproject commit ([0-9a-f]{40,64})(?:-dirty)?$")
# GNU diff -N gives a file that is not there the time 0
_EPOCH = re.compile(r"(?:1970-01-01|1969-12-31) ")
_MAKE = "make it with git diff, and give its output unchanged"


def parse_diff(data: bytes, *, repo: str = "", base: str = "", head: str = "") -> Change:
    """The change that a unified diff describes, with a coverage state for every file.

    ``data`` is what ``git diff``, ``git show`` or ``diff -u`` printed; no bytes, or blanks
    only, are a change of no files. ``repo``, ``base`` and ``head`` go into the ``Change`` as
    they are. Content that is no UTF-8 is kept (``surrogateescape``) and its file is covered
    ``undecodable``. Raises :class:`DiffError` for what is no diff, for a damaged one, and for
    one that shows a file twice (a log of several commits).
    """
    text = _text(data)
    clean = is_utf8(text)
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    starts = [at for at, line in enumerate(lines) if line.startswith(_STARTS)]
    bounds = [*starts, len(lines)] if starts and not starts[0] else [0, *starts, len(lines)]
    settled: dict[str, ChangedFile] = {}
    modules: list[str] = []
    for begin, end in pairwise(bounds):
        for file in _section(lines[begin:end], begin + 1):
            if lines[begin].startswith("Submodule "):
                modules.append(f"{file.path}/")
            elif file.path.startswith(tuple(modules)):
                # --submodule=diff shows the inside of a submodule as if it were here
                inner = Coverage.SUBMODULE
                file = replace(file, hunks=(), coverage=inner, note="a file of a submodule")
            _settle(settled, file if clean else mark_undecodable(file))
    if not settled and any(line.strip() for line in lines):
        _refuse(lines)
    return Change(repo, base, head, tuple(settled.values()))


def _text(data: bytes) -> str:
    """The input as text; refuses what a shell or an editor made of a diff."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise DiffError(
            "the diff is UTF-16, as PowerShell's > writes it",
            line=1,
            hint="write it with git diff --output=FILE",
        )
    return decode(data.removeprefix(b"\xef\xbb\xbf"))


def _refuse(lines: Sequence[str]) -> None:
    """Says why text with no file in it is no diff."""
    for number, line in enumerate(lines, 1):
        if line.startswith("\x1b["):
            raise DiffError(
                "the diff holds colour codes", line=number, hint="use git diff --no-color"
            )
        if line.startswith("@@ -"):
            raise DiffError(
                "a hunk without a file header before it",
                line=number,
                hint="keep the --- and +++ lines",
            )
    first = next(at for at, line in enumerate(lines, 1) if line.strip())
    raise DiffError("this is no diff", line=first, hint=_MAKE)


def _section(lines: list[str], first_line: int) -> Iterable[ChangedFile]:
    """The files of one stretch of the input; its first line is ``first_line`` of the whole."""
    if not lines:
        return []
    if _is_crlf(lines):
        lines = [line.removesuffix("\r") for line in lines]
    start = lines[0]
    if start.startswith("diff --git "):
        return _git_section(lines, first_line)
    if start.startswith("diff --c"):
        combined = read_combined(lines)
        return [combined] if combined else []
    one = read_submodule(start) or read_unmerged(start)
    return [one] if one else _plain_section(lines, first_line)


def _is_crlf(lines: Sequence[str]) -> bool:
    """Whether something turned every line end of the diff itself into CRLF.

    git never ends a header line with a carriage return (a name that does is quoted), so one
    there was put in by a mail program, an editor or a shell; one return a line is theirs.
    """
    if lines[0].startswith(_STARTS):
        return lines[0].endswith("\r")
    heads = [line for line in lines if line.startswith("--- ")]
    return bool(heads) and heads[0].endswith("\r")


def _git_section(lines: list[str], first_line: int) -> list[ChangedFile]:
    header = read_header(lines, first_line)
    if header.binary or header.body >= len(lines):
        return [_from_header(header, ())]
    found = read_files(lines[header.body :], first_line=first_line + header.body, headless=True)
    return [_from_header(header, found[0].hunks), *_plain(found[1:])]


def _from_header(header: Header, hunks: tuple[Hunk, ...]) -> ChangedFile:
    file = ChangedFile(
        old_path=header.old_path,
        new_path=header.new_path,
        status=header.status,
        hunks=hunks,
        old_mode=header.old_mode,
        new_mode=header.new_mode,
    )
    if header.binary:
        return replace(file, coverage=Coverage.BINARY, note=header.ids)
    return covered(file)


def _plain_section(lines: list[str], first_line: int) -> list[ChangedFile]:
    """Files without git's header; text before the first of them is a mail's or a commit's."""
    for at, line in enumerate(lines):
        if line.startswith("--- ") and lines[at + 1 : at + 2] and lines[at + 1].startswith("+++ "):
            break
        if line.startswith("Binary files ") and line.endswith(" differ"):
            break
    else:
        return []
    found = read_files(lines[at:], first_line=first_line + at, headless=False)
    return _plain(found)


def _plain(found: Iterable[PlainFile]) -> list[ChangedFile]:
    # a pair of lines that only look like names (in a commit's message, say) has nothing behind it
    return [_from_plain(file) for file in found if file.hunks or file.binary]


def _from_plain(file: PlainFile) -> ChangedFile:
    source, target = unquote(file.source), unquote(file.target)
    old, new = strip_prefixes(source, target)
    first = file.hunks[0] if len(file.hunks) == 1 else None
    if first and _EPOCH.match(file.source_time or "") and not first.old_count:
        old = None
    elif first and _EPOCH.match(file.target_time or "") and not first.new_count:
        new = None
    if old is None and new is None:
        raise DiffError(f"both names of a file are {DEV_NULL}", hint=_MAKE)
    status = FileStatus.MODIFIED
    if old is None:
        status = FileStatus.ADDED
    elif new is None:
        status = FileStatus.REMOVED
    changed = ChangedFile(old_path=old, new_path=new, status=status, hunks=file.hunks)
    if file.binary:
        return replace(changed, coverage=Coverage.BINARY)
    return covered(changed)


def covered(file: ChangedFile) -> ChangedFile:
    """The file with the coverage that its own patch shows; a patch with hunks is given.

    Decides submodule, symbolic link and mode only; ``mark_undecodable`` looks at the lines, and
    what the path or the blob say besides is ``bot.diff.coverage``'s.
    """
    gitlink = _gitlink(file)
    if gitlink is not None:
        return replace(file, hunks=(), coverage=Coverage.SUBMODULE, note=submodule_note(*gitlink))
    if SYMLINK in (file.new_mode, file.old_mode if file.new_path is None else None):
        return replace(file, coverage=Coverage.IGNORED, note="a symbolic link, no code")
    if not is_utf8(file.path):
        return replace(
            file, coverage=Coverage.UNDECODABLE, note=f"the name is no UTF-8: {shown(file.path)}"
        )
    return file if file.hunks else _without_hunks(file)


def _without_hunks(file: ChangedFile) -> ChangedFile:
    """A file whose content did not change, or that has none: all of it is read."""
    if file.status in {FileStatus.ADDED, FileStatus.REMOVED}:
        return replace(file, note="an empty file")
    if file.status in {FileStatus.RENAMED, FileStatus.COPIED}:
        return replace(file, note=f"{file.status.value} without a change")
    if file.old_mode != file.new_mode:
        note = f"mode {file.old_mode} became {file.new_mode}"
        return replace(file, coverage=Coverage.MODE_ONLY, note=note)
    return replace(file, note="nothing in it changed")


def mark_undecodable(file: ChangedFile) -> ChangedFile:
    """The file, covered ``undecodable`` where a line that would be read is no UTF-8."""
    if file.coverage is not Coverage.REVIEWED:
        return file
    bad = sum(not is_utf8(line.text) for hunk in file.hunks for line in hunk.lines)
    if not bad:
        return file
    note = f"{bad} {'line is' if bad == 1 else 'lines are'} no UTF-8"
    return replace(file, coverage=Coverage.UNDECODABLE, note=note)


def _gitlink(file: ChangedFile) -> tuple[str | None, str | None] | None:
    """The old and new commit of a submodule, ``None`` where the file is none.

    Without modes (GitHub's rows, other tools' diffs) the one line that git writes tells it.
    """
    commits: dict[LineKind, str] = {}
    changed = [
        line for hunk in file.hunks for line in hunk.lines if line.kind is not LineKind.CONTEXT
    ]
    if len(changed) <= 2:
        for line in changed:
            match = _GITLINK_LINE.match(line.text)
            if match:
                commits[line.kind] = match[1]
    if len(commits) == len(changed) > 0 or GITLINK in (file.old_mode, file.new_mode):
        return commits.get(LineKind.DELETED), commits.get(LineKind.ADDED)
    return None


def _settle(settled: dict[str, ChangedFile], file: ChangedFile) -> None:
    """Adds a file under its path, once: the two halves of a change of type become one."""
    known = settled.get(file.path)
    if known is None or known.note == UNMERGED:
        settled[file.path] = file
    elif file.coverage is Coverage.SUBMODULE is known.coverage:
        settled[file.path] = replace(known, note=f"{known.note}; {file.note}")
    elif known.status is FileStatus.REMOVED and file.status is FileStatus.ADDED:
        settled[file.path] = _join(known, file)
    else:
        raise DiffError(
            f"{shown(file.path)} is shown twice, as a log of several commits does",
            hint="give one diff: git diff A...B",
        )


def _join(removed: ChangedFile, added: ChangedFile) -> ChangedFile:
    """A change of type (a file became a link, say), which git writes as two files."""
    hunks = removed.hunks + added.hunks
    if len(hunks) == 2:
        old, new = hunks
        lines = old.lines + new.lines
        hunks = (Hunk(old.old_start, old.old_count, new.new_start, new.new_count, lines),)
    coverage, note = added.coverage, f"mode {removed.old_mode} became {added.new_mode}"
    if coverage is not Coverage.REVIEWED:
        note += f": {added.note}"
    elif removed.coverage is Coverage.UNDECODABLE:
        coverage, note = removed.coverage, f"{note}: {removed.note}"
    elif removed.coverage is Coverage.BINARY:
        coverage, note = Coverage.CLIPPED, f"{note}: the old side is binary"
    return ChangedFile(
        old_path=removed.old_path,
        new_path=added.new_path,
        status=FileStatus.TYPE_CHANGED,
        hunks=() if coverage is Coverage.SUBMODULE else hunks,
        coverage=coverage,
        note=note,
        old_mode=removed.old_mode,
        new_mode=added.new_mode,
    )
