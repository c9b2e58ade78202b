"""The queue of candidates that wait for a person: final decisions, made once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.feedback import approval
from bot.feedback.tables import ApprovalRow
from bot.store.ledger import Ledger


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    made = Ledger(f"sqlite:///{tmp_path / 'marginalia.db'}")
    made.migrate()
    yield made
    made.close()


def wait(ledger: Ledger, number: int, repository: str = "Octo/Repo", pull: int = 3) -> int:
    """A candidate in the queue, as the job writes it."""
    with ledger.database.write() as session:
        row = ApprovalRow(
            comment_id=number, candidate_id=None, repository_id=7, repository=repository,
            repository_key=repository.lower(), installation_id=None, pull=pull, head="c" * 40,
            path="a.py", side="RIGHT", start_line=2, line=3, kind="finding", origin="ruff:B006",
            fingerprint=f"print{number}", body="Do not.", suggestion="a = 1\nb = 2",
            before="x\na = 0\nb = 0\ny", before_start=1, con=0.5, comp=0.5, rel=0.5, judge=None,
            confidence=1.0, sure=0.7, grounds=["grounded in: a rule"], created_at=1_000.0 + number,
            state="waiting",
        )  # fmt: skip
        session.add(row)
        session.flush()
        return row.id


def test_the_queue_is_paged_and_bounded_to_repositories(ledger: Ledger) -> None:
    numbers = [wait(ledger, n, "Octo/Repo" if n % 2 else "other/one", n) for n in range(1, 6)]
    assert [one.id for one in approval.queue(ledger.database)] == numbers
    mine = approval.queue(ledger.database, ["octo/repo"], limit=2, offset=1)
    assert [one.pull for one in mine] == [3, 5]
    assert approval.count(ledger.database, ["octo/repo"]) == 3
    assert approval.queue(ledger.database, []) == []
    assert mine[0].rule == "ruff:B006"
    assert mine[0].created.timestamp() == 1_003
    assert [one.pull for one in approval.of_pull(ledger.database, 7, 3, ["waiting"])] == [3]


def test_a_decision_twice_is_one_and_another_one_is_refused(ledger: Ledger) -> None:
    one, two, three = (wait(ledger, n) for n in range(3))
    first = approval.accept(ledger.database, one, "ann", now=5)
    assert (first.state, first.by) == ("accepted", "ann")
    again = approval.accept(ledger.database, one, "bob", body="Do not.", now=9)
    assert (again.state, again.by, again.decided) == ("accepted", "ann", first.decided)
    with pytest.raises(approval.Decided, match="accepted already by ann"):
        approval.reject(ledger.database, one, "bob")
    with pytest.raises(approval.Decided):
        approval.accept(ledger.database, one, "bob", body="Other words.")

    edited = approval.accept(ledger.database, two, "ann", suggestion="a = 3\r\nb = 4\r\n")
    assert (edited.state, edited.suggestion) == ("edited", "a = 3\nb = 4")
    assert approval.accept(ledger.database, two, "ann").state == "edited"

    assert approval.reject(ledger.database, three, "ann").state == "rejected"
    assert approval.reject(ledger.database, three, "bob").by == "ann"
    with pytest.raises(approval.Decided, match="rejected already by ann"):
        approval.accept(ledger.database, three, "bob")
    assert approval.queue(ledger.database) == []


def test_edits_that_cannot_be_posted_are_refused(ledger: Ledger) -> None:
    number = wait(ledger, 1)
    with pytest.raises(approval.BadEdit, match="without words"):
        approval.accept(ledger.database, number, "ann", body="  \n")
    with pytest.raises(approval.BadEdit, match="at most"):
        approval.accept(ledger.database, number, "ann", body="x" * 10_000)
    with pytest.raises(approval.NoSuchCandidate, match="999"):
        approval.accept(ledger.database, 999, "ann")
    found = approval.get(ledger.database, number)
    assert found is not None
    assert found.state == "waiting"
    assert approval.get(ledger.database, 999) is None
