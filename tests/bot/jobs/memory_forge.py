"""A forge in memory with GitHub's rules for reviews: the model that publishing is checked against.

One account may have one pending review a pull request; a submitted review stays; what a call has
done is visible to every later call. Each call can be made to lose its answer, and a hook runs
between calls, so that two publishers can be interleaved at every point.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from bot.jobs.forge import (
    DraftReview,
    Fetched,
    LostAnswer,
    NotFound,
    PendingReviewExists,
    Plan,
    PostedComment,
    PostedReview,
    PullRef,
    PullState,
    Reviewed,
    ReviewState,
    Transient,
)
from bot.review.types import NoSources
from tests.bot.service import change


@dataclass
class MemoryForge:
    """Implements ``bot.jobs.forge.Forge``."""

    state: PullState
    reviews: list[PostedReview] = field(default_factory=list)
    someone_pending: bool = False
    singles: list[PostedReview] = field(default_factory=list)
    between: Callable[[str], None] = lambda _name: None
    lose: dict[str, int] = field(default_factory=dict)
    """Calls of a name whose answer is lost after they were done."""
    drop: dict[str, int] = field(default_factory=dict)
    """Calls of a name that never arrive."""
    calls: list[str] = field(default_factory=list)
    next_id: int = 100
    notes: tuple[str, ...] = ()
    """What is told of how the change was read."""

    def _enter(self, name: str) -> None:
        self.between(name)
        self.calls.append(name)
        if self.drop.get(name, 0) > 0:
            self.drop[name] -= 1
            if name in ("create", "submit"):
                raise LostAnswer(f"{name}: no answer")
            raise Transient(f"{name}: no answer")

    def _leave(self, name: str) -> None:
        if self.lose.get(name, 0) > 0:
            self.lose[name] -= 1
            raise LostAnswer(f"{name}: no answer")

    def pull(self, ref: PullRef) -> PullState:
        self._enter("pull")
        return self.state

    def head_sha(self, ref: PullRef) -> str:
        self._enter("head")
        return self.state.head

    def change(self, ref: PullRef, state: PullState, since: Reviewed | None) -> Fetched:
        self._enter("change")
        return Fetched(
            change(ref.repository, state.merge_base, state.head), NoSources(), self.notes
        )

    def find_reviews(self, ref: PullRef, marker: str) -> tuple[PostedReview, ...]:
        self._enter("find")
        return tuple(one for one in (*self.reviews, *self.singles) if marker in one.body)

    def create_pending_review(self, ref: PullRef, head: str, draft: DraftReview) -> PostedReview:
        self._enter("create")
        pending = any(one.state is ReviewState.PENDING for one in self.reviews)
        if pending or self.someone_pending:
            raise PendingReviewExists("User can only have one pending review per pull request")
        self.next_id += 1
        made = PostedReview(self.next_id, ReviewState.PENDING, draft.body)
        self.reviews.append(made)
        self._leave("create")
        return made

    def submit_review(self, ref: PullRef, review_id: int) -> PostedReview:
        self._enter("submit")
        for at, one in enumerate(self.reviews):
            if one.id == review_id:
                self.reviews[at] = replace(one, state=ReviewState.SUBMITTED)
                self._leave("submit")
                return self.reviews[at]
        raise NotFound(f"review {review_id}")

    def delete_pending_review(self, ref: PullRef, review_id: int) -> None:
        self._enter("delete")
        for one in self.reviews:
            if one.id == review_id and one.state is ReviewState.PENDING:
                self.reviews.remove(one)
                return

    def post_single(self, ref: PullRef, head: str, draft: DraftReview) -> PostedReview:
        self._enter("single")
        self.next_id += 1
        made = PostedReview(self.next_id, ReviewState.SUBMITTED, draft.body, single=True)
        self.singles.append(made)
        return made

    def posted_comments(self, ref: PullRef, review_id: int) -> tuple[PostedComment, ...]:
        self._enter("comments")
        return ()

    def follow_up(
        self, ref: PullRef, state: PullState, plan: Plan, posted: PostedReview | None
    ) -> tuple[str, ...]:
        self._enter("follow_up")
        return ()

    @property
    def visible(self) -> list[PostedReview]:
        """What others see."""
        return [one for one in self.reviews if one.state is ReviewState.SUBMITTED] + self.singles
