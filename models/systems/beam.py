"""Beam search over ``models.systems.transformer``, several rows at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from models.systems.transformer import END, PAD, START, UNKNOWN, Cache, Transformer


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """Ids without START and END, and the mean log-probability of its tokens, END included."""

    ids: tuple[int, ...]
    score: float


@torch.inference_mode()
def beam_search(
    model: Transformer, sources: Sequence[torch.Tensor], beams: int, limit: int
) -> list[list[Hypothesis]]:
    """The best ``beams`` hypotheses a row, best first, of at most ``limit`` tokens.

    A hypothesis that reaches the limit ends there. PAD, START and UNKNOWN are never chosen.
    """
    model.eval()
    rows = sources[0].shape[0]
    memory = model.encode(sources).select(torch.arange(rows).repeat_interleave(beams))
    cache = Cache()
    tokens = torch.full((rows * beams, 1), START)
    totals = torch.full((rows, beams), -torch.inf)
    totals[:, 0] = 0.0  # the beams of a row start equal: only the first may be extended
    done: list[list[Hypothesis]] = [[] for _ in range(rows)]
    for length in range(1, limit + 1):
        logits = model.decode(tokens[:, -1:], memory, cache, length - 1)[:, -1]
        logits[:, [PAD, START, UNKNOWN]] = -torch.inf
        steps = logits.log_softmax(-1).view(rows, beams, -1) + totals[:, :, None]
        entries = steps.shape[-1]
        best, places = steps.flatten(1).topk(min(2 * beams, beams * entries), dim=1)
        kept_rows = torch.zeros(rows, beams, dtype=torch.long)
        kept_ids = torch.full((rows, beams), END)
        totals = torch.full((rows, beams), -torch.inf)
        for row in range(rows):
            kept = 0
            for value, place in zip(best[row].tolist(), places[row].tolist(), strict=True):
                beam, entry = divmod(place, entries)
                if value == -torch.inf or kept == beams:
                    break
                if entry == END or length == limit:
                    ids = tokens[row * beams + beam, 1:].tolist()
                    ids = ids if entry == END else [*ids, entry]
                    done[row].append(Hypothesis(tuple(ids), value / length))
                    continue
                kept_rows[row, kept], kept_ids[row, kept] = row * beams + beam, entry
                totals[row, kept] = value
                kept += 1
        if all(_settled(done[row], totals[row], beams, length) for row in range(rows)):
            break
        chosen = kept_rows.flatten()
        tokens = torch.cat([tokens[chosen], kept_ids.view(-1, 1)], 1)
        cache = cache.select(chosen)
    return [
        sorted(hypotheses, key=lambda hypothesis: -hypothesis.score)[:beams] for hypotheses in done
    ]


def _settled(done: list[Hypothesis], totals: torch.Tensor, beams: int, length: int) -> bool:
    """Whether no open hypothesis of the row can still enter its best ``beams``.

    A mean can rise with length, so an open one is judged by its own mean so far.
    """
    if not torch.isfinite(totals).any():
        return True
    if len(done) < beams:
        return False
    worst = sorted((hypothesis.score for hypothesis in done), reverse=True)[beams - 1]
    return float(totals.max()) / length <= worst
