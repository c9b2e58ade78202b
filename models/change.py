"""The change under review, as plain values: lines, hunks, files.

Everything that reads or writes a diff speaks these types. They hold no I/O, so both packages can
use them; readers that make them from bytes, from git and from GitHub's answers live in
``bot.diff``. The lenient reader for bare hunk text (data sets, ``marginalia score``) is
``models.hunk_text``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum


class LineKind(StrEnum):
    """Which sides of a diff a line stands on."""

    CONTEXT = "context"
    ADDED = "added"
    DELETED = "deleted"


class Side(StrEnum):
    """GitHub's name for a side of a diff: LEFT is the base, RIGHT the head."""

    LEFT = "LEFT"
    RIGHT = "RIGHT"


class FileStatus(StrEnum):
    """What happened to a file, in GitHub's words."""

    ADDED = "added"
    MODIFIED = "modified"
    REMOVED = "removed"
    RENAMED = "renamed"
    COPIED = "copied"
    TYPE_CHANGED = "changed"


class Coverage(StrEnum):
    """How much of a changed file was read; every file of a change has exactly one.

    ``REVIEWED`` all of it; ``CLIPPED`` a part (a limit was reached, ``note`` says which); the
    rest were not read, for the reason in the name.
    """

    REVIEWED = "reviewed"
    CLIPPED = "clipped"
    PATCH_MISSING = "patch-missing"
    BINARY = "binary"
    SUBMODULE = "submodule"
    MODE_ONLY = "mode-only"
    GENERATED = "generated"
    IGNORED = "ignored"
    UNDECODABLE = "undecodable"


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a hunk.

    ``text`` has no line feed; a carriage return before it is kept (it is content: see
    ``no_newline`` for the other half of byte exactness). ``old_no`` and ``new_no`` are 1-based
    line numbers on the two sides, ``None`` on the side where the line does not stand.
    """

    kind: LineKind
    old_no: int | None
    new_no: int | None
    text: str
    no_newline: bool = False


@dataclass(frozen=True, slots=True)
class Hunk:
    """A run of changed lines with its context.

    Starts and counts are those of the ``@@`` line (an omitted count is 1; a side with count 0
    has the number of the line before the gap as its start, as git writes it). ``section`` is the
    text after the second ``@@``.
    """

    old_start: int
    old_count: int
    new_start: int
    new_count: int
    lines: tuple[Line, ...]
    section: str = ""

    @property
    def before(self) -> tuple[Line, ...]:
        """The lines of the old side, in order."""
        return tuple(line for line in self.lines if line.kind is not LineKind.ADDED)

    @property
    def after(self) -> tuple[Line, ...]:
        """The lines of the new side, in order."""
        return tuple(line for line in self.lines if line.kind is not LineKind.DELETED)

    @property
    def added(self) -> tuple[Line, ...]:
        """Only the added lines."""
        return tuple(line for line in self.lines if line.kind is LineKind.ADDED)

    @property
    def deleted(self) -> tuple[Line, ...]:
        """Only the deleted lines."""
        return tuple(line for line in self.lines if line.kind is LineKind.DELETED)

    @property
    def header(self) -> str:
        """The ``@@`` line in git's long form, with both counts."""
        tail = f" {self.section}" if self.section else ""
        return f"@@ -{self.old_start},{self.old_count} +{self.new_start},{self.new_count} @@{tail}"

    def text(self) -> str:
        """The hunk as unified diff text, header included, each line closed by a line feed."""
        sign = {LineKind.CONTEXT: " ", LineKind.ADDED: "+", LineKind.DELETED: "-"}
        rows = [self.header]
        for line in self.lines:
            rows.append(sign[line.kind] + line.text)
            if line.no_newline:
                rows.append("\\ No newline at end of file")
        return "\n".join(rows) + "\n"


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """One file of a change.

    ``old_path`` is ``None`` for an added file and ``new_path`` for a removed one. ``encoding`` is
    what the patch bytes were decoded with (``surrogateescape`` keeps bytes that were not UTF-8,
    so that nothing is lost). ``old_mode``/``new_mode`` are git's octal modes where known.
    """

    old_path: str | None
    new_path: str | None
    status: FileStatus
    hunks: tuple[Hunk, ...] = ()
    coverage: Coverage = Coverage.REVIEWED
    note: str = ""
    old_mode: str | None = None
    new_mode: str | None = None

    @property
    def path(self) -> str:
        """The path to speak of: the new one, or the old one of a removed file."""
        path = self.new_path if self.new_path is not None else self.old_path
        if path is None:
            raise ValueError("a changed file needs at least one path")
        return path

    def line_at(self, side: Side, number: int) -> Line | None:
        """The diff's line with this number on this side, or ``None`` where no hunk shows it."""
        for hunk in self.hunks:
            for line in hunk.lines:
                if (line.old_no if side is Side.LEFT else line.new_no) == number:
                    return line
        return None


@dataclass(frozen=True, slots=True)
class Change:
    """What one review is about: everything between the merge base and the head.

    ``repo`` names the repository for people (``owner/name`` or a folder's name); ``base`` is the
    merge base's and ``head`` the head's commit id, or empty where the change came as a bare diff.
    """

    repo: str
    base: str
    head: str
    files: tuple[ChangedFile, ...] = field(default=())

    def __iter__(self) -> Iterator[ChangedFile]:
        return iter(self.files)

    def file(self, path: str) -> ChangedFile | None:
        """The file with this (new, or removed old) path."""
        return next((file for file in self.files if file.path == path), None)
