"""What a review is made of: verdicts, comments, coverage, and the whole result.

Plain frozen values; no I/O. The command line, the App and the tests all read the same
``ReviewResult``; only where it goes differs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from models.change import Change, Coverage, Side
from models.review_types import Candidate, PseudoReference, Score


class Reason(StrEnum):
    """Why a candidate was posted or held back; exactly one a candidate."""

    POSTED = "posted"
    # safety: these hold at every setting
    OUTSIDE_HUNK = "outside-hunk"
    WRONG_SIDE = "wrong-side"
    NO_CHANGE = "no-change"
    DOES_NOT_APPLY = "does-not-apply"
    BREAKS_SYNTAX = "breaks-syntax"
    ADDS_FINDING = "adds-finding"
    INDENTATION = "indentation"
    COMMENT_OVERWRITTEN = "comment-overwritten"
    OVERLAPS = "overlaps"
    EMPTY = "empty"
    REPETITION = "repetition"
    TOO_LONG = "too-long"
    UNSAFE_TEXT = "unsafe-text"
    # worth: these move with the operator's "how sure"
    RESTATES_CHANGE = "restates-change"
    NOT_RELEVANT = "not-relevant"
    NOT_CONFIDENT = "not-confident"
    NOT_SPECIFIC = "not-specific"
    DUPLICATE = "duplicate"
    ALREADY_SAID = "already-said"
    DISMISSED_BEFORE = "dismissed-before"
    OVER_LIMIT = "over-limit"
    RULE_LIMIT = "rule-limit"
    RULE_OFF = "rule-off"
    UNDOES_CHANGE = "undoes-change"
    IN_DELETED_CODE = "in-deleted-code"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Posted or held back, for one reason; ``detail`` is a short phrase for a person."""

    reason: Reason
    detail: str = ""

    @property
    def posted(self) -> bool:
        """Whether the candidate is in the review."""
        return self.reason is Reason.POSTED


@dataclass(frozen=True, slots=True)
class JudgedCandidate:
    """A candidate with its score, its verdict and its rank among all (1 is best).

    ``sure`` is the probability (0 to 1) that this team accepts it.
    """

    candidate: Candidate
    score: Score
    verdict: Verdict
    rank: int = 0
    fingerprint: str = ""
    sure: float = 0.0


@dataclass(frozen=True, slots=True)
class ReviewComment:
    """One comment as GitHub wants it: head or base lines inside a hunk.

    ``start_line`` is ``None`` for a single line (GitHub answers 422 to ``start_line == line``);
    ``body`` is the Markdown to post, fence and footer included; ``suggestion`` the replacement
    text of the lines, ``None`` for prose. ``fingerprint`` names the remark independently of line
    numbers, so that it is not posted again at the next push.
    """

    path: str
    side: Side
    start_line: int | None
    line: int
    body: str
    fingerprint: str
    source: JudgedCandidate
    suggestion: str | None = None


@dataclass(frozen=True, slots=True)
class FileCoverage:
    """What was read of one changed file, and why not the rest."""

    path: str
    status: Coverage
    note: str = ""


@dataclass(frozen=True, slots=True)
class Review:
    """What is posted: a summary and a few comments.

    ``marker`` is an HTML comment that makes the review recognisable as this program's for this
    head; ``signature`` says how the scores were made.
    """

    summary: str
    comments: tuple[ReviewComment, ...]
    marker: str
    signature: str


@dataclass(frozen=True, slots=True)
class ReviewResult:
    """A review with everything that led to it.

    ``candidates`` are all of them, best first, each with its verdict; ``coverage`` has one entry
    a changed file; ``notes`` are one-line remarks on what could not be done (an analyzer that is
    not installed, say); ``timings`` are seconds by stage.
    """

    change: Change
    review: Review
    candidates: tuple[JudgedCandidate, ...]
    coverage: tuple[FileCoverage, ...]
    references: tuple[PseudoReference, ...] = ()
    notes: tuple[str, ...] = ()
    timings: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReviewOptions:
    """How to review: what the operator or the repository's configuration chose.

    ``sure`` (0 to 1) is how sure the program must be to post; at 0 only the safety gate stands.
    ``known_fingerprints`` were posted before on this pull request and ``dismissed_fingerprints``
    were dismissed by a person: neither is posted again. ``languages`` of ``None`` are all.
    ``pinned`` and ``banned`` are rules or analyzers that never fade and never speak; ``learnt``
    is the team's calibration (``bot.feedback.calibration``, as JSON), ``None`` for a new team.
    ``model`` is a name from the operator's list, "" for the default one; ``enabled_rules`` are
    rules (analyzer:rule) that are off by default and wanted all the same. ``history`` lets people's
    own remarks on similar code of this repository be said again, where they were learnt.
    """

    sure: float = 0.5
    max_comments: int = 10
    use_model: bool = True
    analyzers: frozenset[str] | None = None
    disabled_rules: frozenset[str] = frozenset()
    enabled_rules: frozenset[str] = frozenset()
    model: str = ""
    known_fingerprints: frozenset[str] = frozenset()
    dismissed_fingerprints: frozenset[str] = frozenset()
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    languages: frozenset[str] | None = None
    pinned: frozenset[str] = frozenset()
    banned: frozenset[str] = frozenset()
    learnt: Mapping[str, Any] | None = None
    history: bool = True


class Sources(Protocol):
    """Where the text of the two sides is read: git's objects, GitHub's blobs, or nothing."""

    def base(self, path: str) -> bytes | None:
        """The file's bytes at the merge base, or ``None`` where it is not there or not known."""
        ...

    def head(self, path: str) -> bytes | None:
        """The file's bytes at the head, or ``None`` where it is not there or not known."""
        ...


class NoSources:
    """A bare diff: no file can be read beyond what the hunks show."""

    def base(self, path: str) -> bytes | None:
        """Nothing is known of the base."""
        return None

    def head(self, path: str) -> bytes | None:
        """Nothing is known of the head."""
        return None


class Progress(Protocol):
    """Told how far a long stage has come."""

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Stage's name, units done and units in all."""
        ...
