"""``marginalia suggest``: the revision that a comment on lines of a file asks for, as a diff."""

from __future__ import annotations

import difflib
import json
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from bot.errors import FatalError

if TYPE_CHECKING:
    from bot.review.answer import Question, Reply
    from models.change import Change

_PLACE = re.compile(r"(?P<path>.+):(?P<start>[1-9]\d{0,8})(?:-(?P<end>[1-9]\d{0,8}))?", re.S)
MAX_BYTES = 8 * 1024 * 1024
_NO_END = "\\ No newline at end of file"


@dataclass(frozen=True, slots=True)
class _OneFile:
    """A file as it is now, with nothing known of what it was."""

    path: str
    text: bytes

    def base(self, path: str) -> bytes | None:
        return None

    def head(self, path: str) -> bytes | None:
        return self.text if path == self.path else None


def suggest(
    place: Annotated[
        str,
        typer.Argument(metavar="FILE:LINE[-LINE]", help="The lines that the comment is about."),
    ],
    comment: Annotated[
        str, typer.Argument(metavar="COMMENT", help="What a reviewer says of them.")
    ],
    sure: Annotated[
        float,
        typer.Option(min=0, max=1, help="How sure to be; at 0 only the safety gate stands."),
    ] = 0.5,
    no_model: Annotated[
        bool, typer.Option("--no-model", help="Only what the comment spells out itself.")
    ] = False,
    model: Annotated[
        str | None, typer.Option(help="Folder or Hub id of a model; default: the shipped ones.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print the revision that a comment asks for, as a diff for `git apply`.

    It is what `/marginalia suggest` answers in a pull request's thread. The file is not changed.
    Exit codes: 0 a revision is printed, 1 there is none to propose (why is said on standard
    error), 2 wrong input.
    """
    from bot.review.answer import Question, answer
    from bot.review.local import answerers, load_generator
    from bot.review.types import ReviewOptions
    from models.generators.base import GeneratorError
    from models.systems.base import SystemFault

    match = _PLACE.fullmatch(place)
    if match is None:
        raise FatalError(f"{place}: no place: write FILE:LINE or FILE:FIRST-LAST, lines from 1")
    start, end = int(match["start"]), int(match["end"] or match["start"])
    if end < start:
        raise FatalError(f"{place}: its last line is before its first")
    text = _read(match["path"])
    name = os.path.relpath(match["path"])
    count = len(text.decode("utf-8", "surrogateescape").removesuffix("\n").split("\n"))
    if end > count:
        lines = "line" if count == 1 else "lines"
        raise FatalError(f"{place}: the file has {count} {lines}")
    question = Question(name, start, end, comment)
    try:
        reply = answer(
            question,
            _change(name, text),
            _OneFile(name, text),
            answerers(None if no_model else load_generator(model)),
            ReviewOptions(sure=sure),
        )
    except (GeneratorError, SystemFault) as error:  # weights are read when they are asked for
        raise FatalError(str(error)) from error
    if as_json:
        sys.stdout.write(json.dumps(_document(question, reply), ensure_ascii=False) + "\n")
    if reply.judged is None:
        sys.stderr.write(f"marginalia: nothing to propose: {reply.silence}\n")
        raise typer.Exit(1)
    if not as_json:
        sys.stdout.flush()
        # the file's own bytes, which need be no UTF-8
        sys.stdout.buffer.write(
            "".join(_diff(name, text, reply)).encode("utf-8", "surrogateescape")
        )
        sys.stderr.write(f"marginalia: {reply.grounds}\n")


def _read(name: str) -> bytes:
    from bot.review.local import read_file

    text = read_file(name, MAX_BYTES)
    if len(text) > MAX_BYTES:
        raise FatalError(f"{name}: larger than {MAX_BYTES >> 20} MiB, which nobody reviews")
    if b"\0" in text:
        raise FatalError(f"{name}: a binary file has no lines to revise")
    return text


def _change(name: str, text: bytes) -> Change:
    """The file as if all of it were new: a revision may change any of its lines."""
    from models.change import Change, ChangedFile, FileStatus, Hunk, Line, LineKind

    shown = text.decode("utf-8", "surrogateescape").removesuffix("\n").split("\n")
    lines = tuple(Line(LineKind.ADDED, None, i, line) for i, line in enumerate(shown, 1))
    hunk = Hunk(0, 0, 1, len(lines), lines)
    return Change("", "", "", (ChangedFile(None, name, FileStatus.ADDED, (hunk,)),))


def _diff(name: str, text: bytes, reply: Reply) -> Iterator[str]:
    """A diff that git and patch apply, in the file's own line ends."""
    from bot.review.safety import revised

    judged = reply.judged
    replacement = None if judged is None else judged.candidate.replacement
    after = None if replacement is None else revised(text, [replacement])
    old, new = _ended_lines(text), _ended_lines(text if after is None else after)
    yield from difflib.unified_diff(old, new, f"a/{name}", f"b/{name}")


def _ended_lines(text: bytes) -> list[str]:
    """Lines as a diff writes them, each with its line feed."""
    *lines, rest = text.decode("utf-8", "surrogateescape").split("\n")
    ended = [f"{line}\n" for line in lines]
    # what stands after the last line feed is a line without its end, or nothing
    return [*ended, f"{rest}\n{_NO_END}\n"] if rest else ended


def _document(question: Question, reply: Reply) -> dict[str, object]:
    asked = {"path": question.path, "start_line": question.start_line, "line": question.line}
    if reply.judged is None or reply.judged.candidate.replacement is None:
        return {"asked": asked, "revision": None, "silence": reply.silence}
    judged, replacement = reply.judged, reply.judged.candidate.replacement
    return {
        "asked": asked,
        "revision": {
            "start_line": replacement.start_line,
            "line": replacement.end_line,
            "lines": list(replacement.lines),
            "origin": judged.candidate.origin,
            "confidence": judged.candidate.confidence,
            "sure": judged.sure,
        },
        "silence": "",
    }
