"""A first look at a whole repository: its files at one commit, read as if they were all new.

Nothing is diffed: a tree's listing and its blobs make the change, so that a limit is kept before
anything large is read. Source code comes first, the rest after it, each in the order of names.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bot.diff import Attributes, GitRepository, classify
from bot.diff.git_process import Git, users_settings
from bot.diff.names import decode
from bot.review.types import Progress
from models.change import Change, ChangedFile, Coverage, FileStatus, Hunk, Line, LineKind
from models.syntax import language_of, language_row

MAX_FILES = 200
MAX_LINES = 20_000
_LINK, _SUBMODULE = "120000", "160000"
# how many of git's first bytes tell a binary file from text (git's own rule)
_SNIFF = 8000
_LARGE = "over 32 MiB, or not in this clone"


@dataclass(frozen=True, slots=True)
class _Entry:
    """One line of ``git ls-tree -r``."""

    path: str
    mode: str


class WholeSources:
    """The texts of a whole look: everything at the head, and no base.

    The one exception is ``.gitattributes``, which the pipeline takes from the base so that an
    author cannot hide what they change; here nobody changes anything, and the tree's own counts.
    """

    def __init__(self, repository: GitRepository, commit: str) -> None:
        self._repository = repository
        self._commit = commit

    def base(self, path: str) -> bytes | None:
        """Nothing, but for the tree's own attributes."""
        return self.head(path) if path == ".gitattributes" else None

    def head(self, path: str) -> bytes | None:
        """The file at the commit."""
        return self._repository.blob(self._commit, path)


def whole_change(
    repository: GitRepository,
    rev: str = "HEAD",
    *,
    max_files: int = MAX_FILES,
    max_lines: int = MAX_LINES,
    progress: Progress = lambda stage, done, total: None,
) -> tuple[Change, WholeSources]:
    """Every tracked file at ``rev`` as an added file, at most so many files and lines read.

    A file past a limit is there without hunks (``ignored``), the one that the limit of lines
    cuts has its first lines (``clipped``), and both say so in ``note``; generated, vendored,
    binary and undecodable files do not count. Raises :class:`bot.diff.GitError` where ``rev``
    names no commit.
    """
    commit = repository.resolve(rev)
    sources = WholeSources(repository, commit)
    attributes = Attributes(sources.base(".gitattributes") or b"")
    entries = list(_listed(repository.path, commit))
    reader = _Reader(max_files, max_lines, attributes, sources)
    files: dict[str, ChangedFile] = {}
    first = sorted(entries, key=lambda entry: language_row(language_of(entry.path)) is None)
    for index, entry in enumerate(first):
        progress("listing", index, len(first))
        files[entry.path] = reader.read(entry)
    ordered = tuple(files[entry.path] for entry in entries)
    return Change(repository.name, "", commit, ordered), sources


def _listed(folder: Path, commit: str) -> Iterator[_Entry]:
    git = Git(folder)
    git.trust(users_settings("safe.directory"))
    for line in git.run("ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0")[:-1]:
        fields, _, path = line.partition(b"\t")
        yield _Entry(decode(path), fields.split()[0].decode("ascii"))


class _Reader:
    """Makes files of entries until the limits are reached."""

    def __init__(
        self, max_files: int, max_lines: int, attributes: Attributes, sources: WholeSources
    ) -> None:
        self._max_files = max_files
        self._max_lines = max_lines
        self._files = max_files
        self._lines = max_lines
        self._attributes = attributes
        self._sources = sources

    def read(self, entry: _Entry) -> ChangedFile:
        if entry.mode == _SUBMODULE:
            return _unread(entry, Coverage.SUBMODULE, "")
        if entry.mode == _LINK:
            return _unread(entry, Coverage.IGNORED, "a symbolic link")
        known = self._by_name(entry.path)
        if known is not None:
            return _unread(entry, *known)
        if self._files <= 0:
            note = f"past the limit of {self._max_files} files: --all-limit reads more"
            return _unread(entry, Coverage.IGNORED, note)
        if self._lines <= 0:
            return _unread(entry, Coverage.IGNORED, f"past the limit of {self._max_lines} lines")
        text = self._sources.head(entry.path)
        if text is None:
            return _unread(entry, Coverage.IGNORED, _LARGE)
        coverage = self._judge(entry.path, text)
        if coverage is Coverage.BINARY:
            return _unread(entry, coverage, "binary content")
        if coverage is not Coverage.REVIEWED:
            # the pipeline says the reason, since it judges the same bytes by the same rules
            return _unread(entry, Coverage.REVIEWED, "")
        self._files -= 1
        return self._added(entry, text)

    def _by_name(self, path: str) -> tuple[Coverage, str] | None:
        """What is left out before its bytes are read; the pipeline gives the reason."""
        generated = self._attributes.value(path, "generated")
        vendored = self._attributes.value(path, "vendored")
        coverage = classify(path, None)
        out = (
            generated
            or vendored
            or (coverage is Coverage.GENERATED and generated is None)
            or (coverage is Coverage.IGNORED and vendored is None)
        )
        return (Coverage.REVIEWED, "") if out else None

    def _judge(self, path: str, text: bytes) -> Coverage:
        coverage = classify(path, text)
        what = {Coverage.GENERATED: "generated", Coverage.IGNORED: "vendored"}.get(coverage)
        if what is None or self._attributes.value(path, what) is not False:
            return coverage
        # the attributes overrule the name, and a name was all that was looked at
        return Coverage.BINARY if b"\0" in text[:_SNIFF] else Coverage.REVIEWED

    def _added(self, entry: _Entry, text: bytes) -> ChangedFile:
        parts = decode(text).split("\n")
        open_end = parts[-1] != ""
        if not open_end:
            parts.pop()
        shown = parts[: self._lines]
        self._lines -= len(shown)
        cut = len(shown) < len(parts)
        lines = tuple(
            Line(LineKind.ADDED, None, number, line, open_end and number == len(parts))
            for number, line in enumerate(shown, 1)
        )
        hunks = (Hunk(0, 0, 1, len(lines), lines),) if lines else ()
        note = "" if lines else "an empty file"
        if cut:
            note = f"only its first {len(shown)} lines: the limit is {self._max_lines} in all"
        return ChangedFile(
            None,
            entry.path,
            FileStatus.ADDED,
            hunks,
            Coverage.CLIPPED if cut else Coverage.REVIEWED,
            note,
            new_mode=entry.mode,
        )


def _unread(entry: _Entry, coverage: Coverage, note: str) -> ChangedFile:
    return ChangedFile(None, entry.path, FileStatus.ADDED, (), coverage, note, new_mode=entry.mode)
