"""A soak over real histories: ``python -m tests.soak FOLDER... [--commits 200]``.

Reviews the newest commits (merges left out) of git repositories that a developer has cloned, by
one pipeline with everything on and the gate at its most open, and prints what may never be:
crashes, changed files without a coverage, and unsafe suggestions, by a check of its own. It also
prints how many comments a commit gets, and time and memory. Leaves with 1 unless the three are 0.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path

from bot.diff import ApplyError, GitError, GitRepository, apply_replacements
from bot.review.local import load_generator
from bot.review.pipeline import ReviewPipeline
from bot.review.types import ReviewOptions, ReviewResult, Sources
from models.change import ChangedFile, Coverage, Side
from models.syntax import error_count, language_of, language_row

READ = (Coverage.REVIEWED, Coverage.CLIPPED)


@dataclass
class Tally:
    """What the soak has seen so far."""

    commits: int = 0
    files: int = 0
    comments: int = 0
    suggestions: int = 0
    languages: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    crashes: list[str] = field(default_factory=list)
    uncovered: list[str] = field(default_factory=list)
    unsafe: list[str] = field(default_factory=list)

    @property
    def clean(self) -> bool:
        """Whether all that must be 0 is 0, and something was reviewed at all."""
        return self.commits > 0 and not (self.crashes or self.uncovered or self.unsafe)


def commits(folder: Path, count: int) -> list[str]:
    """The newest commits' ids, merges left out."""
    done = subprocess.run(
        ["git", "-C", str(folder), "rev-list", "--no-merges", f"--max-count={count}", "HEAD"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        raise SystemExit(f"soak: {folder}: no git repository with commits: {done.stderr.strip()}")
    return done.stdout.split()


def work(folders: Sequence[Path], count: int) -> Iterator[tuple[Path, str]]:
    """So many commits in all, taken from the folders in turn."""
    taken = 0
    each = [[(folder, one) for one in commits(folder, count)] for folder in folders]
    for row in zip_longest(*each):
        for pair in row:
            if pair is None or taken >= count:
                continue
            taken += 1
            yield pair


def changed_files(folder: Path, commit: str) -> set[str]:
    """The changed files by git's own word, the old names of renamed ones left out."""
    done = subprocess.run(
        ["git", "-C", str(folder), "diff-tree", "-r", "-z", "--root", "--no-commit-id",
         "--name-status", "--find-renames=50%", "-l1000", commit],
        capture_output=True, check=True,
    )  # fmt: skip
    fields = done.stdout.decode("utf-8", "surrogateescape").split("\0")[:-1]
    paths: set[str] = set()
    while fields:
        status = fields.pop(0)
        if status[0] in "RC":
            fields.pop(0)
        paths.add(fields.pop(0))
    return paths


def unsafe_of(result: ReviewResult, sources: Sources) -> Iterator[str]:
    """What is unsafe in a review: each posted suggestion checked from scratch."""
    together: dict[str, list[int]] = {}
    for index, comment in enumerate(result.review.comments):
        file = result.change.file(comment.path)
        where = f"{comment.path}:{comment.line} ({comment.source.candidate.origin})"
        if file is None:
            yield f"{where}: the file is not in the change"
            continue
        if not _inside(file, comment.side, comment.start_line or comment.line, comment.line):
            yield f"{where}: outside its hunk"
        replacement = comment.source.candidate.replacement
        if replacement is None:
            continue
        together.setdefault(comment.path, []).append(index)
        if (replacement.start_line, replacement.end_line) != (
            comment.start_line or comment.line,
            comment.line,
        ):
            yield f"{where}: the suggestion is for other lines than its comment"
        yield from _damage(where, comment.path, [index], result, sources)
    for path, indices in together.items():
        if len(indices) > 1:
            yield from _damage(f"{path} (all suggestions)", path, indices, result, sources)


def _inside(file: ChangedFile, side: Side, start: int, end: int) -> bool:
    for hunk in file.hunks:
        numbers = {line.old_no if side is Side.LEFT else line.new_no for line in hunk.lines}
        if numbers.issuperset(range(start, end + 1)):
            return True
    return False


def _damage(
    where: str, path: str, indices: Sequence[int], result: ReviewResult, sources: Sources
) -> Iterator[str]:
    head = sources.head(path)
    if head is None:
        yield f"{where}: a suggestion for a file that cannot be read"
        return
    wanted = [result.review.comments[i].source.candidate.replacement for i in indices]
    try:
        after = apply_replacements(head, [one for one in wanted if one is not None])
    except ApplyError as error:
        yield f"{where}: does not apply: {error}"
        return
    if after == head:
        yield f"{where}: changes nothing"
    language = language_of(path)
    if language_row(language) is None:
        yield f"{where}: no parser vouches for {language or 'this language'}"
        return
    was, now = error_count(head, language), error_count(after, language)
    if now > was:
        yield f"{where}: {now} parse errors instead of {was}"


def review_one(
    pipeline: ReviewPipeline, options: ReviewOptions, folder: Path, commit: str, tally: Tally
) -> None:
    """One commit against its first parent; whatever goes wrong is in the tally."""
    name = f"{folder} {commit[:12]}"
    began = time.perf_counter()
    try:
        with GitRepository(folder) as repository:
            change = repository.change(f"{commit}^!")
            sources = repository.sources(change)
            result = pipeline.review(change, sources, options)
            tally.unsafe += [f"{name}: {what}" for what in unsafe_of(result, sources)]
    except GitError as error:
        # git's own refusal in one line, of a clone that lacks objects, say: no review was begun
        tally.unreadable.append(f"{name}: {error}")
        return
    except Exception:  # noqa: BLE001 - a crash of any kind is what a soak looks for
        tally.crashes.append(f"{name}:\n{traceback.format_exc(limit=-6)}")
        return
    tally.seconds.append(time.perf_counter() - began)
    tally.commits += 1
    tally.files += len(result.coverage)
    tally.comments += len(result.review.comments)
    tally.suggestions += sum(one.suggestion is not None for one in result.review.comments)
    tally.reasons.update(one.verdict.reason.value for one in result.candidates)
    tally.languages.update(
        language_of(one.path) or "other" for one in result.coverage if one.status in READ
    )
    listed = Counter(one.path for one in result.coverage)
    for path in sorted(changed_files(folder, commit) ^ set(listed)):
        tally.uncovered.append(f"{name}: {path!r}: git and the coverage differ")
    for path, times in listed.items():
        if times > 1:
            tally.uncovered.append(f"{name}: {path!r}: {times} times in the coverage")


def report(tally: Tally) -> str:
    """The tally for a person."""
    seconds = sorted(tally.seconds) or [0.0]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    peak_mib = peak / (1 << 20 if sys.platform == "darwin" else 1 << 10)
    rows = [
        f"commits reviewed       {tally.commits}",
        f"files                  {tally.files}",
        "languages read         "
        + ", ".join(f"{name} {count}" for name, count in tally.languages.most_common()),
        f"comments a commit      {tally.comments / max(1, tally.commits):.2f}"
        f" ({tally.suggestions} suggestions in all)",
        "verdicts               "
        + ", ".join(f"{name} {count}" for name, count in tally.reasons.most_common()),
        f"seconds a commit       median {statistics.median(seconds):.2f},"
        f" 95% {seconds[int(0.95 * (len(seconds) - 1))]:.2f}, most {seconds[-1]:.2f}",
        f"peak memory            {peak_mib:.0f} MiB",
        f"not readable by git    {len(tally.unreadable)}",
        f"crashes                {len(tally.crashes)}",
        f"uncovered files        {len(tally.uncovered)}",
        f"unsafe suggestions     {len(tally.unsafe)}",
    ]
    return "\n".join([*rows, *tally.unreadable, *tally.crashes, *tally.uncovered, *tally.unsafe])


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the soak; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--commits", type=int, default=200, help="in all (default 200)")
    parser.add_argument("--no-model", action="store_true", help="analyzers only")
    parser.add_argument("--model", help="a folder or Hub id; default: the shipped one")
    given = parser.parse_args(arguments)
    use_model = not given.no_model
    generator = load_generator(given.model) if use_model else None
    pipeline = ReviewPipeline(generator=generator)
    sys.stdout.write(f"model                  {'none' if generator is None else generator.name}\n")
    options = ReviewOptions(sure=0, max_comments=50, use_model=use_model)
    tally = Tally()
    for folder, commit in work(given.folders, given.commits):
        review_one(pipeline, options, folder, commit, tally)
        done = tally.commits + len(tally.crashes) + len(tally.unreadable)
        sys.stderr.write(f"{done}/{given.commits} {folder} {commit[:12]}\n")
    sys.stdout.write(report(tally) + "\n")
    return 0 if tally.clean else 1


if __name__ == "__main__":
    sys.exit(main())
