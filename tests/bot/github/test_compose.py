"""From a result to what is posted: limits kept, anchors checked, nothing lost."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.diff.parse import parse_diff
from bot.github.compose import GitHubComposer, move_to_body
from bot.github.fingerprints import fingerprint
from bot.github.markers import comment_fingerprint
from bot.jobs.forge import DraftReview, Plan, job_marker
from bot.review.types import (
    FileCoverage,
    JudgedCandidate,
    Reason,
    Review,
    ReviewComment,
    ReviewOptions,
    ReviewResult,
    Verdict,
)
from models.change import Coverage, Side
from models.review_types import Candidate, CandidateKind, Score
from tests.bot.github.test_anchors import DIFF

MARKER = job_marker("7-1-base-head-0")
SCORE = Score(1, 1, 1, "sig")


def judged(line: int, text: str = "why?", reason: Reason = Reason.POSTED) -> JudgedCandidate:
    candidate = Candidate(CandidateKind.COMMENT, "t5:crb", "a.py", Side.RIGHT, line, line, text)
    return JudgedCandidate(candidate, SCORE, Verdict(reason), 1, f"f{line}{text[:3]}")


def said(
    line: int, body: str = "why?", start: int | None = None, side: Side = Side.RIGHT,
    path: str = "a.py", name: str = "",
) -> ReviewComment:  # fmt: skip
    return ReviewComment(path, side, start, line, body, name or f"{path}-{line}", judged(line))


def result(*comments: ReviewComment, summary: str = "Read 1 file.", **more) -> ReviewResult:
    review = Review(summary, comments, MARKER, "sig")
    coverage = more.pop("coverage", (FileCoverage("a.py", Coverage.REVIEWED),))
    return ReviewResult(parse_diff(DIFF), review, more.pop("candidates", ()), coverage, **more)


def plan(**options) -> Plan:
    return Plan(options=ReviewOptions(**options))


def test_comments_in_place_carry_their_fingerprints():
    draft = GitHubComposer().compose(result(said(10), said(12, start=11)), plan(), MARKER)
    assert [(c.start_line, c.line) for c in draft.comments] == [(None, 10), (11, 12)]
    assert [comment_fingerprint(c.body) for c in draft.comments] == ["a.py-10", "a.py-12"]
    assert draft.body == f"Read 1 file.\n\n{MARKER}"


def test_trouble_19_start_line_equal_to_line_is_dropped():
    draft = GitHubComposer().compose(result(said(10, start=10)), plan(), MARKER)
    assert draft.comments[0].start_line is None


def test_trouble_1_a_comment_outside_the_hunks_goes_into_the_text():
    draft = GitHubComposer().compose(result(said(10), said(99, "far away")), plan(), MARKER)
    assert [c.line for c in draft.comments] == [10]
    assert "`a.py:99`" in draft.body
    assert "far away" in draft.body
    assert draft.body.endswith(MARKER)


def test_too_many_and_over_limit_candidates_go_into_the_text():
    held = (judged(13, "one too many", Reason.OVER_LIMIT), judged(12, "bad", Reason.NOT_RELEVANT))
    composed = result(said(10), said(11), said(12), candidates=held)
    draft = GitHubComposer().compose(composed, plan(max_comments=2), MARKER)
    assert [c.line for c in draft.comments] == [10, 11]
    assert "2 more remarks" in draft.body
    assert "one too many" in draft.body
    assert "bad" not in draft.body


def test_a_finding_and_its_fix_over_the_limit_are_one_remark_of_the_text():
    finding, fix = (
        replace(judged(13, "unused", Reason.OVER_LIMIT), candidate=Candidate(
            kind, "ruff:F401", "a.py", Side.RIGHT, 13, 13, "unused"))
        for kind in (CandidateKind.FINDING, CandidateKind.REVISION)
    )  # fmt: skip
    draft = GitHubComposer().compose(result(said(10), candidates=(fix, finding)), plan(), MARKER)
    assert "1 more remark" in draft.body
    assert draft.body.count("unused") == 1


def test_the_same_remark_stands_once():
    composed = result(said(10, name="same"), said(11, name="same"))
    assert len(GitHubComposer().compose(composed, plan(), MARKER).comments) == 1


def test_trouble_25_nothing_is_longer_than_github_takes():
    long = result(
        said(10, "x" * 80_000),
        *(said(90 + n, "y" * 7_000) for n in range(30)),
        summary="word " * 20_000,
    )
    draft = GitHubComposer().compose(long, plan(), MARKER)
    assert len(draft.body) < 65_536
    assert draft.body.endswith(MARKER)
    assert all(len(c.body) < 65_536 for c in draft.comments)
    assert comment_fingerprint(draft.comments[0].body) == "a.py-10"
    shorter = result(*(said(90 + n, "y" * 7_000) for n in range(30)))
    body = GitHubComposer().compose(shorter, plan(), MARKER).body
    assert len(body) < 65_536
    assert "more did not fit here" in body
    assert body.count("</details>") == 1


def test_when_there_is_nothing_to_say():
    nothing = result(coverage=(FileCoverage("a.png", Coverage.BINARY),))
    assert GitHubComposer().compose(nothing, plan(), MARKER) is None
    assert GitHubComposer().compose(result(), plan(), MARKER) is not None
    assert GitHubComposer(quiet=True).compose(result(), plan(), MARKER) is None
    assert GitHubComposer(quiet=True).compose(result(said(10)), plan(), MARKER) is not None


def test_notes_of_the_plan_are_told():
    draft = GitHubComposer().compose(result(), Plan(notes=("a note\nin two lines",)), MARKER)
    assert "> a note in two lines" in draft.body


def test_refused_comments_move_without_their_markers():
    draft = GitHubComposer().compose(result(said(10, "stay"), said(12, "go")), plan(), MARKER)
    body = move_to_body(draft, draft.comments[1:])
    assert "go" in body
    assert "marginalia:comment" not in body
    assert body.count(MARKER) == 1
    assert move_to_body(DraftReview("x", (), MARKER), ()).endswith(MARKER)


def test_trouble_7_a_fingerprint_survives_moved_lines_and_not_other_code():
    def of(diff: bytes, line: int, text: str = "Name this constant 3.") -> str:
        change = parse_diff(diff)
        candidate = Candidate(
            CandidateKind.COMMENT, "t5:crb:1a2b", "a.py", Side.RIGHT, line, line, text
        )
        return fingerprint(candidate, change.file("a.py"))

    moved = DIFF.replace(b"@@ -10,3 +10,4 @@", b"@@ -110,3 +210,4 @@")
    assert of(DIFF, 11) == of(moved, 211)
    assert of(DIFF, 11) == of(DIFF.replace(b"+ELEVEN", b"+  ELEVEN"), 11)
    assert of(DIFF, 11) != of(DIFF, 12)
    assert of(DIFF, 11) != of(DIFF, 11, "Say why.")
    assert of(DIFF, 11) == of(DIFF, 11, "Name this constant 4.")


@pytest.mark.parametrize("count", [1, 2])
def test_the_details_say_how_many(count):
    draft = GitHubComposer().compose(result(*(said(90 + n) for n in range(count))), plan(), MARKER)
    assert ("1 more remark<" in draft.body) == (count == 1)


def test_the_summary_has_the_length_that_is_asked_for():
    text = "Read 1 of 2.\n\nHeld back 1.\n\nNot read:\n- b\n\n<sub>sig</sub>"
    held = (judged(12, "bad", Reason.NOT_RELEVANT),)
    full = result(summary=text, candidates=held)
    bodies = {
        length: GitHubComposer().compose(full, Plan(summary=length), MARKER).body
        for length in ("short", "normal", "long")
    }
    assert bodies["short"] == f"Read 1 of 2.\n\n<sub>sig</sub>\n\n{MARKER}"
    assert bodies["normal"] == f"{text}\n\n{MARKER}"
    assert "| `a.py` | reviewed |  |" in bodies["long"]
    assert "| not-relevant | 1 |" in bodies["long"]


def test_a_suggestion_is_never_cut():
    long = said(10, "```suggestion\n" + "x\n" * 40_000 + "```")
    composed = result(replace(long, suggestion="x"))
    draft = GitHubComposer().compose(composed, plan(), MARKER)
    assert draft.comments == ()
    assert "too long for a suggestion" in draft.body
