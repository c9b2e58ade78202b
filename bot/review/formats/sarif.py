"""SARIF 2.1.0 (OASIS Standard, errata 01): one log with one run.

Every distinct origin is a rule; a comment is a result with its region (section 3.30: a region
without columns is whole lines, the last one's line ending left out), the fingerprint by which it
is known again, and its suggestion as a fix. What was not read, and what could not be done, are
notifications of the invocation, so that an empty list of results is not taken for a clean file.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from bot.diff.names import encode
from bot.review.formats.remarks import TOOL, Remark, plain, remarks, unread, version_of_tool
from bot.review.types import ReviewResult
from models.review_types import Severity

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
LEVEL = {Severity.INFO: "note", Severity.WARNING: "warning", Severity.ERROR: "error"}
_RANK = (Severity.INFO, Severity.WARNING, Severity.ERROR)
_ROOT = "%SRCROOT%"
_FINGERPRINT = "marginaliaRemark/v1"
_NOT_READ, _NOTE = "not-read", "note"


def to_sarif(result: ReviewResult) -> str:
    """The review as a SARIF log with a final line feed."""
    found = remarks(result)
    rules = _rules(found)
    at = {rule["id"]: index for index, rule in enumerate(rules)}
    run = {
        "tool": {
            "driver": {
                "name": TOOL,
                "version": version_of_tool(),
                "rules": rules,
                "notifications": [
                    _described(_NOT_READ, "A file of the change was not read, or not all of it."),
                    _described(_NOTE, "Something could not be done in this review."),
                ],
            }
        },
        "invocations": [
            {"executionSuccessful": True, "toolExecutionNotifications": _notifications(result)}
        ],
        "automationDetails": {"id": f"{TOOL}/"},
        "results": [_result(one, at[one.rule]) for one in found],
        "properties": {
            "repository": plain(result.change.repo),
            "base": plain(result.change.base),
            "head": plain(result.change.head),
            "signature": plain(result.review.signature),
        },
    }
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=2) + "\n"


def _rules(found: Sequence[Remark]) -> list[dict[str, Any]]:
    rules: dict[str, dict[str, Any]] = {}
    worst: dict[str, Severity] = {}
    for one in found:
        tool, _, name = one.rule.partition(":")
        text = f"{name} of {tool}" if name else one.rule
        rule = rules.setdefault(one.rule, _described(one.rule, text))
        if one.url:
            rule["helpUri"] = one.url
        before = worst.get(one.rule, Severity.INFO)
        worst[one.rule] = max(before, one.severity, key=_RANK.index)
        rule["defaultConfiguration"] = {"level": LEVEL[worst[one.rule]]}
    return list(rules.values())


def _described(name: str, text: str) -> dict[str, Any]:
    return {"id": name, "shortDescription": {"text": text}}


def _result(one: Remark, rule: int) -> dict[str, Any]:
    score, candidate = one.judged.score, one.judged.candidate
    physical: dict[str, Any] = {"artifactLocation": _artifact(one.path)}
    region: dict[str, Any] | None = None
    if one.start is not None and one.end is not None:
        region = {"startLine": one.start, "endLine": one.end}
        physical["region"] = region
    result: dict[str, Any] = {
        "ruleId": one.rule,
        "ruleIndex": rule,
        "level": LEVEL[one.severity],
        "message": {"text": one.text},
        "locations": [{"physicalLocation": physical}],
        "properties": {
            "kind": candidate.kind.value,
            "confidence": candidate.confidence,
            "scores": {
                "con": score.con,
                "comp": score.comp,
                "rel": score.rel,
                "judge": score.judge,
            },
        },
    }
    if one.judged.fingerprint:
        result["partialFingerprints"] = {_FINGERPRINT: one.judged.fingerprint}
    replacement = candidate.replacement
    if one.fix is not None and replacement is not None:
        deleted = {"startLine": replacement.start_line, "endLine": replacement.end_line}
        change = {
            "artifactLocation": _artifact(one.path),
            "replacements": [{"deletedRegion": deleted, "insertedContent": {"text": one.fix}}],
        }
        result["fixes"] = [{"description": {"text": one.text}, "artifactChanges": [change]}]
    return result


def _notifications(result: ReviewResult) -> list[dict[str, Any]]:
    files = [
        {
            "descriptor": {"id": _NOT_READ},
            "level": "note",
            "message": {"text": plain(reason)},
            "locations": [{"physicalLocation": {"artifactLocation": _artifact(path)}}],
        }
        for path, reason in unread(result)
    ]
    notes = [
        {"descriptor": {"id": _NOTE}, "level": "warning", "message": {"text": plain(note)}}
        for note in result.notes
    ]
    return [*files, *notes]


def _artifact(path: str) -> dict[str, str]:
    # percent-encoded bytes: a name that is no UTF-8 is still the file's name
    return {"uri": quote(encode(path)), "uriBaseId": _ROOT}
