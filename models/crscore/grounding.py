"""Is each sentence of a review tied to the change, and is what it quotes near some changed line?

A mean over a review hides a sentence that has nothing to do with the change; and a reviewer who
proposes other code quotes nearly, but not wholly, what stands there. Both are read here from
letters and words alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np
from rapidfuzz import fuzz

from models.crscore.change_text import ChangeText
from models.crscore.subjects import said_subjects
from models.crscore.words import Rarity, sub_words

_QUOTED = re.compile(r"`([^`\n]{3,120})`|'([^'\n]{3,80})'|\"([^\"\n]{3,80})\"")
_QUOTES = 4
_LINES = 24
_START = 300
_BARE = 0.05
_ABSENT_COST = 0.7


def grounding_columns(
    review: str, sentences: Sequence[str], change: ChangeText, rarity: Rarity
) -> dict[str, float]:
    """Numbers of a review that has at least one sentence (the empty one, where it is empty).

    ``least`` and ``most`` are the share of a sentence's rare words that changed lines have;
    ``subjects_...`` count the subjects of a sentence that the change has, less a part of those
    that it has not; ``bare`` is the share of sentences with neither. ``quote_...`` say how much
    quoted pieces look like changed lines (wholly, or in part), ``near_line`` how much the
    review's beginning looks like a part of one, all from 0 to 1.
    """
    shares, subjects = [], []
    for sentence in sentences:
        words = set(sub_words(sentence))
        shares.append(rarity.total(words & change.changed) / (rarity.total(words) + 1.0))
        said = said_subjects(sentence)
        shown = change.subjects
        subjects.append(
            len(said & shown.changed) - _ABSENT_COST * len(said - shown.changed - shown.kept)
        )
    share, subject = np.array(shares), np.array(subjects, dtype=np.float64)
    lines = (*change.added, *change.deleted)
    quoted = [
        next(group for group in match.groups() if group)
        for match in list(_QUOTED.finditer(review))[:_QUOTES]
    ]
    part = [_best(fuzz.partial_ratio, quote, lines) for quote in quoted]
    long = [line.lower() for line in lines[:_LINES] if len(line) > 6]
    return {
        "pair_sentence_least": float(share.min()),
        "pair_sentence_most": float(share.max()),
        "pair_sentence_bare": float(((share < _BARE) & (subject <= 0)).mean()),
        "pair_sentence_subjects_least": float(subject.min()),
        "pair_sentence_subjects_most": float(subject.max()),
        "pair_sentence_subjects_mean": float(subject.mean()),
        "pair_quote_whole": max((_best(fuzz.ratio, quote, lines) for quote in quoted), default=0.0),
        "pair_quote_part": max(part, default=0.0),
        "pair_quote_part_mean": float(np.mean(part)) if part else 0.0,
        "pair_near_line": _best(fuzz.partial_ratio, review[:_START].lower(), long),
    }


def _best(measure: Callable[[str, str], float], text: str, lines: Sequence[str]) -> float:
    return max((measure(text, line) for line in lines), default=0.0) / 100.0
