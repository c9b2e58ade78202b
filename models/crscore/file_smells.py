"""Whole-file smells for rows that bring their new files: the ``--smells`` of ``marginalia score``.

A bare hunk is too little for PMD, JSHint, pylint and radon, so a row may carry ``"files"``: the
new files' texts by path. Its smells then stand beside its claims as pseudo-references, as in the
published pipeline.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from models.analyzers.base import Analyzer
from models.change import Hunk
from models.crscore.smells import SMELL_ANALYZERS, smells_of
from models.hunk_text import parse_hunks
from models.review_types import PseudoReference

ALL = "all"
_KEPT = 1024


class SmellsError(ValueError):
    """A linter that is not known or not installed; the message says what to do, in one line."""


def chosen_analyzers(
    names: str, known: Sequence[Analyzer] = SMELL_ANALYZERS
) -> tuple[Analyzer, ...]:
    """The linters of a list like ``pylint,radon``; ``all`` takes those that are installed.

    Raises ``SmellsError`` for an unknown name, for a named linter that is absent, and where
    ``all`` finds none.
    """
    by_name = {analyzer.name.removesuffix("-quickstart"): analyzer for analyzer in known}
    asked = [name.strip() for name in names.split(",") if name.strip()]
    if asked == [ALL]:
        found = tuple(one for one in by_name.values() if one.available() is None)
        if not found:
            reasons = "; ".join(str(one.available()) for one in by_name.values())
            raise SmellsError(f"smells: no linter is installed ({reasons})")
        return found
    if not asked:
        raise SmellsError(f"smells: name some of {', '.join(by_name)}, or {ALL}")
    for name in asked:
        if name not in by_name:
            raise SmellsError(
                f"smells: {name!r} is not known; name some of {', '.join(by_name)}, or {ALL}"
            )
        missing = by_name[name].available()
        if missing is not None:
            raise SmellsError(f"smells: {missing}")
    return tuple(by_name[name] for name in dict.fromkeys(asked))


def hunks_of_files(diff: str, paths: Iterable[str]) -> dict[str, Sequence[Hunk]]:
    """A diff's hunks by path. A diff of one file needs no header; of several, each part belongs
    to the path of its ``+++`` line (without ``b/``), and parts of other files are left out."""
    names = list(paths)
    if len(names) == 1:
        return {names[0]: parse_hunks(diff)}
    parts: dict[str, list[str]] = {}
    at = ""
    rows = diff.split("\n")
    for i, row in enumerate(rows):
        if row.startswith("+++ ") and i and rows[i - 1].startswith("--- "):
            at = row[4:].split("\t")[0].strip().removeprefix("b/")
        elif not (row.startswith("--- ") and rows[i + 1 : i + 2] and rows[i + 1][:4] == "+++ "):
            parts.setdefault(at, []).append(row)
    return {name: parse_hunks("\n".join(parts[name])) for name in names if name in parts}


def check_files(row: Mapping[str, Any], where: str) -> None:
    """Raises ``SmellsError`` where a row's ``files`` are no texts by path."""
    files = row.get("files")
    if files is not None and not (
        isinstance(files, dict) and all(isinstance(text, str) for text in files.values())
    ):
        raise SmellsError(f"{where}: 'files' must be an object of new files' texts by path")


@dataclass(slots=True)
class FileSmells:
    """Smells of rows, kept by content: a change comes back with each of its reviews.

    ``tell`` gets each note (a linter that broke off, say) once; ``without`` counts rows that
    brought no files.
    """

    analyzers: tuple[Analyzer, ...]
    tell: Callable[[str], None]
    without: int = 0
    _notes: set[str] = field(default_factory=set)
    _known: dict[object, tuple[PseudoReference, ...]] = field(default_factory=dict)

    def of(self, row: Mapping[str, Any]) -> tuple[PseudoReference, ...]:
        """The smells of a row's ``files`` on its changed lines; none where it has no files."""
        check_files(row, "row")
        files: dict[str, str] = row.get("files") or {}
        if not files:
            self.without += 1
            return ()
        key = row["diff"], tuple(sorted(files.items()))
        if key not in self._known:
            if len(self._known) >= _KEPT:
                self._known.clear()
            after = {path: text.encode("utf-8", "replace") for path, text in files.items()}
            found, notes = smells_of(after, hunks_of_files(row["diff"], files), self.analyzers)
            self._known[key] = found
            for note in notes:
                if note not in self._notes:
                    self._notes.add(note)
                    self.tell(note)
        return self._known[key]
