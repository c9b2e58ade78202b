"""Reviews on GitHub: found, created pending, submitted, deleted, or posted without a review.

The order of writes and what follows a lost answer is the job's (``bot.jobs``); here is one step
each. What GitHub refuses is told apart: an entry it cannot place, a pending review that is in the
way, a head that is no longer the pull request's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bot.github import requests as rq
from bot.github.client import Api
from bot.github.compose import move_to_body
from bot.github.errors import Answered, Gone
from bot.github.markers import comment_fingerprint, has_marker, is_ours, probe_marker, with_marker
from bot.jobs.forge import (
    DraftComment,
    DraftReview,
    NotFound,
    PendingReviewExists,
    PostedComment,
    PostedReview,
    PullRef,
    ReviewState,
    Superseded,
)

MOST_PROBES = 16
"""Trial reviews at most for finding the entries that GitHub refuses; each is two writes."""

_ONE_PENDING = "one pending review per pull request"
_THREADS = """query Threads($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) { pullRequest(number: $number) {
    reviewThreads(first: 100, after: $after) {
      pageInfo { hasNextPage endCursor }
      nodes { id isResolved isOutdated path line diffSide
        comments(first: 1) { nodes {
          fullDatabaseId body isMinimized minimizedReason author { login } } } } } } } }"""


@dataclass(frozen=True, slots=True)
class Thread:
    """A review thread of ours and the comment that began it.

    ``hidden`` is GitHub's reason where a person hid that comment ("spam", "outdated" ...).
    """

    id: str
    resolved: bool
    outdated: bool
    path: str
    side: str
    comment_id: int
    body: str
    author: str
    hidden: str = ""


@dataclass(frozen=True, slots=True)
class Reactions:
    """How many people liked and disliked a comment of ours, and whether one hid it.

    ``hidden`` is the reason, "" where it is shown, ``None`` where GitHub does not say.
    """

    comment_id: int
    fingerprint: str
    likes: int
    dislikes: int
    hidden: str | None = None


class Reviews:
    """The reviews of one account, ``login``, on one pull request.

    Those of ``also`` are found like our own: people who post in their own name what we proposed.
    """

    def __init__(
        self, api: Api, ref: PullRef, login: str, also: frozenset[str] = frozenset()
    ) -> None:
        self._api = api
        self._ref = ref
        self._login = login
        self._also = frozenset(name.lower() for name in also)

    def find(self, marker: str) -> tuple[PostedReview, ...]:
        """Our reviews whose text ends in ``marker``, and what was posted instead of a review."""
        repo, number = self._ref.repository, self._ref.number
        found = [
            _posted(row)
            for row in self._api.items(rq.reviews(repo, number))
            if self._ours(row) and has_marker(row.get("body"), marker)
        ]
        if not found:
            found = [
                PostedReview(
                    int(row["id"]),
                    ReviewState.SUBMITTED,
                    str(row.get("body") or ""),
                    str(row.get("html_url") or ""),
                    single=True,
                )
                for row in self._api.items(rq.issue_comments(repo, number))
                if self._mine(row) and has_marker(row.get("body"), marker)
            ]
        return tuple(found)

    def create_pending(self, head: str, draft: DraftReview) -> PostedReview:
        """Create the review that only we see; entries that GitHub refuses go into its text.

        Raises ``PendingReviewExists``, ``Superseded`` where ``head`` is no longer the pull
        request's, ``Answered`` where even the bare text is refused.
        """
        try:
            return self._create(head, draft.body, draft.comments)
        except Answered as error:
            if error.status != 422:
                raise
            refusal = error
        if refusal.says(_ONE_PENDING):
            if not self._drop_probes():
                raise PendingReviewExists(
                    f"{self._ref.repository}#{self._ref.number}: "
                    f"{self._login} has a pending review already"
                ) from refusal
            return self.create_pending(head, draft)
        self._check_head(head)
        if not draft.comments:
            raise refusal
        guilty = self._guilty(head, draft)
        kept = [comment for comment in draft.comments if comment not in guilty]
        body = move_to_body(draft, guilty)
        try:
            made = self._create(head, body, kept)
        except Answered as error:
            if error.status != 422 or not kept:
                raise
            # the probes passed and the whole does not: the text alone is better than nothing
            guilty = list(draft.comments)
            made = self._create(head, move_to_body(draft, guilty), ())
        moved = tuple(comment.fingerprint for comment in guilty)
        return PostedReview(made.id, made.state, made.body, made.url, moved=moved)

    def submit(self, review_id: int) -> PostedReview:
        """Make a pending review visible; one that already is, is answered as it is."""
        repo, number = self._ref.repository, self._ref.number
        try:
            return _posted(self._api.data(rq.submit_review(repo, number, review_id)))
        except Gone as error:
            raise NotFound(f"{repo}#{number}: the review {review_id} is gone") from error
        except Answered as error:
            if error.status != 422:
                raise
            now = _posted(self._api.data(rq.review(repo, number, review_id)))
            if now.state is ReviewState.PENDING:
                raise
            return now

    def delete(self, review_id: int) -> bool:
        """Delete a pending review; false where it is gone or submitted, and left as it is."""
        repo, number = self._ref.repository, self._ref.number
        try:
            self._api.send(rq.delete_review(repo, number, review_id))
        except Answered as error:
            if error.status not in (404, 410, 422):
                raise
            return False
        return True

    def post_single(self, head: str, draft: DraftReview) -> PostedReview:
        """Post the remarks one by one and the text in the conversation, last.

        A person's own pending review makes GitHub refuse a second one, and often single review
        comments too: those go into the text. Run again, it posts only what is not there yet.
        """
        repo, number = self._ref.repository, self._ref.number
        there = self.find(draft.marker)
        if there:
            return there[0]
        known = {
            comment_fingerprint(row.get("body"))
            for row in self._api.items(rq.pull_comments(repo, number))
            if self._mine(row)
        }
        moved: list[DraftComment] = []
        for comment in draft.comments:
            if comment.fingerprint in known:
                continue
            try:
                self._api.send(rq.create_pull_comment(repo, number, head, comment))
            except Answered as error:
                if error.status != 422:
                    raise
                moved.append(comment)
        body = move_to_body(draft, moved)
        made = self._api.data(rq.create_issue_comment(repo, number, body))
        return PostedReview(
            int(made["id"]),
            ReviewState.SUBMITTED,
            str(made.get("body") or body),
            str(made.get("html_url") or ""),
            single=True,
            moved=tuple(comment.fingerprint for comment in moved),
        )

    def comments(self, review_id: int) -> tuple[PostedComment, ...]:
        """The comments of a submitted review with their fingerprints and threads.

        For a number that is no review (remarks posted one by one), all our comments on the pull
        request.
        """
        rows = self.comment_rows(review_id)
        if not rows:
            return ()
        threads = {thread.comment_id: thread.id for thread in self.threads()}
        return tuple(
            PostedComment(
                int(row["id"]),
                comment_fingerprint(row.get("body")),
                str(row.get("path") or ""),
                row.get("line") or row.get("original_line"),
                str(row.get("html_url") or ""),
                threads.get(int(row["id"]), ""),
            )
            for row in rows
        )

    def comment_rows(self, review_id: int) -> list[dict[str, Any]]:
        """Those comments as GitHub gives them, oldest first.

        They are read from the pull request's list: a review's own list says no lines.
        """
        rows = self._api.items(rq.pull_comments(self._ref.repository, self._ref.number))
        mine = sorted((r for r in rows if self._ours(r)), key=lambda row: int(row["id"]))
        of_review = [r for r in mine if r.get("pull_request_review_id") == review_id]
        return of_review or ([] if self._is_review(review_id) else mine)

    def _is_review(self, review_id: int) -> bool:
        try:
            self._api.send(rq.review(self._ref.repository, self._ref.number, review_id))
        except Gone:
            return False
        return True

    def reactions(self) -> tuple[Reactions, ...]:
        """The thumbs on what we proposed, oldest first, and what is hidden of it.

        No delivery tells of either (trouble 28). A comment of ours that is not among them is gone.
        """
        rows = list(self._api.items(rq.pull_comments(self._ref.repository, self._ref.number)))
        threads = self._every_thread()
        hidden = {thread.comment_id: thread.hidden for thread in threads or ()}
        return tuple(
            Reactions(
                int(row["id"]),
                comment_fingerprint(row.get("body")),
                int((row.get("reactions") or {}).get("+1") or 0),
                int((row.get("reactions") or {}).get("-1") or 0),
                None if threads is None else hidden.get(int(row["id"]), ""),
            )
            for row in sorted(rows, key=lambda row: int(row["id"]))
            if comment_fingerprint(row.get("body"))
        )

    def threads(self) -> tuple[Thread, ...]:
        """The pull request's threads that we began. Empty where GraphQL refuses."""
        mine = self._login.removesuffix("[bot]").lower()
        every = self._every_thread() or ()
        return tuple(t for t in every if t.author.removesuffix("[bot]").lower() == mine)

    def _every_thread(self) -> tuple[Thread, ...] | None:
        """The threads that begin with our marker; ``None`` where GraphQL refuses."""
        owner, _, name = self._ref.repository.partition("/")
        variables = {"owner": owner, "name": name, "number": self._ref.number, "after": None}
        found: list[Thread] = []
        while True:
            try:
                data = self._api.graphql(_THREADS, variables)
            except Answered:
                return None
            page = data["repository"]["pullRequest"]["reviewThreads"]
            found += [thread for node in page["nodes"] if (thread := _thread(node)) is not None]
            if not page["pageInfo"]["hasNextPage"]:
                return tuple(found)
            variables = {**variables, "after": page["pageInfo"]["endCursor"]}

    def _create(self, head: str, body: str, comments: Sequence[DraftComment]) -> PostedReview:
        repo, number = self._ref.repository, self._ref.number
        return _posted(self._api.data(rq.create_review(repo, number, head, body, comments)))

    def _guilty(self, head: str, draft: DraftReview) -> list[DraftComment]:
        """The comments that GitHub refuses, found by halving: its answer does not name them."""
        body = with_marker("Checking where remarks can stand.", probe_marker(draft.marker))
        left = MOST_PROBES

        def refused(comments: Sequence[DraftComment]) -> bool:
            nonlocal left
            left -= 1
            try:
                made = self._create(head, body, comments)
            except Answered as error:
                if error.status != 422:
                    raise
                if error.says(_ONE_PENDING) and self._drop_probes():
                    return refused(comments)
                return True
            self.delete(made.id)
            return False

        def search(suspects: Sequence[DraftComment]) -> list[DraftComment]:
            """The guilty of ``suspects``, of whom at least one is."""
            if len(suspects) == 1 or left <= 0:
                return list(suspects)
            middle = len(suspects) // 2
            first, second = suspects[:middle], suspects[middle:]
            if not refused(first):
                return search(second)
            found = search(first)
            if left <= 0 or refused(second):
                found += search(second)
            return found

        return search(draft.comments)

    def _drop_probes(self) -> bool:
        """Delete a trial review that a crash left; whether there was one."""
        repo, number = self._ref.repository, self._ref.number
        dropped = False
        for row in self._api.items(rq.reviews(repo, number)):
            pending = row.get("state") == "PENDING" and self._mine(row)
            if pending and has_marker(row.get("body"), "<!-- marginalia:probe "):
                # one that cannot be deleted would be found again and again
                dropped = self.delete(int(row["id"])) or dropped
        return dropped

    def _check_head(self, head: str) -> None:
        now = self._api.data(rq.pull(self._ref.repository, self._ref.number))["head"]["sha"]
        if now != head:
            raise Superseded(f"the head moved from {head[:12]} to {str(now)[:12]}")

    def _mine(self, row: dict[str, Any]) -> bool:
        return _author(row) == self._login.lower()

    def _ours(self, row: dict[str, Any]) -> bool:
        return self._mine(row) or _author(row) in self._also


def _author(row: dict[str, Any]) -> str:
    return str((row.get("user") or {}).get("login") or "").lower()


def _posted(row: dict[str, Any]) -> PostedReview:
    pending = row.get("state") == "PENDING"
    return PostedReview(
        int(row["id"]),
        ReviewState.PENDING if pending else ReviewState.SUBMITTED,
        str(row.get("body") or ""),
        str(row.get("html_url") or ""),
    )


def _thread(node: dict[str, Any]) -> Thread | None:
    comments = node["comments"]["nodes"]
    if not comments:
        return None
    first = comments[0]
    if not is_ours(first.get("body")):
        return None
    return Thread(
        str(node["id"]),
        bool(node["isResolved"]),
        bool(node["isOutdated"]),
        str(node.get("path") or ""),
        str(node.get("diffSide") or "RIGHT"),
        int(first["fullDatabaseId"] or 0),
        str(first.get("body") or ""),
        str((first.get("author") or {}).get("login") or ""),
        (str(first.get("minimizedReason") or "hidden") if first.get("isMinimized") else ""),
    )
