"""What a reviewer makes of a change: targets, findings, claims, candidates, scores.

Plain frozen values; no I/O. See ``models.change`` for the change itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from models.change import Hunk, Side


class CandidateKind(StrEnum):
    """What a candidate would say: a remark, a replacement of lines, an analyzer's finding."""

    COMMENT = "comment"
    REVISION = "revision"
    FINDING = "finding"


class Severity(StrEnum):
    """How bad a finding is, from a matter of taste to a defect."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Replacement:
    """Lines ``start_line`` to ``end_line`` (1-based, inclusive, head side) become ``lines``.

    ``lines`` have no line endings. An insertion is written as a replacement of one neighbouring
    line by itself and the new lines, since a committable suggestion cannot replace nothing.
    """

    start_line: int
    end_line: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """One smell that an analyzer reports in one file (head or base side is the caller's to know).

    ``rule`` is the analyzer's own id; ``line``/``end_line`` are 1-based and inclusive;
    ``message`` is one sentence for a person. ``fix`` is the machine fix as line replacements.
    """

    analyzer: str
    rule: str
    path: str
    line: int
    end_line: int
    message: str
    severity: Severity = Severity.WARNING
    url: str = ""
    fix: tuple[Replacement, ...] = ()


@dataclass(frozen=True, slots=True)
class Target:
    """What a generator sees of one hunk.

    ``before`` and ``after`` are the two sides' lines of the window (hunk plus as much context as
    fits), without line endings. ``after_start`` is the head line number of ``after[0]`` and
    ``before_start`` the base line number of ``before[0]``. ``changed`` holds the indices into
    ``after`` of added lines, so ``after_start + i`` is the head line of ``after[i]``.
    ``enclosing`` is the name of the function or class around the hunk ("" where none is known),
    with its head lines ``enclosing_start``..``enclosing_end`` (0 where none).
    """

    path: str
    language: str
    hunk: Hunk
    before: tuple[str, ...]
    after: tuple[str, ...]
    before_start: int
    after_start: int
    changed: tuple[int, ...]
    enclosing: str = ""
    enclosing_kind: str = ""
    enclosing_start: int = 0
    enclosing_end: int = 0


class ReferenceKind(StrEnum):
    """The two kinds of pseudo-reference of CRScore (section 3.1)."""

    CLAIM = "claim"
    SMELL = "smell"


@dataclass(frozen=True, slots=True)
class PseudoReference:
    """A thing that a good review of this change could speak about (CRScore, section 3.1).

    ``lines`` are the head-side line numbers it is about (base-side for what was removed; empty
    for the whole change); ``origin`` names what made it (``syntax``, ``ruff:B006``, ``given``).
    """

    kind: ReferenceKind
    text: str
    lines: tuple[int, ...] = ()
    origin: str = ""
    path: str = ""


@dataclass(frozen=True, slots=True)
class Score:
    """CRScore of one review text: fractions from 0 to 1, with how they were made.

    ``con``, ``comp`` and ``rel`` are conciseness, comprehensiveness and relevance (CRScore,
    equations 1 to 3). ``judge`` is the calibrated probability that a person would give the text
    3 or more of 5 for relevance, ``None`` where no judge was asked. ``nearest`` is the
    pseudo-reference most similar to any sentence and ``similarity`` its cosine.
    """

    con: float
    comp: float
    rel: float
    signature: str
    judge: float | None = None
    nearest: PseudoReference | None = None
    similarity: float = 0.0


@dataclass(frozen=True, slots=True)
class Candidate:
    """One thing that could be posted.

    ``origin`` says who made it (``ruff:B006``, ``t5:crb:1a2b3c4d``). The anchor is ``path``,
    ``side`` and ``start_line``..``line`` (1-based, inclusive). ``replacement`` is set for
    revisions. ``confidence`` is the generator's own (0 to 1: for a model the geometric mean of
    its token probabilities; 1 for an analyzer), ``weakest`` the smallest token probability.
    """

    kind: CandidateKind
    origin: str
    path: str
    side: Side
    start_line: int
    line: int
    text: str
    replacement: Replacement | None = None
    confidence: float = 1.0
    weakest: float = 1.0
    severity: Severity = Severity.WARNING
    url: str = ""
