"""A renamed repository: what waits is posted there, what was learnt is found there."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.feedback import approval
from bot.learn.data import deleted, names_of
from bot.learn.harvest import folder_of
from bot.learn.index import Histories
from bot.learn.remarks import Remark
from bot.learn.store import Learnt
from bot.renames import Names
from bot.store.ledger import Ledger
from tests.bot.feedback.life import Life, a_life
from tests.github_double import Double, Pull

BASE = {"shop/cart.py": "".join(f"line_{n} = {n}\n" for n in range(1, 31))}
CHANGED = {"shop/cart.py": BASE["shop/cart.py"].replace("line_10 = 10\n", "a = old_sum(1)\n")}
HUNK = "@@ -1,2 +1,2 @@\n-    answer = fetch(url)\n+    answer = fetch(url, retries=3)\n"


def remark(repository: str, key: str = "1", said: str = "Use the limit of the client.") -> Remark:
    return Remark(key, repository, "shop/cart.py", 1, "RIGHT", HUNK, said)


@pytest.fixture
def life(github: Double, tmp_path: Path, sqlite_template: Path) -> Life:
    return a_life(github, tmp_path, sqlite_template, BASE, "mode: approve\n")


def renamed(life: Life, name: str) -> str:
    """Rename the life's repository, and let another one take its old name; the old name."""
    old = life.repo
    life.repo = life.github.rename(old, name)
    life.github.create_repo(old, BASE)
    life.github.open_pr(old, CHANGED, head="taken")
    return old


def accepted(life: Life, pull: Pull) -> list[dict]:
    (waiting,) = approval.queue(life.ledger.database, [life.repo])
    assert waiting.repository == life.repo
    approval.accept(life.ledger.database, waiting.id, "alice")
    life.live()
    return life.comments(life.github.pull(life.repo, pull.number))


def check_all_is_there(life: Life, old: str, pull: Pull) -> None:
    """What waited is posted under the new name alone; what was learnt is found under it."""
    (comment,) = accepted(life, pull)
    assert "accepted by `alice`" in comment["body"]
    assert life.github.comments(life.github.pull(old, 1)) == []
    assert life.github.reviews(life.github.pull(old, 1)) == []
    assert approval.queue(life.ledger.database, [old]) == []
    histories = Histories(life.ledger.database)
    assert histories.of(old) is None
    assert histories.of(life.repo) is not None
    learnt = Learnt(life.ledger.database)
    assert learnt.place(life.repo) == ["since", "2026-01-01T00:00:00Z"]
    assert learnt.place(old) is None
    assert (folder_of(life.settings.data_dir, life.repo) / "kept").exists()
    # whatever still has the old name, such as the folder of written claims, is found by it
    assert old.lower() in names_of(life.ledger.database, life.repo)


def lived(life: Life) -> Pull:
    """A review whose remark waits, and something learnt."""
    pull = life.open(CHANGED, "one")
    life.live()
    place = ["since", "2026-01-01T00:00:00Z"]
    Learnt(life.ledger.database).put(life.repo, [remark(life.repo)], place, 1.0)
    folder = folder_of(life.settings.data_dir, life.repo)
    folder.mkdir(parents=True)
    (folder / "kept").touch()
    return pull


def test_after_the_event_all_is_under_the_new_name(life: Life) -> None:
    pull = lived(life)
    old = renamed(life, "store")
    assert life.live() == [f"handled: was {old}"]
    check_all_is_there(life, old, pull)


def test_a_delivery_that_shows_another_name_is_enough(life: Life) -> None:
    pull = lived(life)
    old = renamed(life, "store")
    missed = life.fresh()
    assert [one.event for one in missed] == ["repository"]
    life.github.comment(pull_of(life, pull), "/marginalia help")
    assert life.live()
    check_all_is_there(life, old, pull)


def pull_of(life: Life, pull: Pull) -> Pull:
    return life.github.pull(life.repo, pull.number)


@pytest.fixture
def names(ledger: Ledger, tmp_path: Path) -> Names:
    return Names(ledger.database, tmp_path)


def test_what_comes_late_gives_no_old_name_back(ledger: Ledger, names: Names) -> None:
    learnt = Learnt(ledger.database)
    learnt.put("a/old", [remark("a/old")], None, 1.0)
    assert names.seen(7, "a/old", 10.0) == ()
    assert names.seen(7, "A/New", 20.0) == ("a/old",)
    assert names.seen(7, "a/old", 10.0) == ()
    assert learnt.repositories() == {"A/New": 1}
    assert names.seen(7, "b/given", 30.0) == ("a/new", "a/old")
    assert names_of(ledger.database, "b/given") == ("a/new", "a/old", "b/given")
    gone = {row["kind"] for row in deleted(ledger.database, "b/given") if row["deleted"]}
    assert gone == {"remark", "setting"}
    # a name is no word about what was reviewed: it stays, so that what it led to can be deleted
    assert "a/old" in names_of(ledger.database, "b/given")


def test_what_the_new_name_has_is_not_there_twice(ledger: Ledger, names: Names) -> None:
    learnt = Learnt(ledger.database)
    learnt.put("a/old", [remark("a/old"), remark("a/old", "2")], ["since", "1"], 1.0)
    learnt.put("a/new", [remark("a/new", said="Read anew.")], ["since", "2"], 1.0)
    assert names.seen(7, "a/new", 20.0, "a/old") == ("a/old",)
    kept = {one.key: one.comment for one in learnt.remarks("a/new")}
    assert kept == {"1": "Read anew.", "2": "Use the limit of the client."}
    assert learnt.place("a/new") == ["since", "2"]


def test_the_event_tells_an_older_name_that_no_delivery_showed(
    ledger: Ledger, names: Names
) -> None:
    learnt = Learnt(ledger.database)
    learnt.put("a/old", [remark("a/old")], None, 1.0)
    assert names.seen(7, "a/new", 20.0) == ()
    assert names.seen(7, "a/new", 20.0, "a/old") == ("a/old",)
    assert learnt.repositories() == {"a/new": 1}
    assert names.seen(7, "a/new", 20.0, "a/old") == ()


def test_a_name_that_another_repository_had_too_moves_nothing(ledger: Ledger, names: Names) -> None:
    learnt = Learnt(ledger.database)
    learnt.put("a/shop", [remark("a/shop")], None, 1.0)
    names.seen(7, "a/shop", 10.0)
    names.seen(8, "a/shop", 30.0)
    assert names.seen(7, "a/moved", 20.0) == ()
    assert learnt.repositories() == {"a/shop": 1}
