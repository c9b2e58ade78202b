"""Reviews against the double: created once, submitted once, refusals taken apart."""

from __future__ import annotations

import pytest

from bot.github.errors import Answered
from bot.jobs.forge import (
    MARKER_PREFIX,
    LostAnswer,
    NotFound,
    PendingReviewExists,
    ReviewState,
    Superseded,
    job_marker,
)
from models.change import Side
from tests.bot.github.conftest import remark

REVIEWS = "*/pulls/*/reviews"


def test_trouble_18_a_review_is_created_pending_and_submitted_with_both_sides(scene):
    draft = scene.draft(
        remark(10), remark(11, start=10, body="Two lines."), remark(30, side=Side.LEFT)
    )
    made = scene.forge.create_pending_review(scene.ref, scene.pull.head_sha, draft)
    assert made.state is ReviewState.PENDING
    assert [r["state"] for r in scene.bot_reviews()] == ["PENDING"]
    assert scene.forge.head_sha(scene.ref) == scene.pull.head_sha
    posted = scene.forge.submit_review(scene.ref, made.id)
    assert posted.state is ReviewState.SUBMITTED
    (review,) = scene.bot_reviews()
    assert review["state"] == "COMMENTED"
    assert review["body"].endswith(draft.marker)
    anchors = [(c["side"], c["start_line"], c["line"]) for c in review["comments"]]
    assert anchors == [("RIGHT", None, 10), ("RIGHT", 10, 11), ("LEFT", None, 30)]
    comments = scene.forge.posted_comments(scene.ref, posted.id)
    assert [c.fingerprint for c in comments] == [c.fingerprint for c in draft.comments]
    assert all(c.thread_id and c.url and c.line for c in comments)


def test_trouble_20_one_review_is_one_write_whatever_its_comments(scene):
    draft = scene.draft(*(remark(line) for line in (8, 9, 10, 11, 12, 13)))
    made = scene.forge.create_pending_review(scene.ref, scene.pull.head_sha, draft)
    scene.forge.submit_review(scene.ref, made.id)
    writes = scene.github.calls("POST", f"{scene.ref.repository}/pulls")
    assert [c["path"].rsplit("/", 1)[1] for c in writes] == ["reviews", "events"]


def test_our_reviews_are_found_by_their_last_line_only(scene):
    draft = scene.draft(job="one")
    quoting = f"{job_marker('two')}\nis quoted here\n\n{draft.marker}"
    other = scene.github.review(scene.pull, event="COMMENT", body=draft.body)
    made = scene.forge.create_pending_review(
        scene.ref, scene.pull.head_sha, scene.draft(job="one").__class__(quoting, (), draft.marker)
    )
    assert [r.id for r in scene.forge.find_reviews(scene.ref, draft.marker)] == [made.id]
    assert [r.id for r in scene.forge.find_reviews(scene.ref, MARKER_PREFIX)] == [made.id]
    assert scene.forge.find_reviews(scene.ref, job_marker("two")) == ()
    assert other["id"] != made.id


def test_trouble_1_the_guilty_entry_is_found_and_moved_to_the_text(scene):
    good = [remark(line) for line in (8, 9, 10, 11, 12)]
    bad = remark(22, body="Nowhere near a hunk.")
    draft = scene.draft(*good[:2], bad, *good[2:])
    made = scene.forge.create_pending_review(scene.ref, scene.pull.head_sha, draft)
    assert made.moved == (bad.fingerprint,)
    scene.forge.submit_review(scene.ref, made.id)
    (review,) = scene.bot_reviews()
    assert sorted(c["line"] for c in review["comments"]) == [8, 9, 10, 11, 12]
    assert "Nowhere near a hunk." in review["body"]
    assert "src/a.py:22" in review["body"]
    assert review["body"].endswith(draft.marker)
    assert "marginalia:comment" not in review["body"]


def test_several_guilty_entries_and_none_good(scene):
    draft = scene.draft(remark(20), remark(21), remark(22))
    made = scene.forge.create_pending_review(scene.ref, scene.pull.head_sha, draft)
    assert set(made.moved) == {c.fingerprint for c in draft.comments}
    assert [r["state"] for r in scene.bot_reviews()] == ["PENDING"]


def test_a_probe_left_by_a_crash_is_cleared_away(scene):
    """A crash between a trial review and its deletion must not look like a review."""
    draft = scene.draft(remark(10), remark(22))
    lost = scene.github.fault("drop", "DELETE", "*/reviews/*")
    with pytest.raises(LostAnswer):
        scene.forge.create_pending_review(scene.ref, scene.pull.head_sha, draft)
    assert scene.github.fault_hits(lost) == 1
    assert scene.forge.find_reviews(scene.ref, MARKER_PREFIX) == ()
    made = scene.forge.create_pending_review(scene.ref, scene.pull.head_sha, draft)
    assert made.moved == (draft.comments[1].fingerprint,)
    assert [r["id"] for r in scene.bot_reviews()] == [made.id]


def test_a_probe_that_cannot_be_deleted_is_told_and_not_tried_for_ever(scene):
    draft = scene.draft(remark(10), remark(22))
    scene.github.fault("drop", "DELETE", "*/reviews/*")
    with pytest.raises(LostAnswer):
        scene.forge.create_pending_review(scene.ref, scene.pull.head_sha, draft)
    refused = scene.github.fault("status", "DELETE", "*/reviews/*", status=422, times=1000)
    with pytest.raises(PendingReviewExists):
        scene.forge.create_pending_review(scene.ref, scene.pull.head_sha, draft)
    assert scene.github.fault_hits(refused) == 1


def test_a_lost_answer_is_told_and_the_review_is_found(scene):
    draft = scene.draft(remark(10))
    scene.github.fault("lose", "POST", REVIEWS)
    with pytest.raises(LostAnswer):
        scene.forge.create_pending_review(scene.ref, scene.pull.head_sha, draft)
    with pytest.raises(PendingReviewExists):
        scene.forge.create_pending_review(scene.ref, scene.pull.head_sha, draft)
    (found,) = scene.forge.find_reviews(scene.ref, draft.marker)
    assert found.state is ReviewState.PENDING
    scene.github.fault("lose", "POST", "*/events")
    with pytest.raises(LostAnswer):
        scene.forge.submit_review(scene.ref, found.id)
    assert scene.forge.submit_review(scene.ref, found.id).state is ReviewState.SUBMITTED
    assert [r["state"] for r in scene.bot_reviews()] == ["COMMENTED"]


@pytest.mark.parametrize("status", [500, 502, 503])
def test_a_write_is_never_repeated_by_itself(scene, status):
    fault = scene.github.fault("status", "POST", REVIEWS, status=status, times=5)
    with pytest.raises(LostAnswer):
        scene.forge.create_pending_review(scene.ref, scene.pull.head_sha, scene.draft())
    assert scene.github.fault_hits(fault) == 1


def test_trouble_6_a_push_while_the_review_is_made(scene):
    github = scene.github
    github.act(scene.pull, "force-push", files={"src/a.py": "quite another file\n"})
    draft = scene.draft(remark(10))
    with pytest.raises(Superseded, match="the head moved from"):
        scene.forge.create_pending_review(scene.ref, "0" * 40, draft)
    assert scene.bot_reviews() == []


def test_submitting_what_is_gone(scene):
    made = scene.forge.create_pending_review(scene.ref, scene.pull.head_sha, scene.draft())
    scene.forge.delete_pending_review(scene.ref, made.id)
    scene.forge.delete_pending_review(scene.ref, made.id)
    with pytest.raises(NotFound):
        scene.forge.submit_review(scene.ref, made.id)


def test_a_submitted_review_is_not_deleted(scene):
    made = scene.forge.create_pending_review(scene.ref, scene.pull.head_sha, scene.draft())
    scene.forge.submit_review(scene.ref, made.id)
    scene.forge.delete_pending_review(scene.ref, made.id)
    assert [r["state"] for r in scene.bot_reviews()] == ["COMMENTED"]


def test_trouble_27_a_persons_own_pending_review_is_left_alone(scene, person):
    theirs = scene.github.review(scene.pull, author="alice", body="my own notes")
    ref = scene.ref
    draft = scene.draft(remark(10), remark(22, body="Nowhere."))
    with pytest.raises(PendingReviewExists):
        person.create_pending_review(ref, scene.pull.head_sha, draft)
    assert person.find_reviews(ref, MARKER_PREFIX) == ()
    posted = person.post_single(ref, scene.pull.head_sha, draft)
    again = person.post_single(ref, scene.pull.head_sha, draft)
    assert posted.single
    assert again.id == posted.id
    said = [c for c in scene.github.comments(scene.pull) if draft.marker in c["body"]]
    assert len(said) == 1
    assert "Nowhere." in said[0]["body"]
    mine = [r for r in scene.github.reviews(scene.pull, author="alice") if r["state"] == "PENDING"]
    assert [r["id"] for r in mine] == [theirs["id"]]


def test_bodies_that_github_will_not_take_are_refused_for_good(scene):
    draft = scene.draft()
    too_long = draft.__class__("x" * 70_000, (), draft.marker)
    with pytest.raises(Answered) as caught:
        scene.forge.create_pending_review(scene.ref, scene.pull.head_sha, too_long)
    assert caught.value.status == 422


def test_trouble_28_reactions_are_asked_for(scene):
    made = scene.forge.create_pending_review(
        scene.ref, scene.pull.head_sha, scene.draft(remark(10), remark(11))
    )
    scene.forge.submit_review(scene.ref, made.id)
    (review,) = scene.bot_reviews()
    first, second = (comment["id"] for comment in review["comments"])
    scene.github.on_comment(first, "react", content="-1", author="alice")
    scene.github.on_comment(second, "react", content="+1", author="bob")
    found = scene.forge.reactions(scene.ref)
    assert [(r.comment_id, r.likes, r.dislikes) for r in found] == [(first, 0, 1), (second, 1, 0)]
    assert all(r.fingerprint for r in found)
