"""YAML by yamllint: documents that mean something else than they seem to, or nothing at all.

Layout is left out. Only a configuration of ours is read; ``# yamllint disable`` comments are
honoured. Files with template marks are left out: they are YAML only after rendering.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import ClassVar

from models.analyzers.base import CommandAnalyzer, Work
from models.analyzers.introduced import SYNTAX_RULE
from models.analyzers.process import batches
from models.review_types import Finding, Severity

_CONFIG = {
    "rules": {
        "key-duplicates": {"forbid-duplicated-merge-keys": True},
        "anchors": {
            "forbid-undeclared-aliases": True,
            "forbid-duplicated-anchors": True,
            "forbid-unused-anchors": False,
        },
        "octal-values": {"forbid-implicit-octal": True, "forbid-explicit-octal": False},
    }
}
_MESSAGES = {
    "key-duplicates": "The key `{0}` stands here twice; the later one wins. Remove one.",
    "octal-values": "This is read as an octal number by YAML 1.1; quote it.",
}
_TEMPLATE = re.compile(rb"(?<!\$)\{\{|\{%")
_CONTROL = re.compile(rb"[\0-\x08\x0b\x0c\x0e-\x1f\x7f]")
_ROW = re.compile(r":(\d+):\d+: \[(?:error|warning)\] (.*?)(?: \(([a-z-]+)\))?$")


class YamlLint(CommandAnalyzer):
    """Adapter of ``yamllint --format parsable``."""

    name: ClassVar[str] = "yamllint"
    globs: ClassVar[tuple[str, ...]] = ("*.yml", "*.yaml", ".yamllint", ".clang-format")
    how_to_get: ClassVar[str] = "pip install yamllint"

    def wants(self, path: str, content: bytes) -> bool:
        """YAML files without template marks."""
        return super().wants(path, content) and _TEMPLATE.search(content) is None

    def run(self, work: Work) -> list[Finding]:
        """Findings of all files; see ``Analyzer.run``."""
        command: list[str | Path] = [self.executable, "--config-data", json.dumps(_CONFIG)]
        command += ["--format=parsable", "--"]
        findings: list[Finding] = []
        files = [path for path in work.files if self._printable(work, path)]
        for batch in batches(files):
            output = work.execute([*command, *batch])
            for row in output.stdout.decode("utf-8", "replace").splitlines():
                # A path may hold colons, so it is taken off the front by its known text.
                path = max((one for one in batch if row.startswith(f"{one}:")), key=len, default="")
                match = _ROW.fullmatch(row[len(path) :])
                if path and match:
                    findings.append(_finding(path.removeprefix("./"), match))
        return findings

    def _printable(self, work: Work, path: str) -> bool:
        """Whether the file has no control characters: one would end the run for all files."""
        if _CONTROL.search((work.folder / path).read_bytes()) is None:
            return True
        work.notes.append(f"{path!a} left out: control characters are not YAML")
        return False


def _finding(path: str, match: re.Match[str]) -> Finding:
    line, text, rule = int(match[1]), match[2], match[3] or SYNTAX_RULE
    quoted = re.findall(r'"([^"]*)"', text)
    template = _MESSAGES.get(rule)
    if template is not None and (quoted or "{0}" not in template):
        message = template.format(*quoted)
    else:
        sentence = text.rstrip(".")
        message = f"{sentence[:1].upper()}{sentence[1:]}."
    return Finding("yamllint", rule, path, line, line, message, Severity.ERROR)
