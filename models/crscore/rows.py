"""Grading many reviews from JSON lines, in constant memory.

A row is ``{"diff": text, "review": text}`` with optional ``"claims"`` (a list of texts) and
``"lang"``; whatever else it holds is kept. Out comes the row with ``con``, ``comp``, ``rel``,
``judge`` (``null`` where none was asked) and ``signature``. Where smells of whole files are asked
for, ``"files"`` holds the new files' texts by path.
"""

from __future__ import annotations

import gzip
import io
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, BinaryIO, cast

from models.crscore.file_smells import FileSmells, SmellsError, check_files
from models.crscore.judge import Judge, row_of
from models.crscore.score import CRScore, given_references, read_references
from models.review_types import PseudoReference

CHUNK = 256
OUTPUT = ("con", "comp", "rel", "judge", "signature")


class RowError(ValueError):
    """A line that cannot be graded; the message names the file and the line."""


def open_lines(path: str, mode: str, standard: BinaryIO) -> AbstractContextManager[BinaryIO]:
    """A binary file, gzipped where its name ends in .gz; ``-`` is the standard stream."""
    if path == "-":
        return nullcontext(standard)
    if path.endswith(".gz"):
        # a fixed time and no name in the header: equal rows give equal files
        if "w" in mode:
            return cast(BinaryIO, _GzipOut(Path(path)))
        return cast(BinaryIO, gzip.open(path, mode))
    return cast(BinaryIO, Path(path).open(mode))


class _GzipOut(gzip.GzipFile):
    def __init__(self, path: Path) -> None:
        self._raw = path.open("wb")
        super().__init__(filename="", mode="wb", fileobj=self._raw, mtime=0)

    def close(self) -> None:
        super().close()
        self._raw.close()


def read_rows(
    lines: Iterable[bytes],
    name: str,
    broken: Callable[[RowError], None] | None = None,
    files: bool = False,
) -> Iterator[dict[str, Any]]:
    """Rows of a stream, checked; blank lines are passed over.

    ``broken`` is told of each line that is no row, and reading goes on (after the end of a cut
    gzip file nothing can be read: it is told of that once). Without it the first such line
    raises ``RowError``. With ``files`` a row's ``files`` are checked too.
    """
    number = 0
    stream = iter(lines)
    while True:
        try:
            line = next(stream, None)
            if line is None:
                return
            number += 1
            if not line.strip():
                continue
            row = _row(line, f"{name}, line {number}")
            if files:
                check_files(row, f"{name}, line {number}")
        except (RowError, SmellsError) as error:
            fault = error if isinstance(error, RowError) else RowError(str(error))
            if broken is None:
                raise fault from error
            broken(fault)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            cut = RowError(f"{name}, after line {number}: not a whole gzip file ({error})")
            if broken is None:
                raise cut from error
            broken(cut)
            return
        else:
            yield row


def _no_number(_: str) -> None:
    """``NaN`` and ``Infinity``, which other programs write for "none" and JSON does not have."""
    return


def _row(line: bytes, where: str) -> dict[str, Any]:
    try:
        row = json.loads(line, parse_constant=_no_number)
    except UnicodeDecodeError as error:
        raise RowError(f"{where}: not UTF-8 ({error.reason} at byte {error.start})") from error
    except (json.JSONDecodeError, RecursionError) as error:
        raise RowError(f"{where}: not JSON ({error})") from error
    if not isinstance(row, dict):
        raise RowError(f'{where}: not an object; a row is {{"diff": ..., "review": ...}}')
    for key in ("diff", "review"):
        if not isinstance(row.get(key), str):
            raise RowError(f"{where}: {key!r} must be a text")
    claims = row.get("claims")
    if claims is not None and not (
        isinstance(claims, list) and all(isinstance(claim, str) for claim in claims)
    ):
        raise RowError(f"{where}: 'claims' must be a list of texts (leave it out to read them off)")
    for text in (row["diff"], row["review"], *(claims or ())):
        # JSON can spell half of a surrogate pair, which is no text that an encoder can read
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise RowError(f"{where}: half of a surrogate pair in a text") from error
    return row


Reader = Callable[[Sequence[tuple[str, str]]], Sequence[Sequence[PseudoReference]]]
"""Pseudo-references of each of several (diff, language)."""


def read_each(changes: Sequence[tuple[str, str]]) -> list[tuple[PseudoReference, ...]]:
    """A ``Reader`` of what can be read off the changes themselves."""
    return [tuple(read_references(diff, language)) for diff, language in changes]


def score_rows(
    rows: Iterable[dict[str, Any]],
    scorer: CRScore,
    judge: Judge | None,
    reader: Reader = read_each,
    smells: FileSmells | None = None,
) -> Iterator[dict[str, Any]]:
    """The rows with their scores, in order, ``CHUNK`` at a time.

    ``reader`` makes the pseudo-references of rows that bring no claims of their own; ``smells``
    adds those of the rows' files.
    """
    chunk: list[dict[str, Any]] = []
    for row in rows:
        chunk.append(row)
        if len(chunk) == CHUNK:
            yield from _score_chunk(chunk, scorer, judge, reader, smells)
            chunk = []
    if chunk:
        yield from _score_chunk(chunk, scorer, judge, reader, smells)


def _score_chunk(
    chunk: list[dict[str, Any]],
    scorer: CRScore,
    judge: Judge | None,
    reader: Reader,
    smells: FileSmells | None,
) -> Iterator[dict[str, Any]]:
    changes = list(dict.fromkeys(_change(row) for row in chunk if row.get("claims") is None))
    read = dict(zip(changes, reader(changes), strict=True))
    references = [
        (
            *(read[_change(row)] if row.get("claims") is None else given_references(row["claims"])),
            *(smells.of(row) if smells is not None else ()),
        )
        for row in chunk
    ]
    scores = scorer.score_reference_batch(
        [(row["review"], given) for row, given in zip(chunk, references, strict=True)]
    )
    probabilities: list[float | None] = [None] * len(chunk)
    if judge is not None:
        judged = judge.judge(
            [
                row_of(row["diff"], row["review"], given)
                for row, given in zip(chunk, references, strict=True)
            ]
        )
        probabilities = [judgement.probability for judgement in judged]
    for row, score, probability in zip(chunk, scores, probabilities, strict=True):
        signature = score.signature + (f"|{judge.signature}" if judge is not None else "")
        yield {
            **row,
            "con": score.con,
            "comp": score.comp,
            "rel": score.rel,
            "judge": probability,
            "signature": signature,
        }


def _change(row: dict[str, Any]) -> tuple[str, str]:
    """The row's diff and language; "" where that is to be found out."""
    return row["diff"], row["lang"] if isinstance(row.get("lang"), str) else ""


def write_row(out: BinaryIO | io.BufferedIOBase, row: dict[str, Any]) -> None:
    """One row as a line of JSON in UTF-8; a field with half a surrogate pair is escaped."""
    try:
        line = json.dumps(row, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        line = json.dumps(row).encode()
    out.write(line + b"\n")
