"""Cyclomatic complexity by lizard: a function is reported when a change makes it worse.

A ``switch`` counts once, however many cases it has (lizard's modified number): a long flat table of
cases is easy to read, and splitting it helps nobody. ``#lizard forgives`` comments are honoured.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from models.analyzers.base import CommandAnalyzer, Work
from models.review_types import Finding, Severity

LIMIT = 25
"""McCabe's own limit is 10 and most tools warn from 15; a reviewer speaks where few disagree."""
NOTABLE_RISE = 5
NOTABLE_SHARE = 0.2
"""By how much a function over the limit must rise before it is worth another word."""
RULE = "complexity"
_ENDINGS = "py js jsx mjs cjs ts tsx java go c h cc cpp cxx hpp hh cs rb php kt scala rs swift lua"
_MESSAGE = re.compile(r"^`(?P<name>.+)` has a cyclomatic complexity of (?P<value>\d+)")
_ADVICE = "move a part of it to a function of its own."
_NO_NAME = ("(anonymous)", "")
_TESTS = re.compile(
    r"(?i)(^|/)(tests?|specs?|__tests__|testing|benchmarks?)(/|\.\w+$)"
    r"|(^|/)test_[^/]*$|[._-](test|tests|spec)\.\w+$"
)
_JAVA_TEST = re.compile(r"Tests?\.(java|kt|scala|cs|php)$")


class Lizard(CommandAnalyzer):
    """Adapter of ``lizard --csv``."""

    name: ClassVar[str] = "lizard"
    globs: ClassVar[tuple[str, ...]] = tuple(f"*.{ending}" for ending in _ENDINGS.split(" "))
    how_to_get: ClassVar[str] = "pip install lizard"

    def run(self, work: Work) -> list[Finding]:
        """Functions over ``LIMIT``; see ``Analyzer.run``."""
        findings: list[Finding] = []
        for batch in work.batches():
            command: list[str | Path] = [
                self.executable,
                "--csv",
                "--modified",
                "--no-gitignore",
                *batch,
            ]
            output = work.execute(command)
            for row in csv.reader(io.StringIO(output.stdout.decode("utf-8", "replace"))):
                value, path, name = int(row[1]), work.relative(row[6]), row[7]
                if value > LIMIT and name not in _NO_NAME:
                    findings.append(_finding(path, name, value, int(row[9]), int(row[10])))
        return findings

    def measures_definition(self, rule: str) -> bool:
        """Complexity stands on the function's first line and comes from its body."""
        return rule == RULE

    def wants(self, path: str, content: bytes) -> bool:
        """Code but for tests: a long test is long, and nobody splits it."""
        return super().wants(path, content) and not is_test(path)

    def worsened(self, head: Finding, bases: Sequence[Finding]) -> Finding | None:
        """A new function as it is, an old one where it rose notably, and from what."""
        new = _MESSAGE.match(head.message)
        known = [found for found in (_MESSAGE.match(one.message) for one in bases) if found]
        if new is None:
            return head
        old = max((int(one["value"]) for one in known if one["name"] == new["name"]), default=0)
        if not old:
            return head
        if int(new["value"]) < old + max(NOTABLE_RISE, NOTABLE_SHARE * old):
            return None
        text = f"The cyclomatic complexity of `{new['name']}` rose from {old} to {new['value']}"
        return replace(head, message=f"{text}; {_ADVICE}")


def is_test(path: str) -> bool:
    """Whether a file is a test by its name or folder."""
    return _TESTS.search(path) is not None or _JAVA_TEST.search(path) is not None


def _finding(path: str, name: str, value: int, line: int, end_line: int) -> Finding:
    return Finding(
        analyzer="lizard",
        rule=RULE,
        path=path,
        line=line,
        end_line=end_line,
        message=f"`{name}` has a cyclomatic complexity of {value} (over {LIMIT}); {_ADVICE}",
        severity=Severity.INFO,
    )
