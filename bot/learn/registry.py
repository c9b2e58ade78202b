"""Every table of the ledger: what it holds of a repository, and what ``data delete`` does to it.

A table is either among ``KEPT``, with the rows that belong to a repository, or in ``NO_CONTENT``
with the reason why there is nothing in it to take away. A test walks the schema: a new table that
is in neither is a fault.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa

from bot.feedback.ledger import MODEL_KEY
from bot.feedback.tables import AnchorRow, ApprovalRow, FeedbackEvent, OutcomeRow
from bot.kept_config import GOOD
from bot.learn.store import CURSOR
from bot.learn.tables import LearntRemark
from bot.store.memory import pull_scope, repo_scope
from bot.store.tables import (
    UNFINISHED,
    Base,
    CandidateRow,
    CommentRow,
    Delivery,
    DeliveryState,
    Dismissal,
    Job,
    ReviewDiff,
    ReviewRow,
    ReviewRowState,
    SettingRow,
    ThreadRow,
)

Condition = sa.ColumnElement[bool]


@dataclass(frozen=True, slots=True)
class Whose:
    """One repository by its name in lower case and the numbers under which it was seen.

    ``names`` are those that it had before it was renamed or transferred, and the present one.
    """

    name: str
    numbers: tuple[int, ...]
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Kept:
    """One table's rows.

    ``kind`` is their name in the export, ``of`` says which are a repository's, ``people`` are
    columns with logins or secrets, which no export shows. Deleted are the rows, or with ``blank``
    only the words in them: what stays keeps a remark from being posted twice. ``but`` are rows
    that are in use and left alone for now. ``wide`` columns are exported on demand only.
    """

    kind: str
    table: type[Base]
    of: Callable[[Whose], Condition]
    people: frozenset[str] = frozenset()
    blank: Mapping[str, Any] | None = None
    but: Condition | None = None
    only: Condition | None = None
    wide: frozenset[str] = frozenset()
    own: str = field(default="")


def _numbered(column: Any) -> Callable[[Whose], Condition]:
    return lambda whose: column.in_(whose.numbers)


def _of_reviews(column: Any) -> Callable[[Whose], Condition]:
    return lambda whose: column.in_(
        sa.select(ReviewRow.id).where(ReviewRow.repository_id.in_(whose.numbers))
    )


def _of_comments(column: Any) -> Callable[[Whose], Condition]:
    return lambda whose: column.in_(
        sa.select(CommentRow.id)
        .join(ReviewRow, ReviewRow.id == CommentRow.review_id)
        .where(ReviewRow.repository_id.in_(whose.numbers))
        .union(
            sa.select(OutcomeRow.comment_id).where(OutcomeRow.repository_id.in_(whose.numbers)),
            sa.select(ApprovalRow.comment_id).where(ApprovalRow.repository_id.in_(whose.numbers)),
        )
    )


def _of_settings(whose: Whose) -> Condition:
    scopes = [repo_scope(number) for number in whose.numbers]
    scopes += [f"{kind}:{name}" for kind in ("learn", "repository") for name in whose.names]
    pulls = [SettingRow.scope.startswith(f"{pull_scope(n, 0)[:-1]}") for n in whose.numbers]
    return sa.or_(SettingRow.scope.in_(scopes), *pulls)


_OPEN_DRAFTS = (ReviewRowState.DRAFTED, ReviewRowState.PENDING)
_TO_BE_POSTED = sa.select(ReviewRow.id).where(ReviewRow.state.in_(_OPEN_DRAFTS))
_BY = frozenset({"by"})

KEPT: tuple[Kept, ...] = (
    Kept(
        "remark", LearntRemark, lambda whose: LearntRemark.repository_key.in_(whose.names),
        people=frozenset({"repository_key"}),
    ),
    Kept("event", FeedbackEvent, _of_comments(FeedbackEvent.comment_id), own="event_kind"),
    Kept(
        "lines", AnchorRow, _of_comments(AnchorRow.comment_id), wide=frozenset({"text"}),
        but=AnchorRow.comment_id.in_(
            sa.select(CommentRow.id).where(CommentRow.review_id.in_(_TO_BE_POSTED))
        ),
    ),
    Kept("outcome", OutcomeRow, _numbered(OutcomeRow.repository_id), own="candidate_kind"),
    Kept(
        "decision", ApprovalRow, _numbered(ApprovalRow.repository_id), _BY | {"sealed"},
        own="candidate_kind",
    ),
    Kept("dismissal", Dismissal, _numbered(Dismissal.repository_id), _BY),
    Kept("thread", ThreadRow, _numbered(ThreadRow.repository_id), _BY),
    Kept(
        "setting", SettingRow, _of_settings, _BY,
        only=sa.or_(
            SettingRow.key == MODEL_KEY, SettingRow.key == CURSOR, SettingRow.key.startswith(GOOD)
        ),
    ),
    Kept("diff", ReviewDiff, _of_reviews(ReviewDiff.review_id), wide=frozenset({"files"})),
    Kept(
        "candidate", CandidateRow, _of_reviews(CandidateRow.review_id), own="candidate_kind",
    ),
    Kept(
        "comment", CommentRow, _of_reviews(CommentRow.review_id),
        # without its number nothing is followed any more; its fingerprint keeps it from coming back
        blank={"body": "", "path": "", "url": "", "github_id": None, "candidate_id": None},
        but=CommentRow.review_id.in_(_TO_BE_POSTED),
    ),
    Kept(
        "review", ReviewRow, _numbered(ReviewRow.repository_id),
        blank={
            "body": "", "summary": "", "coverage": [], "notes": [], "timings": {},
            "references": [],
        },
        but=ReviewRow.state.in_(_OPEN_DRAFTS),
    ),
    Kept(
        "job", Job, _numbered(Job.repository_id), frozenset({"requested_by"}),
        blank={"requested_by": "", "reason": "", "delivery_id": None},
        but=Job.state.in_(UNFINISHED), own="request_kind",
    ),
    Kept(
        "delivery", Delivery,
        lambda whose: sa.or_(
            Delivery.repository_id.in_(whose.numbers),
            sa.func.lower(Delivery.repository).in_(whose.names),
        ),
        frozenset({"headers"}), but=Delivery.state == DeliveryState.RECEIVED,
        wide=frozenset({"body"}),
    ),
)  # fmt: skip
"""In the order in which they are deleted: what is found by another table goes before that one."""

NO_CONTENT: Mapping[str, str] = {
    "requests": "numbers by which one request for a review is told from another",
    "installations": "who installed the App, as GitHub tells: it goes when they remove it",
    "installed_repositories": "which repositories that are, likewise",
    "workers": "processes of this service",
    "leases": "which process does a task",
    "holds": "until when GitHub is not asked",
    "web_sessions": "who is signed in: ends by itself, or when they sign out",
}
"""Tables without anything that was learnt or recorded of a repository, and why."""
