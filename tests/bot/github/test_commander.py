"""Commands run: who may, what they change, one answer each."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.github.commander import GitHubCommander
from bot.github.policy import PAUSED, GitHubPolicy
from bot.jobs.forge import CommandResult, Comment, RequestKind
from bot.store.ledger import Ledger
from bot.store.memory import pull_scope
from bot.store.tables import CandidateRow, CommentRow, ReviewRow
from tests.bot.github.conftest import remark


@pytest.fixture
def ledger(tmp_path):
    ledger = Ledger(f"sqlite:///{tmp_path}/ledger.db")
    ledger.migrate()
    yield ledger
    ledger.close()


@pytest.fixture
def commander(scene, ledger):
    policy = GitHubPolicy(scene.identity, ledger.memory)
    return GitHubCommander(scene.identity, ledger, policy)


def say(scene, body, author="alice") -> Comment:
    row = scene.github.comment(scene.pull, body, author=author)
    return Comment("issue_comment", int(row["id"]), body, author, "User")


def answers(scene) -> list[str]:
    rows = scene.github.comments(scene.pull)
    return [row["body"] for row in rows if row["user"]["login"] == scene.app.bot]


def test_review_asks_for_a_job_and_reacts(scene, commander):
    comment = say(scene, "/marginalia review")
    result = commander.run(scene.ref, comment)
    assert result.request is not None
    assert result.request.kind is RequestKind.COMMAND
    assert result.request.key == f"issue_comment:{comment.id}"
    assert (result.request.full, result.request.by) == (False, "alice")
    assert commander.run(scene.ref, say(scene, "/marginalia full review")).request.full
    assert answers(scene) == []


def test_trouble_23_who_has_no_write_permission_changes_nothing(scene, commander, ledger):
    for author in ("bob", "mallory"):
        result = commander.run(scene.ref, say(scene, "/marginalia pause", author))
        assert result == CommandResult(note=f"{author} has no write permission")
    assert ledger.memory.get(pull_scope(scene.ref.repository_id, 1), PAUSED) is None
    assert answers(scene) == []


def test_trouble_23_neither_bots_nor_ourselves(scene, commander):
    comment = say(scene, "/marginalia review")
    assert "bot" in commander.run(scene.ref, replace(comment, author_type="Bot")).note
    assert "bot" in commander.run(scene.ref, replace(comment, author="x[bot]")).note
    ours = replace(comment, app_id=scene.app.id)
    assert commander.run(scene.ref, ours).note == "our own comment"
    # in token mode our comments are the owner's: told by their marker alone
    marked = replace(comment, body="/marginalia review\n\n<!-- marginalia:answer a:1 -->")
    assert commander.run(scene.ref, marked).note == "our own comment"


def test_pause_and_resume(scene, commander, ledger):
    scope = pull_scope(scene.ref.repository_id, 1)
    result = commander.run(scene.ref, say(scene, "/marginalia pause"))
    assert (result.cancel, result.request) == (True, None)
    assert ledger.memory.get(scope, PAUSED) is True
    result = commander.run(scene.ref, say(scene, "/marginalia resume"))
    assert result.request is not None
    assert ledger.memory.get(scope, PAUSED) is None
    assert [a.split(":")[0].split(".")[0] for a in answers(scene)] == ["Paused", "Resumed"]


def test_an_answer_is_given_once_however_often_the_delivery_comes(scene, commander):
    comment = say(scene, "/marginalia help\n/marginalia config")
    for _ in range(3):
        commander.run(scene.ref, comment)
    (answer,) = answers(scene)
    assert "| `/marginalia review` |" in answer
    assert "sure: 0.5  # operator" in answer or "sure: 0.5  # default" in answer
    assert answer.endswith(f"<!-- marginalia:answer issue_comment:{comment.id} -->")


def test_unknown_commands_get_help_once_a_pull_request(scene, commander):
    for text in ("/marginalia approve", "/marginalia merge now"):
        assert commander.run(scene.ref, say(scene, text)).request is None
    assert len(answers(scene)) == 1
    assert "That is no command of mine" in answers(scene)[0]


def test_explain_and_dismiss_belong_in_a_thread(scene, commander):
    commander.run(scene.ref, say(scene, "/marginalia explain"))
    commander.run(scene.ref, say(scene, "/marginalia dismiss"))
    assert [a.split("`")[1] for a in answers(scene)] == [
        "/marginalia explain",
        "/marginalia dismiss",
    ]


@pytest.fixture
def thread(scene, ledger):
    """A posted remark of ours as the ledger knows it; the number of its comment."""
    draft = scene.draft(remark(10))
    made = scene.forge.create_pending_review(scene.ref, scene.pull.head_sha, draft)
    posted = scene.forge.submit_review(scene.ref, made.id)
    (comment,) = scene.forge.posted_comments(scene.ref, posted.id)
    state = {"repository_id": scene.ref.repository_id, "pull": 1, "created_at": 1.0}
    with ledger.database.write() as session:
        session.add(
            ReviewRow(
                id=1,
                job_id="j",
                repository=scene.ref.repository,
                merge_base="b",
                head="h",
                state="submitted",
                body="",
                marker="",
                coverage=[],
                notes=[],
                timings={},
                references=[],
                github_id=posted.id,
                **state,
            )
        )
        session.add(
            CandidateRow(
                id=1,
                review_id=1,
                rank=1,
                kind="comment",
                origin="t5:crb:1a",
                path="src/a.py",
                side="RIGHT",
                start_line=10,
                line=10,
                text="Say why.",
                confidence=0.8,
                weakest=0.5,
                severity="warning",
                url="",
                con=0.5,
                comp=0.25,
                rel=1 / 3,
                judge=0.9,
                similarity=0.7,
                nearest={"text": "line 10 was changed"},
                signature="sig|v1",
                reason="posted",
                detail="",
                fingerprint=comment.fingerprint,
            )
        )
        session.add(
            CommentRow(
                review_id=1,
                candidate_id=1,
                position=0,
                path="src/a.py",
                side="RIGHT",
                line=10,
                body="",
                github_id=comment.id,
                fingerprint=comment.fingerprint,
            )
        )
    return comment


def in_thread(scene, thread, body) -> Comment:
    row = scene.github.review_comment(scene.pull, body, in_reply_to=thread.id)
    return Comment("review_comment", int(row["id"]), body, "alice", "User", in_reply_to=thread.id)


def replies(scene) -> list[str]:
    (found,) = scene.github.threads(scene.pull)
    return [c["body"] for c in found["comments"][1:] if c["user"]["login"] == scene.app.bot]


def test_explain_in_a_thread_gives_the_scores(scene, commander, thread):
    comment = in_thread(scene, thread, "/marginalia explain")
    for _ in range(2):
        commander.run(scene.ref, comment)
    (answer,) = replies(scene)
    assert "0.50, 0.25, 0.33" in answer
    assert "| judge: a person would find it relevant | 0.90 |" in answer
    assert "`t5:crb:1a`" in answer
    assert "`sig\\|v1`" in answer
    assert "line 10 was changed (0.70)" in answer
    assert "0 of 1 candidates of this review were held back" in answer


def test_trouble_7_dismiss_in_a_thread_is_for_good(scene, commander, ledger, thread):
    commander.run(scene.ref, in_thread(scene, thread, "/marginalia dismiss we like it so"))
    dismissed = ledger.reviews.dismissed_fingerprints(scene.ref.repository_id)
    assert dismissed == {thread.fingerprint}
    assert replies(scene)[0].startswith("Dismissed:")


def test_in_shadow_commands_are_run_and_not_answered(scene, ledger):
    policy = GitHubPolicy(scene.identity, ledger.memory)
    commander = GitHubCommander(scene.identity, ledger, policy, shadow=True)
    assert commander.run(scene.ref, say(scene, "/marginalia pause\n/marginalia nonsense")).cancel
    assert answers(scene) == []


def test_text_without_commands(scene, commander):
    assert commander.mentions("x /marginalia y")
    assert not commander.mentions("nothing")
    assert commander.run(scene.ref, say(scene, "> /marginalia pause")).note == "no command"
