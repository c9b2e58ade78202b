"""Approval first: candidates wait, people decide, what was accepted is posted exactly once."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa
from pydantic import SecretStr

from bot.feedback import approval
from bot.feedback.ledger import Feedback
from bot.feedback.outcome import State
from bot.feedback.tables import ApprovalRow
from bot.github.sign_out import SignOuts
from bot.handover import GOOD_SECONDS, Handover
from bot.store.tables import ReviewRow, ReviewRowState, WebSession
from bot.web.people import Sessions
from tests.bot.feedback.life import Life, a_life
from tests.github_double import Double

BASE = {"shop/cart.py": "".join(f"line_{n} = {n}\n" for n in range(1, 31))}
CONFIG = "mode: approve\n"


def changed(*new: str) -> dict[str, str]:
    return {"shop/cart.py": BASE["shop/cart.py"].replace("line_10 = 10\n", "\n".join(new) + "\n")}


@pytest.fixture
def life(github: Double, tmp_path: Path, sqlite_template: Path) -> Life:
    return a_life(github, tmp_path, sqlite_template, BASE, CONFIG, public_url="http://desk")


def test_nothing_is_posted_until_a_person_accepts_and_then_exactly_once(life: Life) -> None:
    pull = life.open(changed("total = old_sum(1)", "other = old_sum(2)", "unclear = 3"), "one")
    life.live()
    assert life.comments(pull) == []
    waiting = approval.queue(life.ledger.database)
    assert [one.line for one in waiting] == [10, 11, 12]
    assert waiting[0].suggestion == "total = new_sum(1)"
    assert "line_9 = 9" in waiting[0].before
    assert waiting[0].before.split("\n")[10 - waiting[0].before_start] == "total = old_sum(1)"
    (check,) = life.github.checks(pull)
    assert check["conclusion"] == "neutral"
    assert "3 remarks wait" in str(check["output"]["title"])

    first, second, third = (one.id for one in waiting)
    approval.accept(life.ledger.database, first, "alice")
    approval.accept(
        life.ledger.database, second, "alice", body="Sum anew.", suggestion="other = sum(2)"
    )
    approval.reject(life.ledger.database, third, "alice")
    for _ in range(3):
        life.approver.dispatch()
        life.work()
    comments = life.comments(pull)
    assert [one["line"] for one in comments] == [10, 11]
    assert "```suggestion\ntotal = new_sum(1)\n```" in comments[0]["body"]
    assert "accepted by `alice`" in comments[0]["body"]
    assert comments[1]["body"].startswith("Sum anew.\n\n```suggestion\nother = sum(2)\n```")
    states = [approval.get(life.ledger.database, n) for n in (first, second, third)]
    assert [one.state for one in states if one] == ["posted", "posted", "rejected"]
    # the last patch that was reviewed is what the review job read, not what was posted of it
    last = life.ledger.reviews.last_reviewed(life.repository_id, pull.number)
    assert last is not None
    assert last.head == pull.head_sha

    # a push: what was said, what was rejected, and what waits does not come back
    life.github.push(life.repo, "one", {"more.py": "x = old_thing()\n"})
    life.live()
    assert [one.path for one in approval.queue(life.ledger.database)] == ["more.py"]


def test_an_accepted_one_follows_its_lines_and_an_outdated_one_says_so(life: Life) -> None:
    pull = life.open(
        changed("total = old_sum(1)", "other = old_sum(2)", "last = old_sum(3)"), "two"
    )
    life.live()
    one, two, three = (w.id for w in approval.queue(life.ledger.database))
    head = (
        "# new\n# head\n"
        + changed("total = old_sum(1)", "other = something_else(2)", "last = new_sum(3)")[
            "shop/cart.py"
        ]
    )
    life.github.push(life.repo, "two", {"shop/cart.py": head})
    for number in (one, two, three):
        approval.accept(life.ledger.database, number, "alice")
    life.live()
    (comment,) = life.comments(pull)
    assert comment["line"] == 12
    found = [approval.get(life.ledger.database, number) for number in (one, two, three)]
    assert [f.state for f in found if f] == ["posted", "outdated", "outdated"]
    assert "have changed since" in found[1].problem
    assert "in the head already" in found[2].problem
    bodies = [review["body"] for review in life.github.reviews(pull, author=life.app.bot)]
    assert len(bodies) == 1
    assert f"number {two}" in bodies[0]
    assert "Accepted, but not posted" in bodies[0]


def test_an_edit_that_would_not_parse_is_not_posted(life: Life) -> None:
    pull = life.open(changed("total = old_sum(1)"), "three")
    life.live()
    (one,) = approval.queue(life.ledger.database)
    approval.accept(life.ledger.database, one.id, "alice", suggestion="total = new_sum(1")
    life.live()
    found = approval.get(life.ledger.database, one.id)
    assert found is not None
    assert (found.state, "breaks-syntax" in found.problem) == ("outdated", True)
    assert life.comments(pull) == []


def test_commands_decide_for_those_who_may_write(life: Life) -> None:
    pull = life.open(changed("a = old_sum(1)", "b = old_sum(2)", "c = old_sum(3)"), "four")
    life.live()
    one, two, three = (w.id for w in approval.queue(life.ledger.database))

    def say(body: str, author: str = "alice") -> str:
        life.github.comment(pull, body, author=author)
        life.live()
        rows = [r for r in life.github.comments(pull) if r["user"]["login"] == life.app.bot]
        return rows[-1]["body"] if rows else ""

    assert say(f"/marginalia accept {one}", author="bob") == ""
    assert approval.get(life.ledger.database, one).state == "waiting"
    assert f"Number {one}: accepted." in say(f"/marginalia accept {one}")
    assert f"Number {two}: edited." in say(
        f"/marginalia edit {two}\n\nUse the sum.\n\n```suggestion\nb = total(2)\n```\n"
    )
    assert "was accepted already by alice" in say(f"/marginalia reject {one}").lower() or (
        "posted already by alice" in say(f"/marginalia reject {one}").lower()
    )
    assert f"**{three}**" in say("/marginalia queue")
    assert "1 rejected" in say("/marginalia reject all")
    assert "Nothing here has the number 999" in say("/marginalia accept 999")
    assert [c["line"] for c in life.comments(pull)] == [10, 11]
    assert life.comments(pull)[1]["body"].startswith("Use the sum.\n\n```suggestion\nb = total(2)")


def in_person(
    github: Double, tmp_path: Path, template: Path
) -> tuple[Life, Callable[[int, str], None]]:
    """A life where people post what they accept, and a click on Approve by one of them."""
    config = f"{CONFIG}accepted_as: person\n"
    life = a_life(github, tmp_path, template, BASE, config, client_secret="app's own")
    handover = Handover.of(life.settings)
    assert handover is not None
    tokens = {login: github.token(login) for login in ("alice", "carol")}

    def click(number: int, login: str) -> None:
        sealed = handover.seal(number, login, tokens[login])
        approval.accept(life.ledger.database, number, login, sealed=sealed)

    return life, click


def sealed(life: Life) -> list[str]:
    with life.ledger.database.read() as session:
        return list(session.execute(sa.select(ApprovalRow.sealed)).scalars())


def test_who_accepts_posts_in_their_own_name_exactly_once(
    github: Double, tmp_path: Path, sqlite_template: Path
) -> None:
    life, click = in_person(github, tmp_path, sqlite_template)
    lines = [f"{name} = old_sum({n})" for n, name in enumerate("abcde")]
    pull = life.open(changed(*lines), "seven")
    life.live()
    one, two, three, four, five = (w.id for w in approval.queue(life.ledger.database))
    click(one, "alice")
    click(two, "alice")
    click(three, "carol")
    approval.accept(life.ledger.database, four, "carol")  # by command: without a token
    assert len([text for text in sealed(life) if text]) == 3
    assert "gh" not in "".join(text[:3] for text in sealed(life))
    # the answer to a submit is lost: it is found again in that person's name, not made twice
    life.github.fault("lose", "POST", f"/repos/{life.repo}/pulls/*/events")
    for _ in range(4):
        life.approver.dispatch()
        life.work()
    life.approver.dispatch()
    by = {
        login: sorted(c["line"] for r in life.github.reviews(pull, author=login)
                      for c in r["comments"])
        for login in ("alice", "carol", life.app.bot)
    }  # fmt: skip
    assert by == {"alice": [10, 11], "carol": [12], life.app.bot: [13]}
    assert [len(life.github.reviews(pull, author=login)) for login in by] == [1, 1, 1]
    (review,) = life.github.reviews(pull, author="alice")
    assert review["state"] == "COMMENTED"
    assert "proposed by Marginalia, accepted by `alice`" in review["comments"][0]["body"]
    assert set(sealed(life)) == {""}

    # what became of it is followed like the bot's own
    life.github.on_comment(review["comments"][0]["id"], "react", content="-1", author="bob")
    assert life.services.watcher is not None
    assert life.services.watcher.poll_all() == 1
    life.github.act(pull, "close")
    life.live()
    ends = [row.state for row in Feedback(life.ledger.database).outcomes()]
    assert sorted(ends) == ["dismissed", "open", "open", "open"]
    left = approval.get(life.ledger.database, five)
    assert left is not None
    assert left.state == "outdated"


def test_who_signs_out_at_once_is_still_the_one_who_posts(
    github: Double, tmp_path: Path, sqlite_template: Path
) -> None:
    life, _ = in_person(github, tmp_path, sqlite_template)
    database = life.ledger.database
    client = {
        "client_id": life.app.client_id,
        "client_secret": SecretStr(life.app.client_secret),
        "github_api_url": github.url,
    }
    pull = life.open(changed("a = old_sum(1)", "b = old_sum(2)"), "nine")
    life.live()
    one, two = (w.id for w in approval.queue(database))
    handover = Handover.of(life.settings)
    assert handover is not None
    token = github.token("alice")
    approval.accept(database, one, "alice", sealed=handover.seal(one, "alice", token))
    outs = SignOuts(database, life.settings.model_copy(update=client))
    now = time.time()
    assert outs.of("Alice", token, now) == 1
    assert outs.finish(now) == 0  # the remark does not stand there yet
    assert github.calls("DELETE", "/applications/") == []
    with database.read() as session:
        (row,) = session.execute(sa.select(WebSession)).scalars()
    assert token not in repr((row.id, row.token))
    assert Sessions(database).find(row.id, now) is None
    life.live()
    (review,) = github.reviews(pull, author="alice")
    assert [c["line"] for c in review["comments"]] == [10]
    assert outs.finish(now) == 1
    assert outs.finish(now) == 0
    assert len(github.calls("DELETE", "/applications/")) == 1
    # nothing waits for them: the token is taken back at once
    assert outs.of("alice", token, now) == 0
    assert len(github.calls("DELETE", "/applications/")) == 2
    # what is not posted within a quarter of an hour is posted by the bot
    approval.accept(database, two, "alice", sealed=handover.seal(two, "alice", "ghp_old"))
    assert outs.of("alice", "ghp_old", now) == 1
    assert outs.finish(now + GOOD_SECONDS + 1) == 1
    life.live()
    (comment,) = life.comments(pull)
    assert comment["line"] == 11
    notes = [note for review in reviews(life) for note in review.notes]
    assert notes == [
        "posted by the bot in place of alice, who accepted it: "
        "GitHub does not take their sign-in any more"
    ]
    assert set(sealed(life)) == {""}


def reviews(life: Life) -> list[ReviewRow]:
    with life.ledger.database.read() as session:
        return list(session.execute(sa.select(ReviewRow).order_by(ReviewRow.id)).scalars())


TAKEN = {
    "as-is": State.AS_IS,
    "edited": State.EDITED,
    "by-thumb": State.DISMISSED,
    "by-deleting": State.DISMISSED,
    "by-command": State.DISMISSED,
}


def test_what_becomes_of_a_comment_is_the_same_whoever_posted_it(
    github: Double, tmp_path: Path, sqlite_template: Path
) -> None:
    life, click = in_person(github, tmp_path, sqlite_template)
    truth = {}
    for number, (what, end) in enumerate(TAKEN.items()):
        path = f"shop/m{number}.py"
        text = "".join(f"step_{number}_{n} = prepare_{n}()\n" for n in range(9))
        said = "total = old_sum(items, old_rate)"
        pull = life.open({path: f"{text}{said}\n{text}"}, what)
        life.live()
        (waiting,) = approval.queue(life.ledger.database)
        click(waiting.id, "carol")
        life.live()
        (review,) = github.reviews(pull, author="carol")
        comment = int(review["comments"][0]["id"])
        if what in ("as-is", "edited"):
            new = "new_sum(items, new_rate)" if what == "as-is" else "new_sum(items, rate_of(x))"
            # GitHub's button names who wrote the comment, not the bot
            trailer = "Update\n\nCo-authored-by: carol <1+carol@users.noreply.github.com>"
            github.push(life.repo, what, {path: f"{text}total = {new}\n{text}"}, message=trailer)
        elif what == "by-thumb":
            github.on_comment(comment, "react", content="-1", author="alice")
        elif what == "by-command":
            github.review_comment(pull, "/marginalia dismiss not for us", in_reply_to=comment)
        else:
            github.on_comment(comment, "delete", author="carol")
        life.live()
        github.act(pull, "merge", method="squash")
        life.live()
        truth[pull.number] = end.value
    # the drafts that waited are not posted themselves: what counts is what stands on GitHub
    ends = {row.pull: row.state for row in Feedback(life.ledger.database).outcomes() if row.final}
    assert ends == truth


def test_where_the_persons_token_is_no_good_the_bot_posts_and_says_who_accepted(
    github: Double, tmp_path: Path, sqlite_template: Path
) -> None:
    life, click = in_person(github, tmp_path, sqlite_template)
    pull = life.open(changed("a = old_sum(1)", "b = old_sum(2)", "c = old_sum(3)"), "eight")
    life.live()
    gone, refused, moved = (w.id for w in approval.queue(life.ledger.database))
    handover = Handover.of(life.settings)
    assert handover is not None
    # signed out meanwhile: GitHub does not take the token any more
    approval.accept(
        life.ledger.database, gone, "alice", sealed=handover.seal(gone, "alice", "ghp_gone")
    )
    life.live()
    # another's seal opens nothing, even if someone wrote it into the row
    stolen = handover.seal(gone, "carol", github.token("carol"))
    approval.accept(life.ledger.database, moved, "alice", sealed=stolen)
    life.live()
    # the right to write was taken: GitHub refuses the person, and the bot says so in their place
    life.github.fault(
        "status", "POST", f"/repos/{life.repo}/pulls/{pull.number}/reviews", status=403
    )
    click(refused, "carol")
    life.live()
    comments = life.comments(pull)
    assert sorted(c["line"] for c in comments) == [10, 11, 12]
    assert all("accepted by `" in c["body"] for c in comments)
    assert life.github.reviews(pull, author="alice") == []
    assert life.github.reviews(pull, author="carol") == []
    assert set(sealed(life)) == {""}


def test_the_check_runs_buttons_decide_all(life: Life) -> None:
    pull = life.open(changed("a = old_sum(1)", "b = old_sum(2)"), "five")
    life.live()
    (check,) = life.github.checks(pull)
    (call,) = life.github.calls("POST", f"/repos/{life.repo}/check-runs")
    assert [a["identifier"] for a in call["body"]["actions"]] == [
        "accept-all", "reject-all", "open-queue",
    ]  # fmt: skip
    assert check["details_url"] == "http://desk/queue"

    def press(button: str, sender: str = "alice") -> None:
        life.github.deliver(
            "check_run", "requested_action", repo=life.repo, check_run_id=check["id"],
            sender=sender, send=False, extra={"requested_action": {"identifier": button}},
        )  # fmt: skip
        life.live()

    press("accept-all", "bob")
    assert len(approval.queue(life.ledger.database)) == 2
    press("open-queue")
    (said,) = [c for c in life.github.comments(pull) if c["user"]["login"] == life.app.bot]
    assert "accept N" in said["body"]
    press("accept-all")
    press("accept-all")
    assert [c["line"] for c in life.comments(pull)] == [10, 11]
    assert len(life.github.reviews(pull, author=life.app.bot)) == 1


def test_shadow_by_configuration_posts_nothing(
    github: Double, tmp_path: Path, sqlite_template: Path
) -> None:
    life = a_life(github, tmp_path, sqlite_template, BASE, "mode: shadow\n")
    pull = life.open(changed("a = old_sum(1)"), "six")
    life.live()
    assert life.github.reviews(pull, author=life.app.bot) == []
    assert life.github.checks(pull) == []
    (job,) = life.ledger.jobs.recent()
    review = life.ledger.reviews.of_job(job.id)
    assert review is not None
    assert review.state == ReviewRowState.SHADOW
    assert approval.queue(life.ledger.database) == []
