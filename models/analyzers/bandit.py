"""Security smells in Python by bandit: the two of its rules that ruff has no port of.

Ruff's ``S`` rules are bandit's own, and faster; B613 is ruff's PLE2502 and B703 its S308. What is
left is about models: weights that run code when they are loaded, and downloads that are not
pinned. Only files that name one of those libraries are read. ``# nosec`` comments are honoured.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, ClassVar

from models.analyzers.base import CommandAnalyzer, Work
from models.review_types import Finding, Severity

MESSAGES = {
    "B614": "`torch.load` unpickles, and a pickle can run code: pass `weights_only=True`.",
    "B615": "The download is not pinned, so it can change under you: pass `revision=` a commit.",
}
OFF_BY_DEFAULT = ("B615",)
"""Right, and said of nearly every line that loads a model, also of one in a local folder."""
_NAMES = re.compile(rb"torch|transformers|huggingface|from_pretrained|load_dataset")


class Bandit(CommandAnalyzer):
    """Adapter of ``bandit -f json``."""

    name: ClassVar[str] = "bandit"
    globs: ClassVar[tuple[str, ...]] = ("*.py",)
    how_to_get: ClassVar[str] = "pip install bandit"

    def wants(self, path: str, content: bytes) -> bool:
        """Python files that name a library whose use is judged."""
        return super().wants(path, content) and _NAMES.search(content) is not None

    def run(self, work: Work) -> list[Finding]:
        """Findings of all files; see ``Analyzer.run``."""
        wanted = {one.removeprefix("bandit:") for one in work.enable}
        rules = [code for code in MESSAGES if code not in OFF_BY_DEFAULT or code in wanted]
        settings = work.scratch / "bandit.yml"
        settings.write_text("skips: []\n", "utf-8")
        command: list[str | Path] = [self.executable, "-q", "-f", "json"]
        # its own exclusions and a .bandit file of the reviewed tree must not count
        command += ["-c", settings, "-x", "", "-t", ",".join(rules)]
        findings: list[Finding] = []
        for batch in work.batches():
            output = work.execute([*command, *batch])
            findings += [_finding(row, work) for row in json.loads(output.stdout)["results"]]
        return findings


def _finding(row: dict[str, Any], work: Work) -> Finding:
    # it writes the path that it was given with a "./" of its own in front
    path = work.relative(row["filename"])
    return Finding(
        analyzer="bandit",
        rule=row["test_id"],
        path=path,
        line=row["line_number"],
        end_line=max(row["line_number"], *row["line_range"]),
        message=MESSAGES[row["test_id"]],
        severity=Severity.WARNING,
        url=row.get("more_info", ""),
    )
