"""The safety gate: what must hold of a candidate at every setting (design rule 2).

The checks only annotate: each gives a verdict's reason or ``None``. Those that need a parser or an
analyzer work on whole files, so that "no more errors than before" means the file that people have.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from bot.diff import ApplyError, apply_replacements
from bot.review.origins import by_trained_model
from bot.review.types import Reason, Verdict
from models.change import ChangedFile, Hunk, Side
from models.review_types import Candidate, CandidateKind, Replacement
from models.syntax import error_count, language_row

MAX_TEXT = 2000
_COMMENT_START = ("#", "//", "/*", "*", "--", "<!--", '"""', "'''")
_PREPROCESSOR = re.compile(r"#\s*(include|define|if|ifdef|ifndef|else|elif|endif|pragma|undef)\b")
_ATTRIBUTE = re.compile(r"#!?\[")
_DIRECTED = re.compile(r"(?<![\w`/.])@[A-Za-z0-9][\w-]*|https?://|<[a-zA-Z!/]|!\[|javascript:")


def hunk_of(file: ChangedFile, side: Side, start: int, end: int) -> Hunk | None:
    """The hunk that shows all lines ``start``..``end`` of a side."""
    wanted = set(range(start, end + 1))
    for hunk in file.hunks:
        numbers = {line.old_no if side is Side.LEFT else line.new_no for line in hunk.lines}
        if wanted and wanted <= numbers:
            return hunk
    return None


def check_text(candidate: Candidate) -> Verdict | None:
    """Words: there are some, they don't loop, and a model's cannot ping people or carry markup."""
    text = candidate.text.strip()
    if not text:
        return Verdict(Reason.EMPTY, "it says nothing")
    if len(text) > MAX_TEXT:
        return Verdict(Reason.TOO_LONG, f"{len(text)} characters; at most {MAX_TEXT}")
    if loops(text):
        return Verdict(Reason.REPETITION, "it repeats itself")
    if candidate.kind is CandidateKind.COMMENT and _DIRECTED.search(text):
        return Verdict(Reason.UNSAFE_TEXT, "it has a mention, a link or markup")
    return None


def loops(text: str) -> bool:
    """Whether a run of words comes back again and again, as a model's loop does."""
    words = text.lower().split()
    for size in (1, 2, 3, 5):
        runs = [tuple(words[i : i + size]) for i in range(0, len(words) - size + 1)]
        repeated = 0
        for i in range(size, len(runs)):
            repeated = repeated + 1 if runs[i] == runs[i - size] else 0
            if repeated >= 3 * size:
                return True
    if len(words) < 24:
        return False
    return max(Counter(zip(words, words[1:], words[2:], strict=False)).values()) >= 5


def check_anchor(candidate: Candidate, file: ChangedFile) -> Verdict | None:
    """The place: inside one hunk, on a side that the kind may speak of."""
    if candidate.replacement is not None and candidate.side is Side.LEFT:
        return Verdict(Reason.WRONG_SIDE, "deleted lines cannot be replaced")
    if candidate.start_line > candidate.line:
        return Verdict(Reason.OUTSIDE_HUNK, "its lines are in the wrong order")
    if hunk_of(file, candidate.side, candidate.start_line, candidate.line) is None:
        return Verdict(Reason.OUTSIDE_HUNK, "GitHub takes remarks on a hunk's lines only")
    return None


def head_lines(file: ChangedFile, head: bytes | None, replacement: Replacement) -> list[str] | None:
    """The head's lines that a replacement replaces; from the hunk where no blob is at hand."""
    if head is not None:
        lines = head.decode("utf-8", "surrogateescape").split("\n")
        if replacement.end_line > len(lines):
            return None
        found = lines[replacement.start_line - 1 : replacement.end_line]
    else:
        found = []
        for number in range(replacement.start_line, replacement.end_line + 1):
            line = file.line_at(Side.RIGHT, number)
            if line is None:
                return None
            found.append(line.text)
    return [line.removesuffix("\r") for line in found]


def check_replacement(
    candidate: Candidate, file: ChangedFile, head: bytes | None
) -> Verdict | None:
    """What a replacement does to its lines, before any parser is asked."""
    replacement = candidate.replacement
    if replacement is None:
        return None
    if (replacement.start_line, replacement.end_line) != (candidate.start_line, candidate.line):
        return Verdict(Reason.DOES_NOT_APPLY, "anchor and replacement are not the same lines")
    old = head_lines(file, head, replacement)
    if old is None:
        return Verdict(Reason.DOES_NOT_APPLY, "the head has no such lines")
    new = list(replacement.lines)
    if [line.rstrip() for line in old] == [line.rstrip() for line in new]:
        return Verdict(Reason.NO_CHANGE, "it changes nothing that can be seen")
    if not any(line.strip() for line in new) or any("\n" in line or "\r" in line for line in new):
        return Verdict(Reason.DOES_NOT_APPLY, "it is not whole lines")
    return (
        _undoes(file, replacement, new)
        or _indentation(candidate, old, new)
        or _overwrites_comment(file, old, new)
    )


def _undoes(file: ChangedFile, replacement: Replacement, new: list[str]) -> Verdict | None:
    hunk = hunk_of(file, Side.RIGHT, replacement.start_line, replacement.end_line)
    if hunk is None:
        return None
    gone = {line.text.strip() for line in hunk.deleted}
    kept = {line.text.strip() for line in hunk.after}
    written = [line.strip() for line in new if line.strip()]
    fresh = [line for line in written if line not in kept]
    after: list[str] = []
    for line in hunk.after:
        number = line.new_no or 0
        if number == replacement.start_line:
            after += new
        if not replacement.start_line <= number <= replacement.end_line:
            after.append(line.text)
    before = [line.text for line in hunk.before]
    restored = [text.rstrip() for text in after] == [text.rstrip() for text in before]
    if restored or (fresh and all(line in gone for line in fresh)):
        return Verdict(Reason.UNDOES_CHANGE, "it brings back what the change took away")
    return None


def _margin(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _indentation(candidate: Candidate, old: list[str], new: list[str]) -> Verdict | None:
    if [line.strip() for line in old] == [line.strip() for line in new]:
        if by_trained_model(candidate.origin):
            return Verdict(Reason.INDENTATION, "only the indentation would change")
        return None
    old_first = next((line for line in old if line.strip()), None)
    new_first = next((line for line in new if line.strip()), None)
    if old_first is not None and new_first is not None and _margin(old_first) != _margin(new_first):
        return Verdict(Reason.INDENTATION, "its first line is not indented as the replaced one")
    tabs = {_margin(line)[:1] for line in old if line.strip() and _margin(line)}
    fresh = {_margin(line)[:1] for line in new if line.strip() and _margin(line)}
    if tabs and fresh - tabs:
        return Verdict(Reason.INDENTATION, "it mixes tabs and spaces")
    return None


def is_comment(line: str) -> bool:
    """Whether a line looks like a comment in any of the languages that are read."""
    text = line.strip()
    if _PREPROCESSOR.match(text) or _ATTRIBUTE.match(text):
        return False
    if text.startswith("*") and not text.startswith(("* ", "*/", "**")) and text != "*":
        return False
    return text.startswith(_COMMENT_START)


def _overwrites_comment(file: ChangedFile, old: list[str], new: list[str]) -> Verdict | None:
    kept = {line.strip() for line in new}
    for line in old:
        if is_comment(line) and line.strip() not in kept and not any(map(is_comment, new)):
            return Verdict(
                Reason.COMMENT_OVERWRITTEN, f"it drops the comment {line.strip()[:60]!r}"
            )
    return None


def revised(head: bytes, replacements: Sequence[Replacement]) -> bytes | None:
    """The head with replacements applied, line endings kept; ``None`` where they don't fit."""
    try:
        return apply_replacements(head, replacements)
    except ApplyError:
        return None


def text_at_hand(file: ChangedFile, head: bytes | None, replacement: Replacement) -> bytes | None:
    """The head's bytes, or (a bare diff) the hunk's new side with blank lines before it.

    The blank lines keep the line numbers right, so that a replacement applies to either.
    """
    if head is not None:
        return head
    hunk = hunk_of(file, Side.RIGHT, replacement.start_line, replacement.end_line)
    if hunk is None:
        return None
    lines = [""] * (hunk.new_start - 1) + [line.text for line in hunk.after]
    return ("\n".join(lines) + "\n").encode("utf-8", "surrogateescape")


def check_syntax(before: bytes, after: bytes, language: str) -> Verdict | None:
    """No more parse errors than before; a language without a grammar cannot be vouched for."""
    if language_row(language) is None:
        return Verdict(Reason.BREAKS_SYNTAX, f"no parser for {language or 'this language'}")
    was, now = error_count(before, language), error_count(after, language)
    if now > was:
        return Verdict(Reason.BREAKS_SYNTAX, f"{now} parse errors instead of {was}")
    return None
