"""The interrogative split: comments that ask are counted apart from those that tell.

Zhou et al. (2023), Table V. Their examples are "which, where, what, does"; the rule here, stated
in the signature by its version, is: the text has a question mark, or one of the question words
anywhere, or a sentence that starts with an auxiliary verb.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from models.metrics.base import Metric, Record, Score, Signature
from models.metrics.bleu import Bleu
from models.metrics.exact_match import ExactMatch

_WORDS = re.compile(
    r"\?|\b(?:what|which|where|when|who|whom|whose|why|how|does|did)\b", re.IGNORECASE
)
_STARTS = re.compile(
    r"(?:^|[.!;]\s+)(?:is|are|was|were|do|can|could|should|would|will|have|has|shall|may)\b",
    re.IGNORECASE,
)


def is_interrogative(text: str) -> bool:
    """Whether a comment asks, by the rule above."""
    text = text.strip()
    return bool(_WORDS.search(text) or _STARTS.search(text))


class InterrogativeSplit(Metric):
    """Exact match and BLEU with and without records whose target asks.

    The headline is the share of interrogative targets.
    """

    name = "interrogative"

    def signature(self) -> Signature:
        """The rule's version."""
        return Signature(self.name, (("rule", "words1"), ("on", "target")))

    def score(self, records: Sequence[Record]) -> Score:
        """Split by target, then score either half."""
        asks = [record for record in records if is_interrogative(record.target)]
        tells = [record for record in records if not is_interrogative(record.target)]
        parts: dict[str, float | None] = {}
        for name, half in (("interrogative", asks), ("other", tells)):
            parts[f"n_{name}"] = float(len(half))
            parts[f"exact_match_{name}"] = ExactMatch().score(half).value
            parts[f"bleu_{name}"] = Bleu().score(half).value
        share = len(asks) / len(records) if records else None
        return Score(self.name, share, len(records), self.signature(), parts)
