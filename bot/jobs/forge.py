"""What the jobs need from outside, as protocols: the forge, the reviewer, policy, commands.

``bot.github`` implements ``Forge``, ``Policy``, ``Composer`` and ``Commander`` for GitHub;
``bot.review`` implements ``Reviewer``. The jobs know nothing but this page. Everything that crosses
a step's border is a small frozen value: code and diffs never enter the job database.

Every method may raise the errors at the end of this module and no others; what they mean decides
whether the job waits, gives up, or looks for what it may already have written.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from bot.review.types import Progress, ReviewOptions, ReviewResult, Sources
from models.change import Change, Side


@dataclass(frozen=True, slots=True)
class PullRef:
    """Names one pull request for as long as it lives.

    ``repository_id`` is GitHub's number (a renamed repository keeps it); ``repository`` is
    ``owner/name`` as last seen. ``installation_id`` is ``None`` in token mode.
    """

    repository_id: int
    repository: str
    number: int
    installation_id: int | None = None


@dataclass(frozen=True, slots=True)
class PullState:
    """A pull request as the forge shows it now.

    ``merge_base`` is the merge base of the base branch and ``head``: the base of every review.
    ``fork`` is true where the head lives in another repository.
    """

    head: str
    merge_base: str
    base_ref: str
    is_open: bool = True
    draft: bool = False
    author: str = ""
    author_is_bot: bool = False
    title: str = ""
    labels: tuple[str, ...] = ()
    head_ref: str = ""
    fork: bool = False
    url: str = ""


@dataclass(frozen=True, slots=True)
class Reviewed:
    """The last patch of a pull request that got a review: merge base and head commit."""

    merge_base: str
    head: str


@dataclass(frozen=True, slots=True)
class Fetched:
    """What a review reads: the change, and where the text of both sides comes from.

    Where ``since`` was given to ``Forge.change``, ``change`` has only the hunks that the earlier
    patch did not have. ``notes`` are one-line remarks for the review's coverage.
    """

    change: Change
    sources: Sources
    notes: tuple[str, ...] = ()


class RequestKind(StrEnum):
    """Who asked for a review."""

    EVENT = "event"
    COMMAND = "command"
    CHECK = "check"
    OPERATOR = "operator"
    APPROVAL = "approval"


@dataclass(frozen=True, slots=True)
class ReviewRequest:
    """Why a review is made.

    ``key`` names the request itself and is empty for the ordinary one of a push: the same key
    on the same patch is the same job, a new key is a new one. ``full`` reviews the whole patch,
    not only what is new since the last review. ``by`` is the login of who asked.
    """

    kind: RequestKind = RequestKind.EVENT
    key: str = ""
    full: bool = False
    by: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """What the settings that count for this pull request decide.

    ``skip`` is a reason for a person where nothing is to be reviewed ("draft", "paused", "label
    no-review"), else empty. ``incremental`` allows leaving out hunks reviewed before.
    ``check_run`` asks for a check run beside the review, ``resolve_threads`` of ``False`` leaves
    threads alone whose code is gone, ``summary`` is the wanted length of the review's text
    (short, normal, long). ``mode`` is post, approve (a person decides first) or shadow; ``learn``
    lets the team's answers move the thresholds; ``answers`` says which comments get a revision
    proposed (command, comments). The fingerprints in ``options`` are filled by the job from
    the ledger.
    """

    options: ReviewOptions = field(default_factory=ReviewOptions)
    skip: str = ""
    incremental: bool = True
    check_run: bool = False
    notes: tuple[str, ...] = ()
    resolve_threads: bool = True
    summary: str = "normal"
    mode: str = "post"
    learn: bool = True
    answers: str = "command"


@dataclass(frozen=True, slots=True)
class DraftComment:
    """One comment ready to post; ``start_line`` is ``None`` for a single line."""

    path: str
    side: Side
    line: int
    body: str
    fingerprint: str
    start_line: int | None = None


@dataclass(frozen=True, slots=True)
class DraftReview:
    """One review ready to post: every limit and anchor already checked.

    ``body`` contains ``marker``, an HTML comment unique to the job (``job_marker``).
    """

    body: str
    comments: tuple[DraftComment, ...]
    marker: str


class ReviewState(StrEnum):
    """Whether others can see a review."""

    PENDING = "pending"
    SUBMITTED = "submitted"


@dataclass(frozen=True, slots=True)
class PostedComment:
    """A comment as the forge keeps it; ``fingerprint`` as in the draft."""

    id: int
    fingerprint: str
    path: str = ""
    line: int | None = None
    url: str = ""
    thread_id: str = ""


@dataclass(frozen=True, slots=True)
class PostedReview:
    """A review that exists on the forge.

    ``id`` is the review's number (or the issue comment's, where ``single`` says that the remarks
    were posted one by one). ``body`` is its text, from which the marker is read. ``moved`` holds
    the fingerprints of comments that the forge refused and that stand in the body instead.
    """

    id: int
    state: ReviewState
    body: str = ""
    url: str = ""
    single: bool = False
    moved: tuple[str, ...] = ()


class Forge(Protocol):
    """Reads and writes of one code host. Reads may be retried inside; writes never."""

    def pull(self, ref: PullRef) -> PullState:
        """The pull request now, with its merge base."""
        ...

    def head_sha(self, ref: PullRef) -> str:
        """The head commit now: one cheap request, no cache."""
        ...

    def change(self, ref: PullRef, state: PullState, since: Reviewed | None) -> Fetched:
        """The patch from ``state.merge_base`` to ``state.head``.

        With ``since``, only its hunks that the patch of ``since`` did not have (compared hunk by
        hunk); an earlier patch that cannot be read any more counts as none, with a note.
        """
        ...

    def find_reviews(self, ref: PullRef, marker: str) -> tuple[PostedReview, ...]:
        """Our account's reviews whose body contains ``marker``, pending ones included.

        ``marker`` may be a prefix (``MARKER_PREFIX``), which finds every review of this program.
        Must show what a finished write has made: no cache, no conditional request.
        """
        ...

    def create_pending_review(self, ref: PullRef, head: str, draft: DraftReview) -> PostedReview:
        """Create a review that only we can see.

        One POST as a rule; where the forge refuses an entry (422), the guilty ones are found,
        moved to the body and named in ``moved``. Raises ``PendingReviewExists`` where our account
        has one already, ``LostAnswer`` where it may have been created.
        """
        ...

    def submit_review(self, ref: PullRef, review_id: int) -> PostedReview:
        """Make a pending review visible as COMMENT; a submitted one is answered as it is.

        Raises ``NotFound`` where it is gone, ``LostAnswer`` where it may have been submitted.
        """
        ...

    def delete_pending_review(self, ref: PullRef, review_id: int) -> None:
        """Delete a pending review of ours (the caller has seen our marker); gone is no error."""
        ...

    def post_single(self, ref: PullRef, head: str, draft: DraftReview) -> PostedReview:
        """Post without a review, for a token whose person has a pending review open.

        Idempotent by marker: what ``find_reviews`` would find is not posted again.
        """
        ...

    def posted_comments(self, ref: PullRef, review_id: int) -> tuple[PostedComment, ...]:
        """The comments of a submitted review, matched to fingerprints by their markers."""
        ...

    def follow_up(
        self, ref: PullRef, state: PullState, plan: Plan, posted: PostedReview | None
    ) -> tuple[str, ...]:
        """After the review: resolve threads whose code is gone, check run. Idempotent.

        ``posted`` is ``None`` where there was nothing to post. What could not be done comes back
        as one-line notes; only ``Transient`` is raised.
        """
        ...


class Policy(Protocol):
    """Which settings count for a pull request."""

    def plan(self, ref: PullRef, state: PullState, request: ReviewRequest) -> Plan:
        """Operator's settings, the organisation's, the default branch's; never the head's."""
        ...


class Reviewer(Protocol):
    """Makes a review of a change. Loads its models once; several threads may call it."""

    def review(
        self, change: Change, sources: Sources, options: ReviewOptions, progress: Progress
    ) -> ReviewResult:
        """Review ``change``. ``progress`` may raise ``Superseded``: let it through."""
        ...


class Composer(Protocol):
    """Turns a result into what is posted; no I/O."""

    def compose(self, result: ReviewResult, plan: Plan, marker: str) -> DraftReview | None:
        """The draft with every anchor valid and every limit kept; ``None``: nothing to say."""
        ...


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment by a person that may hold a command.

    ``source`` is the kind of comment, ``id`` its number there, ``in_reply_to`` the number of the
    review comment that started its thread (0 where none), ``at`` when it was made (seconds since
    the epoch).
    """

    source: str
    id: int
    body: str
    author: str
    author_type: str
    in_reply_to: int = 0
    app_id: int | None = None
    at: float | None = None


@dataclass(frozen=True, slots=True)
class CommandResult:
    """What a command led to: a review request to queue, or nothing more than its answer."""

    request: ReviewRequest | None = None
    cancel: bool = False
    note: str = ""


class Commander(Protocol):
    """Runs the commands in comments: permission check, ledger changes, one answer."""

    def mentions(self, body: str) -> bool:
        """Whether a text may hold a command: pure, cheap, called on every comment."""
        ...

    def run(self, ref: PullRef, comment: Comment) -> CommandResult:
        """Run the comment's commands and answer. Must be idempotent by ``comment.id``."""
        ...


MARKER_PREFIX = "<!-- marginalia:review "


def job_marker(job_id: str) -> str:
    """The HTML comment by which a job finds its own review again."""
    return f"{MARKER_PREFIX}{job_id} -->"


class ForgeError(Exception):
    """Something the forge answered, or did not; the message is one line for a person."""


class Transient(ForgeError):
    """Try again: a time-out on a read, 5xx, a rate limit.

    ``retry_after`` is the least wait in seconds where the forge named one.
    """

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class LostAnswer(Transient):
    """A write whose answer did not arrive (time-out, reset, 5xx): it may have happened."""


class Refused(ForgeError):
    """The forge refuses, and would again: no permission, validation failed."""


class NotFound(Refused):
    """The thing is gone, or not ours to see."""


class PendingReviewExists(Refused):
    """Our account has a pending review on this pull request already."""


class Superseded(Exception):
    """The job is no longer wanted: a newer head, a closed pull request, an operator's cancel."""
