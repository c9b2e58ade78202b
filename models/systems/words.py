"""A vocabulary of whole tokens, by frequency."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

PAD, START, END, UNKNOWN = "<pad>", "<s>", "</s>", "<unk>"
_FIXED = (PAD, START, END, UNKNOWN)


class Words:
    """Ids of tokens and back; the first four are padding, start, end and unknown."""

    def __init__(self, entries: Sequence[str]) -> None:
        self.entries = list(entries)
        self._ids = {token: number for number, token in enumerate(self.entries)}

    @classmethod
    def learn(cls, texts: Iterable[Sequence[str]], size: int) -> Words:
        """The ``size`` most frequent tokens, the fixed four included; ties go by the alphabet."""
        counts = Counter(token for text in texts for token in text)
        for token in _FIXED:
            counts.pop(token, None)
        ranked = sorted(counts, key=lambda token: (-counts[token], token))
        return cls([*_FIXED, *ranked[: size - len(_FIXED)]])

    def __len__(self) -> int:
        return len(self.entries)

    def encode(self, tokens: Sequence[str]) -> list[int]:
        """Ids; tokens outside the vocabulary are unknown."""
        unknown = self._ids[UNKNOWN]
        return [self._ids.get(token, unknown) for token in tokens]

    def decode(self, ids: Iterable[int]) -> list[str]:
        """Tokens."""
        return [self.entries[number] for number in ids]

    def save(self, path: Path) -> None:
        """Write as a JSON list."""
        path.write_text(json.dumps(self.entries, ensure_ascii=False), encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> Words:
        """Read what ``save`` wrote."""
        return cls(json.loads(path.read_text(encoding="utf-8")))
