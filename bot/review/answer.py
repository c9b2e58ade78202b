"""Answering a reviewer (CRA): the revision that a comment asks for, if it is safe and sure.

A suggestion block in a reply stands for the lines of the thread, so a revision of exactly those
lines can be committed; one that reaches further is shown as a diff, to be applied by hand. Both go
through the same gate as every candidate. What does not pass is said by no word, but for the
reason, which is told on command.
"""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from bot.review.gate import Draft, Gate
from bot.review.render import grounds, suggestion_text
from bot.review.targets import MAX_FILE_BYTES
from bot.review.types import JudgedCandidate, ReviewOptions, Sources
from bot.review.windows import (
    CONTEXT,
    WINDOW_CHARACTERS,
    WINDOW_LINES,
    replacement_of_edits,
    smallest_edits,
)
from models.change import Change, ChangedFile, Side
from models.generators.base import Answer, Generator, Window
from models.generators.line_edits import apply_edits
from models.review_types import Candidate, CandidateKind, Replacement, Score
from models.syntax import language_of_file, language_row
from models.syntax.definitions import definitions

_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_SUGGESTED = re.compile(r"```suggestion.*?(?:```|\Z)", re.DOTALL)
_COMMAND = re.compile(r"^\s*/marginalia\b.*$", re.MULTILINE | re.IGNORECASE)
_QUOTE = re.compile(r"^\s*>.*$", re.MULTILINE)
DIFF_CONTEXT = 2
"""Lines that stay, shown around those that a revision changes."""
THANKS = ("ok", "thanks", "Nice work")
LIFT = 1.25
"""How much more probable than a word of thanks a comment must make its revision where nobody asked
for one. Of 400 of Trans-Review's methods, whose marked lines say much by themselves, chatty
comments ("LGTM", "why is this needed?") then have an answer in 3 and not in 31, reviewers' own in
20 and not in 48 (``tests.bench.chatty_comments``)."""
LEAST_WORDS = 2
"""Words that a comment must have to ask for anything."""
MOST_WORDS = 100
"""Words of a comment that are read: a model's time grows with them, and anyone can write many."""


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
    """A revision to propose, or the reason why there is none, as a sentence without its stop.

    ``diff`` are the revision's rows (`` ``, ``-`` and ``+``) where it changes lines beyond the
    thread's, and so can be no suggestion there; else it is empty.
    """

    judged: JudgedCandidate | None = None
    silence: str = ""
    diff: tuple[str, ...] = ()

    @property
    def suggestion(self) -> str | None:
        """The text that replaces the thread's lines."""
        return None if self.judged is None or self.diff else suggestion_text(self.judged.candidate)

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
    *,
    unasked: bool = False,
) -> Reply:
    """The revision that a comment asks for: the first of the generators' that is safe and sure.

    Args:
        question: the comment and its lines.
        change: the pull request's change; the lines must be in one of its hunks.
        sources: both sides' texts.
        generators: those that answer comments (CRA), the most trusted first.
        options: how sure to be, and what this team's answers taught.
        unasked: nobody asked for a revision. Then the comment itself must: where a word of thanks
            on the same lines would lead to the same (``THANKS``), nothing is proposed.
    """
    words, with_code = (_first_words(asked(question.comment, code=code)) for code in (False, True))
    if not _asks(with_code):
        return Reply(silence="the comment asks for nothing in words")
    if question.side is Side.LEFT:
        return Reply(silence="the comment is on deleted lines")
    file = change.file(question.path)
    head = sources.head(question.path)
    if file is None or head is None:
        return Reply(silence=f"{question.path} cannot be read at the head of this change")
    lines, method = _window(question, words, head), _method_window(question, words, head)
    read = _window(question, with_code, head)
    if lines is None:
        return Reply(silence="its lines are too many or too long, or not in the head")
    silence = "no model here answers comments"
    held = ""
    for generator in generators:
        if "cra" not in generator.tasks:
            continue
        silence = "I have no revision to propose"
        place = method if generator.reads_methods else read if generator.reads_code else lines
        if place is None or not _asks(place.window.comment):
            continue
        for found in generator.revise([place.window])[0]:
            reply = _reply(question, place, found, (file, head, generator, options))
            if reply.judged is not None and unasked and _goes_without(place, found, generator):
                reply = Reply(silence="the comment has no part in the revision")
            if reply.judged is not None:
                return reply
            held = held or reply.silence
    return Reply(silence=held or silence)


@dataclass(frozen=True, slots=True)
class _Place:
    """What a generator reads, and the head number of its first line."""

    window: Window
    start: int


def _reply(
    question: Question,
    place: _Place,
    found: Answer,
    known: tuple[ChangedFile, bytes, Generator, ReviewOptions],
) -> Reply:
    """One answer as a reply: judged, or the reason why it is held back."""
    file, head, generator, options = known
    lines = place.window.lines
    revised = apply_edits(lines, found.edits)
    cut = _thread_lines(place.window, revised, place.start, question)
    if cut is not None and not any(line.strip() for line in cut):
        cut = None  # a suggestion cannot leave nothing, but with a neighbouring line it is a diff
    replacement: Replacement | None
    if cut is not None:
        replacement = Replacement(question.start_line, question.line, cut)
    else:
        replacement = replacement_of_edits(lines, smallest_edits(lines, revised), place.start)
    if replacement is None:
        return Reply()  # it would leave nothing of the code
    candidate = Candidate(
        CandidateKind.REVISION,
        f"{generator.name}:cra",
        question.path,
        Side.RIGHT,
        replacement.start_line,
        replacement.end_line,
        "The revision that the comment asks for.",
        replacement,
        confidence=found.probability,
        weakest=found.weakest,
    )
    judged = _judged(candidate, file, head, generator, options)
    if not judged.verdict.posted:
        detail = judged.verdict.detail or judged.verdict.reason.value
        return Reply(silence=f"my revision was held back ({detail})")
    rows = () if cut is not None else tuple(_diff_rows(lines, revised))
    return Reply(judged, diff=rows)


def _goes_without(place: _Place, found: Answer, generator: Generator) -> bool:
    """Whether a comment that asks for nothing leads to the answer as well, or nearly."""
    windows = [replace(place.window, comment=word) for word in THANKS]
    return any(
        other.edits == found.edits and other.probability * LIFT > found.probability
        for others in generator.revise(windows)
        for other in others
    )


def _diff_rows(lines: Sequence[str], revised: Sequence[str]) -> Iterator[str]:
    """Both sides around what changed, without the headers of a diff."""
    rows = difflib.unified_diff(lines, revised, n=DIFF_CONTEXT, lineterm="")
    return itertools.islice(rows, 3, None)


def asked(comment: str, *, code: bool = False) -> str:
    """The words of a comment: without code blocks (but with ``code``), quotes and commands, on one
    line. A suggestion block is never read: whoever wrote it has made the revision."""
    text = (_SUGGESTED if code else _FENCE).sub(" ", comment)
    return " ".join(_QUOTE.sub(" ", _COMMAND.sub(" ", text)).split())


def _first_words(text: str) -> str:
    return " ".join(text.split(maxsplit=MOST_WORDS)[:MOST_WORDS])


def _asks(words: str) -> bool:
    return len(words.split()) >= LEAST_WORDS


def _window(question: Question, words: str, head: bytes) -> _Place | None:
    """The thread's lines with as much around them as fits."""
    lines = _lines(head)
    first, end = question.start_line - 1, question.line
    if not 0 <= first < end <= len(lines):
        return None
    low, high = max(0, first - CONTEXT), min(len(lines), end + CONTEXT)
    while (low < first or high > end) and _too_big(lines[low:high]):
        if high - end >= first - low:
            high -= 1
        else:
            low += 1
    if _too_big(lines[low:high]):
        return None
    return _place(question, words, head, low, high)


def _method_window(question: Question, words: str, head: bytes) -> _Place | None:
    """The smallest function or method that holds the thread's lines, whole."""
    language = language_of_file(question.path, head)
    if language_row(language) is None or len(head) > MAX_FILE_BYTES:
        return None
    around = [
        one
        for one in definitions(head, language)
        if not one.is_type
        and one.start_line <= question.start_line
        and question.line <= one.end_line
    ]
    if not around:
        return None
    one = min(around, key=lambda one: one.end_line - one.start_line)
    return _place(question, words, head, one.start_line - 1, one.end_line)


def _place(question: Question, words: str, head: bytes, low: int, high: int) -> _Place:
    """The head's lines ``low`` (from 0) to ``high`` (not included), the thread's marked."""
    commented = frozenset(range(question.start_line - 1 - low, question.line - low))
    language = language_of_file(question.path, head)
    return _Place(
        Window(language, tuple(_lines(head)[low:high]), commented, comment=words), low + 1
    )


def _lines(head: bytes) -> list[str]:
    return [line.removesuffix("\r") for line in _text(head).removesuffix("\n").split("\n")]


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
