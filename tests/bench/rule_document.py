"""Write ``models/analyzers/RULES.md``: each rule, and how often it speaks.

``python -m tests.bench.rule_precision --json WINDOWS.json``
``python -m tests.bench.rule_histories FOLDER... --json HISTORIES.json``
``python -m tests.bench.rule_document WINDOWS.json HISTORIES.json > models/analyzers/RULES.md``
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from models.analyzers.rule_pack import Rule, shipped_rules
from models.analyzers.rule_table import off_by_default
from tests.bench.rule_precision import ONLY_WHOLE_FILES

OF_LANGUAGE = {
    "Python": "python", "JavaScript": "javascript", "TypeScript": "typescript", "Tsx": "tsx",
    "Java": "java", "Go": "go", "C": "c", "Cpp": "cpp", "Rust": "rust",
}  # fmt: skip
"""ast-grep's names as the table of languages and the data sets have them."""
HEAD = """# Rules, and how often they speak

Made by `python -m tests.bench.rule_document`; nothing here is written by hand.

- **windows**: findings in 1,000 after-windows of `edits` in the rule's own languages: code as its
  maintainers left it, so a stand-in for false alarms. Windows are fragments of files.
- **hunks**: findings that a commit brought in, on lines that it changed, in 1,000 changed hunks of
  real histories in the rule's own languages: {commits} commits, {hunks} hunks ({languages}).
  These are candidates, before the gate.
- A rule that is off is asked for by `analyzers.rules_on` in `.github/marginalia.yml`, or by
  `marginalia review --enable RULE`.
- "-": not measured there (the analyzer needs whole files, or no hunk of its language was changed).
"""


def rate(count: int, of: int) -> str:
    """Findings in 1,000."""
    return f"{1000 * count / of:.1f}" if of else "-"


def own_rows(windows: Mapping[str, Any], histories: Mapping[str, Any]) -> Iterator[str]:
    """A row for each rule of ours, spoken or not."""
    yield "| rule | default | severity | windows | hunks | what it says |"
    yield "|---|---|---|---:|---:|---|"
    for rule in shipped_rules():
        names = [OF_LANGUAGE[language] for language in rule.languages]
        key = f"ast-grep:{rule.id}"
        after = sum(windows[name]["after"].get(key, 0) for name in names if name in windows)
        size = sum(windows[name]["windows"] for name in names if name in windows)
        hunks = sum(histories["hunks"].get(name, 0) for name in names)
        state = "on" if rule.default_on else "off"
        yield (
            f"| {rule.id} | {state} | {severity(rule)} | {rate(after, size)} "
            f"| {rate(histories['rules'].get(key, 0), hunks)} | {one_line(rule.message)} |"
        )


def severity(rule: Rule) -> str:
    """As the rule's file has it."""
    return str(rule.body.get("severity", "warning")).replace("hint", "info")


def one_line(text: str) -> str:
    """Text for a table's cell."""
    return " ".join(text.split()).replace("|", "\\|")


def other_rows(windows: Mapping[str, Any], histories: Mapping[str, Any]) -> Iterator[str]:
    """A row for each rule of another analyzer that spoke at least once in either."""
    off = off_by_default()
    said = {key for row in windows.values() for key in row["after"]} | set(histories["rules"])
    python = windows.get("python", {"windows": 0, "after": {}})
    yield "| rule | default | windows | hunks, all languages |"
    yield "|---|---|---:|---:|"
    total = sum(histories["hunks"].values())
    for key in sorted(said):
        if key.startswith("ast-grep:"):
            continue
        after = "-"
        if key.startswith("ruff:") and key.split(":")[1] not in ONLY_WHOLE_FILES:
            after = rate(python["after"].get(key, 0), python["windows"])
        state = "off" if key in off else "on"
        count = histories["rules"].get(key, 0)
        yield f"| {key} | {state} | {after} | {1000 * count / max(1, total):.2f} |"


def document(windows: Mapping[str, Any], histories: Mapping[str, Any], note: str = "") -> str:
    """The whole page."""
    hunks = histories["hunks"]
    languages = ", ".join(
        f"{name} {count}" for name, count in sorted(hunks.items(), key=lambda item: -item[1])
    )
    head = HEAD.format(commits=histories["commits"], hunks=sum(hunks.values()), languages=languages)
    head += f"- {note}\n" if note else ""
    own, others = own_rows(windows, histories), other_rows(windows, histories)
    return "\n".join([head, "## Our own (ast-grep)\n", *own, "\n## Of other analyzers\n", *others])


def main() -> None:
    """Print the page."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("windows", type=Path)
    parser.add_argument("histories", type=Path)
    parser.add_argument("--note", default="", help="a sentence on how it was counted")
    options = parser.parse_args()
    windows, histories = (
        json.loads(path.read_text("utf-8")) for path in (options.windows, options.histories)
    )
    sys.stdout.write(document(windows, histories, options.note) + "\n")


if __name__ == "__main__":
    main()
