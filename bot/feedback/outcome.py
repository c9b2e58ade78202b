"""What became of a posted comment: one state, folded from events in any order.

The events are what deliveries, polls and blobs tell. They form a set: the state is a function of
it, so that a repeated, late or early event changes nothing in the end. Blobs count more than
gestures: a thumbs-down on a suggestion that was committed is still an acceptance, and a
"Commit suggestion" trailer alone is none: it only stands beside what the blobs say.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from bot.feedback.region import Fate, Followed


class State(StrEnum):
    """The state of a comment; every comment has exactly one."""

    AS_IS = "accepted-as-is"
    EDITED = "accepted-edited"
    ADDRESSED = "addressed-otherwise"
    DISMISSED = "dismissed"
    OUTDATED = "outdated"
    OPEN = "open"


ACCEPTED = frozenset({State.AS_IS, State.EDITED, State.ADDRESSED})
"""The states in which a person did something because of the comment."""


class Kind(StrEnum):
    """What an event tells."""

    HEAD = "head"
    RESOLVED = "resolved"
    THUMBS_DOWN = "thumbs-down"
    DISMISS = "dismiss"
    HIDDEN = "hidden"
    DELETED = "deleted"
    SUGGESTION_COMMIT = "suggestion-commit"
    CLOSED = "closed"


_REFUSALS = (Kind.THUMBS_DOWN, Kind.DISMISS, Kind.HIDDEN, Kind.DELETED)
SETTLED = frozenset({"resolved", "outdated"})
"""Reasons for hiding a comment that say no more than that its thread is done."""


@dataclass(frozen=True, slots=True)
class Event:
    """One thing seen of a comment or its pull request.

    ``at`` is when it happened (seconds since the epoch), ``key`` names it (a head's commit id, a
    reaction's or a delivery's number) and breaks ties. ``on`` of ``False`` takes the same kind
    back: unresolved, reaction removed, reopened, undismissed. ``by_person`` is ``False`` for
    what this program or another bot did: that is no gesture. ``followed`` belongs to ``HEAD``.
    A ``HIDDEN`` event's key is the reason that was given for hiding.
    """

    kind: Kind
    at: float
    key: str = ""
    on: bool = True
    by_person: bool = True
    followed: Followed | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """A comment's state, whether it can still change, and why.

    ``edit_progress`` is that of the head which decided, ``since`` the time of the deciding event
    (``None`` for an open one) and ``evidence`` the kinds of event that support the state.
    """

    state: State
    final: bool = False
    edit_progress: float | None = None
    since: float | None = None
    evidence: tuple[Kind, ...] = ()


_RANK = {Fate.AS_IS: 3, Fate.EDITED: 2, Fate.CHANGED: 1}
_STATE = {Fate.AS_IS: State.AS_IS, Fate.EDITED: State.EDITED, Fate.CHANGED: State.ADDRESSED}


def decide(events: Iterable[Event]) -> Outcome:
    """The one state that these events amount to.

    Rules, first that holds:

    1. Once the pull request is closed and not reopened, later events do not count, and the state
       is final.
    2. The suggestion was in a head as is, or nearer than before, and the latest head has not
       taken it back: accepted.
    3. A person refused it (thumbs-down, command, hidden as spam or the like, deleted) and has not
       taken that back: dismissed.
    4. The region changed in another way and is not back as it was: addressed otherwise.
    5. The latest head has no such code any more: outdated.
    6. A person resolved the thread, or hid the comment as resolved or outdated, with nothing
       changed: dismissed.
    7. Open.
    """
    known = sorted(set(events), key=_order)
    closed = _last(known, Kind.CLOSED)
    final = closed is not None and closed.on
    if closed is not None and final:
        known = [event for event in known if event.at <= closed.at]
    best, gone = _heads(known)
    hidden = _gesture(known, Kind.HIDDEN)
    settled = hidden if hidden is not None and hidden.key in SETTLED else None
    refusals = (_gesture(known, kind) for kind in _REFUSALS)
    refusal = next((e for e in refusals if e is not None and e is not settled), None)
    resolved = _gesture(known, Kind.RESOLVED) or settled
    trailer = _last(known, Kind.SUGGESTION_COMMIT)
    if best is not None and best.followed is not None:
        fate = best.followed.fate
        if fate is not Fate.CHANGED or refusal is None:
            supports = [Kind.HEAD]
            if fate is not Fate.CHANGED and trailer is not None:
                supports.append(Kind.SUGGESTION_COMMIT)
            if resolved is not None:
                supports.append(resolved.kind)
            progress = best.followed.edit_progress
            return Outcome(_STATE[fate], final, progress, best.at, tuple(supports))
    if refusal is not None:
        return Outcome(State.DISMISSED, final, None, refusal.at, (refusal.kind,))
    if gone is not None:
        return Outcome(State.OUTDATED, final, None, gone.at, (Kind.HEAD,))
    if resolved is not None:
        return Outcome(State.DISMISSED, final, None, resolved.at, (resolved.kind,))
    return Outcome(State.OPEN, final)


def _heads(known: list[Event]) -> tuple[Event | None, Event | None]:
    """The head that shows most of an answer, and the latest one if the code is gone there.

    An answer stays one when later work goes over the lines again, but not when the latest head
    has the lines as they were.
    """
    heads = [event for event in known if event.kind is Kind.HEAD and event.followed is not None]
    if not heads or heads[-1].followed is None or heads[-1].followed.fate is Fate.UNCHANGED:
        return None, None
    # What was taken back before does not count either: only heads after the last unchanged one.
    for at in range(len(heads) - 1, -1, -1):
        found = heads[at].followed
        if found is not None and found.fate is Fate.UNCHANGED:
            heads = heads[at + 1 :]
            break
    answers = [e for e in heads if e.followed is not None and e.followed.fate in _RANK]
    best = max(answers, key=_worth, default=None)
    last = heads[-1]
    gone = last if last.followed is not None and last.followed.fate is Fate.GONE else None
    return best, gone


def _worth(event: Event) -> tuple[int, float, float]:
    if event.followed is None:
        return (0, 0.0, 0.0)
    progress = event.followed.edit_progress
    return (_RANK[event.followed.fate], -1e9 if progress is None else progress, -event.at)


def _gesture(known: list[Event], kind: Kind) -> Event | None:
    last = _last([event for event in known if event.by_person], kind)
    return last if last is not None and last.on else None


def _last(known: list[Event], kind: Kind) -> Event | None:
    return next((event for event in reversed(known) if event.kind is kind), None)


def _order(event: Event) -> tuple[object, ...]:
    found = event.followed
    place = ("", "", 0, 0, 0.0)
    if found is not None:
        progress = -1e9 if found.edit_progress is None else found.edit_progress
        place = (found.fate.value, found.path, found.start_line, found.line, progress)
    return (event.at, event.kind.value, event.key, event.on, event.by_person, *place)
