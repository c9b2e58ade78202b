"""SQL by sqlfluff: queries that mean something else than they seem to. Layout is left out.

Templates are never rendered and directives in the files (``-- sqlfluff:``) are blanked out first,
because they may load code and read files; ``-- noqa`` comments are honoured. A file that does not
parse as standard SQL is left out with a note.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, ClassVar

from models.analyzers.base import CommandAnalyzer, Work
from models.analyzers.fixes import Edit, line_replacements
from models.review_types import Finding, Replacement, Severity

MESSAGES = {
    "AL04": "Two tables have the same alias here; rename one.",
    "AM01": "`DISTINCT` has no effect with `GROUP BY`; remove it.",
    "AM09": "`LIMIT` without `ORDER BY` gives any rows; add an order.",
    "CV05": "Nothing equals NULL; use `IS NULL` or `IS NOT NULL`.",
    "ST03": "This common table expression is never used; remove it.",
    "ST08": "`DISTINCT` is not a function and covers all columns; drop the parentheses.",
    "ST10": "This condition is always the same; one side should be another column.",
}
_ERRORS = ("AL04", "CV05", "ST10")
_NOT_PARSED = ("PRS", "LXR", "TMP")
_DIRECTIVE = re.compile(rb"sqlfluff", re.IGNORECASE)


class SqlFluff(CommandAnalyzer):
    """Adapter of ``sqlfluff lint --format json``."""

    name: ClassVar[str] = "sqlfluff"
    globs: ClassVar[tuple[str, ...]] = ("*.sql",)
    how_to_get: ClassVar[str] = "pip install sqlfluff"

    def run(self, work: Work) -> list[Finding]:
        """Findings of all files; see ``Analyzer.run``."""
        for path in work.files:
            file = work.folder / path
            # Same length, so that positions stay.
            file.write_bytes(_DIRECTIVE.sub(b"_" * len("sqlfluff"), file.read_bytes()))
        command: list[str | Path] = [self.executable, "lint", "--dialect=ansi", "--templater=raw"]
        command += ["--library-path=none", "--ignore-local-config", "--encoding=utf-8"]
        command += [f"--rules={','.join(MESSAGES)}", "--format=json", "--nofail", "--nocolor"]
        command += ["--disable-progress-bar", "--"]
        findings: list[Finding] = []
        for batch in work.batches():
            output = work.execute([*command, *batch])
            for row in json.loads(output.stdout):
                path = work.relative(row["filepath"])
                if any(one["code"] in _NOT_PARSED for one in row["violations"]):
                    work.notes.append(f"{path!a} left out: it is not standard SQL")
                    continue
                text = work.text(path)
                findings += [_finding(one, path, text) for one in row["violations"]]
        return findings


def _finding(row: dict[str, Any], path: str, text: str | None) -> Finding:
    code, line = row["code"], row["start_line_no"]
    return Finding(
        analyzer="sqlfluff",
        rule=code,
        path=path,
        line=line,
        end_line=row.get("end_line_no", line),
        message=MESSAGES[code],
        severity=Severity.ERROR if code in _ERRORS else Severity.WARNING,
        url=f"https://docs.sqlfluff.com/en/stable/reference/rules.html#rule-{code}",
        fix=_fix(row, text) if code == "CV05" else (),
    )


def _fix(row: dict[str, Any], text: str | None) -> tuple[Replacement, ...]:
    if text is None or "\r" in text:
        return ()
    edits = [
        Edit(one["start_file_pos"], one["end_file_pos"], one["edit"])
        for one in row["fixes"]
        if one["type"] == "replace"
    ]
    return line_replacements(text, edits) if len(edits) == len(row["fixes"]) else ()
