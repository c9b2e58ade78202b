"""A review of a pull request up to the POST: the same reads, settings, pipeline and draft.

What the service remembers is read from its ledger where there is one, and nothing is written:
neither to GitHub nor to the ledger. The checks come in the order of ``bot.jobs.review``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from bot.feedback.ledger import Feedback
from bot.github.auth import Identity
from bot.github.compose import GitHubComposer
from bot.github.forge import GitHubForge
from bot.github.policy import GitHubPolicy
from bot.jobs.forge import (
    DraftReview,
    Plan,
    PullRef,
    PullState,
    RequestKind,
    Reviewer,
    ReviewRequest,
    job_marker,
)
from bot.review.types import Progress, ReviewResult
from bot.settings import Settings
from bot.store.jobs import job_id
from bot.store.ledger import Ledger
from bot.store.lookup import ReadOnlyMemory, next_request_number
from bot.store.text import clean
from bot.wiring import operator_of


@dataclass(frozen=True, slots=True)
class Simulated:
    """What would happen to a pull request now.

    ``draft`` is exactly what would be posted on ``state.head``; ``reason`` says why nothing would
    be. Both are given in shadow mode, where a draft is kept and not posted. ``told`` are the lines
    on wrong configuration files that the conversation would be told once; ``notes`` are remarks
    on how the change was fetched, which stand in the draft too.
    """

    ref: PullRef
    state: PullState
    draft: DraftReview | None = None
    reason: str = ""
    told: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    result: ReviewResult | None = None

    @property
    def posted(self) -> bool:
        """Whether a review would be posted."""
        return self.draft is not None and not self.reason


class Simulation:
    """Simulates reviews under one identity. ``load`` is called only where something is reviewed.

    Without a ``ledger`` every review is the pull request's first. ``full`` stands for a person's
    ``/marginalia full review``: nothing is skipped, and the whole patch is read.
    """

    def __init__(
        self,
        settings: Settings,
        identity: Identity,
        ledger: Ledger | None,
        load: Callable[[], Reviewer],
        full: bool = False,
    ) -> None:
        self._settings = settings
        self._ledger = ledger
        self._load = load
        self._full = full
        self._forge = GitHubForge(identity, settings.github_url)
        # as in shadow mode: the policy writes no notice
        operator = replace(operator_of(settings), shadow=True)
        memory = ReadOnlyMemory(ledger.memory if ledger else None)
        self._policy = GitHubPolicy(identity, memory, lambda: operator)

    def run(self, ref: PullRef, progress: Progress) -> Simulated:
        """What would happen to ``ref`` now. Raises ``ForgeError`` and ``Superseded``."""
        state = self._forge.pull(ref)
        done = Simulated(ref, state)
        if not self._settings.serves(ref.repository):
            return replace(
                done, reason=f"MARGINALIA_REPOSITORIES does not include {ref.repository}"
            )
        if not state.is_open:
            return replace(done, reason="the pull request is closed")
        if not self._full and self._reviewed(ref, state):
            return replace(done, reason="this patch was reviewed already")
        kind = RequestKind.COMMAND if self._full else RequestKind.EVENT
        plan = self._policy.plan(ref, state, ReviewRequest(kind, full=self._full))
        if plan.notes:
            errors = self._policy.settings(ref).errors
            done = replace(done, told=tuple(line for e in errors for line in e.lines()))
        if plan.skip:
            return replace(done, reason=plan.skip)
        return self._review(done, plan, progress)

    def _reviewed(self, ref: PullRef, state: PullState) -> bool:
        return self._ledger is not None and self._ledger.reviews.has_reviewed(
            ref.repository_id, ref.number, state.merge_base, state.head
        )

    def _review(self, done: Simulated, plan: Plan, progress: Progress) -> Simulated:
        ref, state = done.ref, done.state
        options, since, number = plan.options, None, 0
        if self._ledger is not None:
            reviews = self._ledger.reviews
            if plan.incremental and not self._full:
                since = reviews.last_reviewed(ref.repository_id, ref.number)
            options = replace(
                options,
                known_fingerprints=reviews.known_fingerprints(ref.repository_id, ref.number),
                dismissed_fingerprints=reviews.dismissed_fingerprints(ref.repository_id),
                learnt=_learnt(self._ledger, ref) if plan.learn else None,
            )
            number = next_request_number(self._ledger, ref) if self._full else 0
        fetched = self._forge.change(ref, state, since)
        progress("loading", 0, 1)
        result = self._load().review(fetched.change, fetched.sources, options, progress)
        plan = replace(plan, notes=(*plan.notes, *fetched.notes))
        draft = GitHubComposer().compose(result, plan, job_marker(job_id(ref, state, number)))
        done = replace(done, result=result, notes=fetched.notes)
        if draft is None:
            return replace(done, reason="no changed file could be read, so there is nothing to say")
        reason = "shadow mode (MARGINALIA_SHADOW) posts nothing" if self._settings.shadow else ""
        return replace(done, draft=_as_kept(draft), reason=reason)


def _learnt(ledger: Ledger, ref: PullRef) -> Mapping[str, Any]:
    """What this team's answers taught, as the review job reads it."""
    feedback = Feedback(ledger.database)
    return feedback.model(ref.repository_id, ref.installation_id, ref.repository).to_json()


def _as_kept(draft: DraftReview) -> DraftReview:
    """The draft as the ledger gives it back: what is posted has been through it."""
    comments = tuple(
        replace(one, path=clean(one.path), body=clean(one.body)) for one in draft.comments
    )
    return replace(draft, body=clean(draft.body), comments=comments)
