"""What a remark is said to be nearest to: something else than itself, or nothing."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import replace

import pytest
from rich.console import Console

from bot.commands.explain import _nearest
from bot.github.explain import explain_text
from bot.review.local import read_change
from bot.review.nearest import nearest_others, none_near
from bot.review.output_json import to_json
from bot.review.output_markdown import to_markdown
from bot.review.output_terminal import to_terminal
from bot.review.pipeline import ReviewPipeline
from bot.review.types import ReviewOptions, ReviewResult
from bot.store.reviews import Explanation
from bot.store.tables import CandidateRow, ReviewRow
from models.change import Side
from models.crscore import CRScore
from models.review_types import (
    Candidate,
    CandidateKind,
    PseudoReference,
    ReferenceKind,
    Replacement,
)
from tests.example import make_example

RULE = "Wrap the cause with `%w`, so that callers can test for it by `errors.Is`."


@pytest.fixture(scope="module")
def score() -> CRScore:
    return CRScore()


@pytest.fixture(scope="module")
def review(score, tmp_path_factory) -> Iterator[ReviewResult]:
    repo = make_example(tmp_path_factory.mktemp("example") / "repo")
    options = ReviewOptions(use_model=False, analyzers=frozenset({"ruff", "ast-grep"}))
    with read_change(repo, "main..change", None) as (change, sources):
        yield ReviewPipeline(score=score).review(change, sources, options)


def shown(review: ReviewResult, *, explain: bool) -> str:
    stream = io.StringIO()
    to_terminal(review, Console(file=stream, width=500), explain=explain)
    return stream.getvalue()


def test_no_finding_and_no_fix_is_nearest_to_itself(review):
    kinds = {one.candidate.kind for one in review.candidates}
    assert kinds == {CandidateKind.FINDING, CandidateKind.REVISION}
    near = [one for one in review.candidates if one.score.nearest is not None]
    assert near
    for one in near:
        assert one.score.nearest.text != one.candidate.text
        assert one.score.nearest.origin != one.candidate.origin
        assert 0 < one.score.similarity < 1
    # the finding itself still counts in the score: it is about this change
    assert all(one.score.con == 1 for one in review.candidates)


def test_no_output_repeats_a_finding_as_what_it_is_near(review):
    for text in (shown(review, explain=True), to_markdown(review, explain=True)):
        assert f"nearest: {RULE}" not in text
        assert f"): {RULE}" not in text
        assert f"grounded in: {RULE}" not in text
        assert none_near("finding") in text
    body = next(c.body for c in review.review.comments if c.path == "store/load.go")
    assert body.count(RULE) == 1
    assert "grounded in: `ast-grep:go-error-not-wrapped` on a line of this change" in body
    rows = json.loads(to_json(review, explain=True))["candidates"]
    assert all(row["nearest"] is None or row["nearest"]["text"] not in row["body"] for row in rows)
    assert [row["similarity"] for row in rows if row["nearest"] is None]


def smell(text: str, origin: str) -> PseudoReference:
    return PseudoReference(ReferenceKind.SMELL, text, (1,), origin, "a.py")


def test_the_nearest_other_is_shown_where_one_is_near(score):
    bare = "A bare `except` catches `KeyboardInterrupt` too; name the exceptions you expect."
    silent = "The exception is swallowed silently; log it, or catch only what may be ignored."
    finding = Candidate(
        CandidateKind.FINDING, "ruff:E722", "a.py", Side.RIGHT, 1, 1, bare, severity="warning"
    )
    fix = replace(
        finding, kind=CandidateKind.REVISION, replacement=Replacement(1, 1, ("except OSError:",))
    )
    comment = replace(finding, kind=CandidateKind.COMMENT, origin="t5:rcg")
    own = smell(bare, "ruff:E722")
    again = smell(bare.replace("too", "as well"), "ruff:E722")
    other = smell(silent, "ruff:S110")
    far = PseudoReference(ReferenceKind.CLAIM, "The file is empty now.", origin="syntax")
    rows = [
        (finding, [own, again, other, far], other),
        (fix, [own, other], other),
        (finding, [own, far], None),
        (finding, [own], None),
        # who else says so is a ground of a comment, word for word or not
        (comment, [own, other], own),
        (finding, [], None),
    ]
    scores = score.score_reference_batch([(one.text, refs) for one, refs, _ in rows])
    found = nearest_others(
        [one for one, _, _ in rows], scores, [refs for _, refs, _ in rows], score
    )
    assert [one.nearest for one in found] == [expected for *_, expected in rows]
    for before, after in zip(scores, found, strict=True):
        assert (before.con, before.comp, before.rel) == (after.con, after.comp, after.rel)
        assert (after.similarity > score.threshold) is (after.nearest is not None)


def test_kept_candidates_say_that_nothing_else_is_near():
    row = CandidateRow(
        path="a.py", start_line=1, line=1, side="RIGHT", kind="finding", origin="ruff:E722",
        severity="warning", text=RULE, con=1.0, comp=0.1, rel=0.2, judge=None, confidence=1.0,
        weakest=1.0, similarity=0.0, reason="posted", detail="", rank=1, signature="s",
        nearest=None,
    )  # fmt: skip
    assert _nearest(row) == "no other claim or smell is near"
    text = explain_text(
        Explanation(review=ReviewRow(), candidates=(row,), comments=(), candidate=row)
    )
    assert "closest" not in text
