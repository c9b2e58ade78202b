"""The road from a change to a review: targets, candidates, scores, gate, ranking.

One ``ReviewPipeline`` holds the loaded models and serves any number of changes. Failures are
local: an unreadable file, an absent analyzer or a model that cannot read a hunk costs that item
alone and is said in the coverage or the notes.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from bot.diff import Attributes, PathFilter, cover
from bot.errors import FatalError
from bot.github.fingerprints import fingerprint
from bot.repo_config import keep_languages
from bot.review.candidates import (
    finding_candidates,
    owner_of,
    remark_candidates,
    revision_candidates,
)
from bot.review.claims import (
    ClaimChoice,
    ClaimWriters,
    Place,
    References,
    hunks_to_ask,
    read_off,
    with_written,
    writers_of,
)
from bot.review.gate import Draft, Gate
from bot.review.nearest import nearest_others
from bot.review.render import render_review
from bot.review.targets import targets_of
from bot.review.types import (
    FileCoverage,
    NoSources,
    Progress,
    ReviewOptions,
    ReviewResult,
    Sources,
)
from models.analyzers.base import introduced, run_analyzers
from models.change import Change, ChangedFile, Coverage
from models.crscore.judge import Judge, JudgeError, row_of
from models.generators.base import GeneratorError
from models.review_types import Candidate, Finding, PseudoReference, Target
from models.syntax import language_row

if TYPE_CHECKING:
    from bot.review.history import History
    from models.crscore import CRScore
    from models.generators.base import Generator

MAX_TARGETS = 150
"""Hunks that a model reads in one review; the rest is read by the analyzers alone."""


def _silent(stage: str, done: int, total: int) -> None:
    """Progress that nobody watches."""


@dataclass(slots=True)
class _Reading:
    """What was read of one file, and what is known of it."""

    file: ChangedFile
    base: bytes | None
    head: bytes | None
    targets: tuple[Target, ...] = ()
    findings: tuple[Finding, ...] = ()
    coverage: Coverage = Coverage.REVIEWED
    notes: list[str] = field(default_factory=list)


class ReviewPipeline:
    """Reviews changes (``bot.jobs.forge.Reviewer``).

    Args:
        score: the scorer; loaded with the default encoder at first use where ``None``.
        generator: the model that writes revisions and comments; ``None`` reviews without one.
        answers: how many revisions and comments the generator writes for each hunk.
        offered: the operator's list: what loads the model of each name that a repository may
            choose (``ReviewOptions.model``). Each is loaded when first chosen, and stays.
        rules: the operator's folder of own ast-grep rules.
        history: finds what people said in a repository's past (``bot.learn.index``), by its
            ``owner/name``; ``None`` where nothing was learnt.
        claims: where claims come from besides those that are read off the change; raises
            ``FatalError`` for a wrong choice.
    """

    def __init__(
        self,
        *,
        score: CRScore | None = None,
        generator: Generator | None = None,
        answers: int = 1,
        offered: Mapping[str, Callable[[], Generator | None]] | None = None,
        rules: Path | None = None,
        history: Callable[[str], History | None] | None = None,
        claims: ClaimChoice | None = None,
    ) -> None:
        self._history = history
        self._writers = ClaimWriters(claims or ClaimChoice())
        self._score = score
        self._generator = generator
        self._answers = answers
        self._offered = dict(offered or {})
        self._loaded: dict[str, Generator | None] = {}
        self._loading = Lock()
        self._rules = rules
        self._judge_asked = False
        self._loaded_judge: Judge | None = None
        self._judge_note = ""

    @property
    def generator(self) -> Generator | None:
        """The model that writes revisions and comments, where there is one."""
        return self._generator

    @property
    def score(self) -> CRScore:
        """The scorer, loaded when first asked for."""
        if self._score is None:
            from models.crscore import CRScore

            self._score = CRScore()
        return self._score

    def review(
        self,
        change: Change,
        sources: Sources | None = None,
        options: ReviewOptions | None = None,
        progress: Progress = _silent,
    ) -> ReviewResult:
        """Review a change; see ``ReviewOptions`` for what can be chosen.

        ``progress`` may raise to stop the review; nothing is left behind.
        """
        sources = sources or NoSources()
        options = options or ReviewOptions()
        timings: dict[str, float] = defaultdict(float)
        notes: list[str] = []
        with _timed(timings, "targets"):
            covered = cover(
                change,
                sources,
                paths=PathFilter(options.include, options.exclude),
                # the base's: an author must not hide code from review by attributes of the head
                attributes=Attributes(sources.base(".gitattributes") or b""),
            )
            covered = keep_languages(covered, options.languages, sources.head)
            readings = self._read(covered, sources, progress)
        with _timed(timings, "analyzers"):
            notes += self._analyze(readings, options, progress)
        with _timed(timings, "claims"):
            references: dict[Place, tuple[PseudoReference, ...]] = {}
            for r in readings:
                references |= read_off(r.file, r.targets, r.findings, r.base, r.head)
        with _timed(timings, "model"):
            generator = self._chosen(options, notes)
            candidates = self._candidates(readings, generator, progress)
            candidates += self._said_before(change.repo, readings, options, progress)
        with _timed(timings, "claims"):
            files = {reading.file.path: reading.file for reading in readings}
            places = [(c.path, owner_of(files[c.path], c)) for c in candidates]
            asked = hunks_to_ask(candidates, places, files)
            written = self._writers.write(asked, progress, change.repo)
            notes += written.notes
            graded_by = with_written(references, written, self._writers.choice)
        with _timed(timings, "score"):
            progress("scores", 0, 1)
            drafts = self._grade(candidates, files, places, references, graded_by, notes)
        with _timed(timings, "gate"):
            progress("gate", 0, 1)
            gate = Gate(
                {r.file.path: r.file for r in readings},
                {r.file.path: r.head for r in readings},
                generator.card if generator is not None else {},
                self.score.encoder,
                options,
                self._rules,
            )
            judged = gate.judge(drafts)
        coverage = tuple(
            FileCoverage(r.file.path, r.coverage, "; ".join(dict.fromkeys(filter(None, r.notes))))
            for r in readings
        )
        flat = tuple(reference for group in graded_by.values() for reference in group)
        signature = self.score.signature(flat) + writers_of(flat)
        if self._loaded_judge is not None:
            signature += f"|{self._loaded_judge.signature}"
        review = render_review(covered, judged, coverage, notes, signature)
        return ReviewResult(
            change=covered,
            review=review,
            candidates=judged,
            coverage=coverage,
            references=flat,
            notes=tuple(notes),
            timings=dict(timings),
        )

    def _read(self, change: Change, sources: Sources, progress: Progress) -> list[_Reading]:
        readings: list[_Reading] = []
        for index, file in enumerate(change):
            progress("files", index, len(change.files))
            reading = _Reading(file, None, None, coverage=file.coverage, notes=[file.note])
            readings.append(reading)
            if file.coverage not in (Coverage.REVIEWED, Coverage.CLIPPED):
                continue
            if file.new_path is not None:
                reading.head = sources.head(file.new_path)
            if file.old_path is not None:
                reading.base = sources.base(file.old_path)
            reading.targets, note = targets_of(file, reading.base, reading.head)
            if note:
                reading.notes.append(note)
                reading.coverage = Coverage.CLIPPED
        return readings

    def _analyze(
        self, readings: Sequence[_Reading], options: ReviewOptions, progress: Progress
    ) -> tuple[str, ...]:
        heads = {
            r.file.new_path: r.head
            for r in readings
            if r.head is not None and r.file.new_path is not None and r.file.hunks
        }
        bases = {
            r.file.old_path: r.base
            for r in readings
            if r.base is not None and r.file.old_path is not None and r.head is not None
        }
        names = options.analyzers
        reports = []
        for done, texts in enumerate((heads, bases)):
            progress("analyzers", done, 2)
            reports.append(
                run_analyzers(
                    texts, names=names, extra_rules=self._rules, enable=options.enabled_rules
                )
            )
        head, base = reports
        for reading in readings:
            if reading.head is not None:
                reading.findings = introduced(
                    reading.file,
                    base.findings,
                    head.findings,
                    unknown=base.broke_off,
                    lines=reading.head.count(b"\n"),
                    always=options.pinned,
                )
        return tuple(dict.fromkeys((*head.notes, *base.notes)))

    def _chosen(self, options: ReviewOptions, notes: list[str]) -> Generator | None:
        """The model that the options name; the default one, and a note, where it cannot be had."""
        if not options.use_model:
            return None
        if not options.model:
            return self._generator
        load = self._offered.get(options.model)
        reason = "the operator does not offer it"
        if load is not None:
            try:
                with self._loading:
                    if options.model not in self._loaded:
                        self._loaded[options.model] = load()
                return self._loaded[options.model]
            except (FatalError, GeneratorError) as error:
                reason = str(error)
        notes.append(f"model {options.model!r}: {reason}; the default one was used")
        return self._generator

    def _candidates(
        self,
        readings: Sequence[_Reading],
        generator: Generator | None,
        progress: Progress,
    ) -> list[Candidate]:
        result: list[Candidate] = []
        for reading in readings:
            result += finding_candidates(reading.file, reading.findings, reading.head)
        if generator is None:
            return result
        targets: list[Target] = []
        for reading in readings:
            for target in reading.targets:
                if language_row(target.language) is None:
                    continue
                if len(targets) >= MAX_TARGETS:
                    reading.coverage = Coverage.CLIPPED
                    reading.notes.append(f"past the model's {MAX_TARGETS} hunks: analyzers only")
                    break
                targets.append(target)
        # a few files at a time, so that progress is seen and a superseded review stops soon
        lot = 16
        for start in range(0, len(targets), lot):
            progress("model", start, len(targets))
            part = targets[start : start + lot]
            if "crb" in generator.tasks:
                result += revision_candidates(part, generator, answers=self._answers)
            if "rcg" in generator.tasks:
                result += remark_candidates(part, generator, answers=self._answers)
        return result

    def _said_before(
        self,
        repository: str,
        readings: Sequence[_Reading],
        options: ReviewOptions,
        progress: Progress,
    ) -> list[Candidate]:
        """What people of this repository said of similar code, where it was learnt."""
        wanted = options.use_model and options.history and self._history is not None
        history = self._history(repository) if wanted and self._history is not None else None
        if history is None:
            return []
        targets = [t for reading in readings for t in reading.targets][:MAX_TARGETS]
        progress("history", 0, len(targets))
        return history.candidates(targets)

    def _judge(self, notes: list[str]) -> Judge | None:
        """The judge, loaded when first asked for; without its weights the score stands alone."""
        if not self._judge_asked:
            self._judge_asked = True
            try:
                self._loaded_judge = Judge(self.score.encoder)
            except JudgeError as error:
                self._judge_note = f"no judge: {error}"
        if self._judge_note:
            notes.append(self._judge_note)
        return self._loaded_judge

    def _grade(
        self,
        candidates: Sequence[Candidate],
        files: Mapping[str, ChangedFile],
        places: Sequence[Place],
        restated: References,
        graded_by: References,
        notes: list[str],
    ) -> list[Draft]:
        nearby = [tuple(graded_by.get(place, ())) for place in places]
        scores = self.score.score_reference_batch(
            [(c.text, refs) for c, refs in zip(candidates, nearby, strict=True)]
        )
        scores = [
            replace(score, signature=score.signature + writers_of(refs))
            for score, refs in zip(scores, nearby, strict=True)
        ]
        scores = nearest_others(candidates, scores, nearby, self.score)
        judge = self._judge(notes)
        if judge is not None and candidates:
            rows = [
                row_of(files[c.path].hunks[index : index + 1], c.text, refs)
                for c, (_, index), refs in zip(candidates, places, nearby, strict=True)
            ]
            scores = [
                replace(
                    score,
                    judge=judgement.probability,
                    signature=f"{score.signature}|{judge.signature}",
                )
                for score, judgement in zip(scores, judge.judge(rows), strict=True)
            ]
        # What a model says of a change may be just what a good remark should say; only what is
        # read off the change tells that a remark has nothing more.
        return [
            Draft(c, s, tuple(restated.get(place, ())), fingerprint(c, files[c.path]))
            for c, s, place in zip(candidates, scores, places, strict=True)
        ]


@contextmanager
def _timed(timings: dict[str, float], stage: str) -> Iterator[None]:
    started = time.perf_counter()
    try:
        yield
    finally:
        timings[stage] += time.perf_counter() - started
