"""From hunks to pseudo-references: reads both sides, gathers sentences, ranks and caps them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache

from models.change import Hunk
from models.crscore.claims import (
    changes,
    declared,
    imports,
    layout,
    lines,
    overview,
    statements,
)
from models.crscore.claims.reading import Reading
from models.crscore.claims.wording import Said
from models.hunk_text import parse_hunks
from models.review_types import PseudoReference, ReferenceKind
from models.syntax import guess_language, language_row
from models.syntax.definitions import definition_nodes
from models.syntax.fragment import Fragment, read_fragments
from models.syntax.grammar import errors, parse

LIMIT = 12
# Larger files are not parsed for a hunk's sake; the hunk is then read on its own.
_FILE_BYTES = 400_000
_HUNK_LINES = 3_000
_LINE_CHARS = 20_000

_MAKERS: tuple[Callable[[Reading], None], ...] = (
    imports.claims,
    declared.claims,
    changes.claims,
    statements.claims,
    layout.claims,
    overview.claims,
)


def _side(hunk: Hunk, new: bool) -> str:
    return "\n".join(line.text for line in (hunk.after if new else hunk.before))


@lru_cache(maxsize=8)
def _file(source: bytes, language: str) -> Fragment | None:
    """A file's tree; kept for a while, since all hunks of the file ask for it."""
    row = language_row(language)
    if row is None:
        return None
    tree = parse(source, row.name)
    return Fragment(
        row, tree, 0, source.count(b"\n") + 1, errors(tree), tuple(definition_nodes(tree, row))
    )


def _whole(source: bytes | None, hunk: Hunk, new: bool, language: str) -> Fragment | None:
    """A whole file's tree, where the file is there, matches the hunk and is not too large."""
    row = language_row(language)
    count, start = (hunk.new_count, hunk.new_start) if new else (hunk.old_count, hunk.old_start)
    if source is None or row is None or len(source) > _FILE_BYTES:
        return None
    text = source.split(b"\n")
    wanted = _side(hunk, new).encode("utf-8", "surrogateescape").split(b"\n")
    if count and text[start - 1 : start - 1 + count] != wanted:
        return None
    return _file(source, row.name)


def _readable(hunk: Hunk) -> bool:
    return len(hunk.lines) <= _HUNK_LINES and all(
        len(line.text) <= _LINE_CHARS for line in hunk.lines
    )


def _read(hunk: Hunk, language: str, before: bytes | None, after: bytes | None) -> Reading | None:
    if language_row(language) is None or not _readable(hunk):
        return None
    old = _whole(before, hunk, False, language)
    new = _whole(after, hunk, True, language)
    # A side that is empty needs no file.
    if (old is not None or not hunk.old_count) and (new is not None or not hunk.new_count):
        empty = read_fragments(("",), language)
        if empty is None:
            return None
        return Reading.of(
            hunk,
            old or empty[0],
            new or empty[0],
            hunk.old_start - 1 if old else 0,
            hunk.new_start - 1 if new else 0,
        )
    pieces = read_fragments((_side(hunk, False), _side(hunk, True)), language)
    if pieces is None:
        return None
    broken = sum(piece.errors for piece in pieces)
    if broken > 4 + sum(piece.lines for piece in pieces) // 4:
        return None
    return Reading.of(hunk, pieces[0], pieces[1])


def _said(
    hunk: Hunk, language: str, before: bytes | None = None, after: bytes | None = None
) -> list[Said]:
    if not hunk.added and not hunk.deleted:
        return []
    reading = _read(hunk, language, before, after)
    if reading is None:
        return lines.claims(hunk)
    for make in _MAKERS:
        make(reading)
    return reading.said or lines.claims(hunk)


def _rank(said: Iterable[Said]) -> list[Said]:
    """Each sentence once, most important first; among equals in the order of the change."""
    found: dict[str, Said] = {}
    for one in said:
        kept = found.get(one.text)
        if kept is None or one.weight > kept.weight:
            found[one.text] = one
    return sorted(found.values(), key=lambda one: -one.weight)[:LIMIT]


def _references(said: Iterable[Said], path: str) -> tuple[PseudoReference, ...]:
    return tuple(
        PseudoReference(ReferenceKind.CLAIM, one.text, one.lines, "syntax", path)
        for one in _rank(said)
    )


def claims_of_hunk(
    hunk: Hunk,
    language: str,
    path: str = "",
    before: bytes | None = None,
    after: bytes | None = None,
) -> tuple[PseudoReference, ...]:
    """Claims about one hunk, most important first, at most ``LIMIT``, each once.

    ``language`` is a name or alias of ``models.syntax``; any other is read line by line.
    ``before`` and ``after`` are the whole file's bytes on the two sides, where known: then the
    names of the functions and types around the hunk are read off the file. Any text is accepted;
    a hunk that changes nothing has no claims.
    """
    return _references(_said(hunk, language, before, after), path)


def claims_of_diff(diff: str, language: str = "") -> tuple[PseudoReference, ...]:
    """Claims about bare hunk text (see ``models.hunk_text``), at most ``LIMIT`` in all.

    ``language`` is a hint ("py", "java", "js", or any name of ``models.syntax``): data sets name
    a language that the text is not always in, so it is checked by content.
    """
    row = language_row(language) if language else None
    hunks = parse_hunks(diff)
    content = "\n".join(line.text for hunk in hunks for line in hunk.lines)
    name = guess_language(content, row.name if row else "")
    said: list[Said] = []
    for hunk in hunks:
        said += _said(hunk, name)
    return _references(said, "")
