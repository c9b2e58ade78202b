"""Smells in many languages by ast-grep, with our rule pack and the operator's own rules.

``ast-grep-ignore`` comments are honoured. A repository's ``sgconfig.yml`` is not read, and custom
languages (native libraries) are never loaded.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar

from models.analyzers import rule_pack
from models.analyzers.base import AnalyzerFailure, CommandAnalyzer, Work
from models.analyzers.fixes import Edit, LineIndex, line_replacements
from models.review_types import Finding, Replacement, Severity

_SEVERITIES = {
    "error": Severity.ERROR,
    "warning": Severity.WARNING,
    "info": Severity.INFO,
    "hint": Severity.INFO,
}
# fmt: off
_ENDINGS = (
    "py", "pyi", "js", "cjs", "mjs", "jsx", "ts", "cts", "mts", "tsx", "java", "go", "c", "h",
    "cc", "cpp", "cxx", "hh", "hpp", "hxx", "rs", "rb", "php", "kt", "kts", "scala", "cs", "sh",
    "bash", "swift",
)
# fmt: on
_IGNORE_KINDS = ("hidden", "dot", "exclude", "global", "parent", "vcs")


class AstGrep(CommandAnalyzer):
    """Adapter of ``ast-grep scan``."""

    name: ClassVar[str] = "ast-grep"
    globs: ClassVar[tuple[str, ...]] = tuple(f"*.{ending}" for ending in _ENDINGS)
    how_to_get: ClassVar[str] = "pip install ast-grep-cli"

    def run(self, work: Work) -> list[Finding]:
        """Findings of our pack, then of ``work.extra_rules``; see ``Analyzer.run``."""
        asked = frozenset(one.removeprefix("ast-grep:") for one in work.enable)
        ours = work.scratch / "rules.yml"
        ours.write_text(rule_pack.rule_file_text(asked), "utf-8")
        config = work.scratch / "sgconfig.yml"
        config.write_text("ruleDirs: []\n", "utf-8")
        findings = list(self._scan(work, config, ["--rule", str(ours)]))
        if work.extra_rules is not None:
            if not work.extra_rules.is_dir():
                reason = f"the rule folder {work.extra_rules} does not exist"
                raise AnalyzerFailure(reason, findings)
            own = work.scratch / "extra.yml"
            # JSON is YAML, and quotes whatever a path may hold.
            folder = json.dumps(str(work.extra_rules.resolve()))
            own.write_text(f"ruleDirs: [{folder}]\n", "utf-8")
            try:
                findings += self._scan(work, own, [])
            except AnalyzerFailure as failure:
                reason = f"the rules in {work.extra_rules} do not work: {failure}"
                raise AnalyzerFailure(reason, findings) from failure
        return findings

    def _scan(self, work: Work, config: Path, options: list[str]) -> Iterable[Finding]:
        ignore = [word for kind in _IGNORE_KINDS for word in ("--no-ignore", kind)]
        command: list[str | Path] = [self.executable, "scan", "--config", config, *options, *ignore]
        indexes: dict[str, LineIndex | None] = {}
        for batch in work.batches():
            output = work.execute([*command, "--json=stream", "--", *batch])
            for row in output.stdout.splitlines():
                match = json.loads(row)
                path = work.relative(match["file"])
                if path not in indexes:
                    text = work.text(path)
                    indexes[path] = None if text is None else LineIndex(text)
                yield _finding(match, path, indexes[path])


def _finding(match: dict[str, Any], path: str, index: LineIndex | None) -> Finding:
    start, end = match["range"]["start"], match["range"]["end"]
    line, end_line = start["line"] + 1, end["line"] + 1
    if end["column"] == 0 and end_line > line:
        end_line -= 1
    return Finding(
        analyzer="ast-grep",
        rule=match["ruleId"],
        path=path,
        line=line,
        end_line=end_line,
        message=" ".join(match["message"].split()),
        severity=_SEVERITIES.get(match["severity"], Severity.WARNING),
        fix=_fix(match, index),
    )


def _fix(match: dict[str, Any], index: LineIndex | None) -> tuple[Replacement, ...]:
    if index is None or match.get("replacement") is None:
        return ()
    offsets = match.get("replacementOffsets") or match["range"]["byteOffset"]
    data = index.text.encode("utf-8")
    start = len(data[: offsets["start"]].decode("utf-8"))
    end = start + len(data[offsets["start"] : offsets["end"]].decode("utf-8"))
    return line_replacements(index.text, [Edit(start, end, match["replacement"])])
