"""Smells as CRScore's authors make them: linters on the whole new file, then a line filter.

CRScore (section 3.1) runs PMD's quick start rules on Java, JSHint on JavaScript and, on Python, a
tool that wraps pylint and radon. A smell is kept only where its line, stripped, equals some
changed line, stripped: so old smells that stand elsewhere say nothing of the change.

None of the tools is needed: where one is absent its name and how to get it are a note. These are
pseudo-references for the score alone; what a review posts comes from ``models.analyzers``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from models.analyzers.base import Analyzer, CommandAnalyzer, Work, analyze
from models.analyzers.process import find_tool
from models.change import Hunk
from models.review_types import Finding, PseudoReference, ReferenceKind, Severity

_PMD_FOUND, _PMD_RECOVERED = 4, 5
_JSHINT_LINE = re.compile(r"^(?P<path>.+?):(?P<line>\d+):(?P<column>\d+): (?P<text>.+)$")
_SEVERITY = {"error": Severity.ERROR, "fatal": Severity.ERROR, "warning": Severity.WARNING}


@dataclass(frozen=True)
class PmdQuickStart(CommandAnalyzer):
    """PMD with the rules of its quick start, in PMD's own words."""

    tool: str = "pmd"
    name: ClassVar[str] = "pmd-quickstart"
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
        names = work.scratch / "files.txt"
        names.write_text("".join(f"{work.folder / path}\n" for path in work.files), "utf-8")
        command: list[str | Path] = [self.executable, "check", "--no-cache", "--no-progress"]
        command += ["--format=json", "--rulesets=rulesets/java/quickstart.xml"]
        command += [f"--file-list={names}", "--threads=1"]
        output = work.execute(command, ok=(0, _PMD_FOUND, _PMD_RECOVERED))
        return [
            _finding(
                self.name,
                row["rule"],
                work.relative(file["filename"]),
                row["beginline"],
                row["description"],
                end_line=row["endline"],
            )
            for file in json.loads(output.stdout)["files"]
            for row in file["violations"]
        ]


@dataclass(frozen=True)
class JsHint(CommandAnalyzer):
    """JSHint with its own defaults."""

    tool: str = "jshint"
    name: ClassVar[str] = "jshint"
    globs: ClassVar[tuple[str, ...]] = ("*.js", "*.mjs", "*.cjs", "*.jsx")
    how_to_get: ClassVar[str] = "npm install --global --ignore-scripts jshint"

    def run(self, work: Work) -> list[Finding]:
        """Findings of all files; see ``Analyzer.run``."""
        settings = work.scratch / "jshint.json"
        settings.write_text("{}", "utf-8")
        findings: list[Finding] = []
        for batch in work.batches():
            command: list[str | Path] = [self.executable, "--reporter=unix"]
            # without it a .jshintrc or package.json further up would be read
            command += [f"--config={settings}", *batch]
            output = work.execute(command, ok=(0, 2))
            for line in output.stdout.decode("utf-8", "replace").splitlines():
                match = _JSHINT_LINE.match(line)
                if match:
                    path, number = work.relative(match["path"]), int(match["line"])
                    findings.append(_finding(self.name, "jshint", path, number, match["text"]))
        return findings


@dataclass(frozen=True)
class Pylint(CommandAnalyzer):
    """pylint's refactoring hints and warnings, without any configuration of the files' own."""

    tool: str = "pylint"
    name: ClassVar[str] = "pylint"
    globs: ClassVar[tuple[str, ...]] = ("*.py",)
    how_to_get: ClassVar[str] = "pip install pylint"

    def run(self, work: Work) -> list[Finding]:
        """Findings of all files; see ``Analyzer.run``."""
        settings = work.scratch / "pylintrc"
        settings.write_text("", "utf-8")
        findings: list[Finding] = []
        for batch in work.batches():
            command: list[str | Path] = [self.executable, f"--rcfile={settings}", "--jobs=1"]
            command += ["--output-format=json2", "--disable=all", "--enable=R,W", *batch]
            # the exit status is a sum of flags, one a kind of message; 32 is wrong usage
            output = work.execute(command, ok=range(32))
            findings += [
                _finding(
                    self.name,
                    row["symbol"],
                    work.relative(row["path"]),
                    row["line"],
                    row["message"],
                    end_line=row["endLine"],
                    severity=_SEVERITY.get(row["type"], Severity.INFO),
                )
                for row in json.loads(output.stdout)["messages"]
            ]
        return findings


@dataclass(frozen=True)
class Radon(CommandAnalyzer):
    """radon's cyclomatic complexity, rank C (11) and worse."""

    tool: str = "radon"
    name: ClassVar[str] = "radon"
    globs: ClassVar[tuple[str, ...]] = ("*.py",)
    how_to_get: ClassVar[str] = "pip install radon"

    def run(self, work: Work) -> list[Finding]:
        """Findings of all files; see ``Analyzer.run``."""
        findings: list[Finding] = []
        for batch in work.batches():
            output = work.execute([self.executable, "cc", "--json", "--min", "C", *batch])
            for path, rows in json.loads(output.stdout).items():
                # a file that does not parse has an object with "error" in place of a list
                for row in rows if isinstance(rows, list) else ():
                    text = f"{row['name']} is too complex ({row['complexity']})"
                    findings.append(
                        _finding(
                            self.name,
                            f"complexity-{row['rank']}",
                            work.relative(path),
                            row["lineno"],
                            text,
                            end_line=row["endline"],
                        )
                    )
        return findings


SMELL_ANALYZERS: tuple[Analyzer, ...] = (PmdQuickStart(), JsHint(), Pylint(), Radon())


def _finding(
    analyzer: str,
    rule: str,
    path: str,
    line: int,
    text: str,
    end_line: int | None = None,
    severity: Severity = Severity.WARNING,
) -> Finding:
    message = " ".join(text.split())
    if not message.endswith((".", "!", "?")):
        message += "."
    return Finding(analyzer, rule, path, line, end_line or line, message, severity)


def on_changed_lines(
    findings: Iterable[Finding], after: Mapping[str, bytes], hunks: Mapping[str, Sequence[Hunk]]
) -> list[Finding]:
    """The authors' filter: a finding stays where its line, stripped, equals some changed line of
    its file, stripped (added or deleted; a blank line equals none)."""
    changed = {
        path: {line.text.strip() for hunk in parts for line in (*hunk.added, *hunk.deleted)} - {""}
        for path, parts in hunks.items()
    }
    lines = {
        path: content.decode("utf-8", "replace").split("\n") for path, content in after.items()
    }
    return [
        finding
        for finding in findings
        if 1 <= finding.line <= len(lines.get(finding.path, ()))
        and lines[finding.path][finding.line - 1].strip() in changed.get(finding.path, ())
    ]


def smells_of(
    after: Mapping[str, bytes],
    hunks: Mapping[str, Sequence[Hunk]],
    analyzers: Sequence[Analyzer] = SMELL_ANALYZERS,
    time_limit_s: float = 60.0,
) -> tuple[tuple[PseudoReference, ...], tuple[str, ...]]:
    """(smells, notes) of a change: ``after`` are the new files' bytes by path, ``hunks`` their
    hunks by the same paths. ``notes`` says in a line each which tool is absent or broke off.

    Each text is named once a file, as the published scorer's set of references has it.
    """
    report = analyze(analyzers, after, time_limit_s=time_limit_s)
    kept = on_changed_lines(report.findings, after, hunks)
    found: dict[tuple[str, str], PseudoReference] = {}
    for one in kept:
        lines = tuple(range(one.line, one.end_line + 1))
        origin = f"{one.analyzer}:{one.rule}"
        smell = PseudoReference(ReferenceKind.SMELL, one.message, lines, origin, one.path)
        found.setdefault((one.path, one.message), smell)
    return tuple(found.values()), report.notes
