"""How often each rule speaks, on code that maintainers accepted and on lines that people reviewed.

``python -m tests.bench.rule_precision [--windows N] [--languages go,java] [--analyzers ruff]``

Needs the data sets (MARGINALIA_DATA). Prints Markdown. For each rule:

- *after*: of 1,000 after-windows of ``edits``, those with a finding: code as its maintainers left
  it, so a stand-in for false positives. Windows are fragments: a finding on the window's first or
  last line is not counted (a test cut in half has no assertion), and Python windows are trimmed to
  the part that parses, without which ruff says little.
- *before*: the same for the before-windows: a rule about defects should fire more often here.
- *changed*: the windows with a finding that touches a changed line: what a review of these edits
  would have said at most (what was there before is not taken off).
- *commented*: review threads of ``pr_reviews`` whose commented line the rule reports, and the rate
  against the other added lines of the same hunks (over 1: the rule fires where people comment).

A rule with a finding in over ``--noisy`` of 1,000 after-windows is too noisy to be on by default.
"""

from __future__ import annotations

import argparse
import ast
import gzip
import json
import os
import random
import sys
import textwrap
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from models.analyzers.base import run_analyzers
from models.analyzers.rule_table import off_by_default

LANGUAGES = ("python", "javascript", "typescript", "java", "go", "c", "cpp", "rust")
ENDINGS = {
    "python": "py",
    "javascript": "js",
    "typescript": "ts",
    "java": "java",
    "go": "go",
    "c": "c",
    "cpp": "cpp",
    "rust": "rs",
}
NOISY_PER_1000 = 10.0
ONLY_WHOLE_FILES = [
    "syntax",
    "F401",
    "F811",
    "F821",
    "F822",
    "F841",
    "F701",
    "F702",
    "F704",
    "F706",
    "B018",
    "PLE1142",
    "PLE0117",
    "PLE0118",
]
"""Rules that a fragment can't speak for: names defined outside it, blocks cut in the middle."""
BATCH = 500


def records(path: Path) -> Iterator[dict[str, object]]:
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        for line in stream:
            yield json.loads(line)


def parsable(text: str, budget: int = 12) -> tuple[str, int] | None:
    """The window without what is cut at its ends, and how many lines went in front.

    ``None`` where no part of at least half of it parses.
    """
    lines = text.split("\n")
    for start in range(budget):
        for end in range(len(lines), len(lines) - budget, -1):
            if end - start < max(2, len(lines) // 2):
                break
            part = textwrap.dedent("\n".join(lines[start:end])) + "\n"
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    ast.parse(part)
            except (SyntaxError, ValueError):
                continue
            return part, start
    return None


def sample(path: Path, size: int, seed: int) -> list[dict[str, object]]:
    rows = list(records(path))
    random.Random(seed).shuffle(rows)
    return rows[:size]


def findings(files: Mapping[str, bytes], names: list[str], enable: list[str]):
    """All findings by path; windows go in lots, so that a time-out would cost one lot."""
    found = defaultdict(list)
    paths = list(files)
    for start in range(0, len(paths), BATCH):
        lot = {path: files[path] for path in paths[start : start + BATCH]}
        report = run_analyzers(lot, names=names, time_limit_s=300, enable=enable)
        for note in report.notes:
            print(note, file=sys.stderr)
        for finding in report.findings:
            found[finding.path].append(finding)
    return found


def edit_rates(data: Path, language: str, size: int, seed: int, names, enable, examples):
    """Per rule: windows' findings after, before, and after on changed lines."""
    rows = sample(data / "edits" / f"{language}.jsonl.gz", size, seed)
    ending = ENDINGS[language]
    files, changed = {}, {}
    for number, row in enumerate(rows):
        # The path stays, because rules look at it; the ending is the language's (a .h is C here).
        path = str(Path(str(row["path"])).with_suffix(f".{ending}"))
        for side in ("after", "before"):
            text, gone = str(row[side]), 0
            if language == "python":
                part = parsable(text)
                if part is None:
                    continue
                text, gone = part
            files[f"{number}/{side}/{path}"] = text.encode()
            if side == "after":
                first = int(str(row["first_changed"])) + 1 - gone
                changed[number] = range(first, first + len(list(row["new_lines"])))
    counts = {"after": Counter(), "before": Counter(), "changed": Counter()}
    shown = Counter()
    seen = set()
    for path, found in findings(files, names, enable).items():
        number, side = path.split("/")[:2]
        last = len(files[path].rstrip().split(b"\n"))
        for one in found:
            key = f"{one.analyzer}:{one.rule}"
            if one.line == 1 or one.end_line >= last:
                continue
            columns = [side]
            span = range(one.line, one.end_line + 1)
            if side == "after" and set(span) & set(changed[int(number)]):
                columns.append("changed")
            for column in columns:
                counts[column][key] += (number, column, key) not in seen
                seen.add((number, column, key))
            shown[key] += 1
            if shown[key] <= examples:
                text = files[path].decode().split("\n")[one.line - 1 : one.end_line][:8]
                print(f"-- {key} {path}:{one.line}", *text, sep="\n", file=sys.stderr)
    return len(changed), counts


def new_side(hunk: str) -> tuple[list[str], set[int], int]:
    """A bare hunk's new side: lines, 1-based numbers of added lines, number of the last line."""
    lines, added = [], set()
    for row in hunk.split("\n")[1:]:
        if row.startswith(("-", "\\")):
            continue
        lines.append(row[1:])
        if row.startswith("+"):
            added.add(len(lines))
    return lines, added, len(lines)


def review_rates(data: Path, names, enable):
    """Per rule: hits on commented lines, hits on other added lines; and both totals of lines."""
    files, marks = {}, {}
    sets = (("python", "py"), ("microsoft_vscode_1000", "ts"))
    for name, ending in sets:
        for number, row in enumerate(records(data / "pr_reviews" / f"{name}.jsonl.gz")):
            if row.get("side", "RIGHT") != "RIGHT":
                continue
            lines, added, last = new_side(str(row["diff_hunk"]))
            if last not in added:
                continue
            path = str(row.get("path") or f"a.{ending}")
            key = f"{name}-{number}/{path}"
            files[key] = ("\n".join(lines) + "\n").encode()
            marks[key] = (added - {last}, last)
    totals = (len(marks), sum(len(other) for other, _ in marks.values()))
    commented, other = Counter(), Counter()
    for path, found in findings(files, names, enable).items():
        rest, last = marks[path]
        for one in found:
            span = set(range(one.line, one.end_line + 1))
            key = f"{one.analyzer}:{one.rule}"
            # The hunk ends at the commented line, so a finding of several lines may be cut there.
            if one.end_line > one.line and one.end_line >= last:
                continue
            if one.line == last:
                commented[key] += 1
            elif span & rest:
                other[key] += 1
    return commented, other, totals


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--windows", type=int, default=1000)
    parser.add_argument("--languages", default=",".join(LANGUAGES))
    parser.add_argument("--analyzers", default="ast-grep,ruff")
    parser.add_argument("--noisy", type=float, default=NOISY_PER_1000)
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--examples", type=int, default=0, help="print N places of each rule")
    parser.add_argument("--json", type=Path, help="keep the counts for tests.bench.rule_document")
    options = parser.parse_args()
    if "MARGINALIA_DATA" not in os.environ:
        parser.error("set MARGINALIA_DATA to the folder of the data sets")
    data = Path(os.environ["MARGINALIA_DATA"])
    names = options.analyzers.split(",")
    off = off_by_default()
    enable = sorted(off)
    kept: dict[str, object] = {}

    commented, other, (commented_lines, other_lines) = review_rates(data, names, enable)
    print(f"{commented_lines} commented lines, {other_lines} other added lines in their hunks.\n")
    noisy_on, quiet_off = [], []
    for language in options.languages.split(","):
        size, counts = edit_rates(
            data, language, options.windows, options.seed, names, enable, options.examples
        )
        kept[language] = {"windows": size, **{side: dict(of) for side, of in counts.items()}}
        print(f"### {language}: {size} windows\n")
        print(
            "| rule | default | after /1,000 | before /1,000 | changed /1,000 | commented | lift |"
        )
        print("|---|---|---:|---:|---:|---:|---:|")
        keys = set(counts["after"]) | set(counts["before"])
        for key in sorted(keys, key=lambda one: (-counts["after"][one], one)):
            after, before, changed = (
                1000 * counts[column][key] / size for column in ("after", "before", "changed")
            )
            state = "off" if key in off else "on"
            whole = key.split(":")[1] in ONLY_WHOLE_FILES
            hits, others = commented[key], other[key]
            lift = "-"
            if hits + others and others:
                lift = f"{(hits / commented_lines) / (others / other_lines):.1f}"
            shown = str(hits) if language in ("python", "typescript") else "-"
            lift = lift if language in ("python", "typescript") else "-"
            if after > options.noisy and state == "on" and not whole:
                noisy_on.append(key)
            state += " (fragment)" if whole else ""
            print(
                f"| {key} | {state} | {after:.1f} | {before:.1f} | {changed:.1f} "
                f"| {shown} | {lift} |"
            )
            if after <= options.noisy and state == "off":
                quiet_off.append(key)
        speaking = [
            sum(
                count
                for key, count in counts[column].items()
                if key not in off and key.split(":")[1] not in ONLY_WHOLE_FILES
            )
            for column in ("after", "changed")
        ]
        print(
            f"\nOn by default, those for fragments: {1000 * speaking[0] / size:.0f} after, ", end=""
        )
        print(f"{1000 * speaking[1] / size:.0f} changed, summed over the rules.\n")
    if options.json is not None:
        options.json.write_text(json.dumps(kept, indent=1), "utf-8")
    print(f"Over {options.noisy:g} in 1,000 and on: {', '.join(sorted(set(noisy_on))) or 'none'}.")
    print(f"Under it and off: {', '.join(sorted(set(quiet_off))) or 'none'}.")


if __name__ == "__main__":
    main()
