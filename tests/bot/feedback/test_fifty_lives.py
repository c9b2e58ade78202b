"""Fifty pull requests whose truth is known, lived on the double of GitHub, then told again.

Every pull request gets one remark on one line. What people then do is a scenario below; each is
lived twice, merged and closed in different ways. The states must agree with the truth in all of
them, and stay as they are when every delivery comes again, in another order and under another
name; a ledger that hears everything only in that disorder must come to the same.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa

from bot.feedback.ledger import Feedback
from bot.feedback.outcome import Event, Kind, State
from bot.feedback.tables import FeedbackEvent, OutcomeRow
from bot.store.ledger import Ledger
from bot.store.tables import ReviewRow
from tests.bot.feedback.life import Life, a_life, shuffled
from tests.github_double import Double, Pull

LINES = 14
ANSWER = "total = new_sum(items, new_rate)"
NEARER = "total = new_sum(items, rate_of(shop))"
"""One of the two changed words as proposed: half of the way."""


def body(number: int, line: str) -> str:
    """A file of its own for every pull request; ``line`` is its eighth."""
    rows = [f"step_{number}_{row} = prepare_{row}(state_{number})" for row in range(LINES)]
    rows[7] = line
    return "\n".join(rows) + "\n"


class Story:
    """One pull request: its file, its branch, what people can do to it."""

    def __init__(self, life: Life, number: int, prose: bool) -> None:
        self.life, self.number = life, number
        self.path = f"pkg/m{number}.py"
        self.branch = f"b{number}"
        self.said = "total = unclear(items, rate)" if prose else "total = old_sum(items, old_rate)"
        self.pull: Pull = life.open({self.path: body(number, self.said)}, self.branch)
        life.live()

    @property
    def comment(self) -> int:
        return int(self.life.comments(self.pull)[0]["id"])

    def push(self, line: str | None = None, **files: str | None) -> None:
        """New commits: the eighth line, or whole files."""
        whole: dict[str, str | None] = {} if line is None else {self.path: body(self.number, line)}
        whole |= {name.replace("__", "/") + ".py": text for name, text in files.items()}
        self.life.github.push(self.life.repo, self.branch, whole)
        self.life.live()

    def act(self, verb: str, **data: object) -> None:
        self.pull = self.life.github.act(self.pull, verb, **data)
        self.life.live()

    def on_comment(self, verb: str, **data: object) -> None:
        self.life.github.on_comment(self.comment, verb, **data)
        self.life.live()

    def events(self) -> list[set[Event]]:
        """What is known of each of our comments here."""
        feedback = Feedback(self.life.ledger.database)
        tracked = feedback.tracked(self.life.repository_id, self.pull.number)
        return [feedback.events(one.id) for one in tracked]

    def base_moves(self) -> None:
        text = "".join(f"# {self.number} {row}\n" for row in range(3))
        self.life.github.push(self.life.repo, "main", {f"other/o{self.number}.py": text})
        self.life.live()


def as_is(s: Story) -> None:
    s.push(ANSWER)


def as_is_and_on(s: Story) -> None:
    s.push(ANSWER)
    s.push(pkg__later="later = True\n")


def as_is_by_the_commit_suggestion_button(s: Story) -> None:
    trailer = f"Co-authored-by: {s.life.app.bot} <1+{s.life.app.bot}@users.noreply.github.com>"
    message = f"Update {s.path}\n\n{trailer}"
    files = {s.path: body(s.number, ANSWER)}
    s.life.github.push(s.life.repo, s.branch, files, message=message)
    s.life.live()
    (events,) = s.events()
    assert Kind.SUGGESTION_COMMIT in {event.kind for event in events}


def ignored_under_a_trailer(s: Story) -> None:
    trailer = f"Co-authored-by: {s.life.app.bot} <1+{s.life.app.bot}@users.noreply.github.com>"
    files = {"pkg/aside.py": f"aside = {s.number}\n", s.path: f"# top\n{body(s.number, s.said)}"}
    s.life.github.push(s.life.repo, s.branch, files, message=f"Aside\n\n{trailer}")
    s.life.live()


def as_is_then_rebased(s: Story) -> None:
    s.push(ANSWER)
    s.base_moves()
    s.act("rebase")


def as_is_then_squashed(s: Story) -> None:
    s.push(ANSWER)
    s.act("squash")


def as_is_by_force_push(s: Story) -> None:
    s.act("force-push", files={s.path: body(s.number, ANSWER)})


def as_is_among_other_work(s: Story) -> None:
    text = body(s.number, ANSWER)
    s.push(**{s.path.replace("/", "__").removesuffix(".py"): f"import os\n\nX = 1\n{text}"})


def as_is_although_disliked(s: Story) -> None:
    s.on_comment("react", content="-1")
    s.life.services.watcher.poll_all()  # type: ignore[union-attr]
    s.push(ANSWER)


def as_is_and_resolved(s: Story) -> None:
    s.push(ANSWER)
    s.on_comment("resolve")


def edited(s: Story) -> None:
    s.push(NEARER)


def edited_then_rebased(s: Story) -> None:
    s.push(NEARER)
    s.base_moves()
    s.act("rebase")


def otherwise(s: Story) -> None:
    s.push("grand = compute_everything_at_once(everything)")


def dismissed_by_resolving(s: Story) -> None:
    s.on_comment("resolve")


def dismissed_by_thumb(s: Story) -> None:
    s.on_comment("react", content="-1", author="carol")
    s.life.services.watcher.poll_all()  # type: ignore[union-attr]


def dismissed_by_thumb_at_the_end(s: Story) -> None:
    s.on_comment("react", content="-1", author="carol")


def dismissed_by_command(s: Story) -> None:
    s.life.github.review_comment(s.pull, "/marginalia dismiss not for us", in_reply_to=s.comment)
    s.life.live()


def dismissed_by_deleting(s: Story) -> None:
    s.life.github.on_comment(s.comment, "delete")
    s.life.live()


def dismissed_by_hiding(s: Story) -> None:
    s.on_comment("hide", reason="off-topic", author="carol")
    s.life.services.watcher.poll_all()  # type: ignore[union-attr]


def hidden_for_a_while(s: Story) -> None:
    s.on_comment("hide", reason="spam")
    s.life.services.watcher.poll_all()  # type: ignore[union-attr]
    s.on_comment("unhide")


def otherwise_and_hidden_as_done(s: Story) -> None:
    s.push("grand = compute_everything_at_once(everything)")
    s.on_comment("hide", reason="resolved")


def ignored(_s: Story) -> None:
    pass


def ignored_while_work_goes_on(s: Story) -> None:
    text = body(s.number, s.said).replace(f"step_{s.number}_2 ", f"renamed_{s.number}_2 ")
    s.push(**{s.path.replace("/", "__").removesuffix(".py"): f"# top\n{text}"})


def ignored_and_updated(s: Story) -> None:
    s.base_moves()
    s.act("update-branch")


def resolved_and_opened_again(s: Story) -> None:
    s.on_comment("resolve")
    s.on_comment("unresolve")


def taken_back(s: Story) -> None:
    s.push(ANSWER)
    s.push(s.said)


def rebased_away(s: Story) -> None:
    s.act("force-push", files={"pkg/instead.py": f"instead_{s.number} = True\n"})


def file_deleted(s: Story) -> None:
    s.push(**{
        s.path.replace("/", "__").removesuffix(".py"): None, "pkg__stub": f"x_{s.number} = 1\n"
    })  # fmt: skip


def moved_with_the_answer(s: Story) -> None:
    moved = body(s.number, ANSWER)
    rest = "\n".join(moved.split("\n")[:3]) + "\n"
    s.push(**{
        s.path.replace("/", "__").removesuffix(".py"): rest,
        f"pkg__moved{s.number}": "\n".join(moved.split("\n")[3:]),
    })  # fmt: skip


def renamed_and_left(s: Story) -> None:
    s.push(**{
        s.path.replace("/", "__").removesuffix(".py"): None,
        f"pkg__renamed{s.number}": body(s.number, s.said),
    })  # fmt: skip


STORIES: list[tuple[Callable[[Story], None], State]] = [
    (as_is, State.AS_IS),
    (as_is_and_on, State.AS_IS),
    (as_is_then_rebased, State.AS_IS),
    (as_is_then_squashed, State.AS_IS),
    (as_is_by_force_push, State.AS_IS),
    (as_is_among_other_work, State.AS_IS),
    (as_is_although_disliked, State.AS_IS),
    (as_is_and_resolved, State.AS_IS),
    (edited, State.EDITED),
    (edited_then_rebased, State.EDITED),
    (otherwise, State.ADDRESSED),
    (dismissed_by_resolving, State.DISMISSED),
    (dismissed_by_thumb, State.DISMISSED),
    (dismissed_by_thumb_at_the_end, State.DISMISSED),
    (dismissed_by_command, State.DISMISSED),
    (dismissed_by_deleting, State.DISMISSED),
    (ignored, State.OPEN),
    (ignored_while_work_goes_on, State.OPEN),
    (ignored_and_updated, State.OPEN),
    (resolved_and_opened_again, State.OPEN),
    (taken_back, State.OPEN),
    (rebased_away, State.OUTDATED),
    (file_deleted, State.OUTDATED),
    (moved_with_the_answer, State.AS_IS),
    (renamed_and_left, State.OPEN),
]
ONCE: list[tuple[Callable[[Story], None], State]] = [
    (as_is_by_the_commit_suggestion_button, State.AS_IS),
    (ignored_under_a_trailer, State.OPEN),
    (dismissed_by_hiding, State.DISMISSED),
    (hidden_for_a_while, State.OPEN),
    (otherwise_and_hidden_as_done, State.ADDRESSED),
]
"""Told once, beyond the fifty."""
ENDS = (("merge", {"method": "squash"}), ("close", {}), ("merge", {"method": "merge"}))


def states(ledger: Ledger) -> dict[int, tuple[str, bool]]:
    """The state of each pull request's first comment, and whether it is final."""
    found: dict[int, tuple[str, bool]] = {}
    for row in Feedback(ledger.database).outcomes():
        found.setdefault(row.pull, (row.state, row.final))
    return found


@pytest.fixture
def life(github: Double, tmp_path: Path, sqlite_template: Path) -> Life:
    start = {"README.md": "A shop.\n", "pkg/base.py": "base = True\n"}
    return a_life(github, tmp_path, sqlite_template, start)


def test_fifty_pull_requests_end_as_they_did(life: Life, tmp_path: Path) -> None:
    truth: dict[int, tuple[str, State]] = {}
    for number, (tell, state) in enumerate([*STORIES, *STORIES, *ONCE]):
        # without a suggestion there is no "as is": the same change is "addressed"
        again = len(STORIES) <= number < 2 * len(STORIES)
        prose = again and state in (State.ADDRESSED, State.DISMISSED, State.OPEN)
        story = Story(life, number, prose and tell is not taken_back)
        truth[story.pull.number] = (tell.__name__, state)
        assert life.comments(story.pull), f"{tell.__name__}: no comment was posted"
        tell(story)
        verb, data = ENDS[number % len(ENDS)]
        story.act(verb, **data)
    assert len(truth) == 50 + len(ONCE)

    def wrong(ledger: Ledger) -> list[str]:
        found = states(ledger)
        return [
            f"#{pull} {name}: {found.get(pull)} instead of {state}"
            for pull, (name, state) in truth.items()
            if found.get(pull) != (state.value, True)
        ]

    assert wrong(life.ledger) == []
    told = life.kept
    assert len(told) > 150

    # everything a second time, in another order, under other names
    before = states(life.ledger)
    life.take(shuffled(told, life, 1))
    assert states(life.ledger) == before
    assert wrong(life.ledger) == []

    # a ledger that has the reviews and has heard nothing yet, and hears it all in disorder
    copy = tmp_path / "deaf.db"
    with life.ledger.database.engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
    shutil.copy(str(life.ledger.database.url.database), copy)
    deaf = Ledger(f"sqlite:///{copy}")
    with deaf.database.write() as session:
        session.execute(sa.delete(FeedbackEvent))
        session.execute(sa.delete(OutcomeRow))
        assert session.execute(sa.select(sa.func.count(ReviewRow.id))).scalar_one() >= 50
    life.listen_with(deaf)
    life.take(shuffled(told, life, 3))
    assert wrong(deaf) == []
    deaf.close()
