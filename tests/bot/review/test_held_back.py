"""The summary of a review: what was held back, counted and named as a person would."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from bot.diff import parse_diff
from bot.github.compose import GitHubComposer
from bot.github.summary import fit_summary
from bot.jobs.forge import Plan
from bot.review.local import read_change
from bot.review.output_terminal import to_terminal
from bot.review.pipeline import ReviewPipeline
from bot.review.render import held_back
from bot.review.types import JudgedCandidate, Reason, ReviewOptions, Verdict
from models.change import Change, Side
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


def noisy(files: int) -> tuple[Change, dict[str, bytes]]:
    """A change that adds files with one fault each."""
    texts = {
        f"part{n:02}.py": f"def part{n}(rows, seen=[]):\n    return rows + seen * {n}\n".encode()
        for n in range(files)
    }
    parts = []
    for path, text in texts.items():
        added = "".join(f"+{line}\n" for line in text.decode().splitlines())
        parts.append(f"--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,2 @@\n{added}")
    return parse_diff("".join(parts).encode()), texts


def test_a_rule_that_speaks_in_thirty_files_is_said_five_times_and_the_rest_is_named():
    change, texts = noisy(30)

    class New:
        def base(self, path: str) -> bytes | None:
            return None

        def head(self, path: str) -> bytes | None:
            return texts.get(path)

    pipeline = ReviewPipeline()
    options = ReviewOptions(max_comments=50, analyzers=frozenset({"ruff"}))
    result = pipeline.review(change, New(), options)
    assert [one.verdict.reason for one in result.candidates].count(Reason.POSTED) == 5
    held = [one for one in result.candidates if not one.verdict.posted]
    assert {one.verdict.reason for one in held} == {Reason.RULE_LIMIT}
    assert held[0].verdict.detail == "ruff:B006 was said 5 times in this change"
    summary = result.review.summary
    assert "Held back 25: 25 rule-limit." in summary
    (line,) = [row for row in summary.split("\n") if row.startswith("- `ruff:B006`: ")]
    assert line.count("`part") == 20
    assert line.endswith(" and 5 more")
    said = {comment.path for comment in result.review.comments}
    assert not any(f"`{path}:1`" in line for path in said)
    # one line in the text, not a remark for each
    draft = GitHubComposer().compose(result, Plan(options=options), "marker")
    assert draft is not None
    assert (len(draft.comments), "more remark" in draft.body) == (5, False)
    stream = io.StringIO()
    to_terminal(result, Console(file=stream, width=200))
    assert "ruff:B006 speaks here too: part" in stream.getvalue()
    # who asks for everything gets it
    everything = pipeline.review(change, New(), replace(options, sure=0))
    assert sum(one.verdict.posted for one in everything.candidates) == 30
