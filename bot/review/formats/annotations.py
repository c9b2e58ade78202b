"""GitHub's workflow commands: each comment as an annotation of a workflow's run.

``::warning file=NAME,line=N,endLine=N,title=T::MESSAGE`` (GitHub Docs, "Workflow commands for
GitHub Actions"). ``%``, CR and LF are percent-encoded, and in properties ``:`` and ``,`` too, so
that reviewed text can neither end its annotation nor begin a command. GitHub shows ten
annotations of a level from one step.
"""

from __future__ import annotations

from bot.review.formats.remarks import TOOL, Remark, plain, remarks, unread
from bot.review.types import ReviewResult
from models.review_types import Severity

_COMMAND = {Severity.INFO: "notice", Severity.WARNING: "warning", Severity.ERROR: "error"}
_NAMED = 20
"""Unread files that the closing notice names; the rest is counted."""


def to_annotations(result: ReviewResult) -> str:
    """One command a line: the comments, then one notice of what was not read or done."""
    lines = [_annotation(one) for one in remarks(result)]
    left = [f"{path} ({reason})" for path, reason in unread(result)]
    said = []
    if left:
        more = f", and {len(left) - _NAMED} more" if len(left) > _NAMED else ""
        said.append("Not read, or not all of it: " + ", ".join(left[:_NAMED]) + more)
    said += result.notes
    if said:
        closing = data("\n".join(said))
        lines.append(f"::notice title={TOOL}::{closing}")
    return "".join(line + "\n" for line in lines)


def _annotation(one: Remark) -> str:
    properties = {"file": one.path}
    if one.start is not None and one.end is not None:
        properties |= {"line": str(one.start), "endLine": str(one.end)}
    properties["title"] = one.rule
    listed = ",".join(f"{key}={value_of(value)}" for key, value in properties.items())
    text = one.text if one.fix is None else f"{one.text}\nSuggested:\n{one.fix}"
    return f"::{_COMMAND[one.severity]} {listed}::{data(text)}"


def data(text: str) -> str:
    """Text as a command's message."""
    return plain(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def value_of(text: str) -> str:
    """Text as the value of a command's property."""
    return data(text).replace(":", "%3A").replace(",", "%2C")
