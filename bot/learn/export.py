"""Reading history from a folder: JSON lines of review comments, plain or gzipped.

A line is an object with ``diff_hunk`` and ``comment``; ``repo``, ``path``, ``line``, ``side``,
``author`` (a login), ``author_name``, ``followed`` and ``at`` are read where they are there.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from bot.errors import FatalError
from bot.github.markers import is_ours
from bot.learn.people import without_people
from bot.learn.remarks import (
    Dropped,
    Remark,
    is_bot,
    is_small_talk,
    key_of,
    without_text,
)

BATCH = 200
"""Lines read between two writes."""
Place = list[Any]
"""File name and number of lines read of it."""


def files_of(folder: Path) -> list[Path]:
    """The export's files in their order; raises ``FatalError`` where there is none."""
    if folder.is_file():
        return [folder]
    found = sorted(p for p in folder.glob("*") if p.name.endswith((".jsonl", ".jsonl.gz")))
    if not found:
        raise FatalError(f"{folder}: no *.jsonl or *.jsonl.gz: give a folder with review comments")
    return found


def batches(
    folder: Path,
    after: Place | None = None,
    size: int = BATCH,
    tally: Counter[str] | None = None,
) -> Iterator[tuple[list[Remark], Place, list[str]]]:
    """Remarks worth keeping, the place behind them, and what was wrong with lines in between.

    ``after`` is the place where an earlier run stopped. ``tally`` counts the lines read:
    ``Dropped``'s values and ``kept``. Who wrote any of the lines is taken out of all texts.
    """
    files = files_of(folder)
    people = _authors(files)
    counts: Counter[str] = Counter() if tally is None else tally
    names = [path.name for path in files]
    start, done = 0, 0
    if after is not None and after[0] in names:
        start, done = names.index(str(after[0])), int(after[1])
    for path in files[start:]:
        batch: list[Remark] = []
        wrong: list[str] = []
        number = 0
        with _open(path) as handle:
            for number, text in enumerate(handle, 1):
                if number <= done:
                    continue
                try:
                    found = _remark(json.loads(text), folder.name, people)
                except (ValueError, TypeError) as error:
                    wrong.append(f"{path}:{number}: left out: {error}")
                    found = Dropped.UNREADABLE
                if isinstance(found, Remark):
                    batch.append(found)
                    counts["kept" if found.comment else Dropped.NOT_FOLLOWED] += 1
                else:
                    counts[found] += 1
                if number % size == 0:
                    yield batch, [path.name, number], wrong
                    batch, wrong = [], []
        if batch or wrong or number % size:
            yield batch, [path.name, number], wrong
        done = 0


def _open(path: Path) -> TextIO:
    if path.name.endswith(".gz"):
        return gzip.open(path, "rt", encoding="utf-8", errors="replace")
    return path.open("r", encoding="utf-8", errors="replace")


def _authors(files: list[Path]) -> tuple[set[str], set[str]]:
    """Logins and names of all who wrote a line; a line that cannot be read names nobody."""
    logins: set[str] = set()
    names: set[str] = set()
    for path in files:
        with _open(path) as handle:
            for text in handle:
                if '"author' not in text:
                    continue
                try:
                    row = json.loads(text)
                except ValueError:
                    continue
                if isinstance(row, dict):
                    logins.add(str(row.get("author") or ""))
                    names.add(str(row.get("author_name") or ""))
    return logins, names


def _remark(row: Any, name: str, people: tuple[set[str], set[str]]) -> Remark | Dropped:
    if not isinstance(row, dict):
        raise ValueError("not a JSON object")
    hunk, said = row.get("diff_hunk"), row.get("comment")
    if not isinstance(hunk, str) or not isinstance(said, str):
        raise ValueError("diff_hunk and comment must be text")
    if is_bot(str(row.get("author") or "")):
        return Dropped.BOT
    if is_ours(said):
        return Dropped.OURS
    comment = without_people(said, *people)
    if is_small_talk(comment):
        return Dropped.SMALL_TALK
    if not hunk.strip():
        return Dropped.NO_LINES
    repository = str(row.get("repo") or name)
    line = row.get("line")
    made = Remark(
        key=key_of(row.get("path"), line, row.get("side"), hunk, comment),
        repository=repository,
        path=str(row.get("path") or ""),
        line=line if isinstance(line, int) else None,
        side=str(row.get("side") or "RIGHT"),
        diff_hunk=hunk,
        comment=comment,
        followed=row["followed"] if isinstance(row.get("followed"), bool) else None,
        at=float(row.get("at") or 0.0),
    )
    return without_text(made) if made.followed is False else made
