"""All that is kept can be seen, taken away and deleted: every table, and no word is left."""

from __future__ import annotations

import json
from typing import Any

import pytest
import sqlalchemy as sa

from bot.learn.data import deleted, exported, names_of
from bot.learn.registry import KEPT, NO_CONTENT
from bot.store.database import Database
from bot.store.ledger import Ledger
from bot.store.tables import Base, CommentRow, Delivery, Job, ReviewRow, ThreadRow
from bot.store.text import Compressed

MINE, OTHERS = 7, 8
NAMES = {MINE: "Acme/Shop", OTHERS: "acme/till"}
STATES = {"reviews": "submitted", "jobs": "done", "deliveries": "handled"}
# What stays of a row whose words were deleted: names of commits and jobs, hashes, states.
STAYS = {
    "reviews": {"job_id", "repository", "merge_base", "head", "marker", "signature", "url"},
    "comments": {"side", "fingerprint", "state"},
    "jobs": {"id", "repository", "merge_base", "head", "kind", "key", "step", "holder"},
}


@pytest.fixture
def database(ledger: Ledger) -> Database:
    """On SQLite, and on PostgreSQL."""
    return ledger.database


def word(number: int) -> str:
    return f"word-of-{number}"


def row_of(table: type[Base], number: int, **known: Any) -> dict[str, Any]:
    """A row of a repository with its own word in every column that holds text."""
    special = {
        "id": f"id-{number}" if table in (Job, ThreadRow) else number * 10,
        "repository_id": number,
        "repository": NAMES[number],
        "repository_key": NAMES[number].lower(),
        "review_id": number * 10,
        "comment_id": number * 10,
        "scope": f"repo:{number}",
        "key": "acceptance" if table.__tablename__ == "settings" else word(number),
        "state": STATES.get(table.__tablename__, word(number)),
        "job_id": f"id-{number}",
        **known,
    }
    made: dict[str, Any] = {}
    for column in sa.inspect(table).columns:
        if column.key in special:
            made[column.key] = special[column.key]
        elif isinstance(column.type, Compressed | sa.LargeBinary):
            made[column.key] = word(number).encode()
        elif isinstance(column.type, sa.JSON):
            made[column.key] = [word(number)]
        elif isinstance(column.type, sa.Boolean):
            made[column.key] = True
        elif isinstance(column.type, sa.Integer | sa.Float):
            made[column.key] = number
        else:
            made[column.key] = word(number)
    return made


def fill(database: Database, number: int) -> None:
    with database.write() as session:
        for kept in KEPT:
            session.execute(sa.insert(kept.table), [row_of(kept.table, number)])


def dumped(database: Database) -> dict[str, list[dict[str, Any]]]:
    with database.read() as session:
        return {
            table.name: [dict(row._mapping) for row in session.execute(sa.select(table))]
            for table in Base.metadata.sorted_tables
        }


def test_every_table_is_accounted_for() -> None:
    known = {kept.table.__tablename__ for kept in KEPT}
    tables = set(Base.metadata.tables)
    assert known & set(NO_CONTENT) == set()
    assert tables - known - set(NO_CONTENT) == set(), (
        "say in bot/learn/registry.py what these hold of a repository, or why nothing"
    )
    assert (known | set(NO_CONTENT)) - tables == set()
    assert len({kept.kind for kept in KEPT}) == len(KEPT)
    assert "review_diffs" in known


def test_the_export_has_every_kind_and_no_person(database: Database) -> None:
    fill(database, MINE)
    fill(database, OTHERS)
    rows = list(exported(database, "acme/SHOP", everything=True))
    assert {row["kind"] for row in rows} == {kept.kind for kept in KEPT}
    text = json.dumps(rows)
    assert word(MINE) in text
    assert word(OTHERS) not in text
    for kept in KEPT:
        (row,) = [row for row in rows if row["kind"] == kept.kind]
        assert not kept.people & set(row)
        assert {"by", "sealed", "requested_by", "headers", "login"} & set(row) == set()
        columns = {c.key for c in sa.inspect(kept.table).columns} - kept.people
        assert len(row) == len(columns) + ("kind" not in columns) + ("kind" in columns)
    brief = list(exported(database, "acme/shop"))
    assert len(brief) == len(rows)
    assert not any({"files", "text", "body"} & set(r) for r in brief if r["kind"] in
                   ("diff", "lines", "delivery"))  # fmt: skip
    assert len(list(exported(database))) == 2 * len(KEPT)


def test_after_the_deletion_no_word_is_left_and_nothing_of_others_is_gone(
    database: Database,
) -> None:
    fill(database, MINE)
    fill(database, OTHERS)
    before = list(exported(database, NAMES[OTHERS], everything=True))
    counts = deleted(database, "acme/shop")
    assert [row["deleted"] for row in counts] == [1] * len(KEPT)
    assert not any("left" in row for row in counts)
    assert list(exported(database, NAMES[OTHERS], everything=True)) == before
    for table, rows in dumped(database).items():
        for row in rows:
            for column, value in row.items():
                if word(MINE) in repr(value):
                    assert column in STAYS.get(table, set()), f"{table}.{column}: {value!r}"
    with database.read() as session:
        (comment,) = session.execute(
            sa.select(CommentRow).where(CommentRow.review_id == MINE * 10)
        ).scalars()
        # it is known that it was said, and it is followed no more
        assert (comment.fingerprint, comment.github_id, comment.body) == (word(MINE), None, "")
    assert [row["deleted"] for row in deleted(database)][:2] == [1, 1]


def test_what_was_kept_under_an_older_name_goes_too(database: Database) -> None:
    """Renamed or transferred: GitHub's number stays, what was learnt knows the name alone."""
    fill(database, MINE)
    fill(database, OTHERS)
    with database.write() as session:
        session.execute(
            sa.update(ReviewRow)
            .where(ReviewRow.repository_id == MINE)
            .values(repository="acme/Store", state="submitted")
        )
    assert names_of(database, "Acme/store") == ("acme/shop", "acme/store")
    counts = {row["kind"]: row["deleted"] for row in deleted(database, "acme/store")}
    assert (counts["remark"], counts["setting"]) == (1, 1)
    assert [row["repository"] for row in exported(database) if row["kind"] == "remark"] == [
        NAMES[OTHERS]
    ]
    # the older name was given to another repository meanwhile: what it may hold is left
    with database.write() as session:
        session.execute(
            sa.update(ReviewRow).where(ReviewRow.repository_id == MINE).values(repository="x/new")
        )
        session.execute(
            sa.update(ReviewRow)
            .where(ReviewRow.repository_id == OTHERS)
            .values(repository=NAMES[MINE])
        )
    assert names_of(database, "x/new") == ("x/new",)
    assert MINE not in {row.get("repository_id") for row in exported(database, NAMES[OTHERS])}


def test_what_is_in_use_is_left_and_said(database: Database) -> None:
    fill(database, MINE)
    with database.write() as session:
        session.execute(sa.update(ReviewRow).values(state="pending"))
        session.execute(sa.update(Job).values(state="running"))
        session.execute(sa.update(Delivery).values(state="received"))
    counts = {row["kind"]: row for row in deleted(database, "acme/shop")}
    for kind in ("review", "comment", "job", "delivery"):
        assert (counts[kind]["deleted"], counts[kind]["left"]) == (0, 1), kind
    with database.write() as session:
        session.execute(sa.update(ReviewRow).values(state="submitted"))
        session.execute(sa.update(Job).values(state="done"))
        session.execute(sa.update(Delivery).values(state="handled"))
    counts = {row["kind"]: row for row in deleted(database, "acme/shop")}
    assert all("left" not in row for row in counts.values())
