"""Feedback in the ledger: idempotent events, states, learning, the report on the command line."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from typer.testing import CliRunner

from bot.commands.feedback import app
from bot.feedback.ledger import Feedback, observed
from bot.feedback.outcome import Event, Kind, State
from bot.feedback.region import Fate, Followed
from bot.feedback.report import as_json, as_text, make_report
from bot.feedback.tables import FeedbackEvent, OutcomeRow
from bot.kept_config import GOOD
from bot.store.ledger import Ledger
from bot.store.memory import repo_scope
from bot.store.tables import Base, CandidateRow, CommentRow, ReviewRow

NOW = time.time()
DAY = 86_400.0


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    made = Ledger(f"sqlite:///{tmp_path / 'marginalia.db'}")
    made.migrate()
    yield made
    made.close()


def post(ledger: Ledger, origins: list[str], pull: int = 3, at: float = NOW) -> list[int]:
    """A submitted review with one comment for each origin; the comments' row numbers."""
    with ledger.database.write() as session:
        review = ReviewRow(
            job_id=f"job-{pull}", repository_id=7, repository="o/r", pull=pull, merge_base="b",
            head="c", state="submitted", body="", marker="", coverage=[], notes=[], timings={},
            references=[], created_at=at, submitted_at=at,
        )  # fmt: skip
        session.add(review)
        session.flush()
        numbers = []
        for position, origin in enumerate(origins):
            candidate = CandidateRow(
                review_id=review.id, rank=1, kind="finding", origin=origin, path="a.py",
                side="RIGHT", start_line=1, line=1, text="t", replacement=None, confidence=1.0,
                weakest=1.0, severity="warning", url="", con=0.5, comp=0.5, rel=0.5, judge=None,
                similarity=0.0, nearest=None, signature="s", reason="posted", detail="",
                fingerprint=f"{pull}{position}",
            )  # fmt: skip
            session.add(candidate)
            session.flush()
            comment = CommentRow(
                review_id=review.id, candidate_id=candidate.id, position=position, path="a.py",
                side="RIGHT", start_line=None, line=1, body="", fingerprint=f"{pull}{position}",
                github_id=pull * 1000 + position,
            )  # fmt: skip
            session.add(comment)
            session.flush()
            numbers.append(comment.id)
        return numbers


def taken(at: float) -> Event:
    return Event(Kind.HEAD, at, "sha", followed=Followed(Fate.AS_IS, "a.py", 1, 1, 1.0))


def test_the_migration_makes_the_tables(ledger: Ledger) -> None:
    with ledger.database.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        found = str(compare_metadata(context, Base.metadata))
    assert "feedback" not in found


def test_events_twice_and_out_of_order_leave_one_state(ledger: Ledger) -> None:
    feedback = Feedback(ledger.database)
    one, other = post(ledger, ["ruff:B006", "ruff:B006"])
    events = [taken(NOW + 1), Event(Kind.RESOLVED, NOW + 2), Event(Kind.CLOSED, NOW + 3)]
    for _ in range(2):
        for event in events:
            feedback.add(one, [event], NOW + 9)
    for event in reversed(events):
        feedback.add(other, [event, event], NOW + 10)
    first, second = feedback.outcome(one), feedback.outcome(other)
    assert first is not None
    assert second is not None
    assert (first.state, first.final, first.ended_at) == (State.AS_IS.value, True, NOW + 3)
    assert (second.state, second.final, second.ended_at) == (State.AS_IS.value, True, NOW + 3)
    assert (first.origin, first.language, first.prior) == ("ruff:B006", "python", 0.7)
    assert feedback.events(one) == feedback.events(other) == set(events)
    with ledger.database.read() as session:
        assert session.execute(sa.select(sa.func.count(FeedbackEvent.id))).scalar_one() == 6
    assert feedback.add(99_999, events, NOW) is None


def test_learning_reporting_and_forgetting(ledger: Ledger, tmp_path: Path) -> None:
    feedback = Feedback(ledger.database)
    for pull in range(1, 13):
        at = NOW - (13 - pull) * 5 * DAY
        good, bad, idle = post(ledger, ["ruff:F821", "ruff:E501", "ruff:B006"], pull, at)
        feedback.add(good, [taken(at + 1)], at + 1)
        feedback.add(bad, [Event(Kind.THUMBS_DOWN, at + 1)], at + 1)
        if pull % 2:
            feedback.add(idle, [Event(Kind.HEAD, at, "x", followed=Followed(Fate.GONE))], at)
        assert feedback.add_to_pull(7, pull, [Event(Kind.CLOSED, at + 2)], at + 2) == 3
    rows = feedback.outcomes(7)
    assert len(rows) == 36
    assert sum(one.accepted for one in observed(rows)) == 12
    assert len(observed(rows)) == 30  # outdated ones teach nothing
    model = feedback.learn(7, NOW)
    assert {one.rule for one in model.faded(0.5)} >= {"ruff:E501"}
    assert feedback.model(7).standings == model.standings

    (nothing,) = as_text(make_report([], [], NOW))
    assert nothing.startswith("No comment has an outcome yet (0 still open, 0 outdated)")
    report = make_report(rows, feedback.held_back(7, 0, NOW), NOW)
    by_rule = {share.name: share for share in report.shares["rule"]}
    assert (by_rule["ruff:F821"].accepted, by_rule["ruff:F821"].total) == (12, 12)
    assert (report.outdated, report.what_if.accepted) == (6, report.what_if.kept_accepted)
    assert report.what_if.kept < report.what_if.posted
    assert json.loads(json.dumps(as_json(report)))["outdated"] == 6
    assert any("ruff:E501" in line and "faded" in line for line in as_text(report))

    called = CliRunner().invoke(
        app, ["report", "--json", "--repo", "O/R"], env=_env(tmp_path), catch_exceptions=False
    )
    assert called.exit_code == 0
    assert {row["rule"] for row in json.loads(called.stdout)["rules"]} >= {"ruff:E501"}

    # the repository's own pins, bans and threshold count, as its last review read them
    text = "sure: 0.6\nfeedback:\n  pinned: [ruff:E501]\n  banned: [ruff:F821, bandit]\n"
    ledger.memory.put(repo_scope(7), f"{GOOD}o/r", text, NOW)
    called = CliRunner().invoke(
        app, ["report", "--json", "--repo", "O/R"], env=_env(tmp_path), catch_exceptions=False
    )
    shown = json.loads(called.stdout)
    assert (shown["pinned"], shown["banned"]) == (["ruff:E501"], ["bandit", "ruff:F821"])
    status = {row["rule"]: row["status"] for row in shown["rules"]}
    assert status["ruff:E501"] == "pinned"
    assert status["ruff:F821"] == "banned"
    last = shown["last_month"]
    # what is banned would not be posted, what is pinned would
    assert (last["sure"], last["kept_accepted"]) == (0.6, 0)
    assert 0 < last["kept"] < last["posted"]
    said = CliRunner().invoke(app, ["report", "--repo", "O/R"], env=_env(tmp_path)).stdout
    assert "banned by the configuration: bandit, ruff:F821" in said
    # another place's choices are none of this one's
    everything = CliRunner().invoke(app, ["report", "--json"], env=_env(tmp_path)).stdout
    assert json.loads(everything)["banned"] == []

    assert feedback.forget(7) == 36
    assert feedback.outcomes() == []
    assert feedback.model(7).outcomes == 0
    with ledger.database.read() as session:
        assert session.execute(sa.select(sa.func.count(OutcomeRow.comment_id))).scalar_one() == 0
        assert session.execute(sa.select(sa.func.count(FeedbackEvent.id))).scalar_one() == 0


def _env(folder: Path) -> dict[str, str]:
    return {"MARGINALIA_DATABASE_URL": f"sqlite:///{folder / 'marginalia.db'}"}
