"""How often each rule would speak in reviews of real histories, and where.

``python -m tests.bench.rule_histories FOLDER... [--steps 300] [--span 1] [--show]``

Base and head of each step (a commit, or a range of ``--span`` commits) are analysed and only what
it brought in, on lines that it changed, counts: what a review has for candidates before the gate.
Many steps go in one run of each analyzer. ``--show`` prints each finding of a rule that is on by
default with its code, for reading; the table is findings in 1,000 changed hunks.
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

LOT = 10
READ = (Coverage.REVIEWED, Coverage.CLIPPED)


@dataclass(slots=True)
class Seen:
    """What the rules said: ``steps`` done, ``rules`` by analyzer:rule, ``hunks`` by language,
    ``found`` with the head's lines."""

    steps: int = 0
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


def look(steps: Sequence[Step], off: Collection[str], *, show: bool = False) -> Seen:
    """What the rules say of these steps, those that are ``off`` by default too; see ``shown``."""
    seen = Seen()
    for start in range(0, len(steps), LOT):
        lot = [load(step) for step in steps[start : start + LOT]]
        heads, bases = (
            _findings({f"{n}/{path}": text for n, one in enumerate(lot)
                       for path, text in getattr(one, side).items()}, off)
            for side in ("heads", "bases")
        )  # fmt: skip
        told = len(seen.found)
        for number, one in enumerate(lot):
            seen.steps += 1
            for file in one.files:
                seen.hunks[language_of(file.path) or "other"] += len(file.hunks)
                text = one.heads[file.path].decode("utf-8", "replace").split("\n")
                for finding in introduced(file, bases[number], heads[number], lines=len(text)):
                    seen.rules[f"{finding.analyzer}:{finding.rule}"] += 1
                    seen.found.append((one.step, finding, text))
        if show:
            sys.stdout.write("".join(f"{row}\n" for row in shown(seen.found[told:], off)))
            sys.stdout.flush()
        sys.stderr.write(f"{seen.steps}/{len(steps)}\n")
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


def shown(found: Sequence[tuple[Step, Finding, list[str]]], off: Collection[str]) -> Iterator[str]:
    """Each finding of a rule that is on, with its lines and two around them."""
    for step, one, text in found:
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
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--span", type=int, default=1, help="so many commits as one range")
    parser.add_argument("--show", action="store_true", help="print each finding with its code")
    parser.add_argument("--json", type=Path, help="keep the counts for tests.bench.rule_document")
    options = parser.parse_args()
    off = off_by_default()
    steps = choose(options.folders, options.steps, span=options.span, code=True).steps
    seen = look(steps, off, show=options.show)
    if options.json is not None:
        kept = {
            "commits": seen.steps * options.span,
            "hunks": dict(seen.hunks),
            "rules": dict(seen.rules),
        }
        options.json.write_text(json.dumps(kept, indent=1), "utf-8")
    hunks = sum(seen.hunks.values())
    print(f"\n{seen.steps * options.span} commits, {hunks} hunks\n")
    print("| rule | default | in 1,000 hunks |")
    print("|---|---|---:|")
    for key, count in seen.rules.most_common():
        state = "off" if key in off else "on"
        print(f"| {key} | {state} | {1000 * count / max(1, hunks):.2f} |")


if __name__ == "__main__":
    main()
