"""A soak over real histories: ``python -m tests.soak FOLDER... [--commits 200]``.

Reviews the newest commits (merges left out) of git repositories that a developer has cloned, by
one pipeline with everything on and the gate at its most open, and prints what may never be:
crashes, changed files without a coverage, faults of the fixed JSON form, unsafe comments and
suggestions, all by checks that share nothing with the program (``tests.soak_check``). It also
prints how many comments a commit gets, with the gate open and with default settings, and time and
memory. Leaves with 1 unless the four are 0.

``--state FILE`` keeps a record of every commit as it is done: the same call goes on from there,
and ``--seconds`` ends a slice. ``--by-command`` reads the output of ``marginalia review --json
--explain --sure 0`` itself, in a process of its own; ``--span N`` reviews ranges of N commits.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
import traceback
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bot.diff import GitRepository
from bot.review.local import load_generator
from bot.review.output_json import to_dict
from bot.review.pipeline import ReviewPipeline
from bot.review.types import ReviewOptions
from models.generators.base import Answer, Generator, Window
from models.syntax import language_of
from tests.soak_check import comment_faults, coverage_faults, form_faults
from tests.soak_histories import Step, choose, files_of, hunk_count
from tests.soak_report import Record, report

MOST_COMMENTS = 50
"""With the gate open; what a repository's own configuration may ask for at most."""


class Remembering:
    """A generator that does not answer the same windows twice.

    Each commit is reviewed twice, with the gate open and with default settings, and only the gate
    differs.
    """

    def __init__(self, inner: Generator) -> None:
        self._inner = inner
        self._known: dict[tuple[str, Window, int], list[Answer]] = {}
        self.name = inner.name
        self.card = inner.card
        self.tasks = inner.tasks

    def forget(self) -> None:
        """Before the next commit."""
        self._known.clear()

    def revise(self, windows: Sequence[Window], *, answers: int = 1) -> list[list[Answer]]:
        """The inner one's revisions."""
        return self._ask("revise", windows, answers)

    def comment(self, windows: Sequence[Window], *, answers: int = 1) -> list[list[Answer]]:
        """The inner one's comments."""
        return self._ask("comment", windows, answers)

    def _ask(self, task: str, windows: Sequence[Window], answers: int) -> list[list[Answer]]:
        fresh = [one for one in dict.fromkeys(windows) if (task, one, answers) not in self._known]
        if fresh:
            written = getattr(self._inner, task)(fresh, answers=answers)
            for window, found in zip(fresh, written, strict=True):
                self._known[task, window, answers] = found
        return [self._known[task, window, answers] for window in windows]


class Inside:
    """Reviews in this process: the open review with its time, and the default one."""

    def __init__(self, model: str | None, use_model: bool) -> None:
        inner = load_generator(model) if use_model else None
        self._generator = Remembering(inner) if inner is not None else None
        self._pipeline = ReviewPipeline(generator=self._generator)
        self._use_model = use_model
        self.model = "none" if inner is None else inner.name

    def review(self, step: Step) -> tuple[dict[str, Any], dict[str, Any] | None, float]:
        """The document with the gate open, the one by default settings, seconds of the first."""
        if self._generator is not None:
            self._generator.forget()
        with GitRepository(step.folder) as repository:
            change = repository.change(step.range_text)
            sources = repository.sources(change)
            wide = ReviewOptions(sure=0, max_comments=MOST_COMMENTS, use_model=self._use_model)
            began = time.perf_counter()
            result = self._pipeline.review(change, sources, wide)
            seconds = time.perf_counter() - began
            default = self._pipeline.review(
                change, sources, ReviewOptions(use_model=self._use_model)
            )
        # what a program reads is text, not values
        document = json.loads(json.dumps(to_dict(result, explain=True)))
        return document, to_dict(default), seconds


class ByCommand:
    """Reviews by the command itself, each in a process of its own."""

    def __init__(self, model: str | None, use_model: bool) -> None:
        self._options = ["--no-model"] if not use_model else []
        self._options += ["--model", model] if model is not None else []
        self.model = "as the command has it"

    def review(self, step: Step) -> tuple[dict[str, Any], dict[str, Any] | None, float]:
        """As ``Inside.review``, without a second review."""
        began = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-m", "bot.cli", "review", "--repo", str(step.folder),
             step.range_text, "--json", "--explain", "--sure", "0", *self._options],
            capture_output=True, check=False,
        )  # fmt: skip
        if done.returncode != 0:
            words = done.stderr.decode("utf-8", "replace").strip()
            raise RuntimeError(f"exit code {done.returncode}: {words[-2000:]}")
        return json.loads(done.stdout.decode("utf-8")), None, time.perf_counter() - began


def review_one(reviewer: Inside | ByCommand, step: Step) -> Record:
    """One step of a history; whatever goes wrong is in its record."""
    files = files_of(step)
    record = Record(step.name, kinds=Counter(kind for one in files for kind in one.kinds))
    try:
        document, default, record.seconds = reviewer.review(step)
    except Exception:  # noqa: BLE001 - a crash of any kind is what a soak looks for
        record.crashes = [f"{step.name}:\n{traceback.format_exc(limit=-6)}"]
        return record
    record.form = [f"{step.name}: {what}" for what in form_faults(document)]
    record.uncovered = [f"{step.name}: {what}" for what in coverage_faults(document, files)]
    if not record.form:
        record.unsafe = [f"{step.name}: {what}" for what in comment_faults(document, step, files)]
    record.read = Counter(
        language_of(one["path"]) or "other"
        for one in document["coverage"]
        if one["status"] in ("reviewed", "clipped")
    )
    record.statuses = Counter(one["status"] for one in document["coverage"])
    record.comments = len(document["comments"])
    record.suggestions = sum(one["suggestion"] is not None for one in document["comments"])
    record.by_kind = Counter(one["kind"] for one in document["comments"])
    record.reasons = Counter(one["reason"] for one in document["candidates"])
    record.notes = document["notes"]
    record.rules = Counter(
        one["origin"] for one in document["candidates"] if one["kind"] == "finding"
    )
    if default is not None:
        record.default = [_short(one) for one in default["comments"]]
    usage = resource.RUSAGE_CHILDREN if isinstance(reviewer, ByCommand) else resource.RUSAGE_SELF
    peak = resource.getrusage(usage).ru_maxrss
    record.peak_mib = peak / (1 << 20 if sys.platform == "darwin" else 1 << 10)
    record.hunks = hunk_count(step)
    return record


def _short(comment: Mapping[str, Any]) -> dict[str, Any]:
    keys = ("path", "line", "start_line", "side", "body", "origin", "severity", "suggestion")
    return {key: comment[key] for key in keys}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the soak; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--commits", type=int, default=200, help="in all (default 200)")
    parser.add_argument("--span", type=int, default=1, help="so many commits as one range")
    parser.add_argument("--code", action="store_true", help="only where code changed")
    parser.add_argument("--no-model", action="store_true", help="analyzers only")
    parser.add_argument("--model", help="a folder or Hub id; default: the shipped one")
    parser.add_argument("--by-command", action="store_true", help="run `marginalia review` itself")
    parser.add_argument("--state", type=Path, help="records of what is done; go on from there")
    parser.add_argument("--seconds", type=float, help="end this slice after so many")
    given = parser.parse_args(arguments)
    began = time.monotonic()
    chosen = choose(given.folders, given.commits, span=given.span, code=given.code)
    records = _known(given.state)
    todo = [step for step in chosen.steps if step.name not in records]
    reviewer = (ByCommand if given.by_command else Inside)(given.model, not given.no_model)
    sys.stdout.write(f"model                  {reviewer.model}\n")
    for number, step in enumerate(todo, 1 + len(chosen.steps) - len(todo)):
        if given.seconds is not None and time.monotonic() - began > given.seconds:
            break
        records[step.name] = record = review_one(reviewer, step)
        if given.state is not None:
            with given.state.open("a", encoding="utf-8") as handle:
                handle.write(record.to_line())
        sys.stderr.write(f"{number}/{len(chosen.steps)} {step.name} {record.seconds:.1f} s\n")
    done = [records[step.name] for step in chosen.steps if step.name in records]
    text, clean = report(done, chosen, len(chosen.steps) - len(done))
    sys.stdout.write(text + "\n")
    return 0 if clean else 1


def _known(state: Path | None) -> dict[str, Record]:
    if state is None or not state.exists():
        return {}
    read = [Record.from_line(line) for line in state.read_text("utf-8").splitlines()]
    return {record.name: record for record in read}


if __name__ == "__main__":
    sys.exit(main())
