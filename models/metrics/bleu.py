"""BLEU twice: sacrebleu's corpus BLEU, and CodeXGLUE's mean of smoothed sentence BLEU-4.

The two are not comparable: the first sums n-gram counts over the corpus, the second smooths and
averages sentences. Both are given as fractions, as everything in this package.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

from models.metrics.base import Metric, Record, Score, Signature, mean

_ORDER = 4
_PIECES = re.compile(r"[^\W_]+|[^\w\s]|_")
"""Runs of letters and digits; every punctuation mark, the underscore included, alone."""


class Bleu(Metric):
    """Corpus BLEU by sacrebleu with its default tokeniser (13a) and smoothing (exp)."""

    name = "bleu"

    def __init__(self, lowercase: bool = False) -> None:
        self.lowercase = lowercase

    def signature(self) -> Signature:
        """sacrebleu's own choices, its version included."""
        import sacrebleu

        return Signature(
            self.name,
            (
                ("case", "lc" if self.lowercase else "mixed"),
                ("tok", "13a"),
                ("smooth", "exp"),
                ("sacrebleu", sacrebleu.__version__),
            ),
        )

    def score(self, records: Sequence[Record]) -> Score:
        """Score the first prediction of each record against its one target."""
        if not records:
            return Score(self.name, None, 0, self.signature())
        from sacrebleu.metrics.bleu import BLEU

        result = BLEU(lowercase=self.lowercase).corpus_score(
            [record.prediction for record in records], [[record.target for record in records]]
        )
        parts = {"brevity_penalty": float(result.bp)}
        return Score(self.name, result.score / 100, len(records), self.signature(), parts)


def smoothed_bleu4(prediction: str, target: str) -> float:
    """Sentence BLEU-4 as CodeXGLUE's code summarisation computes it.

    Both texts are lower-cased and cut into words and single punctuation marks. Precisions of
    order 2 to 4 get one added to both counts (Lin and Och, 2004); the brevity penalty is
    exp(min(0, 1 - (reference length + 1) / (prediction length + 1))). No common word: 0. An empty
    prediction has no precision of any order that could be wrong, so that the penalty alone is
    left: exp(-reference length), 1 where both are empty.
    """
    guess, gold = (_PIECES.findall(text.lower()) for text in (prediction, target))
    log_sum = 0.0
    for order in range(1, _ORDER + 1):
        guessed, wanted = _ngrams(guess, order), _ngrams(gold, order)
        correct = sum((guessed & wanted).values())
        total = max(len(guess) - order + 1, 0)
        add = 1 if order > 1 else 0
        if total + add == 0:
            continue  # 0 of 0: the script adds the same tiny number to both counts
        if correct + add == 0:
            # The script's own stand-in for log 0 leaves about 1e-77 here: nothing, in a mean.
            return 0.0
        log_sum += math.log(correct + add) - math.log(total + add)
    penalty = min(0.0, 1 - (len(gold) + 1) / (len(guess) + 1))
    return math.exp(log_sum / _ORDER + penalty)


def _ngrams(words: Sequence[str], order: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[i : i + order]) for i in range(len(words) - order + 1))


class SmoothedBleu4(Metric):
    """The mean of ``smoothed_bleu4`` over the records."""

    name = "bleu4_smoothed"

    def signature(self) -> Signature:
        """CodeXGLUE's choices."""
        return Signature(
            self.name,
            (("case", "lc"), ("tok", "punct"), ("smooth", "add1-from-2"), ("level", "sentence")),
        )

    def score(self, records: Sequence[Record]) -> Score:
        """Score the first prediction of each record."""
        values = [smoothed_bleu4(record.prediction, record.target) for record in records]
        return Score(self.name, mean(values), len(records), self.signature())
