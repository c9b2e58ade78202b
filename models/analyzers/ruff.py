"""Python smells by ruff, with the rules of ``ruff_rules`` and never the repository's own settings.

``# noqa`` comments are honoured: they are the authors' considered answer to a finding.
"""

from __future__ import annotations

import json
import re
from typing import Any, ClassVar

from models.analyzers import ruff_rules
from models.analyzers.base import CommandAnalyzer, Work
from models.analyzers.fixes import Edit, LineIndex, line_replacements
from models.analyzers.introduced import SYNTAX_RULE
from models.review_types import Finding, Replacement, Severity

_UNREADABLE = "E902"
_TEST_FILE = re.compile(r"(?:^|/)(?:tests?/|test_[^/]*\.py$|conftest\.py$)|_test\.py$")


class Ruff(CommandAnalyzer):
    """Adapter of ``ruff check``."""

    name: ClassVar[str] = "ruff"
    globs: ClassVar[tuple[str, ...]] = ("*.py", "*.pyi")
    how_to_get: ClassVar[str] = "pip install ruff"

    def run(self, work: Work) -> list[Finding]:
        """Findings of all files; see ``Analyzer.run``."""
        findings: list[Finding] = []
        for batch in work.batches():
            output = work.execute([self.executable, *_options(work), "--", *batch])
            rows = json.loads(output.stdout)
            texts = {path: work.text(path) for path in (work.relative(r["filename"]) for r in rows)}
            indexes = {path: LineIndex(text) for path, text in texts.items() if text is not None}
            for row in rows:
                path = work.relative(row["filename"])
                finding = _finding(row, path, indexes.get(path))
                if finding is not None:
                    findings.append(finding)
        return findings


def _options(work: Work) -> list[str]:
    asked = {one.removeprefix("ruff:") for one in work.enable}
    off = ruff_rules.OFF_BY_DEFAULT
    known = [*ruff_rules.DEFECTS, *ruff_rules.SECURITY, *ruff_rules.SIMPLIFICATIONS]
    rules = [code for code in known if code not in off]
    rules += [code for code in off if code in asked]
    in_tests = [
        f"{pattern}:{rule}"
        for pattern in ruff_rules.TEST_PATTERNS
        for rule in ruff_rules.IN_TESTS_OFF
    ]
    return [
        "check",
        "--isolated",
        "--no-cache",
        "--no-fix",
        "--quiet",
        "--exit-zero",
        "--no-respect-gitignore",
        "--output-format=json",
        # The repository's own minimum is not read, so nothing is reported that only a newer
        # Python makes true.
        "--target-version=py39",
        f"--select={','.join(rules)}",
        f"--per-file-ignores={','.join(in_tests)}",
    ]


def _finding(row: dict[str, Any], path: str, index: LineIndex | None) -> Finding | None:
    code = row["code"]
    line, end_line = row["location"]["row"], row["end_location"]["row"]
    if row["end_location"]["column"] == 1 and end_line > line:
        end_line -= 1
    if code == _UNREADABLE:
        return None
    if code == "F821" and _names_its_own_class(row["message"], line, index):
        return None
    if code in ("F401", "F811") and _is_fixture(row["message"], path, index):
        return None
    if code is not None and code.startswith("ASYNC2") and _is_awaited(row["location"], index):
        return None
    if code == "T100" and row["message"].startswith("Import"):
        # a tool may well work with a debugger; a call that stops the program is another thing
        return None
    if code is None or code == "invalid-syntax":
        text = row["message"].removeprefix("SyntaxError: ")
        # Syntax that a newer Python has is no defect.
        if re.search(r"\bPython 3\.\d+", text):
            return None
        message = f"Syntax error: {text[:1].lower()}{text[1:].rstrip('.')}."
        return Finding("ruff", SYNTAX_RULE, path, line, line, message, Severity.ERROR)
    return Finding(
        analyzer="ruff",
        rule=code,
        path=path,
        line=line,
        end_line=end_line,
        message=_message(code, row["message"]),
        severity=ruff_rules.severity(code),
        url=row.get("url") or "",
        fix=_fix(row.get("fix"), index),
    )


def _is_awaited(start: dict[str, int], index: LineIndex | None) -> bool:
    """Whether a call that is said to block is awaited: then it is not the one it looks like.

    A client's class, for example, is told by its name, and an asynchronous one may have the same.
    """
    if index is None:
        return False
    before = index.text[: index.offset(start["row"], start["column"] - 1)]
    return re.search(r"\bawait[\s(]*$", before) is not None


def _names_its_own_class(message: str, line: int, index: LineIndex | None) -> bool:
    """Whether an undefined name is a class of this file in an annotation.

    From Python 3.14 on annotations are read late, and which Python it is for is not known here.
    """
    found = re.search(r"`(\w+)`", message)
    if found is None or index is None:
        return False
    name = found[1]
    text = index.text.split("\n")[line - 1]
    annotates = re.search(rf"(:|->|\[|\|)\s*\b{name}\b", text) is not None
    return annotates and re.search(rf"^\s*class {name}\b", index.text, re.M) is not None


def _is_fixture(message: str, path: str, index: LineIndex | None) -> bool:
    """Whether an imported name is a parameter in a test's file: pytest then hands it in."""
    found = re.search(r"`(?:[\w.]*\.)?(\w+)`", message)
    if found is None or index is None or not _TEST_FILE.search(path):
        return False
    return re.search(rf"\bdef \w+\([^)]*\b{found[1]}\b", index.text) is not None


def _message(code: str, text: str) -> str:
    """Our words for the rule, else ruff's own as a sentence."""
    template = ruff_rules.MESSAGES.get(code)
    if template is not None:
        quoted = re.findall(r"`([^`\n]+)`", text)
        wanted = [int(number) for number in re.findall(r"\{(\d)\}", template)]
        if not wanted or max(wanted) < len(quoted):
            return template.format(*quoted)
    sentence = " ".join(text.split()).rstrip(".")
    return f"{sentence}."


def _fix(fix: dict[str, Any] | None, index: LineIndex | None) -> tuple[Replacement, ...]:
    if fix is None or index is None or fix["applicability"] != "safe":
        return ()
    edits = [
        Edit(
            index.offset(edit["location"]["row"], edit["location"]["column"] - 1),
            index.offset(edit["end_location"]["row"], edit["end_location"]["column"] - 1),
            edit["content"],
        )
        for edit in fix["edits"]
    ]
    return line_replacements(index.text, edits)
