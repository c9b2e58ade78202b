"""reviewdog's diagnostic format, as ``rdjson`` (one document) and ``rdjsonl`` (one line each).

Ranges have no columns: such a range is whole lines, the last one included (proto/rdf, "Range").
A suggestion replaces whole lines by its text, which has no final line ending.
"""

from __future__ import annotations

import json
from typing import Any

from bot.review.formats.remarks import TOOL, Remark, plain, remarks
from bot.review.types import ReviewResult


def to_rdjson(result: ReviewResult) -> str:
    """The review as one ``DiagnosticResult`` with a final line feed."""
    document = {
        "source": {"name": TOOL},
        "diagnostics": [_diagnostic(one) for one in remarks(result)],
    }
    return json.dumps(document, indent=2) + "\n"


def to_rdjsonl(result: ReviewResult) -> str:
    """One ``Diagnostic`` a line; nothing at all for a review without comments."""
    lines = [json.dumps({**_diagnostic(one), "source": {"name": TOOL}}) for one in remarks(result)]
    return "".join(line + "\n" for line in lines)


def _diagnostic(one: Remark) -> dict[str, Any]:
    location: dict[str, Any] = {"path": plain(one.path)}
    if one.start is not None and one.end is not None:
        location["range"] = _range(one.start, one.end)
    code = {"value": one.rule}
    if one.url:
        code["url"] = one.url
    diagnostic: dict[str, Any] = {
        "message": one.text,
        "location": location,
        "severity": one.severity.value.upper(),
        "code": code,
    }
    replacement = one.judged.candidate.replacement
    if one.fix is not None and replacement is not None:
        span = _range(replacement.start_line, replacement.end_line)
        diagnostic["suggestions"] = [{"range": span, "text": one.fix}]
    return diagnostic


def _range(start: int, end: int) -> dict[str, dict[str, int]]:
    return {"start": {"line": start}, "end": {"line": end}}
