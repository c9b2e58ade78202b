"""The folder of written claims is seen and deleted with the rest of a repository."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from bot.claims_kept import place_of
from bot.diff import parse_diff
from bot.review.claims import ClaimChoice, ClaimWriters
from bot.store.ledger import Ledger
from bot.store.tables import Delivery
from tests.bot.commands.command_line import call
from tests.bot.learn.test_data import row_of
from tests.models.crscore.test_claims_by_model import Server, completion

DIFF = b"--- a/f.py\n+++ b/f.py\n@@ -1 +1 @@\n-plan = 'old'\n+plan = %r\n"


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        running.say = completion("Changes:\n1. The plan was changed.\n")
        thread = threading.Thread(target=running.serve_forever, args=(0.05,))
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture
def cache(server: Server, tmp_path: Path) -> Path:
    """Claims of two repositories, of one's older name, and of a change of no repository."""
    folder = tmp_path / "claims"
    writers = ClaimWriters(ClaimChoice("model", "coder", server.url, cache=folder))
    for repository in ("Acme/Store", "acme/shop", "acme/till", "", "folder"):
        hunk = parse_diff(DIFF % repository).files[0].hunks[0]
        writers.write({("f.py", 0): hunk}, lambda *_: None, repository)
    return folder


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A ledger that has seen one repository under two names, and another."""
    folder = tmp_path / "data"
    folder.mkdir()
    ledger = Ledger(f"sqlite:///{folder}/marginalia.db")
    ledger.migrate()
    with ledger.database.write() as session:
        for number, repository, name in ((7, 70, "acme/shop"), (7, 71, "acme/store"),
                                         (8, 80, "acme/till")):  # fmt: skip
            row = row_of(Delivery, number, repository=name, guid=name, id=repository)
            session.execute(sa.insert(Delivery), [row])
    ledger.close()
    return folder


def entries(folder: Path) -> dict[str, int]:
    """How many answers lie where."""
    found: dict[str, int] = {}
    for path in folder.rglob("*.json"):
        place = path.parent.parent.relative_to(folder).as_posix()
        found[place] = found.get(place, 0) + 1
    return found


def rows(*arguments: str) -> list[dict]:
    done = call("data", *arguments)
    assert done.code == 0, done.err
    return [r for r in map(json.loads, done.out.splitlines()) if r["kind"] == "claims"]


@pytest.mark.parametrize(
    ("repository", "place"),
    [
        ("Acme/Shop", "repositories/acme/shop"),
        ("acme/.github", "repositories/acme/.github"),
        ("", ""),
        ("folder", ""),
        ("../shop", ""),
        ("acme/..", ""),
        ("acme/a/b", ""),
    ],
)
def test_where_a_repositorys_claims_lie(repository, place):
    assert place_of(repository) == place


def test_claims_are_kept_seen_and_deleted_by_repository(cache, data, monkeypatch):
    shop, store, till = (f"repositories/acme/{name}" for name in ("shop", "store", "till"))
    assert entries(cache) == {shop: 1, store: 1, till: 1, ".": 2}
    own = cache / "notes.txt"
    own.write_text("the operator's own")
    monkeypatch.setenv("MARGINALIA_CLAIMS_CACHE", str(cache))
    monkeypatch.setenv("MARGINALIA_DATA_DIR", str(data))
    seen = rows("export", "--repo", "acme/store")
    assert [(row["repository"], row["claims"]) for row in seen] == [
        ("acme/shop", ["The plan was changed."]),
        ("acme/store", ["The plan was changed."]),
    ]
    assert len(rows("export")) == 5
    # under every name that it had; what is nobody's may be its own
    assert rows("delete", "--repo", "acme/store") == [
        {"kind": "claims", "deleted": 4, "unnamed": 2}
    ]
    assert entries(cache) == {till: 1}
    assert rows("delete", "--all") == [{"kind": "claims", "deleted": 1}]
    assert entries(cache) == {}
    assert own.read_text() == "the operator's own"
    assert sorted(path.name for path in cache.iterdir()) == ["notes.txt", "repositories"]


def test_without_a_folder_there_is_nothing_to_say(data, monkeypatch):
    monkeypatch.setenv("MARGINALIA_DATA_DIR", str(data))
    assert rows("delete", "--all") == []
