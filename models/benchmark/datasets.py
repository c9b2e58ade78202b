"""Readers of review data sets: JSON lines, tables, and the folders in which they were published.

A path is read by what it is: a ``.jsonl`` (or ``.jsonl.gz``) file by the fields of its records, a
``.tsv`` file as T5-Review's pairs, a folder by the names of its files. Fields and layouts:

===================  ==========================================================================
Trans-Review         ``comment, code, marked_code, revised``; or ``src-*.txt, tgt-*.txt`` (one
                     encoder), ``src1-*.txt, src2-*.txt, tgt-*.txt`` (two: comment, marked code)
AutoTransform        ``before.txt, after.txt``
D-ACT                ``initial_ver.txt, approved_ver.txt``; or ``code, revised, project``
T5-Review            ``*.tsv``: source, target, with ``<technical_language>`` around a comment
CodeReviewer         ``patch, msg`` (generation), ``old, new, comment`` (refinement);
                     or ``diff, comment``
CodRep               ``Tasks/*.txt`` with ``Solutions/*.txt``; or ``before, after, old_line``
edits                ``before, after, message, repo``
GitHub comments      ``diff_hunk, comment, repo``; a suggestion block makes it a revision
===================  ==========================================================================

Answers (``revised``, ``after``, ``new``, ``target``, a comment) may be missing: such records are
predicted and not scored. Where only a hunk is given, the code is its new side. The language is the
record's ``lang``, else that of its ``path`` or ``file``, else the layout's own (Java) or what the
hunk looks like.
"""

from __future__ import annotations

import csv
import gzip
import json
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from models.benchmark.suggestions import new_side, suggested_revision
from models.syntax import guess_language, language_of, language_row
from models.tasks import END_MARK, START_MARK, Example, without_marks

Row = Mapping[str, Any]

_PLACEHOLDER = re.compile(r"\b(?:VAR|METHOD|TYPE)_\d+\b")
_PARTS = ("train", "eval", "valid", "val", "test")
_T5_COMMENT = re.compile(r"<technical_language>(.*?)</technical_language>\s*", re.DOTALL)
_T5_CODE = re.compile(r"</?code>")


class DataError(ValueError):
    """Data that cannot be read; the message is one line: what, where, what to do."""


def read_examples(path: Path, limit: int | None = None) -> list[Example]:
    """The examples at ``path`` (a file or a folder), at most ``limit``, in their order.

    Raises DataError where the path is not there, a record is broken or no layout fits.
    """
    return list(islice(iter_examples(path), limit))


def iter_examples(path: Path) -> Iterator[Example]:
    """As ``read_examples``, one at a time; the ``.gz`` of a name says that the file is gzipped."""
    if path.is_dir():
        yield from _folder(path)
    elif not path.exists():
        raise DataError(f"{path}: no such file or folder; give a data set")
    elif path.suffix == ".tsv":
        yield from _t5_pairs(path)
    else:
        yield from _json_lines(path)


def _json_lines(path: Path) -> Iterator[Example]:
    read: Callable[[str, Row], Example] | None = None
    for number, line in _lines(path):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        try:
            row = json.loads(line)
        except (json.JSONDecodeError, RecursionError) as error:
            raise DataError(f"{where}: not JSON; write one object a line") from error
        if not isinstance(row, dict):
            raise DataError(f"{where}: not an object; write one object a line")
        try:
            # JSON can spell half of a surrogate pair, which no model reads and no file holds
            json.dumps(row, ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError as error:
            raise DataError(f"{where}: half of a surrogate pair in a text") from error
        read = read or _layout(row)
        if read is None:
            fields = ", ".join(sorted(row)) or "none"
            raise DataError(
                f"{where}: no known layout has the fields {fields}; give code and revised, "
                "before and after, or diff and comment"
            )
        try:
            yield read(str(row.get("id", number)), row)
        except KeyError as error:
            raise DataError(f"{where}: the field {error} is missing") from error
        except TypeError as error:
            raise DataError(f"{where}: {error}") from error


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        with _open(path) as lines:
            yield from enumerate(lines, 1)
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or "not a whole gzip file"
        raise DataError(f"{path}: cannot be read ({reason})") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 text") from error


def _open(path: Path) -> TextIO:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="\n")
    return path.open(encoding="utf-8-sig", newline="\n")


def _layout(row: Row) -> Callable[[str, Row], Example] | None:
    """The reader for records with this one's fields."""
    for fields, read in (
        ({"patch", "msg"}, _codereviewer_generation),
        ({"old", "new", "comment"}, _codereviewer_refinement),
        ({"diff_hunk", "comment"}, _github_comment),
        ({"diff", "comment"}, _diff_comment),
        ({"before", "after"}, _before_after),
        ({"code"}, _code),
        ({"marked_code"}, _code),
        ({"source"}, _source_target),
        ({"diff"}, _diff_comment),
        ({"diff_hunk"}, _github_comment),
        ({"before"}, _before_after),
        ({"patch"}, _codereviewer_generation),
        ({"old"}, _codereviewer_refinement),
    ):
        if fields <= row.keys():
            return read
    return None


def _text(row: Row, key: str) -> str:
    value = row[key]
    if not isinstance(value, str):
        raise TypeError(f'"{key}" must be a text')
    return value


def _maybe(row: Row, key: str) -> str | None:
    return None if row.get(key) is None else _text(row, key)


def _language(row: Row, default: str) -> str:
    """The language that a record names, or its file's name does; else ``default``."""
    named = row.get("lang")
    if isinstance(named, str) and named.strip():
        plain = named.strip().lower().lstrip(".")  # CodeReviewer writes ".cs"
        known = language_row(plain)
        return known.name if known is not None else plain
    for key in ("path", "file"):
        found = language_of(row[key]) if isinstance(row.get(key), str) else ""
        if found:
            return found
    return default


def _project(row: Row) -> str:
    """The first of the fields that name a record's project; "" without one."""
    return next((str(row[key]) for key in ("repo", "project", "proj") if row.get(key)), "")


def _hunk_example(identity: str, row: Row, diff: str, comment: str | None) -> Example:
    """A hunk and what was said of it; the code is the hunk's new side."""
    code = new_side(diff)
    return Example(
        identity,
        code,
        diff=diff,
        comment=comment,
        language=_language(row, "") or guess_language(code),
        project=_project(row),
    )


def _code(identity: str, row: Row) -> Example:
    if "code" not in row and "marked_code" not in row:
        raise KeyError("code")
    code, marked = _maybe(row, "code") or "", _maybe(row, "marked_code") or ""
    abstracted = bool(_PLACEHOLDER.search(code or marked))
    if marked and not abstracted and START_MARK not in marked:
        from models.preprocess.java_lexer import with_marks

        marked = with_marks(marked)
    return Example(
        identity,
        code or without_marks(marked),
        marked,
        revised=_maybe(row, "revised"),
        comment=_maybe(row, "comment"),
        language=_language(row, "java"),
        project=_project(row),
        abstracted=abstracted,
    )


def _source_target(identity: str, row: Row) -> Example:
    return _t5_example(identity, _text(row, "source"), _maybe(row, "target"))


def _before_after(identity: str, row: Row) -> Example:
    return Example(
        identity,
        _text(row, "before"),
        revised=_maybe(row, "after"),
        comment=_maybe(row, "message"),
        language=_language(row, "java"),
        project=_project(row),
    )


def _diff_comment(identity: str, row: Row) -> Example:
    return _hunk_example(identity, row, _text(row, "diff"), _maybe(row, "comment"))


def _codereviewer_generation(identity: str, row: Row) -> Example:
    return _hunk_example(identity, row, _text(row, "patch"), _maybe(row, "msg"))


def _codereviewer_refinement(identity: str, row: Row) -> Example:
    old = _without_signs(_text(row, "old"))
    new = _maybe(row, "new")
    return Example(
        identity,
        old,
        f"{START_MARK} {old} {END_MARK}",
        revised=None if new is None else _without_signs(new),
        comment=_maybe(row, "comment"),
        language=_language(row, ""),
        project=_project(row),
    )


def _without_signs(text: str) -> str:
    """Lines that each start with their sign of the diff, without it."""
    return "\n".join(line[1:] for line in text.split("\n"))


def _github_comment(identity: str, row: Row) -> Example:
    hunk, comment = _text(row, "diff_hunk"), _maybe(row, "comment")
    found = suggested_revision(hunk, comment) if comment is not None else None
    plain = _hunk_example(identity, row, hunk, comment)
    if found is None:
        return plain
    return replace(
        plain,
        code=found.code,
        marked_code=found.marked_code,
        revised=found.revised,
        comment=found.comment,
    )


def _folder(path: Path) -> Iterator[Example]:
    if (path / "Tasks").is_dir():
        yield from _codrep(path)
        return
    for source, target in (
        ("before.txt", "after.txt"),
        ("initial_ver.txt", "approved_ver.txt"),
    ):
        if (path / source).exists():
            yield from _pairs(path / source, path / target)
            return
    for part in _PARTS:
        two, one = path / f"src1-{part}.txt", path / f"src-{part}.txt"
        if two.exists():
            yield from _triplets(two, path / f"src2-{part}.txt", path / f"tgt-{part}.txt")
            return
        if one.exists():
            yield from _pairs(one, path / f"tgt-{part}.txt")
            return
    raise DataError(
        f"{path}: no known layout; give a folder with before.txt, initial_ver.txt, src-*.txt, "
        "src1-*.txt or Tasks/, or one file"
    )


def _pairs(source: Path, target: Path) -> Iterator[Example]:
    for number, (code, revised) in enumerate(_parallel(source, target), 1):
        abstracted = bool(_PLACEHOLDER.search(code))
        yield Example(str(number), code, revised=revised, language="java", abstracted=abstracted)


def _triplets(comments: Path, codes: Path, target: Path) -> Iterator[Example]:
    for number, (comment, marked, revised) in enumerate(_parallel(comments, codes, target), 1):
        yield Example(
            str(number),
            without_marks(marked),
            marked,
            revised=revised,
            comment=comment,
            language="java",
            abstracted=bool(_PLACEHOLDER.search(marked)),
        )


def _parallel(*paths: Path) -> Iterator[tuple[str, ...]]:
    """The lines of files that belong together, side by side."""
    files = [[line.rstrip("\n") for _, line in _lines(path)] for path in paths]
    if len({len(lines) for lines in files}) > 1:
        named = zip(paths, files, strict=True)
        counts = ", ".join(f"{path.name} {len(lines)}" for path, lines in named)
        raise DataError(f"{paths[0].parent}: files of unequal length ({counts} lines)")
    return zip(*files, strict=True)


def _t5_pairs(path: Path) -> Iterator[Example]:
    lines = (line for _, line in _lines(path))
    for number, cells in enumerate(csv.reader(lines, delimiter="\t"), 1):
        if len(cells) < 2:
            raise DataError(f"{path}, line {number}: one column; write source and target")
        yield _t5_example(str(number), cells[-2], cells[-1])


def _t5_example(identity: str, source: str, target: str | None) -> Example:
    comment = _T5_COMMENT.search(source)
    body = _T5_CODE.sub("", _T5_COMMENT.sub("", source)).strip()
    marked = body if START_MARK in body else ""
    if comment is None and marked and target is not None:
        # code with marks and no comment: the comment is what is asked for
        return Example(identity, without_marks(body), marked, comment=target, language="java")
    return Example(
        identity,
        without_marks(body),
        marked,
        revised=target,
        comment=comment.group(1).strip() if comment else None,
        language="java",
    )


def _codrep(path: Path) -> Iterator[Example]:
    tasks = sorted((path / "Tasks").glob("*.txt"), key=lambda task: (len(task.name), task.name))
    for task in tasks:
        new_line, _, program = task.read_text(encoding="utf-8", errors="replace").partition("\n")
        lines = program.removeprefix("\n").split("\n")
        solution = path / "Solutions" / task.name
        try:
            number = int(solution.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise DataError(f"{solution}: no line number; each task needs its solution") from error
        if not 1 <= number <= len(lines):
            raise DataError(f"{solution}: line {number} of {len(lines)}")
        low, high = max(0, number - 11), number + 10
        before = lines[low:high]
        after = list(before)
        after[number - 1 - low] = new_line
        yield Example(task.stem, "\n".join(before), revised="\n".join(after), language="java")
