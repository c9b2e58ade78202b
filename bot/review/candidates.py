"""Candidates: an analyzer's findings, and a generator's answers, as things that could be said."""

from __future__ import annotations

from collections.abc import Sequence

from bot.diff import apply_replacements
from bot.review.windows import (
    remark_window,
    replacement_of,
    replacement_of_edits,
    revision_window,
    smallest_edits,
)
from models.change import ChangedFile, Hunk, Line, LineKind, Side
from models.crscore.claims import claims_of_hunk
from models.generators.base import Generator, Window, confident_part
from models.review_types import Candidate, CandidateKind, Finding, Replacement, Target


def finding_candidates(
    file: ChangedFile, findings: Sequence[Finding], head: bytes | None
) -> list[Candidate]:
    """Each finding as a remark, and its machine fix (where it has one) as a revision."""
    result: list[Candidate] = []
    for finding in findings:
        common = {
            "origin": f"{finding.analyzer}:{finding.rule}",
            "path": file.path,
            "side": Side.RIGHT,
            "text": finding.message,
            "severity": finding.severity,
            "url": finding.url,
        }
        if finding.fix and head is not None:
            fixed = fix_of(finding, head)
            if fixed is not None:
                result.append(
                    Candidate(
                        CandidateKind.REVISION,
                        start_line=fixed.start_line,
                        line=fixed.end_line,
                        replacement=fixed,
                        **common,  # type: ignore[arg-type]
                    )
                )
        result.append(
            Candidate(
                CandidateKind.FINDING,
                start_line=finding.line,
                line=max(finding.line, finding.end_line),
                **common,  # type: ignore[arg-type]
            )
        )
    return result


def fix_of(finding: Finding, head: bytes) -> Replacement | None:
    """The machine fix of a finding as one replacement of the head's lines."""
    text = head.decode("utf-8", "surrogateescape")
    fixed = apply_replacements(head, finding.fix).decode("utf-8", "surrogateescape")
    before, after = _lines(text), _lines(fixed)
    return replacement_of_edits(before, smallest_edits(before, after), 1)


def _lines(text: str) -> list[str]:
    """Lines without their line feeds or carriage returns."""
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]


def revision_candidates(
    targets: Sequence[Target], generator: Generator, *, answers: int = 1
) -> list[Candidate]:
    """The generator's revisions of the targets, each the smallest replacement that does it."""
    chosen: list[tuple[Target, Window, int]] = []
    for target in targets:
        found = revision_window(target)
        if found is not None:
            chosen.append((target, *found))
    result: list[Candidate] = []
    written = generator.revise([window for _, window, _ in chosen], answers=answers)
    for (target, window, start), found_answers in zip(chosen, written, strict=True):
        for whole in found_answers:
            answer = confident_part(whole)
            replacement = replacement_of(window, answer, start)
            if replacement is None:
                continue
            result.append(
                Candidate(
                    CandidateKind.REVISION,
                    f"{generator.name}:crb",
                    target.path,
                    Side.RIGHT,
                    replacement.start_line,
                    replacement.end_line,
                    revision_text(target, replacement),
                    replacement,
                    confidence=answer.probability,
                    weakest=answer.weakest,
                )
            )
    return result


def revision_text(target: Target, replacement: Replacement) -> str:
    """What a revision does, said by the claims that can be read off it."""
    hunk = revision_hunk(target, replacement)
    claims = claims_of_hunk(hunk, target.language, target.path)
    said = " ".join(claim.text for claim in claims[:2])
    return said or "The lines were rewritten."


def revision_hunk(target: Target, replacement: Replacement) -> Hunk:
    """A revision as a hunk of its own: the head's lines against the revised ones."""
    low = replacement.start_line - target.after_start
    old = target.after[low : replacement.end_line - target.after_start + 1]
    lead = target.after[max(0, low - 2) : low]
    start = replacement.start_line - len(lead)
    lines = [Line(LineKind.CONTEXT, start + i, start + i, text) for i, text in enumerate(lead)]
    for edit_line in _diff_lines(list(old), list(replacement.lines), replacement.start_line):
        lines.append(edit_line)
    old_count = sum(line.old_no is not None for line in lines)
    new_count = sum(line.new_no is not None for line in lines)
    return Hunk(start, old_count, start, new_count, tuple(lines))


def _diff_lines(old: list[str], new: list[str], start: int) -> list[Line]:
    rows: list[Line] = []
    old_no = new_no = start
    position = 0
    for edit in (*smallest_edits(old, new), None):
        stop = edit.first if edit is not None else len(old)
        for text in old[position:stop]:
            rows.append(Line(LineKind.CONTEXT, old_no, new_no, text))
            old_no, new_no = old_no + 1, new_no + 1
        if edit is None:
            break
        for text in old[edit.first : edit.end]:
            rows.append(Line(LineKind.DELETED, old_no, None, text))
            old_no += 1
        for text in edit.lines:
            rows.append(Line(LineKind.ADDED, None, new_no, text))
            new_no += 1
        position = edit.end
    return rows


def remark_candidates(
    targets: Sequence[Target], generator: Generator, *, answers: int = 1
) -> list[Candidate]:
    """The generator's comments on the targets, each on the last line that the change touched."""
    chosen: list[tuple[Target, Window]] = []
    for target in targets:
        window = remark_window(target)
        if window is not None:
            chosen.append((target, window))
    result: list[Candidate] = []
    written = generator.comment([window for _, window in chosen], answers=answers)
    for (target, _), found_answers in zip(chosen, written, strict=True):
        side, line = _last_changed(target.hunk)
        for answer in found_answers:
            result.append(
                Candidate(
                    CandidateKind.COMMENT,
                    f"{generator.name}:rcg",
                    target.path,
                    side,
                    line,
                    line,
                    answer.text,
                    confidence=answer.confidence,
                    weakest=answer.weakest,
                )
            )
    return result


def _last_changed(hunk: Hunk) -> tuple[Side, int]:
    last = next(line for line in reversed(hunk.lines) if line.kind is not LineKind.CONTEXT)
    if last.new_no is not None:
        return Side.RIGHT, last.new_no
    return Side.LEFT, last.old_no or hunk.old_start


def owner_of(file: ChangedFile, candidate: Candidate) -> int:
    """The index of the hunk that a candidate speaks of (the nearest, for a stray anchor)."""
    best, distance = 0, None
    for index, hunk in enumerate(file.hunks):
        low = hunk.new_start if candidate.side.value == "RIGHT" else hunk.old_start
        count = hunk.new_count if candidate.side.value == "RIGHT" else hunk.old_count
        away = max(low - candidate.line, candidate.line - (low + max(0, count - 1)), 0)
        if distance is None or away < distance:
            best, distance = index, away
    return best
