"""A small reviewer for the end-to-end tests: one remark for each file's first added line.

It implements ``bot.jobs.forge.Reviewer`` and needs no model, so that a crash test measures crashes.
"""

from __future__ import annotations

import time

from bot.github.fingerprints import fingerprint
from bot.review.types import (
    FileCoverage,
    JudgedCandidate,
    Progress,
    Reason,
    Review,
    ReviewComment,
    ReviewOptions,
    ReviewResult,
    Sources,
    Verdict,
)
from models.change import Change, ChangedFile, Coverage, Side
from models.review_types import Candidate, CandidateKind, Score


class SmallReviewer:
    """Deterministic; ``seconds`` is how long a review takes."""

    def __init__(self, seconds: float = 0.0) -> None:
        self._seconds = seconds

    def review(
        self, change: Change, sources: Sources, options: ReviewOptions, progress: Progress
    ) -> ReviewResult:
        until = time.monotonic() + self._seconds
        while time.monotonic() < until:
            progress("waiting", 0, 1)
            time.sleep(0.05)
        judged = tuple(
            one for file in change for one in self._remarks(file, options.known_fingerprints)
        )
        comments = tuple(
            ReviewComment(
                one.candidate.path,
                Side.RIGHT,
                None,
                one.candidate.line,
                one.candidate.text,
                one.fingerprint,
                one,
            )
            for one in judged
            if one.verdict.posted
        )
        return ReviewResult(
            change,
            Review("Read.", comments, "", "small"),
            judged,
            tuple(FileCoverage(file.path, Coverage.REVIEWED) for file in change),
        )

    @staticmethod
    def _remarks(file: ChangedFile, known: frozenset[str]) -> list[JudgedCandidate]:
        added = [line for hunk in file.hunks for line in hunk.added]
        if not added or added[0].new_no is None:
            return []
        number = added[0].new_no
        candidate = Candidate(
            CandidateKind.COMMENT, "small:1", file.path, Side.RIGHT, number, number,
            f"Why {added[0].text.strip()[:40]}?",
        )  # fmt: skip
        name = fingerprint(candidate, file)
        reason = Reason.ALREADY_SAID if name in known else Reason.POSTED
        score = Score(0.5, 0.5, 0.5, "small")
        return [JudgedCandidate(candidate, score, Verdict(reason), 1, name)]
