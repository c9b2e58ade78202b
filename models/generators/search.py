"""Greedy and beam search over a ``T5Decoder``, each row held to what its format allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch

from models.generators.t5_decoder import T5Decoder


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


@dataclass(frozen=True, slots=True)
class Found:
    """A finished answer: its ids, the end token included, and each one's log-probability.

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


_NONE = _Live((), (), float("-inf"), None)


def beam_search(
    decoder: T5Decoder,
    encoded: torch.Tensor,
    mask: torch.Tensor,
    rules: Sequence[Rule],
    plain: torch.Tensor,
    *,
    start: int,
    end: int,
    beams: int,
    wanted: int,
    longest: int,
    by_mean: bool = False,
) -> tuple[list[list[Found]], torch.Tensor]:
    """The most probable answers of each window, best first; greedy where ``beams`` is 1.

    Answers are ranked by their whole log-probability, which only falls as they grow: a window is
    done as soon as no unfinished answer can overtake its ``wanted`` best finished ones. Answers
    longer than ``longest`` tokens are given up.

    Args:
        decoder: of the model that encoded.
        encoded: batch x source x width; ``mask`` (batch x source) is true where there is source.
        rules: one a window.
        plain: which tokens are plain, vocabulary of booleans.
        start: the id that decoding starts from; ``end`` the one that closes an answer.
        beams: how many answers are kept at each step.
        wanted: how many are returned at most, of ``beams``.
        longest: most tokens of an answer.
        by_mean: rank by the mean of the log-probabilities, as is usual for prose, which would
            else be cut short; a window is then done with its first ``beams`` answers.

    Returns:
        The answers of each window, and the log-probabilities of the first token (batch x
        vocabulary).
    """
    count = len(rules)
    done: list[list[Found]] = [[] for _ in rules]
    live = [[_Live((), (), 0.0, rule.start())] + [_NONE] * (beams - 1) for rule in rules]
    with torch.inference_mode():
        state = decoder.begin(encoded, mask, beams)
        tokens = torch.full((count * beams, 1), start)
        first: torch.Tensor | None = None
        active = list(range(count))
        for _ in range(longest):
            scores = decoder.step(state, tokens)[:, -1]
            if first is None:
                first = scores.view(count, beams, -1)[:, 0].clone()
            held = scores.masked_fill(~_allowed(active, live, rules, plain, scores), float("-inf"))
            so_far = torch.tensor([[one.total for one in live[w]] for w in active])
            totals = so_far.unsqueeze(-1) + held.view(len(active), beams, -1)
            # twice as many as beams, so that finished answers leave enough unfinished ones
            best = totals.flatten(1).topk(min(2 * beams, totals[0].numel()))
            own = scores.view(len(active), -1).gather(1, best.indices)
            vocabulary = scores.shape[-1]
            rows: list[int] = []
            written: list[int] = []
            going: list[int] = []
            for place, window in enumerate(active):
                kept = _next(
                    live[window],
                    zip(
                        (best.indices[place] // vocabulary).tolist(),
                        (best.indices[place] % vocabulary).tolist(),
                        best.values[place].tolist(),
                        own[place].tolist(),
                        strict=True,
                    ),
                    done[window],
                    rules[window],
                    end,
                    beams,
                )
                if _settled(done[window], kept, beams if by_mean else wanted, by_mean):
                    continue
                live[window] = [one for _, one in kept]
                live[window] += [_NONE] * (beams - len(kept))
                going.append(place)
                base = len(going) - 1
                parents = [parent for parent, _ in kept] + [0] * (beams - len(kept))
                rows += [base * beams + parent for parent in parents]
                written += [one.ids[-1] if one.ids else start for one in live[window]]
            if not going:
                break
            if len(going) < len(active):
                state.keep(torch.tensor(going))
                active = [active[place] for place in going]
            if beams > 1:
                state.reorder(torch.tensor(rows))
            tokens = torch.tensor(written).unsqueeze(1)
    for window in range(count):
        done[window].sort(key=lambda found: -(found.mean if by_mean else found.total))
        del done[window][wanted:]
    if first is None:
        raise ValueError("answers need at least one token")
    return done, first


def _next(
    parents: Sequence[_Live],
    choices: Any,
    done: list[Found],
    rule: Rule,
    end: int,
    beams: int,
) -> list[tuple[int, _Live]]:
    """The best unfinished continuations with their parents; finished ones go to ``done``."""
    kept: list[tuple[int, _Live]] = []
    for parent, token, total, own in choices:
        if total == float("-inf") or len(kept) == beams:
            break
        before = parents[parent]
        ids, tokens = (*before.ids, token), (*before.tokens, own)
        if token == end:
            done.append(Found(ids, tokens))
        else:
            kept.append((parent, _Live(ids, tokens, total, rule.advance(before.state, token))))
    return kept


def _settled(
    done: Sequence[Found], kept: Sequence[tuple[int, _Live]], enough: int, by_mean: bool
) -> bool:
    if not kept:
        return True
    if len(done) < enough:
        return False
    if by_mean:
        return True
    worst = sorted((found.total for found in done), reverse=True)[enough - 1]
    return max(one.total for _, one in kept) <= worst


def _allowed(
    active: Sequence[int],
    live: Sequence[Sequence[_Live]],
    rules: Sequence[Rule],
    plain: torch.Tensor,
    scores: torch.Tensor,
) -> torch.Tensor:
    allowed = torch.zeros_like(scores, dtype=torch.bool)
    free: list[int] = []
    rows: list[int] = []
    ids: list[int] = []
    barred: list[tuple[int, int]] = []
    row = 0
    for window in active:
        for one in live[window]:
            if one.state is not None:
                text, others, not_these = rules[window].allowed(one.state)
                if text:
                    free.append(row)
                rows += [row] * len(others)
                ids += others
                barred += [(row, number) for number in not_these]
            row += 1
    if free:
        allowed[free] = plain
    if rows:
        allowed[rows, ids] = True
    for row, number in barred:
        allowed[row, number] = False
    return allowed
