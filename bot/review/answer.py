"""Answering a reviewer (CRA): the revision that a comment asks for, if it is safe and sure.

A suggestion block in a reply stands for the lines of the thread, so the answer is a replacement of
exactly those lines. It goes through the same gate as every candidate. What does not pass is said
by no word, but for the reason, which is told on command.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot.review.gate import Draft, Gate
from bot.review.render import grounds, suggestion_text
from bot.review.types import JudgedCandidate, ReviewOptions, Sources
from bot.review.windows import CONTEXT, WINDOW_CHARACTERS, WINDOW_LINES
from models.change import Change, ChangedFile, Side
from models.generators.base import Generator, Window
from models.generators.line_edits import apply_edits
from models.review_types import Candidate, CandidateKind, Replacement, Score
from models.syntax import language_of_file

_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_COMMAND = re.compile(r"^\s*/marginalia\b.*$", re.MULTILINE | re.IGNORECASE)
_QUOTE = re.compile(r"^\s*>.*$", re.MULTILINE)
LEAST_WORDS = 2
"""Words that a comment must have to ask for anything."""


@dataclass(frozen=True, slots=True)
class Question:
    """A person's comment on head lines ``start_line``..``line`` (1-based) of ``path``."""

    path: str
    start_line: int
    line: int
    comment: str
    side: Side = Side.RIGHT


@dataclass(frozen=True, slots=True)
class Reply:
    """A revision to propose, or the reason why there is none, as a sentence without its stop."""

    judged: JudgedCandidate | None = None
    silence: str = ""

    @property
    def suggestion(self) -> str | None:
        """The text that replaces the thread's lines."""
        return None if self.judged is None else suggestion_text(self.judged.candidate)

    @property
    def grounds(self) -> str:
        """Why it is proposed."""
        if self.judged is None:
            return ""
        if self.judged.candidate.origin.startswith("instructions"):
            return "as the comment spells it out"
        return grounds(self.judged)


def answer(
    question: Question,
    change: Change,
    sources: Sources,
    generators: Sequence[Generator],
    options: ReviewOptions,
) -> Reply:
    """The revision that a comment asks for: the first of the generators' that is safe and sure.

    Args:
        question: the comment and its lines.
        change: the pull request's change; the lines must be in one of its hunks.
        sources: both sides' texts.
        generators: those that answer comments (CRA), the most trusted first.
        options: how sure to be, and what this team's answers taught.
    """
    words = asked(question.comment)
    if len(words.split()) < LEAST_WORDS:
        return Reply(silence="the comment asks for nothing in words")
    if question.side is Side.LEFT:
        return Reply(silence="the comment is on deleted lines")
    file = change.file(question.path)
    head = sources.head(question.path)
    if file is None or head is None:
        return Reply(silence=f"{question.path} cannot be read at the head of this change")
    window, start = _window(question, words, head)
    if window is None:
        return Reply(silence="its lines are too many or too long, or not in the head")
    silence = "no model here answers comments"
    for generator in generators:
        if "cra" not in generator.tasks:
            continue
        silence = "I have no revision to propose"
        for found in generator.revise([window])[0]:
            lines = apply_edits(window.lines, found.edits)
            cut = _thread_lines(window, lines, start, question)
            if cut is None:
                silence = "the revision would change lines beyond those of the thread"
                continue
            candidate = Candidate(
                CandidateKind.REVISION,
                f"{generator.name}:cra",
                question.path,
                Side.RIGHT,
                question.start_line,
                question.line,
                "The revision that the comment asks for.",
                Replacement(question.start_line, question.line, cut),
                confidence=found.probability,
                weakest=found.weakest,
            )
            judged = _judged(candidate, file, head, generator, options)
            if judged.verdict.posted:
                return Reply(judged)
            detail = judged.verdict.detail or judged.verdict.reason.value
            silence = f"my revision was held back ({detail})"
    return Reply(silence=silence)


def asked(comment: str) -> str:
    """The words of a comment: without code blocks, quotes and commands, on one line."""
    text = _FENCE.sub(" ", comment)
    return " ".join(_QUOTE.sub(" ", _COMMAND.sub(" ", text)).split())


def _window(question: Question, words: str, head: bytes) -> tuple[Window | None, int]:
    lines = [line.removesuffix("\r") for line in _text(head).removesuffix("\n").split("\n")]
    first, end = question.start_line - 1, question.line
    if not 0 <= first < end <= len(lines):
        return None, 0
    low, high = max(0, first - CONTEXT), min(len(lines), end + CONTEXT)
    while (low < first or high > end) and _too_big(lines[low:high]):
        if high - end >= first - low:
            high -= 1
        else:
            low += 1
    if _too_big(lines[low:high]):
        return None, 0
    commented = frozenset(range(first - low, end - low))
    language = language_of_file(question.path, head)
    return Window(language, tuple(lines[low:high]), commented, comment=words), low + 1


def _too_big(lines: Sequence[str]) -> bool:
    return len(lines) > WINDOW_LINES or sum(map(len, lines)) > WINDOW_CHARACTERS


def _text(head: bytes) -> str:
    return head.decode("utf-8", "surrogateescape")


def _thread_lines(
    window: Window, revised: Sequence[str], start: int, question: Question
) -> tuple[str, ...] | None:
    """The thread's lines after the revision; ``None`` where it changes others."""
    before = question.start_line - start
    after = len(window.lines) - (question.line - start + 1)
    if len(revised) < before + after or list(revised[:before]) != list(window.lines[:before]):
        return None
    if after and list(revised[-after:]) != list(window.lines[-after:]):
        return None
    return tuple(revised[before : len(revised) - after])


def _judged(
    candidate: Candidate,
    file: ChangedFile,
    head: bytes,
    generator: Generator,
    options: ReviewOptions,
) -> JudgedCandidate:
    gate = Gate(
        {candidate.path: file},
        {candidate.path: head},
        generator.card,
        None,
        replace(options, known_fingerprints=frozenset(), dismissed_fingerprints=frozenset()),
    )
    score = Score(0.0, 0.0, 0.0, "")
    (judged,) = gate.judge([Draft(candidate, score, (), "")])
    return judged
