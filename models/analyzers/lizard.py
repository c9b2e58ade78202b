"""Cyclomatic complexity by lizard: a function is reported when a change makes it worse.

``#lizard forgives`` comments are honoured.
"""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import ClassVar

from models.analyzers.base import CommandAnalyzer, Work
from models.review_types import Finding, Severity

LIMIT = 15
"""McCabe's own limit is 10; most tools warn from 15, where fewer people disagree."""
NOTABLE_RISE = 3
"""By how much a function over the limit must rise before it is worth another word."""
RULE = "complexity"
_ENDINGS = "py js jsx mjs cjs ts tsx java go c h cc cpp cxx hpp hh cs rb php kt scala rs swift lua"
_MESSAGE = re.compile(r"^`(?P<name>.+)` has a cyclomatic complexity of (?P<value>\d+)")


class Lizard(CommandAnalyzer):
    """Adapter of ``lizard --csv``."""

    name: ClassVar[str] = "lizard"
    globs: ClassVar[tuple[str, ...]] = tuple(f"*.{ending}" for ending in _ENDINGS.split(" "))
    how_to_get: ClassVar[str] = "pip install lizard"

    def run(self, work: Work) -> list[Finding]:
        """Functions over ``LIMIT``; see ``Analyzer.run``."""
        findings: list[Finding] = []
        for batch in work.batches():
            command: list[str | Path] = [self.executable, "--csv", "--no-gitignore", *batch]
            output = work.execute(command)
            for row in csv.reader(io.StringIO(output.stdout.decode("utf-8", "replace"))):
                value, path, name = int(row[1]), work.relative(row[6]), row[7]
                if value > LIMIT:
                    findings.append(_finding(path, name, value, int(row[9]), int(row[10])))
        return findings

    def measures_definition(self, rule: str) -> bool:
        """Complexity stands on the function's first line and comes from its body."""
        return rule == RULE

    def worsened(self, head: Finding, base: Finding) -> bool | None:
        """Whether the function of both findings became notably more complex."""
        new, old = _MESSAGE.match(head.message), _MESSAGE.match(base.message)
        if new is None or old is None or new["name"] != old["name"]:
            return None
        return int(new["value"]) >= int(old["value"]) + NOTABLE_RISE


def _finding(path: str, name: str, value: int, line: int, end_line: int) -> Finding:
    return Finding(
        analyzer="lizard",
        rule=RULE,
        path=path,
        line=line,
        end_line=end_line,
        message=f"`{name}` has a cyclomatic complexity of {value} (over {LIMIT}); "
        "move a part of it to a function of its own.",
        severity=Severity.INFO,
    )
