"""From draft to submitted review, exactly once, whatever is lost on the way.

GitHub has no idempotency keys, but it allows one account one pending review a pull request. That
is the lock:

1. Look for our marker: a submitted review is adopted and nothing else happens; a pending one is
   adopted and submitted.
2. Create the review pending. "There is one already" means: adopt ours, delete another job's of
   ours (its patch is gone), or, where a person has one open, post without a review.
3. Look again: where another worker submitted between 1 and 2, the review just made is deleted. It
   could only be made because no other was pending, so what the other did is visible by now.
4. Check the head, then submit by number. A submit that was lost is asked for again; a submitted
   review is answered as it is.

A create whose answer was lost is simply tried again: if it came through, "there is one already".
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from bot.jobs.forge import (
    MARKER_PREFIX,
    DraftReview,
    Forge,
    LostAnswer,
    NotFound,
    PendingReviewExists,
    PostedReview,
    PullRef,
    ReviewState,
    Transient,
)

log = logging.getLogger(__name__)

CREATE_ATTEMPTS = 4
SUBMIT_ATTEMPTS = 3


class Displaced(Exception):
    """Another worker has taken the job over, or it is no longer wanted: write nothing more."""


class Gone(Exception):
    """The pending review is not there any more: the draft has to be posted anew."""


@dataclass(frozen=True, slots=True)
class Publisher:
    """Posts one job's draft. ``is_held`` says whether the job is still this worker's."""

    forge: Forge
    ref: PullRef
    head: str
    marker: str
    is_held: Callable[[], bool]

    def create(self, draft: DraftReview) -> PostedReview:
        """The job's review: pending, or submitted already.

        Raises ``Displaced``, and the forge's errors; ``Transient`` means that nothing is known.
        """
        found = self._find()
        if found is not None:
            return found
        made = self._create(draft)
        if made.state is ReviewState.PENDING:
            other = self._submitted(but=made.id)
            if other is not None:
                self.forge.delete_pending_review(self.ref, made.id)
                return other
        return made

    def _create(self, draft: DraftReview) -> PostedReview:
        lost: LostAnswer | None = None
        for _ in range(CREATE_ATTEMPTS):
            self._check_held()
            try:
                return self.forge.create_pending_review(self.ref, self.head, draft)
            except LostAnswer as error:
                lost = error
                log.warning("the answer to a new review was lost; asking again")
            except PendingReviewExists:
                found = self._find()
                if found is not None:
                    return found
                if not self._clear_stale():
                    log.warning("a person has a review pending; posting without one")
                    return self.forge.post_single(self.ref, self.head, draft)
        found = self._find()
        if found is not None:
            return found
        raise lost or Transient("a pending review stands in the way")

    def _clear_stale(self) -> bool:
        """Delete pending reviews of our other jobs; whether there were any."""
        stale = [
            review
            for review in self.forge.find_reviews(self.ref, MARKER_PREFIX)
            if review.state is ReviewState.PENDING and self.marker not in review.body
        ]
        for review in stale:
            self._check_held()
            self.forge.delete_pending_review(self.ref, review.id)
        return bool(stale)

    def submit(self, review_id: int) -> PostedReview | None:
        """Make the pending review visible; ``None`` where the head moved (it is deleted then).

        Raises ``Gone`` where someone deleted it, ``Displaced``, and the forge's errors.
        """
        if self.forge.head_sha(self.ref) != self.head:
            submitted = self._submitted()
            if submitted is not None:
                return submitted
            self._check_held()
            self.forge.delete_pending_review(self.ref, review_id)
            return None
        lost: LostAnswer | None = None
        for _ in range(SUBMIT_ATTEMPTS):
            self._check_held()
            try:
                return self.forge.submit_review(self.ref, review_id)
            except LostAnswer as error:
                lost = error
                log.warning("the answer to a submit was lost; asking again")
            except NotFound:
                submitted = self._submitted()
                if submitted is not None:
                    return submitted
                raise Gone from None
        submitted = self._submitted()
        if submitted is not None:
            return submitted
        raise lost or Transient("the review could not be submitted")

    def _find(self) -> PostedReview | None:
        """Our review: the submitted one, else the pending one.

        Beside a submitted one no pending one is left: a create whose answer was lost may have
        come through after another worker had submitted the first.
        """
        found = self.forge.find_reviews(self.ref, self.marker)
        submitted = next((one for one in found if one.state is ReviewState.SUBMITTED), None)
        if submitted is None:
            return next(iter(found), None)
        for review in found:
            if review.state is ReviewState.PENDING:
                self.forge.delete_pending_review(self.ref, review.id)
        return submitted

    def _submitted(self, but: int | None = None) -> PostedReview | None:
        for review in self.forge.find_reviews(self.ref, self.marker):
            if review.state is ReviewState.SUBMITTED and review.id != but:
                return review
        return None

    def _check_held(self) -> None:
        if not self.is_held():
            raise Displaced
