"""Exact match, and perfect predictions within the first k."""

from __future__ import annotations

from collections.abc import Sequence

from models.metrics.base import Metric, Record, Score, Signature, mean, tokens


def matches(prediction: str, target: str) -> bool:
    """Whether both hold the same tokens in the same order (white space itself is no token)."""
    return tokens(prediction) == tokens(target)


class ExactMatch(Metric):
    """Share of records whose first prediction is the target, token by token.

    All records count, also those whose target is their source. The parts tell both sorts apart:
    ``revised`` is the share among records that needed a revision, ``unchanged`` among the others.
    """

    name = "exact_match"

    def signature(self) -> Signature:
        """Tokens apart by white space, case kept."""
        return Signature(self.name, (("tok", "whitespace"), ("case", "kept")))

    def score(self, records: Sequence[Record]) -> Score:
        """Score the first prediction of each record."""
        hits = [float(matches(record.prediction, record.target)) for record in records]
        same = [matches(record.source, record.target) for record in records]
        parts = {
            "revised": mean([hit for hit, kept in zip(hits, same, strict=True) if not kept]),
            "unchanged": mean([hit for hit, kept in zip(hits, same, strict=True) if kept]),
        }
        return Score(self.name, mean(hits), len(records), self.signature(), parts)


class PerfectAtK(Metric):
    """Share of records with the target among the first k predictions (1, 5, 10, ...).

    A record with fewer than k predictions is judged by those it has. The headline is the
    largest k; ``parts`` has one entry for each k, named by its number.
    """

    name = "perfect_at_k"

    def __init__(self, ks: Sequence[int] = (1, 5, 10)) -> None:
        if not ks or min(ks) < 1:
            raise ValueError("perfect predictions need at least one k, each 1 or more")
        self.ks = tuple(sorted(set(ks)))

    def signature(self) -> Signature:
        """The k asked for."""
        return Signature(
            self.name, (("k", ",".join(map(str, self.ks))), ("tok", "whitespace"), ("case", "kept"))
        )

    def score(self, records: Sequence[Record]) -> Score:
        """Score the ranked predictions of each record."""
        ranks = [self._rank(record) for record in records]
        parts = {
            str(k): mean([float(rank is not None and rank < k) for rank in ranks]) for k in self.ks
        }
        return Score(self.name, parts[str(self.ks[-1])], len(records), self.signature(), parts)

    @staticmethod
    def _rank(record: Record) -> int | None:
        for rank, prediction in enumerate(record.ranked):
            if matches(prediction, record.target):
                return rank
        return None
