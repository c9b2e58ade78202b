"""The beam search of ``models.generators.search`` over ``models.systems.transformer``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from models.generators import search
from models.systems.transformer import END, PAD, START, UNKNOWN, Cache, Transformer

_NEVER = [PAD, START, UNKNOWN]


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """Ids without START and END, and the mean log-probability of its tokens, END included."""

    ids: tuple[int, ...]
    score: float


class _Steps:
    """The model, one token after another (see ``search.Steps``)."""

    def __init__(self, model: Transformer, sources: Sequence[torch.Tensor]) -> None:
        self._model = model
        self._memory = model.encode(sources)
        self._cache = Cache()
        self._rows = 1
        self._length = 0

    def keep(self, windows: Sequence[int]) -> None:
        """Go on with some windows only."""
        first = np.asarray(windows)[:, None] * self._rows
        self._select(first + np.arange(self._rows), moved=True)

    def step(self, tokens: search.Ints, parents: search.Ints) -> search.Floats:
        """Write tokens (windows x rows); the logits of what follows."""
        windows, rows = tokens.shape
        first = np.arange(windows)[:, None] * self._rows
        self._select(first + parents, moved=rows != self._rows)
        self._rows = rows
        last = torch.from_numpy(tokens.reshape(-1, 1))
        logits = self._model.decode(last, self._memory, self._cache, self._length)[:, -1]
        logits[:, _NEVER] = -torch.inf
        self._length += 1
        found: search.Floats = logits.view(windows, rows, -1).numpy()
        return found

    def _select(self, rows: search.Ints, moved: bool) -> None:
        chosen = torch.from_numpy(rows.ravel())
        self._cache = self._cache.select(chosen, moved)
        if moved:
            self._memory = self._memory.select(chosen)


@torch.inference_mode()
def beam_search(
    model: Transformer, sources: Sequence[torch.Tensor], beams: int, limit: int
) -> list[list[Hypothesis]]:
    """The best ``beams`` hypotheses a row, best first, of at most ``limit`` tokens.

    A hypothesis that reaches the limit ends there. PAD, START and UNKNOWN are never chosen.
    """
    model.eval()
    plain = np.ones(model.embedding.num_embeddings, np.bool_)
    plain[[*_NEVER, END]] = False
    found, _ = search.beam_search(
        _Steps(model, sources),
        [search.Anything(END)] * len(sources[0]),
        plain,
        search.Ranking(beams, beams, limit, mean=True, cut=True),
        start=START,
        end=END,
    )
    return [[Hypothesis(_body(one.ids), one.mean) for one in answers] for answers in found]


def _body(ids: tuple[int, ...]) -> tuple[int, ...]:
    return ids[:-1] if ids[-1] == END else ids
