"""One state a comment, whatever the order and number of the events."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.feedback.outcome import Event, Kind, Outcome, State, decide
from bot.feedback.region import Anchor, Fate, Followed, follow


def head(at: float, fate: Fate, progress: float | None = None) -> Event:
    return Event(Kind.HEAD, at, f"sha{at}", followed=Followed(fate, "a.py", 1, 1, progress))


def test_no_events_is_open() -> None:
    assert decide([]) == Outcome(State.OPEN)


@pytest.mark.parametrize(
    ("events", "state"),
    [
        ([head(1, Fate.UNCHANGED)], State.OPEN),
        ([head(1, Fate.AS_IS, 1.0)], State.AS_IS),
        ([head(1, Fate.EDITED, 0.5)], State.EDITED),
        ([head(1, Fate.CHANGED)], State.ADDRESSED),
        ([head(1, Fate.GONE)], State.OUTDATED),
        # later work over an accepted region, and an acceptance taken back
        ([head(1, Fate.AS_IS, 1.0), head(2, Fate.CHANGED)], State.AS_IS),
        ([head(1, Fate.AS_IS, 1.0), head(2, Fate.GONE)], State.AS_IS),
        ([head(1, Fate.AS_IS, 1.0), head(2, Fate.UNCHANGED)], State.OPEN),
        ([head(1, Fate.AS_IS), head(2, Fate.UNCHANGED), head(3, Fate.CHANGED)], State.ADDRESSED),
        # gestures
        ([Event(Kind.THUMBS_DOWN, 1)], State.DISMISSED),
        ([Event(Kind.THUMBS_DOWN, 1), Event(Kind.THUMBS_DOWN, 2, on=False)], State.OPEN),
        ([Event(Kind.DISMISS, 1)], State.DISMISSED),
        ([Event(Kind.HIDDEN, 1)], State.DISMISSED),
        ([Event(Kind.HIDDEN, 1, "spam"), head(2, Fate.CHANGED)], State.DISMISSED),
        ([Event(Kind.HIDDEN, 1, "spam"), Event(Kind.HIDDEN, 2, on=False)], State.OPEN),
        # hidden as done is like resolved: what was done for it counts more
        ([Event(Kind.HIDDEN, 1, "resolved")], State.DISMISSED),
        ([Event(Kind.HIDDEN, 1, "outdated"), head(2, Fate.CHANGED)], State.ADDRESSED),
        ([Event(Kind.HIDDEN, 1, "outdated"), head(2, Fate.GONE)], State.OUTDATED),
        ([Event(Kind.DELETED, 1)], State.DISMISSED),
        ([Event(Kind.DELETED, 1, by_person=False)], State.OPEN),
        ([Event(Kind.RESOLVED, 1)], State.DISMISSED),
        ([Event(Kind.RESOLVED, 1), Event(Kind.RESOLVED, 2, on=False)], State.OPEN),
        ([Event(Kind.RESOLVED, 1, by_person=False)], State.OPEN),
        # blobs count more than gestures
        ([Event(Kind.RESOLVED, 1), head(2, Fate.CHANGED)], State.ADDRESSED),
        ([Event(Kind.THUMBS_DOWN, 1), head(2, Fate.AS_IS, 1.0)], State.AS_IS),
        ([Event(Kind.THUMBS_DOWN, 1), head(2, Fate.CHANGED)], State.DISMISSED),
        ([Event(Kind.THUMBS_DOWN, 1), head(2, Fate.GONE)], State.DISMISSED),
        ([Event(Kind.SUGGESTION_COMMIT, 1), head(1, Fate.UNCHANGED)], State.OPEN),
        ([Event(Kind.SUGGESTION_COMMIT, 1)], State.OPEN),
    ],
)
def test_the_rules(events: list[Event], state: State) -> None:
    assert decide(events).state is state
    assert decide(events).final is False


def test_a_closed_pull_request_makes_it_final() -> None:
    events = [head(1, Fate.UNCHANGED), Event(Kind.CLOSED, 5), Event(Kind.RESOLVED, 6)]
    assert decide(events) == Outcome(State.OPEN, final=True)
    reopened = [*events, Event(Kind.CLOSED, 7, on=False)]
    assert decide(reopened).state is State.DISMISSED
    assert decide(reopened).final is False
    merged = [head(1, Fate.UNCHANGED), head(5, Fate.AS_IS, 1.0), Event(Kind.CLOSED, 5)]
    assert (decide(merged).state, decide(merged).final) == (State.AS_IS, True)


def test_a_trailer_only_supports() -> None:
    found = decide([head(2, Fate.AS_IS, 1.0), Event(Kind.SUGGESTION_COMMIT, 2)])
    assert found.evidence == (Kind.HEAD, Kind.SUGGESTION_COMMIT)


_TIMES = st.integers(0, 6).map(float)
_FOLLOWED = st.builds(
    Followed,
    st.sampled_from(Fate),
    st.sampled_from(["a.py", "b.py"]),
    st.integers(1, 3),
    st.integers(1, 3),
    st.none() | st.floats(-1, 1),
)
_EVENTS = st.lists(
    st.one_of(
        st.builds(Event, st.just(Kind.HEAD), _TIMES, st.text("ab", max_size=2), followed=_FOLLOWED),
        st.builds(
            Event,
            st.sampled_from(Kind),
            _TIMES,
            st.text("ab", max_size=2),
            st.booleans(),
            st.booleans(),
        ),
    ),
    max_size=10,
)


@given(_EVENTS, st.randoms(use_true_random=False))
def test_twice_and_out_of_order_changes_nothing(events: list[Event], chance: random.Random) -> None:
    other = [*events, *chance.choices(events, k=len(events))] if events else []
    chance.shuffle(other)
    assert decide(other) == decide(events)


# a scripted life of pull requests with known truths

NAMES = ["load", "save", "merge", "split", "count", "render", "parse"]


def module(bodies: dict[str, list[str]]) -> str:
    parts = ["import os\n"]
    for name in bodies:
        parts.append(f"def {name}(value):\n" + "".join(f"    {line}\n" for line in bodies[name]))
    return "\n\n".join(parts)


def start() -> dict[str, list[str]]:
    return {
        name: [
            f"step_{name} = open(value)",
            f"data_{name} = {name}_all(step_{name})",
            f"return data_{name}",
        ]
        for name in NAMES
    }


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("life", "truth"),
    [
        ("accepted", State.AS_IS),
        ("accepted-rebased", State.AS_IS),
        ("accepted-squashed-renamed", State.AS_IS),
        ("edited", State.EDITED),
        ("rebased-away", State.OUTDATED),
        ("dismissed", State.DISMISSED),
        ("ignored", State.OPEN),
        ("moved-elsewhere-accepted", State.AS_IS),
        ("rewritten", State.ADDRESSED),
    ],
)
def test_scripted_lives(name: str, life: str, truth: State) -> None:
    bodies = start()
    base = module({key: lines for key, lines in bodies.items() if key != name})
    text = module(bodies)
    at = text.split("\n").index(f"    step_{name} = open(value)") + 1
    wanted = (f"    step_{name} = stack.enter_context(open(value, encoding='utf-8'))",)
    anchor = Anchor("pkg/all.py", text.encode(), at, at, wanted)
    accepted = {**bodies, name: [wanted[0].strip(), *bodies[name][1:]]}
    others: dict[str, bytes] = {}
    now: str | None = text
    events = [Event(Kind.CLOSED, 9.0)]
    if life.startswith("accepted"):
        if life == "accepted-rebased":
            accepted = {"upstream": ["return 1", "# new upstream"], **accepted}
            accepted[name] = [accepted[name][0], f"data_{name} = fresh({name})", "return None"]
        now = module(accepted)
        if life == "accepted-squashed-renamed":
            others, now = {"pkg/renamed.py": now.encode()}, None
    elif life == "edited":
        anchor = Anchor("pkg/all.py", text.encode(), at, at + 1, (*wanted, "    pass"))
        now = module({**bodies, name: [wanted[0].strip(), f"return {name}"]})
    elif life == "rebased-away":
        now = base
    elif life == "dismissed":
        events.append(Event(Kind.RESOLVED, 4.0))
    elif life == "moved-elsewhere-accepted":
        now = base
        others = {"pkg/apart.py": module({name: accepted[name]}).encode()}
    elif life == "rewritten":
        now = module({**bodies, name: ["raise NotImplementedError", *bodies[name][1:]]})
    followed = follow(anchor, now.encode() if now else None, others, base=base.encode())
    events.append(Event(Kind.HEAD, 3.0, "c3", followed=followed))
    events.append(Event(Kind.HEAD, 1.0, "c1", followed=follow(anchor, text.encode())))
    found = decide([*events, *reversed(events)])
    assert (found.state, found.final) == (truth, True)
