"""Java smells by PMD, where a PMD and a Java are installed; beyond what our own rules say.

``// NOPMD`` comments and ``@SuppressWarnings`` are honoured.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

from models.analyzers.base import CommandAnalyzer, Work
from models.analyzers.process import find_tool
from models.review_types import Finding, Severity

RULES = {
    "bestpractices": {
        "UnusedPrivateField": "The private field is never used; remove it.",
        "UnusedPrivateMethod": "The private method is never used; remove it.",
        "UnusedLocalVariable": "The variable is never used; remove it.",
        "PreserveStackTrace": "The cause is lost; pass the caught exception to the new one.",
        "UseTryWithResources": "Use try-with-resources; it also closes when an exception comes.",
        "AvoidReassigningLoopVariables": "The loop's variable is changed in its body; "
        "use another one.",
    },
    "errorprone": {
        "AvoidBranchingStatementAsLastInLoop": "The loop never runs twice; "
        "mend its last statement.",
        "BrokenNullCheck": "The null check is the wrong way round.",
        "ClassCastExceptionWithToArray": "This cast fails; pass an array to `toArray`.",
        "DontUseFloatTypeForLoopIndices": "A float counter drifts; count with an int.",
        "EqualsNull": "`equals(null)` is never true; use `== null`.",
        "IdempotentOperations": "The assignment has no effect; one side should be another.",
        "JumbledIncrementer": "The inner loop changes the outer counter; mend the name.",
        "MisplacedNullCheck": "The null check comes after the use; move it in front.",
        "NonStaticInitializer": "The block runs for each instance; make it static.",
        "ReturnEmptyCollectionRatherThanNull": "Return an empty collection instead of null.",
        "SuspiciousHashcodeMethodName": "This looks like `hashCode`; mend the name.",
        "SuspiciousOctalEscape": "The escape ends earlier than it seems.",
        "UnconditionalIfStatement": "The condition is always the same; remove the `if`.",
        "UnusedNullCheckInEquals": "The null check guards another object; swap the two.",
    },
    "multithreading": {
        "DoubleCheckedLocking": "Without `volatile` another thread may see a half-made object.",
        "DontCallThreadRun": "`run` runs in this thread; call `start`.",
        "NonThreadSafeSingleton": "Two threads may both create it; guard the check.",
    },
    "performance": {
        "BigIntegerInstantiation": "Use the constant instead of a new object.",
    },
}
"""Rules by category, in our words; those that repeat a rule of ours are left out."""
_PRIORITY = {1: Severity.ERROR, 2: Severity.ERROR, 3: Severity.WARNING}
_FOUND, _RECOVERED = 4, 5
"""Exit codes: violations were found; a file could not be parsed and the others were analyzed."""


class Pmd(CommandAnalyzer):
    """Adapter of ``pmd check --format json``."""

    name: ClassVar[str] = "pmd"
    globs: ClassVar[tuple[str, ...]] = ("*.java",)
    how_to_get: ClassVar[str] = "install Java 11 or newer and PMD 7, with pmd on the PATH"

    def available(self) -> str | None:
        """``None`` where both PMD and Java are installed."""
        missing = super().available()
        if missing is None and find_tool("java") is None:
            return f"java is not installed; to get it: {self.how_to_get}"
        return missing

    def run(self, work: Work) -> list[Finding]:
        """Findings of all files; see ``Analyzer.run``."""
        rules = work.scratch / "rules.xml"
        rules.write_text(_ruleset(), "utf-8")
        names = work.scratch / "files.txt"
        names.write_text("".join(f"{work.folder / path}\n" for path in work.files), "utf-8")
        command: list[str | Path] = [self.executable, "check", "--no-cache", "--no-progress"]
        command += ["--format=json", f"--rulesets={rules}", f"--file-list={names}", "--threads=1"]
        output = work.execute(command, ok=(0, _FOUND, _RECOVERED))
        return [
            _finding(row, work.relative(file["filename"]))
            for file in json.loads(output.stdout)["files"]
            for row in file["violations"]
        ]


def _ruleset() -> str:
    references = "".join(
        f'<rule ref="category/java/{category}.xml/{rule}"/>'
        for category, rules in RULES.items()
        for rule in rules
    )
    return (
        '<?xml version="1.0"?><ruleset name="review" '
        'xmlns="http://pmd.sourceforge.net/ruleset/2.0.0">'
        f"<description>Rules for a review</description>{references}</ruleset>"
    )


def _finding(row: dict[str, Any], path: str) -> Finding:
    words = {rule: text for rules in RULES.values() for rule, text in rules.items()}
    return Finding(
        analyzer="pmd",
        rule=row["rule"],
        path=path,
        line=row["beginline"],
        end_line=row["endline"],
        message=words.get(row["rule"]) or row["description"],
        severity=_PRIORITY.get(row["priority"], Severity.INFO),
        url=row.get("externalInfoUrl") or "",
    )
