"""GitHub as the jobs see it: ``bot.jobs.forge.Forge``, put together from this package."""

from __future__ import annotations

from bot.github import requests as rq
from bot.github.auth import Identity
from bot.github.client import Api
from bot.github.fetch import Fetcher
from bot.github.follow_up import post_check, resolve_gone
from bot.github.gitfetch import FetchedByGit, fetch
from bot.github.reviews import Reactions, Reviews
from bot.jobs.forge import (
    DraftReview,
    Fetched,
    Plan,
    PostedComment,
    PostedReview,
    PullRef,
    PullState,
    Reviewed,
)


class GitHubForge:
    """Reads and writes of GitHub under one identity; safe to share between threads.

    ``github_url`` is where git clones from (``https://github.com``; an Enterprise Server's own
    address). ``resolve_threads`` only where the operator granted ``contents: write``. ``use_git``
    allows fetching by git what the API does not show. ``also`` are people whose reviews with our
    marker count as ours when they are looked for.
    """

    def __init__(
        self,
        identity: Identity,
        github_url: str = "https://github.com",
        resolve_threads: bool = False,
        use_git: bool = True,
        also: frozenset[str] = frozenset(),
    ) -> None:
        self._identity = identity
        self._also = also
        self._url = github_url.rstrip("/")
        self._resolve = resolve_threads
        self._fetcher = Fetcher(self.api, self._by_git if use_git else None)

    @property
    def identity(self) -> Identity:
        """Who asks."""
        return self._identity

    def api(self, ref: PullRef) -> Api:
        """This thread's client for the pull request's installation."""
        return self._identity.api(ref.installation_id)

    def pull(self, ref: PullRef) -> PullState:
        """The pull request now, with its merge base."""
        api = self.api(ref)
        data = api.data(rq.pull(ref.repository, ref.number))
        head, base = data["head"], data["base"]
        compared = api.data(rq.compare(ref.repository, base["sha"], head["sha"]))
        user = data.get("user") or {}
        head_repo = head.get("repo") or {}
        return PullState(
            head=str(head["sha"]),
            merge_base=str(compared["merge_base_commit"]["sha"]),
            base_ref=str(base["ref"]),
            is_open=data.get("state") == "open",
            draft=bool(data.get("draft")),
            author=str(user.get("login") or ""),
            author_is_bot=user.get("type") == "Bot",
            title=str(data.get("title") or ""),
            labels=tuple(str(label["name"]) for label in data.get("labels") or ()),
            head_ref=str(head.get("ref") or ""),
            fork=head_repo.get("id") != base["repo"]["id"],
            url=str(data.get("html_url") or ""),
        )

    def head_sha(self, ref: PullRef) -> str:
        """The head commit now."""
        return str(self.api(ref).data(rq.pull(ref.repository, ref.number))["head"]["sha"])

    def change(self, ref: PullRef, state: PullState, since: Reviewed | None) -> Fetched:
        """The patch from the merge base to the head, or with ``since`` only what is new in it."""
        return self._fetcher.change(ref, state, since)

    def find_reviews(self, ref: PullRef, marker: str) -> tuple[PostedReview, ...]:
        """Our account's reviews whose text ends in ``marker``, pending ones included."""
        return self._reviews(ref).find(marker)

    def create_pending_review(self, ref: PullRef, head: str, draft: DraftReview) -> PostedReview:
        """Create a review that only we can see."""
        return self._reviews(ref).create_pending(head, draft)

    def submit_review(self, ref: PullRef, review_id: int) -> PostedReview:
        """Make a pending review visible as COMMENT."""
        return self._reviews(ref).submit(review_id)

    def delete_pending_review(self, ref: PullRef, review_id: int) -> None:
        """Delete a pending review of ours; gone is no error."""
        self._reviews(ref).delete(review_id)

    def post_single(self, ref: PullRef, head: str, draft: DraftReview) -> PostedReview:
        """Post without a review, where a person's pending one is in the way."""
        return self._reviews(ref).post_single(head, draft)

    def posted_comments(self, ref: PullRef, review_id: int) -> tuple[PostedComment, ...]:
        """The comments of a submitted review, matched to fingerprints by their markers."""
        return self._reviews(ref).comments(review_id)

    def follow_up(
        self, ref: PullRef, state: PullState, plan: Plan, posted: PostedReview | None
    ) -> tuple[str, ...]:
        """Resolve threads whose code is gone, post the check run; what fails becomes a note."""
        notes: tuple[str, ...] = ()
        if self._resolve and plan.resolve_threads:
            notes += resolve_gone(self.api(ref), ref, self._reviews(ref), state.head)
        if plan.check_run:
            rows = self._reviews(ref).comment_rows(posted.id) if posted is not None else []
            notes += post_check(self.api(ref), ref, state.head, posted, rows)
        return notes

    def reactions(self, ref: PullRef) -> tuple[Reactions, ...]:
        """The thumbs on our comments; to be asked for now and then, nothing tells of them."""
        return self._reviews(ref).reactions()

    def _reviews(self, ref: PullRef) -> Reviews:
        return Reviews(self.api(ref), ref, self._identity.login, self._also)

    def _by_git(self, ref: PullRef, base: str, head: str) -> FetchedByGit:
        token = self._identity.token(ref.installation_id)
        return fetch(f"{self._url}/{ref.repository}.git", token, ref.repository, base, head)
