"""The summary of a review: what was held back, counted and named as a person would."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from bot.github.summary import fit_summary
from bot.review.local import read_change
from bot.review.output_terminal import to_terminal
from bot.review.pipeline import ReviewPipeline
from bot.review.render import held_back
from bot.review.types import JudgedCandidate, Reason, ReviewOptions, Verdict
from models.change import Side
from models.review_types import Candidate, CandidateKind, Replacement, Score
from tests.example import make_example

SCORE = Score(0.0, 0.0, 0.0, "signature")


def judged(kind: str, line: int, reason: Reason, origin: str = "ruff:X1") -> JudgedCandidate:
    replacement = Replacement(line, line, ("x",)) if kind == "revision" else None
    one = Candidate(
        CandidateKind(kind), origin, "a.py", Side.RIGHT, line, line, "Mend it.", replacement
    )
    return JudgedCandidate(one, SCORE, Verdict(reason))


def reasons(*rows: JudgedCandidate) -> list[tuple[int, str]]:
    return [(one.candidate.line, one.verdict.reason.value) for one in held_back(rows)]


def test_a_finding_whose_fix_is_posted_is_not_held_back():
    fix, finding = (judged("revision", 5, Reason.POSTED), judged("finding", 5, Reason.DUPLICATE))
    assert reasons(fix, finding) == []


def test_a_fix_whose_finding_is_posted_is_not_held_back():
    fix = judged("revision", 5, Reason.BREAKS_SYNTAX)
    assert reasons(judged("finding", 5, Reason.POSTED), fix) == []


def test_a_finding_and_its_fix_that_are_held_back_are_one_with_the_findings_reason():
    fix = judged("revision", 5, Reason.ADDS_FINDING)
    assert reasons(fix, judged("finding", 5, Reason.NOT_CONFIDENT)) == [(5, "not-confident")]


def test_each_fix_goes_with_its_own_finding():
    rows = (
        judged("revision", 5, Reason.POSTED),
        judged("finding", 50, Reason.OVER_LIMIT),
        judged("finding", 5, Reason.DUPLICATE),
        judged("revision", 51, Reason.OVER_LIMIT),
        judged("finding", 90, Reason.OVER_LIMIT),
    )
    assert reasons(*rows) == [(50, "over-limit"), (90, "over-limit")]


def test_what_a_model_wrote_has_no_finding():
    rows = (
        judged("revision", 5, Reason.NOT_CONFIDENT, "t5-edits:crb"),
        judged("finding", 5, Reason.POSTED),
        judged("comment", 5, Reason.NOT_RELEVANT, "t5-edits:rcg"),
    )
    assert reasons(*rows) == [(5, "not-confident"), (5, "not-relevant")]


@pytest.mark.parametrize(
    ("sure", "says", "closing"),
    [
        # the Go finding is posted as its fix; S110 stands on the lines of E722
        (0.5, "Held back 1: 1 duplicate.", "4 of 5 remarks shown, 1 held back"),
        (0.95, "Held back 5: 5 not-confident.", "0 of 5 remarks shown, 5 held back"),
    ],
)
def test_the_example_changes_summary_counts_remarks(tmp_path, sure, says, closing):
    options = ReviewOptions(sure=sure, analyzers=frozenset({"ruff", "ast-grep"}))
    with read_change(make_example(tmp_path / "repo"), "main..change", None) as (change, sources):
        result = ReviewPipeline().review(change, sources, options)
    assert len(result.candidates) == 6
    assert says in result.review.summary
    count, reason = says.removesuffix(".").split(": ")[1].split(" ")
    assert f"| {reason} | {count} |" in fit_summary(result, "long")
    stream = io.StringIO()
    to_terminal(result, Console(file=stream, width=200))
    assert closing in stream.getvalue()
