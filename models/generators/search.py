"""Beam search step by step, each row held to what its format allows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


class Rule(Protocol):
    """What may be written to one window's answer; states are immutable."""

    def start(self) -> Any:
        """The state of an empty answer."""
        ...

    def allowed(self, state: Any) -> tuple[bool, Sequence[int], Sequence[int]]:
        """Whether plain tokens may follow; which others may; which plain ones may not."""
        ...

    def advance(self, state: Any, token: int) -> Any:
        """The state after a token."""
        ...


class Steps(Protocol):
    """A model that writes one token after another; each window has one row at the beginning."""

    def step(self, tokens: Ints, parents: Ints) -> Floats:
        """Write tokens (windows x rows), each after what the window's row ``parents`` has written.

        Returns:
            The logits of what follows, windows x rows x vocabulary.
        """
        ...

    def keep(self, windows: Sequence[int]) -> None:
        """Go on with some windows only."""
        ...


class Anything:
    """Any plain token, or the end, in any order.

    Args:
        end: the id that closes an answer.
    """

    def __init__(self, end: int) -> None:
        self._end = (end,)

    def start(self) -> int:
        """There is but one state."""
        return 0

    def allowed(self, state: int) -> tuple[bool, Sequence[int], Sequence[int]]:
        """See ``Rule``."""
        return True, self._end, ()

    def advance(self, state: int, token: int) -> int:
        """See ``Rule``."""
        return state


@dataclass(frozen=True, slots=True)
class Found:
    """An answer: its ids, the end token included, and each one's log-probability.

    The log-probabilities are the model's own, before the rule took anything out.
    """

    ids: tuple[int, ...]
    tokens: tuple[float, ...]

    @property
    def total(self) -> float:
        """The answer's log-probability."""
        return sum(self.tokens)

    @property
    def mean(self) -> float:
        """The mean of its tokens' log-probabilities."""
        return self.total / len(self.tokens)


@dataclass(frozen=True, slots=True)
class _Live:
    """An unfinished answer."""

    ids: tuple[int, ...]
    tokens: tuple[float, ...]
    total: float
    state: Any


@dataclass(frozen=True, slots=True)
class Ranking:
    """How answers are ranked, and when a search is over.

    By ``mean``, as is usual for prose, which would else be cut short, or by their whole
    log-probability. That only falls as they grow, so a window is done as soon as no unfinished
    answer can overtake its ``wanted`` best finished ones; a mean can rise, so that there an
    unfinished answer is judged by its own mean so far, against the ``beams`` best (as
    transformers does). Answers of ``longest`` tokens without an end are given up, or, with
    ``cut``, kept as they are. With ``apart`` the beams part at the first token, of which each
    takes another, and never meet again: several answers that differ, where the likeliest ones
    would be one answer in several wordings.
    """

    beams: int
    wanted: int
    longest: int
    mean: bool = False
    cut: bool = False
    apart: bool = False

    def value(self, found: Found) -> float:
        """What answers are ranked by."""
        return found.mean if self.mean else found.total

    def settled(self, done: Sequence[Found], live: Sequence[_Live]) -> bool:
        """Whether a window's search is over."""
        if not live:
            return True
        enough = self.beams if self.mean else self.wanted
        if len(done) < enough:
            return False
        worst = sorted(map(self.value, done), reverse=True)[enough - 1]
        best = max(one.total for one in live)
        return (best / len(live[0].ids) if self.mean else best) <= worst


def beam_search(
    steps: Steps,
    rules: Sequence[Rule],
    plain: Bools,
    ranking: Ranking,
    *,
    start: int,
    end: int,
) -> tuple[list[list[Found]], Floats]:
    """The most probable answers of each window, best first; greedy where there is one beam.

    Args:
        steps: the model, before its first step.
        rules: one a window.
        plain: which tokens are plain, vocabulary of booleans.
        ranking: how many answers are followed, and which are returned.
        start: the id that decoding starts from; ``end`` the one that closes an answer.

    Returns:
        The answers of each window, and the log-probabilities of the first token (windows x
        vocabulary).
    """
    if ranking.longest < 1:
        raise ValueError("answers need at least one token")
    done: list[list[Found]] = [[] for _ in rules]
    live = [[_Live((), (), 0.0, rule.start())] for rule in rules]
    masks = Masks(plain)
    first: Floats | None = None
    active = list(range(len(rules)))
    tokens = np.full((len(rules), 1), start)
    parents = np.zeros((len(rules), 1), np.int64)
    for length in range(1, ranking.longest + 1):
        logits = steps.step(tokens, parents)
        windows, rows, vocabulary = logits.shape
        flat = logits.reshape(windows * rows, vocabulary)
        norms = log_sums(flat)
        if first is None:
            first = flat - norms[:, None]
        held = masks.held(
            flat,
            [
                rules[window].allowed(live[window][row].state) if row < len(live[window]) else None
                for window in active
                for row in range(rows)
            ],
        )
        so_far = np.full((windows, rows), -np.inf, np.float32)
        for place, window in enumerate(active):
            so_far[place, : len(live[window])] = [one.total for one in live[window]]
        norms = norms.reshape(windows, rows)
        if ranking.apart and length > 1:
            values, chosen, written = best_by_row(held.reshape(windows, rows, -1), so_far - norms)
        else:
            # twice as many as beams, so that finished answers leave enough unfinished ones
            values, chosen, written = best_of(
                held.reshape(windows, rows, -1), so_far - norms, 2 * ranking.beams
            )
        place_of = np.arange(windows)[:, None]
        own = logits[place_of, chosen, np.minimum(written, vocabulary - 1)]
        own -= norms[place_of, chosen]
        last = ranking.cut and length == ranking.longest
        going: list[int] = []
        kept_rows: list[list[tuple[int, _Live]]] = []
        for place, (window, choices) in enumerate(
            zip(
                active,
                zip(values.tolist(), chosen.tolist(), written.tolist(), own.tolist(), strict=True),
                strict=True,
            )
        ):
            kept = _next(
                live[window], choices, done[window], rules[window], None if last else end, ranking
            )
            live[window] = [one for _, one in kept]
            if not ranking.settled(done[window], live[window]):
                going.append(place)
                kept_rows.append(kept)
        if not going:
            break
        if len(going) < windows:
            steps.keep(going)
            active = [active[place] for place in going]
        width = max(map(len, kept_rows))
        tokens = np.full((len(going), width), start)
        parents = np.zeros((len(going), width), np.int64)
        for place, kept in enumerate(kept_rows):
            tokens[place, : len(kept)] = [one.ids[-1] for _, one in kept]
            parents[place, : len(kept)] = [parent for parent, _ in kept]
    for found in done:
        found.sort(key=lambda one: -ranking.value(one))
        del found[ranking.wanted :]
    if first is None:
        raise AssertionError("a search has a first step")
    return done, first


def _next(
    parents: Sequence[_Live],
    choices: tuple[list[float], list[int], list[int], list[float]],
    done: list[Found],
    rule: Rule,
    end: int | None,
    ranking: Ranking,
) -> list[tuple[int, _Live]]:
    """The best unfinished continuations with their parents; finished ones go to ``done``.

    Where ``end`` is ``None``, each is finished.
    """
    kept: list[tuple[int, _Live]] = []
    for total, parent, token, own in zip(*choices, strict=True):
        if total == -math.inf or len(kept) == ranking.beams:
            break
        before = parents[parent]
        ids, tokens = (*before.ids, token), (*before.tokens, own)
        if end is None or token == end:
            done.append(Found(ids, tokens))
        else:
            kept.append((parent, _Live(ids, tokens, total, rule.advance(before.state, token))))
    return kept


class Masks:
    """Logits held to what rules allow.

    Args:
        plain: which tokens are plain, vocabulary of booleans.
    """

    def __init__(self, plain: Bools) -> None:
        self._plain = np.where(plain, np.float32(0), np.float32(-np.inf))

    def held(
        self,
        logits: Floats,
        allowed: Sequence[tuple[bool, Sequence[int], Sequence[int]] | None],
    ) -> Floats:
        """A copy of the logits (rows x vocabulary) with minus infinity for what may not follow.

        ``allowed`` is what ``Rule.allowed`` says of each row, ``None`` where nothing may follow.
        """
        held: Floats = logits + self._plain
        rows: list[int] = []
        ids: list[int] = []
        barred: list[tuple[int, int]] = []
        for row, said in enumerate(allowed):
            if said is None or not said[0]:
                held[row] = -np.inf
            if said is not None:
                rows += [row] * len(said[1])
                ids += said[1]
                barred += [(row, number) for number in said[2]]
        if rows:
            held[rows, ids] = logits[rows, ids]
        for row, number in barred:
            held[row, number] = -np.inf
        return held


def log_sums(logits: Floats) -> Floats:
    """The logarithm of the summed exponentials of each row."""
    top = logits.max(-1, keepdims=True)
    sums: Floats = np.log(np.exp(logits - top).sum(-1)) + top[:, 0]
    return sums


def best_by_row(held: Floats, offsets: Floats) -> tuple[Floats, Ints, Ints]:
    """The largest value of each row; as ``best_of`` gives them, each row once."""
    written = held.argmax(-1)
    values = np.take_along_axis(held, written[:, :, None], -1)[:, :, 0] + offsets
    order = np.argsort(-values, 1, kind="stable")
    return (
        np.take_along_axis(values, order, 1),
        order,
        np.take_along_axis(written, order, 1),
    )


_CHUNKS = 64


def best_of(held: Floats, offsets: Floats, count: int) -> tuple[Floats, Ints, Ints]:
    """The largest values over all rows of each window, in descending order.

    Args:
        held: windows x rows x vocabulary.
        offsets: added to each row's values, windows x rows.
        count: how many (fewer where there are not so many).

    Returns:
        Values, rows and entries, each windows x count.
    """
    windows, rows, vocabulary = held.shape
    if vocabulary % _CHUNKS:
        short = _CHUNKS - vocabulary % _CHUNKS
        held = np.pad(held, ((0, 0), (0, 0), (0, short)), constant_values=-np.inf)
    # the largest values lie in the chunks with the largest maxima (chunk c: c, c + 64, ...)
    cut = held.reshape(windows, rows, -1, _CHUNKS)
    tops = cut.max(2) + offsets[:, :, None]
    chunk_count = min(count, rows * _CHUNKS)
    chunks = _largest(tops.reshape(windows, -1), chunk_count)
    row, chunk = np.divmod(chunks, _CHUNKS)
    place = np.arange(windows)[:, None]
    inside = cut[place, row, :, chunk] + offsets[place, row][:, :, None]
    size = inside.shape[2]
    flat = inside.reshape(windows, -1)
    found = _largest(flat, min(count, flat.shape[1]))
    values = flat[place, found]
    order = np.argsort(-values, 1, kind="stable")
    found, values = found[place, order], values[place, order]
    which, inner = np.divmod(found, size)
    return values, row[place, which], inner * _CHUNKS + chunk[place, which]


def _largest(values: Floats, count: int) -> Ints:
    """Where the ``count`` largest values of each row are, in no order."""
    if count == values.shape[1]:
        return np.broadcast_to(np.arange(count), values.shape)
    return np.argpartition(values, -count, axis=1)[:, -count:]
