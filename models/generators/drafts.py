"""Greedy decoding with drafts that are copied from the input and checked in one pass.

Most of a revision is the line that it revises. So what stands there is drafted, the model reads the
whole draft at once, and as much of it is kept as the model would have written itself: the answer is
that of greedy decoding, and there are fewer passes. (Speculative decoding by Leviathan et al. 2023,
with the input for a draft model, as in prompt lookup.)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from models.generators.search import Bools, Floats, Found, Ints, Masks, Rule, log_sums

ROWS = 64
"""Tokens of one pass over all windows at most: each costs its share of the output layer, so that
many windows at once leave no room for drafts (``tests.bench.serving``)."""
_LEAST = 2


class DraftRule(Rule, Protocol):
    """A rule that can guess how an answer goes on."""

    def draft(self, state: Any, most: int) -> Sequence[int]:
        """At most ``most`` tokens that may well follow."""
        ...


class Writing(Protocol):
    """A model that reads several tokens of one row a window at once."""

    def write(self, tokens: Ints) -> Floats:
        """Write tokens (windows x count); the logits of what follows each."""
        ...

    def take_back(self, unwritten: Ints) -> None:
        """Forget as many of each window's last tokens."""
        ...

    def keep(self, windows: Sequence[int]) -> None:
        """Go on with some windows only."""
        ...


class _Row:
    """One window's answer so far."""

    def __init__(self, rule: DraftRule, start: int, trust: int) -> None:
        self.rule = rule
        self.last = start
        self.state = rule.start()
        self.ids: list[int] = []
        self.tokens: list[float] = []
        self.guess: tuple[int, ...] = ()
        self.trust = trust

    def states(self) -> list[Any]:
        """The states before each guessed token, and after the last."""
        states = [self.state]
        for token in self.guess:
            states.append(self.rule.advance(states[-1], token))
        return states


def greedy_search(
    writing: Writing,
    rules: Sequence[DraftRule],
    plain: Bools,
    *,
    start: int,
    end: int,
    longest: int,
    draft: int,
) -> tuple[list[list[Found]], Floats, int]:
    """Each window's greedy answer, none where it has no end within ``longest`` tokens.

    Args:
        writing: the model, before its first token.
        rules: one a window.
        plain: which tokens are plain, vocabulary of booleans.
        start: the id that decoding starts from; ``end`` the one that closes an answer.
        longest: most tokens of an answer.
        draft: most tokens of a draft; 0 decodes token by token.

    Returns:
        The answers, the log-probabilities of the first token (windows x vocabulary), and the
        number of passes through the model.
    """
    masks = Masks(plain)
    rows = [_Row(rule, start, draft) for rule in rules]
    found: list[list[Found]] = [[] for _ in rules]
    active = list(range(len(rows)))
    first: Floats | None = None
    passes = 0
    while active:
        asked = [rows[window] for window in active]
        for row in asked:
            most = min(row.trust, ROWS // len(asked) - 1, longest - len(row.ids) - 1)
            row.guess = tuple(row.rule.draft(row.state, most)) if most > 0 else ()
        width = 1 + max(len(row.guess) for row in asked)
        tokens = np.full((len(asked), width), start)
        for place, row in enumerate(asked):
            tokens[place, : 1 + len(row.guess)] = (row.last, *row.guess)
        logits = writing.write(tokens)
        passes += 1
        if first is None:
            first = logits[:, 0] - log_sums(logits[:, 0])[:, None]
        states = [row.states() for row in asked]
        # only what follows a token that was guessed matters, not the padding
        where = [(place, at) for place, some in enumerate(states) for at in range(len(some))]
        chosen = logits[tuple(np.array(where).T)]
        allowed = [asked[place].rule.allowed(states[place][at]) for place, at in where]
        choices = iter(masks.held(chosen, allowed).argmax(-1).tolist())
        unwritten = np.zeros(len(asked), np.int64)
        going: list[int] = []
        places: list[tuple[int, int, int]] = []
        for place, row in enumerate(asked):
            taken, over = 0, False
            wanted = [next(choices) for _ in range(len(row.guess) + 1)]
            while taken < len(row.guess) and wanted[taken] == row.guess[taken] != end:
                taken += 1
            if row.guess:
                # as long as copying goes well, more is drafted
                row.trust = min(draft, max(_LEAST, 2 * taken))
            written = wanted[: taken + 1]
            places += [(place, at, token) for at, token in enumerate(written)]
            row.ids += written
            over = written[-1] == end or len(row.ids) >= longest
            row.state = (
                states[place][taken]
                if over
                else row.rule.advance(states[place][taken], written[-1])
            )
            row.last = written[-1]
            unwritten[place] = width - 1 - taken
            if not over:
                going.append(place)
        values = _probabilities(logits, places)
        for (place, _, _), value in zip(places, values, strict=True):
            asked[place].tokens.append(value)
        for place, window in enumerate(active):
            row = asked[place]
            if row.ids[-1] == end:
                found[window] = [Found(tuple(row.ids), tuple(row.tokens))]
        if not going:
            break
        writing.take_back(unwritten)
        if len(going) < len(active):
            writing.keep(going)
            active = [active[place] for place in going]
    if first is None:
        raise ValueError("a search needs at least one window")
    return found, first, passes


def _probabilities(logits: Floats, places: Sequence[tuple[int, int, int]]) -> list[float]:
    """The log-probabilities of tokens: (window, position, token) each."""
    window, position, token = np.array(places).T
    rows = logits[window, position]
    values: list[float] = (rows[np.arange(len(rows)), token] - log_sums(rows)).tolist()
    return values
