"""From what GitHub tells to what became of each comment.

Every method takes one thing that was told (a push, a resolved thread, a closed pull request, the
thumbs) and keeps it as events (``bot.feedback.outcome``). All are idempotent and take things in
any order: the times are those at which they happened, not at which they were told.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from bot.feedback.anchors import anchor_of, drop_anchors
from bot.feedback.ledger import Feedback
from bot.feedback.outcome import Event, Kind
from bot.feedback.region import Fate, Followed, follow
from bot.feedback.tables import AnchorRow
from bot.feedback.waiting import close_pull, reopen_pull
from bot.jobs.forge import PullRef, Refused
from bot.store.database import Database
from bot.store.tables import CommentRow, ReviewRow
from models.change import Side

log = logging.getLogger(__name__)

MOST_FILES = 60
"""Other files of a pull request that are searched for lines that moved."""
POLLED_DAYS = 60
"""How long after it was posted a comment's thumbs are asked for, in days."""
ANCHORS_KEPT = 14 * 86_400.0
"""How long after the end a comment's lines are kept, in seconds: a delivery may come late."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A head against its base: their merge base, and the files that the head side changed.

    ``gone`` are names that the head side no longer has: of deleted and of renamed files. ``whole``
    says whether these are all (GitHub lists 300 files at most).
    """

    merge_base: str
    paths: tuple[str, ...]
    gone: tuple[str, ...] = ()
    whole: bool = False


class Heads(Protocol):
    """Reads files at commits (``bot.github.heads``)."""

    def compared(self, ref: PullRef, base: str, head: str) -> Compared | None:
        """What ``head`` has changed since it left ``base``; ``None`` where that is gone."""
        ...

    def text(self, ref: PullRef, path: str, commit: str) -> bytes | None:
        """A file at a commit; ``None`` where there is none or it cannot be read."""
        ...

    def credited(self, ref: PullRef, commit: str) -> frozenset[str]:
        """The files of a commit that names us as a co-author ("Commit suggestion"); else none."""
        ...


class Thumbs(Protocol):
    """What no delivery tells of one comment (``bot.github.reviews.Reactions``)."""

    @property
    def comment_id(self) -> int:
        """The comment's number on the forge."""
        ...

    @property
    def dislikes(self) -> int:
        """How many people dislike it."""
        ...

    @property
    def hidden(self) -> str | None:
        """Why a person hid it, "" where it is shown, ``None`` where that is not known."""
        ...


ReadThumbs = Callable[[PullRef], Sequence[Thumbs]]


@dataclass(frozen=True, slots=True)
class Moment:
    """A pull request as a delivery showed it.

    ``at`` is when that was (seconds since the epoch), ``closed`` whether the delivery closed it
    (``True``), opened it again (``False``) or neither (``None``).
    """

    ref: PullRef
    head: str
    base: str
    at: float
    closed: bool | None = None


class Watcher:
    """Keeps what becomes of comments; one a worker process, shared by its threads.

    Args:
        database: the ledger's.
        heads: reads files at commits.
        thumbs: the reactions on our comments of a pull request; ``None`` asks for none.
        is_open: whether a pull request is open now.
    """

    def __init__(
        self,
        database: Database,
        heads: Heads,
        thumbs: ReadThumbs | None = None,
        is_open: Callable[[PullRef], bool] | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._db = database
        self._feedback = Feedback(database)
        self._heads = heads
        self._thumbs = thumbs
        self._is_open = is_open
        self._now = now

    def seen(self, moment: Moment) -> str:
        """A push, a closing or a reopening; what was done, in words."""
        ref = moment.ref
        comments = self._feedback.tracked(ref.repository_id, ref.number)
        if moment.closed is not None and self._is_open is not None:
            # a late delivery must not undo a later one
            if moment.closed and not self._is_open(ref):
                close_pull(self._db, ref.repository_id, ref.number)
            elif not moment.closed and self._is_open(ref):
                reopen_pull(self._db, ref.repository_id, ref.number)
        if not comments:
            return "no comments to follow"
        followed = self._follow(moment, [one for one in comments if one.github_id is not None])
        if moment.closed and self._thumbs is not None:
            self.poll(ref, self._thumbs(ref), min(moment.at, self._now()))
        credited = self._credited(moment, followed)
        for comment in comments:
            events = []
            if comment.id in followed:
                found = followed[comment.id]
                events.append(Event(Kind.HEAD, moment.at, moment.head, followed=found))
                if found.path in credited:
                    events.append(Event(Kind.SUGGESTION_COMMIT, moment.at, moment.head))
            if moment.closed is not None:
                events.append(Event(Kind.CLOSED, moment.at, on=moment.closed))
            if events:
                self._feedback.add(comment.id, events, self._now())
        if moment.closed:
            self._feedback.learn(ref.repository_id, self._now(), ref.installation_id)
        return f"{len(followed)} of {len(comments)} comments followed"

    def thread(self, github_id: int, thread: str, resolved: bool, at: float, person: bool) -> bool:
        """A thread was resolved or opened again; whether it is one of ours."""
        return self._add(github_id, Event(Kind.RESOLVED, at, thread, resolved, person))

    def deleted(self, github_id: int, at: float, person: bool) -> bool:
        """A comment was deleted; whether it was one of ours."""
        return self._add(github_id, Event(Kind.DELETED, at, str(github_id), by_person=person))

    def poll(self, ref: PullRef, thumbs: Sequence[Thumbs], at: float) -> int:
        """Keep the thumbs, and what is hidden or gone, as they are now.

        Args:
            ref: the pull request.
            thumbs: all that is there of our comments on it.
            at: when that was.

        Returns:
            How many comments' have changed.
        """
        there = {one.comment_id: one for one in thumbs}
        changed = 0
        for comment in self._feedback.tracked(ref.repository_id, ref.number):
            if comment.github_id is None:
                continue
            known = self._feedback.events(comment.id)
            one = there.get(comment.github_id)
            now = [Event(Kind.DELETED, at, "poll", one is None)]
            if one is not None:
                now.append(Event(Kind.THUMBS_DOWN, at, "poll", one.dislikes > 0))
                if one.hidden is not None:
                    now.append(Event(Kind.HIDDEN, at, one.hidden, one.hidden != ""))
            fresh = [event for event in now if event.on != _holds(known, event.kind)]
            if fresh:
                self._feedback.add(comment.id, fresh, self._now())
            changed += bool(fresh)
        return changed

    def poll_all(self) -> int:
        """Ask for the thumbs on every pull request with comments whose end is not known."""
        if self._thumbs is None:
            return 0
        since = self._now() - POLLED_DAYS * 86_400.0
        changed = 0
        for ref in self._feedback.unfinished_pulls(since):
            try:
                thumbs = self._thumbs(ref)
            except Refused as error:
                log.info("no thumbs", extra={"reason": str(error)})
                continue
            changed += self.poll(ref, thumbs, self._now())
        return changed

    def forget(self) -> int:
        """Drop the lines under comments whose end has been known for long; how many."""
        with self._db.write() as session:
            ids = self._feedback.ended_before(session, self._now() - ANCHORS_KEPT)
            drop_anchors(session, ids)
            return len(ids)

    def _add(self, github_id: int, event: Event) -> bool:
        comment = self._feedback.comment(github_id)
        if comment is None:
            return False
        self._feedback.add(comment.id, [event], self._now())
        return True

    def _credited(self, moment: Moment, followed: Mapping[int, Followed]) -> frozenset[str]:
        """Files in which the head itself took a suggestion of ours: evidence beside the blobs."""
        taken = any(one.fate in (Fate.AS_IS, Fate.EDITED) for one in followed.values())
        if moment.closed is not None or not taken:
            return frozenset()
        return self._heads.credited(moment.ref, moment.head)

    def _follow(self, moment: Moment, comments: Sequence[CommentRow]) -> dict[int, Followed]:
        """What the head made of each comment's lines; without those that nothing is known of."""
        with self._db.read() as session:
            anchors = {
                one.id: (row, session.get_one(ReviewRow, one.review_id).head)
                for one in comments
                if (row := session.get(AnchorRow, one.id)) is not None
            }
        if not anchors:
            return {}
        compared = self._heads.compared(moment.ref, moment.base, moment.head)
        if compared is None:
            log.warning("a head cannot be read any more", extra={"head": moment.head[:12]})
            return {}
        reader = _Reader(self._heads, moment.ref, moment.head, compared)
        return {number: reader.follow(row, head) for number, (row, head) in anchors.items()}


def _holds(known: Iterable[Event], kind: Kind) -> bool:
    """Whether the last event of a kind says yes."""
    last = max((e for e in known if e.kind is kind), key=lambda event: event.at, default=None)
    return last is not None and last.on


class _Reader:
    """One head's files, each read once, and only as far as a comment needs them."""

    def __init__(self, heads: Heads, ref: PullRef, head: str, compared: Compared) -> None:
        self._heads = heads
        self._ref = ref
        self._head = head
        self._compared = compared
        self._texts: dict[tuple[str, str], bytes | None] = {}

    def follow(self, row: AnchorRow, reviewed: str) -> Followed:
        anchor = anchor_of(row)
        head = self._text(row.path, self._head)
        if head == anchor.text and anchor.side is Side.RIGHT:
            return Followed(Fate.UNCHANGED, row.path, row.start_line, row.line)
        found = follow(anchor, head)
        if anchor.side is Side.LEFT or found.fate in (Fate.UNCHANGED, Fate.AS_IS):
            return found
        # Gone from its place: did it move, or was the whole change withdrawn?
        others = self._files([path for path in self._compared.paths if path != row.path])
        before = {path: self._text(path, reviewed) for path in others}
        base = self._text(row.path, self._compared.merge_base)
        known = {path: text for path, text in before.items() if text is not None}
        return follow(anchor, head, others, known, base)

    def _files(self, paths: Sequence[str]) -> Mapping[str, bytes]:
        found = {path: self._text(path, self._head) for path in paths[:MOST_FILES]}
        return {path: text for path, text in found.items() if text is not None}

    def _text(self, path: str, commit: str) -> bytes | None:
        if (path, commit) not in self._texts:
            self._texts[path, commit] = self._heads.text(self._ref, path, commit)
        return self._texts[path, commit]
