"""The router: which events and actions lead to what.

Routing is pure: a payload goes in, actions come out, nothing is read or written. The web process
routes to know whether a delivery is worth a job; the worker routes again and carries the actions
out (``bot.jobs.deliver``). One small module a concern in ``bot.handlers``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from bot.jobs.forge import Comment, PullRef, ReviewRequest
from bot.payload import Malformed, Payload


@dataclass(frozen=True, slots=True)
class RequestReview:
    """Ask for a review of the pull request as it is when the job is made.

    ``head`` is the head that the delivery spoke of: where there is a job for it already, nobody
    needs to be asked. Empty where the base may have changed under the same head.
    """

    ref: PullRef
    request: ReviewRequest
    head: str = ""


@dataclass(frozen=True, slots=True)
class CancelPull:
    """Stop what is unfinished of a pull request."""

    ref: PullRef
    reason: str


@dataclass(frozen=True, slots=True)
class RunCommand:
    """A comment that may hold a command."""

    ref: PullRef
    comment: Comment


@dataclass(frozen=True, slots=True)
class AnswerComment:
    """A person's comment on lines: the configuration may want a revision proposed."""

    ref: PullRef
    comment: Comment


@dataclass(frozen=True, slots=True)
class ThreadChanged:
    """A review thread was resolved, or opened again."""

    ref: PullRef
    thread_id: str
    comment_id: int | None
    resolved: bool
    by: str
    at: float | None = None
    by_person: bool = True


@dataclass(frozen=True, slots=True)
class CommentChanged:
    """A review comment was edited or deleted (``state``)."""

    ref: PullRef
    comment_id: int
    state: str
    by_person: bool = True
    at: float | None = None


@dataclass(frozen=True, slots=True)
class PullSeen:
    """A pull request as it was at a time: pushed to, closed (``closed``) or opened again."""

    ref: PullRef
    head: str
    base: str
    at: float
    closed: bool | None = None


@dataclass(frozen=True, slots=True)
class PressButton:
    """Someone pressed a button of our check run: ``button`` is its identifier."""

    ref: PullRef
    button: str
    by: str


@dataclass(frozen=True, slots=True)
class InstallationChanged:
    """The App was installed, suspended or removed (``state``: active, suspended, removed)."""

    installation_id: int
    account: str
    state: str
    selection: str
    permissions: Mapping[str, str]
    repositories: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class RepositoriesChanged:
    """An installation sees other repositories than before."""

    installation_id: int
    added: Mapping[int, str]
    removed: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RepositoryNamed:
    """A repository was renamed or transferred: its name now, and before ("" where not told)."""

    repository_id: int
    repository: str
    before: str


Action = (
    RequestReview
    | CancelPull
    | RunCommand
    | AnswerComment
    | ThreadChanged
    | CommentChanged
    | PressButton
    | PullSeen
    | InstallationChanged
    | RepositoriesChanged
    | RepositoryNamed
)


@dataclass(frozen=True, slots=True)
class Routed:
    """The actions of a delivery, or the reason why there are none."""

    actions: tuple[Action, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Context:
    """What routing may know beside the payload: our App's number."""

    app_id: int | None = None


Handler = Callable[[Payload, Context], Routed]
Routes = Mapping[tuple[str, str], Handler]


def ignored(reason: str) -> Routed:
    """No action, for this reason."""
    return Routed(reason=reason)


def pull_ref(payload: Payload, number_path: str) -> PullRef:
    """The pull request that a payload speaks of; ``number_path`` is where its number stands."""
    return PullRef(
        repository_id=payload.number("repository.id"),
        repository=payload.text("repository.full_name"),
        number=payload.number(number_path),
        installation_id=payload.maybe_number("installation.id"),
    )


def moment(payload: Payload, path: str) -> float | None:
    """A time in a payload (ISO 8601), in seconds since the epoch; ``None`` where there is none."""
    text = payload.maybe_text(path)
    if not text:
        return None
    try:
        return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()
    except ValueError:
        raise Malformed(f"{path}: expected a time, not {text[:40]!r}") from None


def by_person(payload: Payload) -> bool:
    """Whether a person did it, and no App."""
    return payload.maybe_text("sender.type") != "Bot"


class Router:
    """Finds the handler of an event and action."""

    def __init__(self, *tables: Routes) -> None:
        self._routes: dict[tuple[str, str], Handler] = {}
        for table in tables:
            for key, handler in table.items():
                if key in self._routes:
                    raise ValueError(f"two handlers for {key[0]}.{key[1]}")
                self._routes[key] = handler
        self._events = {event for event, _ in self._routes}

    def route(self, event: str, payload: Payload, context: Context) -> Routed:
        """The actions of one delivery; raises ``Malformed`` where a field that counts is wrong."""
        if event not in self._events:
            return ignored(f"event {event} is not used")
        action = payload.text("action")
        handler = self._routes.get((event, action))
        if handler is None:
            return ignored(f"{event}.{action} is not used")
        return handler(payload, context)
