"""How often each rule would speak in reviews of real histories, and where.

``python -m tests.bench.rule_histories FOLDER... [--commits 300] [--show]``

Base and head of each commit are analysed and only what the commit brought in, on lines that it
changed, counts: what a review has for candidates before the gate. Many commits go in one run of
each analyzer. ``--show`` prints each finding of a rule that is on by default with its code, for
reading; the table is findings in 1,000 changed hunks.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from bot.diff import Attributes, GitRepository, PathFilter, cover
from models.analyzers.base import introduced, run_analyzers
from models.analyzers.rule_table import off_by_default
from models.change import ChangedFile, Coverage
from models.review_types import Finding
from models.syntax import language_of
from tests.soak_histories import Step, choose

LOT = 20
READ = (Coverage.REVIEWED, Coverage.CLIPPED)


@dataclass(slots=True)
class Seen:
    """What the rules said: ``rules`` by analyzer:rule, ``hunks`` by language, ``found`` with the
    head's lines."""

    commits: int = 0
    hunks: Counter[str] = field(default_factory=Counter)
    rules: Counter[str] = field(default_factory=Counter)
    found: list[tuple[Step, Finding, list[str]]] = field(default_factory=list)


@dataclass(slots=True)
class _Loaded:
    step: Step
    files: list[ChangedFile]
    bases: dict[str, bytes]
    heads: dict[str, bytes]


def load(step: Step) -> _Loaded:
    """The files of a step that a review would read, with both sides' bytes."""
    with GitRepository(step.folder) as repository:
        change = repository.change(step.range_text)
        sources = repository.sources(change)
        attributes = Attributes(sources.base(".gitattributes") or b"")
        covered = cover(change, sources, paths=PathFilter((), ()), attributes=attributes)
        made = _Loaded(step, [], {}, {})
        for file in covered:
            head = sources.head(file.new_path) if file.new_path is not None else None
            if file.coverage not in READ or not file.hunks or head is None:
                continue
            made.files.append(file)
            made.heads[file.path] = head
            base = sources.base(file.old_path) if file.old_path is not None else None
            if base is not None and file.old_path is not None:
                made.bases[file.old_path] = base
    return made


def look(steps: Sequence[Step], enable: Collection[str]) -> Seen:
    """What the rules say of these steps; ``enable`` are rules that are off by default."""
    seen = Seen()
    for start in range(0, len(steps), LOT):
        lot = [load(step) for step in steps[start : start + LOT]]
        heads, bases = (
            _findings({f"{n}/{path}": text for n, one in enumerate(lot)
                       for path, text in getattr(one, side).items()}, enable)
            for side in ("heads", "bases")
        )  # fmt: skip
        for number, one in enumerate(lot):
            seen.commits += 1
            for file in one.files:
                seen.hunks[language_of(file.path) or "other"] += len(file.hunks)
                text = one.heads[file.path].decode("utf-8", "replace").split("\n")
                for finding in introduced(file, bases[number], heads[number]):
                    seen.rules[f"{finding.analyzer}:{finding.rule}"] += 1
                    seen.found.append((one.step, finding, text))
        sys.stderr.write(f"{seen.commits}/{len(steps)}\n")
    return seen


def _findings(files: dict[str, bytes], enable: Collection[str]) -> dict[int, list[Finding]]:
    """The findings of each commit, with their paths as in the commit."""
    report = run_analyzers(files, time_limit_s=900, enable=enable)
    for note in report.notes:
        sys.stderr.write(f"{note}\n")
    found: dict[int, list[Finding]] = defaultdict(list)
    for one in report.findings:
        number, _, path = one.path.partition("/")
        found[int(number)].append(replace(one, path=path))
    return found


def shown(seen: Seen, off: Collection[str]) -> Iterator[str]:
    """Each finding of a rule that is on, with its lines and two around them."""
    for step, one, text in seen.found:
        key = f"{one.analyzer}:{one.rule}"
        if key in off:
            continue
        yield f"== {step.name} {one.path}:{one.line}-{one.end_line} {key} {one.severity.value}"
        yield f"   {one.message}"
        for number in range(max(1, one.line - 2), min(len(text), one.end_line + 2) + 1)[:14]:
            mark = ">" if one.line <= number <= one.end_line else " "
            yield f"   {number:>5}{mark} {text[number - 1][:150]}"
        for fix in one.fix:
            yield f"   fix {fix.start_line}-{fix.end_line}: " + " | ".join(fix.lines)[:300]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--commits", type=int, default=300)
    parser.add_argument("--show", action="store_true", help="print each finding with its code")
    parser.add_argument("--json", type=Path, help="keep the counts for tests.bench.rule_document")
    options = parser.parse_args()
    off = off_by_default()
    seen = look(choose(options.folders, options.commits, code=True).steps, off)
    if options.show:
        print("\n".join(shown(seen, off)))
    if options.json is not None:
        kept = {"commits": seen.commits, "hunks": dict(seen.hunks), "rules": dict(seen.rules)}
        options.json.write_text(json.dumps(kept, indent=1), "utf-8")
    hunks = sum(seen.hunks.values())
    print(f"\n{seen.commits} commits, {hunks} hunks\n\n| rule | default | in 1,000 hunks |")
    print("|---|---|---:|")
    for key, count in seen.rules.most_common():
        state = "off" if key in off else "on"
        print(f"| {key} | {state} | {1000 * count / max(1, hunks):.2f} |")


if __name__ == "__main__":
    main()
