"""GitHub Actions workflows by zizmor: ways for strangers to run code or to read secrets.

Always offline, never with the repository's configuration; ``# zizmor: ignore[...]`` comments are
honoured.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from models.analyzers.base import AnalyzerFailure, CommandAnalyzer, Work
from models.review_types import Finding, Severity

_SEVERITIES = {
    "High": Severity.ERROR,
    "Medium": Severity.WARNING,
    "Low": Severity.INFO,
    "Informational": Severity.INFO,
}
MESSAGES = {
    "template-injection": "Text from outside is put into this script and runs as code; "
    "pass it through `env:`.",
    "dangerous-triggers": "Strangers can set this off, and it runs with secrets; "
    "run none of their code or text here, or use `pull_request`.",
    "excessive-permissions": "Nothing limits the token here; set `permissions:` to what is needed.",
    "artipacked": "The token stays in the checkout's folder; set `persist-credentials: false`.",
    "unpinned-uses": "The tag of this action can be moved; pin it to a commit hash.",
    "hardcoded-container-credentials": "A password stands in the file; use a secret.",
    "insecure-commands": "Insecure commands let any output set variables; remove this setting.",
    "github-env": "What is written here becomes environment of later steps; "
    "don't let outside text in.",
    "cache-poisoning": "A poisoned cache could end up in this release; turn the cache off here.",
    "secrets-inherit": "All secrets are passed on; name the ones that are needed.",
    "overprovisioned-secrets": "All secrets are exposed here; name the ones that are needed.",
    "bot-conditions": "An actor's name can be spoofed; check the author of the event instead.",
    "self-hosted-runner": "A stranger's pull request may run on your own machine.",
    "unredacted-secrets": "A part of a secret is not masked in logs; store it on its own.",
    "use-trusted-publishing": "A token that lives long is used; prefer trusted publishing.",
    "unsound-condition": "This condition is always true; mend its expression.",
    "unsound-contains": "`contains` on a text matches parts of names; pass a list.",
    "ref-confusion": "The name is both a branch and a tag; use a commit hash.",
    "impostor-commit": "The commit is not in the named repository.",
    "known-vulnerable-actions": "This version of the action has a known vulnerability; update it.",
}
"""The audits that are reported, in our words; the others are left out."""
_PERMISSIONS = "excessive-permissions"
_TOO_MUCH = "The token may do more than is needed here; name the permissions that are needed."
_BROAD = re.compile(r"(?P<given>\S+: write) is overly broad")
_GITHUBS_OWN = re.compile(r"""(?:uses:\s*)?["']?(?:actions|github)/""")
"""Who could move these tags can do anything to a run anyway; no team pins them first."""


class Zizmor(CommandAnalyzer):
    """Adapter of ``zizmor --offline --format json-v1``."""

    name: ClassVar[str] = "zizmor"
    globs: ClassVar[tuple[str, ...]] = (
        ".github/workflows/*.yml",
        ".github/workflows/*.yaml",
        "action.yml",
        "action.yaml",
    )
    how_to_get: ClassVar[str] = "pip install zizmor"

    def run(self, work: Work) -> list[Finding]:
        """Findings of all files; see ``Analyzer.run``."""
        command: list[str | Path] = [self.executable, "--offline", "--no-config", "--no-progress"]
        command += ["--quiet", "--no-exit-codes", "--format=json-v1", "--collect=all", "--"]
        findings: list[Finding] = []
        for batch in work.batches():
            output = work.execute([*command, *batch], ok=(0, 1, 2, 3))
            if output.code and b"no inputs collected" in output.stderr:
                work.notes.append("no file is a workflow or action that it can read")
                continue
            if output.code:
                raise AnalyzerFailure(f"zizmor: exit status {output.code}", findings)
            for row in json.loads(output.stdout):
                # of low confidence is what holds only if a later step does something that none does
                unsure = row["determinations"]["confidence"] == "Low"
                if not row["ignored"] and not unsure and row["ident"] in MESSAGES:
                    findings += _findings(row, work)
        return _once(findings)

    def measures_definition(self, rule: str) -> bool:
        """A job is reported for what its whole workflow lacks or gives."""
        return rule == _PERMISSIONS

    def worsened(self, head: Finding, bases: Sequence[Finding]) -> Finding | None:
        """``None`` where it held of the workflow before: a new job beside others is no cause."""
        return None if any(one.message == head.message for one in bases) else head


def _once(findings: Sequence[Finding]) -> list[Finding]:
    """``findings`` with what a workflow lacks told at its first job alone: one line mends all."""
    told: set[tuple[str, str]] = set()
    kept: list[Finding] = []
    for one in sorted(findings, key=lambda found: (found.path, found.line)):
        if one.rule == _PERMISSIONS:
            if (one.path, one.message) in told:
                continue
            told.add((one.path, one.message))
        kept.append(one)
    return kept


def _message(ident: str, annotation: str) -> str:
    """Our words; of permissions whether none are set, or which are given too widely."""
    if ident != _PERMISSIONS or "no permissions" in annotation:
        return MESSAGES[ident]
    broad = _BROAD.match(annotation)
    if broad is None:
        return _TOO_MUCH
    return f"`{broad['given']}` holds for every job here; give it only to the one that needs it."


def _findings(row: dict[str, Any], work: Work) -> list[Finding]:
    """One finding for each primary place."""
    found: list[Finding] = []
    for place in row["locations"]:
        if place["symbolic"]["kind"] != "Primary":
            continue
        if row["ident"] == "unpinned-uses" and _GITHUBS_OWN.match(place["concrete"]["feature"]):
            continue
        span = place["concrete"]["location"]
        line, end_line = span["start_point"]["row"] + 1, span["end_point"]["row"] + 1
        if span["end_point"]["column"] == 0 and end_line > line:
            end_line -= 1
        found.append(
            Finding(
                analyzer="zizmor",
                rule=row["ident"],
                path=work.relative(place["symbolic"]["key"]["Local"]["verbatim_path"]),
                line=line,
                end_line=end_line,
                message=_message(row["ident"], place["symbolic"]["annotation"]),
                severity=_severity(row),
                url=row["url"],
            )
        )
    return found


def _severity(row: dict[str, Any]) -> Severity:
    """Its own; a tag that could be moved is a risk and no hole, as long as nobody moves it."""
    if row["ident"] == "unpinned-uses":
        return Severity.WARNING
    return _SEVERITIES.get(row["determinations"]["severity"], Severity.WARNING)
