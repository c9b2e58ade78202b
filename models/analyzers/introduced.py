"""Which of the head's findings this change brought in.

Lines that a change did not touch map exactly from base to head (the hunks say how), so a finding
on them is old. A finding on an added line is old too where the base had the same rule's finding on
a line with the same content (it was moved) or on a similar line that the same hunk replaced (the
line was edited, the smell stayed).

A matter of taste (a finding of severity ``info``) is not brought in either where it is the file's
habit: whoever adds a line to a file goes on as the file does.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from models.change import ChangedFile, Hunk, LineKind
from models.review_types import Finding, Severity

SYNTAX_RULE = "syntax"
LONGEST = 10
"""Lines that a finding covers at most: a remark on a whole class hides the code it is about."""
SIMILAR = 0.6
"""Ratio of ``difflib`` from which an added line counts as the edit of a deleted one."""
HABIT = 2
HABIT_LINES = 200
"""A file breaks a rule by habit: so often on unchanged lines, and once in so many lines."""


def introduced(
    file: ChangedFile,
    base: Sequence[Finding],
    head: Sequence[Finding],
    *,
    unknown: Collection[str] = (),
    lines: int = 0,
    always: Collection[str] = (),
) -> tuple[Finding, ...]:
    """The findings of ``head`` that are on lines which ``file`` adds and that ``base`` had not.

    ``base`` and ``head`` may hold other files' findings too. A finding that starts above the
    hunk is returned with its lines clipped to what the hunk shows, and a long one is cut to its
    first ``LONGEST`` lines. A measure of a whole
    definition (complexity) counts where the definition has a changed line and ``base`` did not
    have the same or a worse value; see ``Analyzer.worsened``.

    ``lines`` is the head's number of lines, by which it is told whether a matter of taste is the
    file's habit; ``always`` names rules (analyzer:rule) or analyzers that speak all the same.
    """
    from models.analyzers import ANALYZERS

    if file.new_path is None:
        return ()
    added = {line.new_no for hunk in file.hunks for line in hunk.added}
    touched = added | set(_deletion_points(file.hunks))
    old = [one for one in base if one.path == file.old_path]
    unsure = unknown if file.old_path is not None else ()
    new = [one for one in head if one.path == file.new_path and one.analyzer not in unsure]
    could_parse = not any(one.rule == SYNTAX_RULE for one in old)

    kept: list[Finding] = []
    plain: list[Finding] = []
    for finding in new:
        analyzer = ANALYZERS.get(finding.analyzer)
        if analyzer is not None and analyzer.measures_definition(finding.rule):
            same = [one for one in old if one.rule == finding.rule]
            worse = analyzer.worsened(finding, same)
            if worse is not None and _span(finding) & touched:
                kept.append(worse)
        elif finding.rule == SYNTAX_RULE:
            # What follows a first error is noise, and so is every error of a dialect that the
            # parser doesn't know: then the base has one as well.
            if could_parse:
                kept.append(finding)
        else:
            plain.append(finding)
    habits = _habits(file, old, lines) if added else frozenset()
    kept += [
        finding
        for finding in _unmatched(file, old, plain, added)
        if finding.severity is not Severity.INFO
        or (finding.analyzer, finding.rule) not in habits
        or {finding.analyzer, f"{finding.analyzer}:{finding.rule}"} & set(always)
    ]
    clipped = (_clip(finding, file.hunks, touched) for finding in kept)
    found = [finding for finding in clipped if finding is not None]
    unique = dict.fromkeys(found)
    return tuple(sorted(unique, key=lambda one: (one.line, one.end_line, one.analyzer, one.rule)))


def _habits(file: ChangedFile, old: Sequence[Finding], lines: int) -> frozenset[tuple[str, str]]:
    """The matters of taste that the file's own unchanged lines break more than rarely."""
    broken = Counter(
        (one.analyzer, one.rule)
        for one in old
        if one.severity is Severity.INFO and _head_line(file.hunks, one.line) is not None
    )
    enough = max(HABIT, -(-lines // HABIT_LINES))
    return frozenset(rule for rule, count in broken.items() if count >= enough)


def _span(finding: Finding) -> set[int | None]:
    return set(range(finding.line, max(finding.line, finding.end_line) + 1))


def _deletion_points(hunks: Iterable[Hunk]) -> Iterable[int]:
    """Head lines just after a run of deleted lines: there the change shows, too."""
    for hunk in hunks:
        after_deleted = False
        for line in hunk.lines:
            if line.kind is LineKind.DELETED:
                after_deleted = True
            elif after_deleted and line.new_no is not None:
                yield line.new_no
                after_deleted = False


def _head_line(hunks: Sequence[Hunk], number: int) -> int | None:
    """The head line of a base line, or ``None`` where the change deleted it."""
    shift = 0
    for hunk in hunks:
        for line in hunk.lines:
            if line.old_no == number:
                return line.new_no
        if hunk.old_start + hunk.old_count - (1 if hunk.old_count else 0) < number:
            shift = hunk.new_start + hunk.new_count - (hunk.old_start + hunk.old_count)
            shift += _gap(hunk)
    return number + shift


def _gap(hunk: Hunk) -> int:
    """A side of no lines is numbered by the line before it: one less than the next line."""
    return (0 if hunk.new_count else 1) - (0 if hunk.old_count else 1)


def _unmatched(
    file: ChangedFile, old: Sequence[Finding], new: Sequence[Finding], added: set[int | None]
) -> list[Finding]:
    """The findings of ``new`` with an added line in them that nothing in ``old`` explains."""
    kept_places: dict[tuple[str, str, int], int] = {}
    gone: list[Finding] = []
    for finding in old:
        place = _head_line(file.hunks, finding.line)
        if place is None:
            gone.append(finding)
        else:
            key = (finding.analyzer, finding.rule, place)
            kept_places[key] = kept_places.get(key, 0) + 1

    candidates: list[Finding] = []
    for finding in new:
        key = (finding.analyzer, finding.rule, finding.line)
        if kept_places.get(key, 0):
            kept_places[key] -= 1
        elif _span(finding) & added:
            candidates.append(finding)

    deleted = {
        line.old_no: (index, line.text.strip())
        for index, hunk in enumerate(file.hunks)
        for line in hunk.deleted
    }
    present = {
        line.new_no: (index, line.text.strip())
        for index, hunk in enumerate(file.hunks)
        for line in hunk.after
    }
    # First the exact (moved) lines, then the similar (edited) ones, so that an edit never takes
    # the place of a move; each old finding explains one new one.
    for similar in (False, True):
        rest: list[Finding] = []
        for finding in candidates:
            match = next(
                (one for one in gone if _same(one, finding, deleted, present, similar)), None
            )
            if match is None:
                rest.append(finding)
            else:
                gone.remove(match)
        candidates = rest
    return candidates


def _same(
    old: Finding,
    new: Finding,
    deleted: dict[int | None, tuple[int, str]],
    present: dict[int | None, tuple[int, str]],
    similar: bool,
) -> bool:
    """Whether ``new`` is ``old`` on a moved line or, where ``similar``, on an edited one."""
    if (old.analyzer, old.rule) != (new.analyzer, new.rule):
        return False
    if old.line not in deleted or new.line not in present:
        return False
    (old_hunk, old_text), (new_hunk, new_text) = deleted[old.line], present[new.line]
    if not similar:
        return old_text == new_text
    if old_hunk != new_hunk:
        return False
    return difflib.SequenceMatcher(None, old_text, new_text, False).ratio() >= SIMILAR


def _clip(finding: Finding, hunks: Sequence[Hunk], touched: set[int | None]) -> Finding | None:
    """The finding with its lines cut to one hunk, so that a comment can stand there.

    Where the hunk doesn't show the finding's first line, or the change comes far below it, it
    starts at the first changed line.
    """
    end = max(finding.line, finding.end_line)
    for hunk in hunks:
        shown = [line.new_no for line in hunk.after if line.new_no is not None]
        inside = [number for number in shown if finding.line <= number <= end]
        if not inside:
            continue
        changed = [number for number in inside if number in touched]
        start = finding.line
        if start not in inside or (changed and changed[0] >= start + LONGEST):
            if not changed:
                continue
            start = changed[0]
        return replace(finding, line=start, end_line=min(inside[-1], start + LONGEST - 1))
    return None
