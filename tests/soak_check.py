"""What must hold of every review of a real history, from its JSON and git alone.

The checks share no code with the program but the parsers of ``models.syntax``: hunks are git's,
suggestions are put into git's blobs by a few lines of their own.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

import bot
from models.syntax import error_count, language_of, language_row
from tests.soak_histories import GitFile, Step, Unreadable, blob_at_head, hunks_of

FIXED = ("path", "side", "start_line", "line", "body", "kind", "suggestion", "scores", "signature")
"""The fields of a comment that other programs rely on."""


@cache
def validator() -> Draft202012Validator:
    """The published JSON Schema of a review."""
    path = Path(bot.__file__).parent / "schemas" / "review.schema.json"
    return Draft202012Validator(json.loads(path.read_text("utf-8")))


def shown(path: str) -> str:
    """A path as JSON must show it: bytes that are no UTF-8 become U+FFFD."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def form_faults(document: Mapping[str, Any]) -> Iterator[str]:
    """Where a document is not of the fixed form (``review --json --explain``)."""
    for error in validator().iter_errors(document):
        yield f"{error.json_path}: {error.message[:200]}"
    for key in ("coverage", "comments", "candidates"):
        if key not in document:
            yield f"no {key!r}"
    for index, entry in enumerate(document.get("coverage", ())):
        if not {"path", "status"} <= set(entry):
            yield f"coverage[{index}] lacks path or status"
    rows = [("comments", one) for one in document.get("comments", ())]
    rows += [("candidates", one) for one in document.get("candidates", ())]
    for name, row in rows:
        missing = [key for key in FIXED if key not in row]
        if missing:
            yield f"{name}: no {', '.join(missing)}"
        elif row["line"] is None:
            yield f"{name}: line is null, and none of ours is about a whole file"
        elif not {"con", "comp", "rel"} <= set(row["scores"]):
            yield f"{name}: scores lack con, comp or rel"
        if name == "candidates" and not {"verdict", "reason"} <= set(row):
            yield "candidates: no verdict or reason"


def coverage_faults(document: Mapping[str, Any], files: Sequence[GitFile]) -> Iterator[str]:
    """Where the coverage and git's list of changed files differ."""
    listed = Counter(entry["path"] for entry in document["coverage"])
    changed = Counter(shown(file.path) for file in files)
    for path in sorted(set(listed) | set(changed)):
        if listed[path] != changed[path]:
            yield f"{path!r}: {changed[path]} times in git's list, {listed[path]} in the coverage"
    by_path = {entry["path"]: entry["status"] for entry in document["coverage"]}
    for file in files:
        if "mode only" in file.kinds and by_path.get(shown(file.path)) == "reviewed":
            yield f"{file.path!r}: only its mode changed, but the coverage says reviewed"


def comment_faults(
    document: Mapping[str, Any], step: Step, files: Sequence[GitFile]
) -> Iterator[str]:
    """Comments outside their hunk, and suggestions that do damage, alone or all together."""
    by_path = {shown(file.path): file for file in files}
    together: dict[str, list[Mapping[str, Any]]] = {}
    for comment in document["comments"]:
        where = f"{comment['path']}:{comment['line']} ({comment['origin']})"
        file = by_path.get(comment["path"])
        if file is None:
            yield f"{where}: the file is not in the change"
            continue
        side = 0 if comment["side"] == "LEFT" else 1
        wanted = range(comment["start_line"], comment["line"] + 1)
        if not any(
            pair[side] and wanted[0] in pair[side] and wanted[-1] in pair[side]
            for pair in hunks_of(step, file)
        ):
            yield f"{where}: outside its hunk"
        if comment["suggestion"] is None:
            continue
        if side == 0:
            yield f"{where}: a suggestion for removed lines"
        together.setdefault(file.path, []).append(comment)
        yield from _damage(where, step, file, [comment])
    for path, comments in together.items():
        if len(comments) > 1:
            file = by_path[shown(path)]
            yield from _damage(f"{path} (all suggestions)", step, file, comments)


def _damage(
    where: str, step: Step, file: GitFile, comments: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    try:
        head = blob_at_head(step, file.path)
    except Unreadable as error:
        yield f"{where}: a suggestion for a file that cannot be read: {error}"
        return
    yield from damage(where, file.path, head, comments)


def damage(
    where: str, path: str, head: bytes, comments: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    """What the suggestions, put into the head's bytes, would do wrong."""
    lines = head.split(b"\n")
    spans = sorted((one["start_line"], one["line"], one["suggestion"]) for one in comments)
    last = len(lines) - (lines[-1] == b"")
    for (_, end, _), (start, _, _) in pairwise(spans):
        if start <= end:
            yield f"{where}: suggestions overlap in line {start}"
            return
    for start, end, text in reversed(spans):
        if not 1 <= start <= end <= last:
            yield f"{where}: does not apply: the head has {last} lines"
            return
        ending = b"\r" if lines[start - 1].endswith(b"\r") else b""
        new = [row.removesuffix("\r").encode("utf-8") + ending for row in text.split("\n")]
        lines[start - 1 : end] = new
    after = b"\n".join(lines)
    if after == head:
        yield f"{where}: changes nothing"
    language = language_of(path)
    if language_row(language) is None:
        yield f"{where}: no parser vouches for {language or 'this language'}"
        return
    was, now = error_count(head, language), error_count(after, language)
    if now > was:
        yield f"{where}: {now} parse errors instead of {was}"
