"""Words for people: the body of a comment, and the summary of a review.

All text that a model or a repository had a hand in goes through ``quiet`` and fences that are
longer than any inside, so that it can neither call anybody nor break out of its place.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence

from bot.github.text import clip, code_span, fence, one_line, quiet
from bot.review.claims import origin_in_words
from bot.review.origins import by_trained_model
from bot.review.types import (
    FileCoverage,
    JudgedCandidate,
    Reason,
    Review,
    ReviewComment,
)
from bot.review.worth import is_model
from models.change import Change, Coverage
from models.review_types import Candidate, CandidateKind

READ = (Coverage.REVIEWED, Coverage.CLIPPED)
MAX_UNREAD = 40
MAX_PLACES = 20
"""So many places are named where a rule speaks that was said often enough."""
BODY_LIMIT = 6000


def render_review(
    change: Change,
    judged: Sequence[JudgedCandidate],
    coverage: Sequence[FileCoverage],
    notes: Sequence[str],
    signature: str,
) -> Review:
    """The review to post: the candidates whose verdict is posted, in the files' order."""
    order = {file.path: index for index, file in enumerate(change)}
    posted = sorted(
        (one for one in judged if one.verdict.posted),
        key=lambda one: (order.get(one.candidate.path, 0), one.candidate.line),
    )
    comments = tuple(render_comment(one) for one in posted)
    marker = f"<!-- marginalia:review {change.base} {change.head} -->"
    return Review(summary(judged, coverage, notes, signature), comments, marker, signature)


def render_comment(judged: JudgedCandidate) -> ReviewComment:
    """One comment with its suggestion block and its grounds."""
    candidate = judged.candidate
    suggestion = suggestion_text(candidate)
    parts = [comment_text(candidate)]
    if suggestion is not None:
        parts.append(fence(suggestion, "suggestion"))
    parts.append(f"<sub>{grounds(judged)}</sub>")
    start = candidate.start_line if candidate.start_line != candidate.line else None
    return ReviewComment(
        path=candidate.path,
        side=candidate.side,
        start_line=start,
        line=candidate.line,
        body="\n\n".join(parts),
        fingerprint=judged.fingerprint,
        source=judged,
        suggestion=suggestion,
    )


def comment_text(candidate: Candidate) -> str:
    """The words of a candidate as Markdown, without suggestion or grounds."""
    text = clip(quiet(candidate.text.strip()), BODY_LIMIT)
    if candidate.kind is CandidateKind.COMMENT:
        return text
    analyzer, _, rule = candidate.origin.partition(":")
    if by_trained_model(analyzer):
        return f"Suggested revision: {text}"
    name = f"[`{rule}`]({candidate.url})" if candidate.url.startswith("https://") else f"`{rule}`"
    return f"{text} ({analyzer} {name})"


def suggestion_text(candidate: Candidate) -> str | None:
    """The replacement of the anchored lines as text, without a final line feed."""
    return None if candidate.replacement is None else "\n".join(candidate.replacement.lines)


def grounds(judged: JudgedCandidate) -> str:
    """In words, why this was posted: what it is grounded in, and how sure the program is."""
    candidate, score = judged.candidate, judged.score
    parts: list[str] = []
    if candidate.kind is not CandidateKind.COMMENT and not is_model(candidate):
        # a finding, and its fix, stand on their rule; what else is near is no ground of theirs
        parts.append(f"grounded in: {code_span(candidate.origin)} on a line of this change")
    elif score.nearest is not None:
        said = quiet(one_line(score.nearest.text, 160))
        parts.append(f"grounded in: {said} ({quiet(origin_in_words(score.nearest.origin))})")
    if score.judge is not None:
        parts.append(f"judged relevant: {score.judge:.0%}")
    if candidate.origin.startswith("retrieval"):
        parts.append(f"said before in this repository of code {candidate.confidence:.0%} alike")
    if by_trained_model(candidate.origin):
        parts.append(f"model's own probability: {candidate.confidence:.0%}")
    return " · ".join(parts) or "no grounds"


def whole(text: str) -> str:
    """Text that any output can hold: U+FFFD for lone surrogates, as bytes that are no UTF-8 are."""
    return re.sub("[\ud800-\udfff]", "\N{REPLACEMENT CHARACTER}", text)


def held_back(judged: Sequence[JudgedCandidate]) -> list[JudgedCandidate]:
    """The remarks that are not in the review, best first.

    A finding and its fix are two candidates and one remark: where either is posted the remark is
    made, and where neither is, the finding's own verdict says why.
    """
    findings: dict[tuple[str, str, str], list[JudgedCandidate]] = defaultdict(list)
    for one in judged:
        if one.candidate.kind is CandidateKind.FINDING:
            findings[_rule_said(one.candidate)].append(one)
    made = {id(one) for one in judged if one.verdict.posted}
    for fix in judged:
        of_rule = findings.get(_rule_said(fix.candidate))
        if fix.candidate.kind is not CandidateKind.REVISION or not of_rule:
            continue
        finding = min(of_rule, key=lambda one: _apart(one.candidate, fix.candidate))
        of_rule.remove(finding)
        if fix.verdict.posted:
            made.add(id(finding))
        made.add(id(fix))
    return [one for one in judged if id(one) not in made]


def also_said(judged: Sequence[JudgedCandidate]) -> dict[str, list[str]]:
    """Where else rules speak that were said often enough: ``path:line`` by rule, in order."""
    found: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for one in held_back(judged):
        if one.verdict.reason is Reason.RULE_LIMIT:
            found[one.candidate.origin].append((one.candidate.path, one.candidate.line))
    return {
        rule: [f"{path}:{line}" for path, line in sorted(found[rule])] for rule in sorted(found)
    }


def _rule_said(candidate: Candidate) -> tuple[str, str, str]:
    """What a finding and its fix have in common."""
    return candidate.path, candidate.origin, candidate.text


def _apart(first: Candidate, second: Candidate) -> tuple[int, int]:
    """How many lines lie between two candidates, then between their beginnings."""
    between = max(0, first.start_line - second.line, second.start_line - first.line)
    return between, abs(first.start_line - second.start_line)


def summary(
    judged: Sequence[JudgedCandidate],
    coverage: Sequence[FileCoverage],
    notes: Sequence[str],
    signature: str,
) -> str:
    """What was read and what was not, how much was held back and why, and the signature."""
    read = sum(file.status in READ for file in coverage)
    posted = sum(one.verdict.posted for one in judged)
    held = Counter(one.verdict.reason for one in held_back(judged))
    remarks = "no remarks" if not posted else f"{posted} remark{'s' if posted > 1 else ''}"
    lines = [f"Read {read} of {len(coverage)} changed files; {remarks}."]
    if held:
        reasons = ", ".join(f"{count} {reason.value}" for reason, count in held.most_common())
        lines.append(f"Held back {sum(held.values())}: {reasons}.")
    also = [
        f"- {code_span(rule)}: {', '.join(map(code_span, places[:MAX_PLACES]))}"
        + (f" and {len(places) - MAX_PLACES} more" if len(places) > MAX_PLACES else "")
        for rule, places in also_said(judged).items()
    ]
    if also:
        lines.append("The same rules speak here too:\n" + "\n".join(also))
    partly = [
        f"- {code_span(file.path)}: {file.status.value}"
        + (f" ({quiet(one_line(file.note, 200))})" if file.note else "")
        for file in coverage
        if file.status is not Coverage.REVIEWED
    ]
    if partly:
        shown = partly[:MAX_UNREAD]
        if len(partly) > len(shown):
            shown.append(f"- and {len(partly) - len(shown)} more")
        lines.append("Not read, or not all of it:\n" + "\n".join(shown))
    if notes:
        lines.append("\n".join(f"> {quiet(one_line(note, 300))}" for note in notes))
    lines.append(f"<sub>{code_span(signature)}</sub>")
    return "\n\n".join(lines)
