"""Learning from GitHub on the double, killed and resumed; a review says again what it read."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import sqlalchemy as sa

from bot.feedback.ledger import Feedback
from bot.github import requests as rq
from bot.github.heads import GitHubHeads
from bot.jobs.forge import PullRef
from bot.learn import github as learn_github
from bot.learn.data import deleted
from bot.learn.github import History
from bot.learn.index import Histories
from bot.learn.remarks import Remark
from bot.learn.store import ORIGIN, Learnt
from bot.review.pipeline import ReviewPipeline
from bot.store.ledger import Ledger
from bot.store.tables import CandidateRow
from tests.bot.feedback.life import Life, a_life
from tests.github_double import Double, Pull

FETCH = """\
def load_{name}(client, path):
    for attempt in range(3):
        try:
            answer = client.get("/{name}/" + path)
        except:
            continue
        if answer.ok:
            return answer.json()
    return None
"""
SAID = "Do not retry on every error here: name the errors that are worth another attempt."
PLACE = {"path": "shop/{name}.py", "line": 5, "side": "RIGHT"}


def file(name: str) -> dict[str, str]:
    return {f"shop/{name}.py": FETCH.format(name=name)}


def remark(life: Life, pull: Pull, name: str, body: str = SAID, author: str = "bob") -> int:
    place = {**PLACE, "path": f"shop/{name}.py"}
    return int(life.github.review_comment(pull, body, author=author, **place)["id"])


def follow(life: Life, name: str) -> None:
    better = FETCH.format(name=name).replace("except:", "except TimeoutError:")
    life.github.push(life.repo, name, {f"shop/{name}.py": better})


@pytest.fixture
def past(github: Double, tmp_path: Path, sqlite_template: Path) -> Life:
    """Six merged pull requests, one that was closed and one that is open."""
    life = a_life(github, tmp_path, sqlite_template, {"README.md": "A shop.\n"})
    github.settings(auto_deliver=False)
    github.call_person("bob", "Bobby Tables")
    github.call_person("alice", "Ally Mark")
    names = ["orders", "items", "users", "carts", "bills", "stock", "given-up", "later"]
    for at, name in enumerate(names):
        pull = life.open(file(name), name)
        said = f"{SAID} See what alice, alice-lee or zoe-late did with number {at} of them."
        said += " Bobby Tables knows, and alice's Ally too: Mark it."
        first = remark(life, pull, name, said)
        if name == "orders":
            remark(life, pull, name, "Thanks!")
            remark(life, pull, name, "I am the author, and this is a note.", "alice")
            life.github.review_comment(pull, "I agree, alice-lee.", in_reply_to=first)
            remark(life, pull, name, "@carol please ask bob@acme.org about it.", "alice-lee")
        if name == "stock":
            remark(life, pull, name, "Thanks!", "zoe-late")
        if at % 2 == 0:
            follow(life, name)
        if name == "given-up":
            time.sleep(1.1)  # GitHub's times are whole seconds: alone in its own it is the last
            github.act(pull, "close")
        elif name != "later":
            github.act(pull, "merge", method="squash")
    return life


def names(database: Ledger) -> list[tuple[str, bool | None, str]]:
    return [(one.path, one.followed, one.comment) for one in Learnt(database.database).remarks()]


def history(life: Life, tell: list[str]) -> History:
    ref = PullRef(life.repository_id, life.repo, 0, life.installation)
    api = life.identity.api(life.installation)
    return History(api, GitHubHeads(life.identity), ref, tell.append, lambda _seconds: None)


def read(life: Life, told: list[str], learnt: Learnt, most: int = 10**6) -> int:
    """Read on from where the ledger is; how many remarks were new."""
    kept = 0
    for at, (remarks, place) in enumerate(history(life, told).batches(learnt.place(life.repo))):
        kept += learnt.put(life.repo, remarks, place, 1.0)
        if at + 1 == most:
            break
    return kept


def test_pages_limits_and_what_is_merged_later(past: Life, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learn_github, "PAGE", 2)
    learnt = Learnt(past.ledger.database)
    told: list[str] = []
    assert read(past, told, learnt, most=2) == 3
    past.github.fault("rate-limit", "GET", f"/repos/{past.repo}/pulls/3/comments", seconds=900)
    past.github.fault("status", "GET", f"/repos/{past.repo}/pulls", status=502, times=5, skip=1)
    assert read(past, told, learnt) == 4
    assert any("going on in 9" in line for line in told), told
    assert len(told) >= 2
    found = list(learnt.remarks(past.repo))
    assert [one.path for one in found] == [
        "shop/orders.py", "shop/orders.py", "shop/items.py", "shop/users.py", "shop/carts.py",
        "shop/bills.py", "shop/stock.py",
    ]  # fmt: skip
    assert [one.followed for one in found] == [True, True, False, True, False, True, False]
    text = " ".join(one.comment for one in found)
    assert "number 0 of them" in text
    assert not any(name in text for name in ("alice", "zoe", "carol", "bob", "number 1"))
    assert not any(name in text for name in ("Bobby", "Tables", "Ally"))
    assert "Mark it." in text
    before = len(past.github.calls("GET"))
    assert read(past, told, learnt) == 0
    again = [one["path"] + "?" + one["query"] for one in past.github.calls("GET")[before:]]
    assert len(again) < 8, again  # nothing is read again but the last one

    time.sleep(1.1)  # GitHub's times are whole seconds
    late = past.github.pull(past.repo, 8)
    past.github.act(late, "merge", method="squash")
    assert read(past, told, learnt) == 1
    assert [one.path for one in learnt.remarks(past.repo)][-1] == "shop/later.py"
    assert read(past, told, learnt) == 0


@pytest.fixture
def environment(past: Life) -> dict[str, str]:
    return {
        **os.environ,
        "MARGINALIA_APP_ID": str(past.app.id),
        "MARGINALIA_PRIVATE_KEY": past.app.pem,
        "MARGINALIA_GITHUB_API_URL": past.github.url,
        "MARGINALIA_GITHUB_URL": past.github.url,
    }


def test_kill_9_while_github_is_read_and_again(
    past: Life, environment: dict[str, str], tmp_path: Path
) -> None:
    def command(folder: str) -> list[str]:
        data = str(tmp_path / folder)
        return [sys.executable, "-m", "bot.cli", "learn", past.repo, "--data-dir", data]

    def rows(folder: str) -> list[tuple[str, bool | None, str]]:
        ledger = Ledger(f"sqlite:///{tmp_path / folder / 'marginalia.db'}")
        found = names(ledger)
        ledger.close()
        return found

    done = subprocess.run(
        command("one"), env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert f"{past.repo}: 4 remarks" in done.stdout
    assert (
        "11 comments read, 4 kept; dropped: replies 1, by the author of the change 1, small talk 2,"
        " that nothing followed 3\n"
    ) in done.stderr
    expected = rows("one")
    assert len(expected) == 7

    process = subprocess.Popen(
        command("two"), env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    assert process.stderr is not None
    for line in process.stderr:
        if "#2 read" in line:
            process.send_signal(signal.SIGKILL)
            break
    process.stderr.close()
    assert process.wait(timeout=60) == -signal.SIGKILL
    assert 0 < len(rows("two")) < len(expected)
    again = subprocess.run(
        command("two"), env=environment, capture_output=True, text=True, check=False
    )
    assert again.returncode == 0, again.stderr
    assert "going on behind #" in again.stderr
    assert rows("two") == expected
    # alice-lee took part before the kill only, zoe-late after it only
    (carts,) = [text for path, _, text in rows("two") if path == "shop/bills.py"]
    assert carts == (
        f"{SAID} See what @someone, @someone or @someone did with number 4 of them."
        " someone knows, and @someone's someone too: Mark it."
    )


NEW = FETCH.format(name="prices").replace("attempt in range(3)", "attempt in range(5)")


def merged(life: Life, pull: Pull) -> dict[str, bool | None]:
    """What is known of the remarks on a pull request once it is merged, by their first words."""
    life.github.act(pull, "merge", method="squash")
    learnt = Learnt(life.ledger.database)
    before = {one.key for one in learnt.remarks(life.repo)}
    for remarks, place in history(life, []).batches(["since", "1970-01-01T00:00:00Z"]):
        learnt.put(life.repo, remarks, place, 1.0)
    return {
        one.comment.split(":")[0] or f"line {one.line}": one.followed
        for one in learnt.remarks(life.repo)
        if one.key not in before
    }


@pytest.fixture
def shop(github: Double, tmp_path: Path, sqlite_template: Path) -> Life:
    life = a_life(github, tmp_path, sqlite_template, {**file("old"), "README.md": "A shop.\n"})
    github.settings(auto_deliver=False)
    return life


def test_what_followed_where_files_move_and_heads_are_gone(shop: Life) -> None:
    github = shop.github
    # renamed after the remarks: one line is as it was, another is not
    pull = shop.open(file("moved"), "rename")
    remark(shop, pull, "moved", "kept: say why this is done so.")
    place = {"path": "shop/moved.py", "line": 4, "side": "RIGHT"}
    github.review_comment(pull, "changed: ask for less than all.", author="bob", **place)
    text = FETCH.format(name="moved").replace('client.get("/moved/"', 'client.ask("/part/of/"')
    github.push(shop.repo, "rename", {"shop/moved.py": None, "shop/new.py": text})
    assert merged(shop, pull) == {"line 5": False, "changed": True}

    # a remark that began on a deleted line is about its last one; one on a deleted line alone
    # tells nothing; what the program posted in a person's name is not a person's
    better = FETCH.format(name="old").replace("range(3)", "range(9)")
    pull = shop.open({"shop/old.py": better}, "sides")
    place = {"path": "shop/old.py", "line": 2, "side": "RIGHT"}
    github.review_comment(
        pull, "both: nine is a lot.", author="bob", start_line=2, start_side="LEFT", **place
    )
    github.review_comment(pull, "left: three was right.", author="bob", **{**place, "side": "LEFT"})
    ours = "Say why nine.\n\n<!-- marginalia:comment abc -->"
    github.review_comment(pull, ours, author="carol", **place)
    github.push(shop.repo, "sides", {"shop/old.py": better.replace("range(9)", "range(5)")})
    assert merged(shop, pull) == {"both": True, "left": None}

    # the head of the remark was force-pushed away, and GitHub has it no more
    pull = shop.open(file("forced"), "forced")
    remark(shop, pull, "forced", "lost: name the errors here.")
    github.act(pull, "force-push", files=file("again"))
    github.fault("status", "GET", f"/repos/{shop.repo}/compare/*", status=404)
    assert merged(shop, pull) == {"lost": None}


def test_a_remark_of_a_deleted_account_is_nobodys(shop: Life) -> None:
    pull = shop.open(file("ghosts"), "ghosts")
    remark(shop, pull, "ghosts", "first: name the errors here.")
    rows = [
        {**row, "user": None}
        for row in shop.identity.api(shop.installation).data(
            rq.pull_comments(shop.repo, pull.number)
        )
    ]
    shop.github.fault(
        "status", "GET", f"/repos/{shop.repo}/pulls/{pull.number}/comments", status=200, body=rows
    )
    assert merged(shop, pull) == {}


def reviewed(life: Life, branch: str) -> tuple[Pull, list[CandidateRow]]:
    pull = life.open({"shop/prices.py": NEW}, branch)
    life.live()
    job = next(one for one in life.ledger.jobs.recent() if one.pull == pull.number)
    review = life.ledger.reviews.of_job(job.id)
    assert review is not None
    with life.ledger.database.read() as session:
        rows = session.execute(
            sa.select(CandidateRow).where(
                CandidateRow.review_id == review.id, CandidateRow.origin == ORIGIN
            )
        )
        return pull, list(rows.scalars())


def test_a_review_says_again_what_people_said_of_similar_code(
    github: Double, tmp_path: Path, sqlite_template: Path
) -> None:
    config = "sure: 0\nanalyzers:\n  only: []\n"
    life = a_life(github, tmp_path, sqlite_template, {"README.md": "A shop.\n"}, config)
    ledger = life.ledger
    life.reviewer = ReviewPipeline(history=Histories(ledger.database).of)
    life.listen_with(ledger)
    hunk = "@@ -0,0 +1,9 @@\n" + "".join(
        f"+{line}\n" for line in FETCH.format(name="orders").split("\n")[:5]
    )
    learnt = Learnt(ledger.database)
    other = Remark("k2", "acme/other", "a.py", 5, "RIGHT", hunk, "Of another repository.", True, 1)
    learnt.put("x", [other], ["x", 1], 1.0)
    _, said = reviewed(life, "before")
    assert said == []  # another repository's remarks are not this one's

    remarks = [
        Remark("k1", life.repo, "shop/orders.py", 5, "RIGHT", hunk, SAID, True, 1.0),
        Remark("k3", life.repo, "shop/x.py", 5, "RIGHT", hunk, "@someone what is this?", True, 1.0),
        Remark("k4", life.repo, "shop/x.go", 5, "RIGHT", hunk, "Say it as Go does.", True, 1.0),
    ]
    learnt.put("y", remarks, ["y", 1], 1.0)
    pull, said = reviewed(life, "after")
    assert [one.text for one in said] == [SAID]
    (comment,) = life.comments(pull)
    assert comment["line"] == 5
    assert comment["body"].startswith(SAID)
    assert "said before in this repository of code" in comment["body"]
    assert said[0].judge is not None
    assert said[0].confidence > 0.8

    # what the team makes of it is learnt under this origin
    life.github.review_comment(
        pull, "/marginalia dismiss we do not mind", in_reply_to=comment["id"]
    )
    life.live()
    outcomes = Feedback(ledger.database).outcomes(life.repository_id)
    assert [(one.origin, one.state) for one in outcomes] == [(ORIGIN, "dismissed")]

    life.github.push(
        life.repo, "main", {".github/marginalia.yml": f"{config}feedback:\n  history: false\n"}
    )
    _, said = reviewed(life, "off")
    assert said == []
    deleted(ledger.database, life.repo)
    assert Histories(ledger.database).of(life.repo) is None
