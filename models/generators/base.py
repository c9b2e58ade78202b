"""What every generator gives: answers with the confidences that the gate works on."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from models.generators.line_edits import LineEdit


@dataclass(frozen=True, slots=True)
class Window:
    """A piece of code as a generator reads it.

    ``lines`` are the head side (for RCG: both sides, ``removed`` says which were deleted),
    ``changed`` the indices of lines that the author wrote. ``comment`` is a reviewer's (CRA).
    """

    language: str
    lines: tuple[str, ...]
    changed: frozenset[int] = frozenset()
    removed: frozenset[int] = frozenset()
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer with the model's own probabilities.

    ``confidence`` is the geometric mean of the token probabilities, ``weakest`` the smallest of
    them, ``probability`` their product; all under the model alone, without the constraint that
    keeps decoding well formed. ``nothing`` is the probability of "nothing to revise". ``parts``
    are the probabilities of the single edits, each given those before it, where the generator
    tells them; their product is ``probability``, but for the end token.
    """

    confidence: float
    weakest: float
    probability: float
    nothing: float
    edits: tuple[LineEdit, ...] = field(default=())
    text: str = ""
    parts: tuple[float, ...] = field(default=())


def answer_of(logs: Sequence[float], nothing: float, **content: Any) -> Answer:
    """An answer with the probabilities of its tokens, whose logarithms are ``logs``."""
    return Answer(
        confidence=math.exp(math.fsum(logs) / len(logs)),
        weakest=math.exp(min(logs)),
        probability=math.exp(math.fsum(logs)),
        nothing=nothing,
        **content,
    )


def confident_part(answer: Answer, least: float = 0.5) -> Answer:
    """The answer without the edits at its end that the model itself hardly believes.

    Java8G's lesson (a suggestion is right up to where it diverges, so stop before): edits are
    dropped from the first on that is less probable than ``least`` while all before it are not. An
    answer whose first edit is that improbable has no confident part and stays whole.

    Args:
        answer: of one window; one without ``parts`` is returned as it is.
        least: the smallest probability of an edit that is kept, given those before it.
    """
    kept = 0
    while kept < len(answer.parts) and answer.parts[kept] >= least:
        kept += 1
    if not 0 < kept < len(answer.edits):
        return answer
    return replace(
        answer,
        edits=answer.edits[:kept],
        parts=answer.parts[:kept],
        probability=math.prod(answer.parts[:kept]),
    )


class Generator(Protocol):
    """Writes revisions and comments for windows of code."""

    @property
    def name(self) -> str:
        """Family and weights' hash, as candidates carry it in their origin."""
        ...

    @property
    def card(self) -> Mapping[str, Any]:
        """The task card: format, tasks, and (where measured) the calibration of revisions."""
        ...

    @property
    def tasks(self) -> frozenset[str]:
        """Which of ``crb``, ``cra`` and ``rcg`` it was trained for."""
        ...

    @property
    def reads_methods(self) -> bool:
        """Whether it answers windows that are one whole function or method, and no others."""
        ...

    @property
    def reads_code(self) -> bool:
        """Whether it can make something of code blocks in a comment; else they are left out."""
        ...

    def revise(self, windows: Sequence[Window], *, answers: int = 1) -> list[list[Answer]]:
        """For each window at most ``answers`` revisions, the likeliest first."""
        ...

    def comment(self, windows: Sequence[Window], *, answers: int = 1) -> list[list[Answer]]:
        """For each window at most ``answers`` comments, the likeliest first."""
        ...


class GeneratorError(ValueError):
    """A checkpoint that cannot be used here; one line that says what to do."""
