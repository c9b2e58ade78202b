"""Byte-pair encoding over words apart by white space, as AutoTransform uses it.

Thongtanunam et al. (2022) split code into subwords with 2,000 (or 5,000) merges, so that names
never seen whole can be read and written. Pieces within a word end in ``@@``; line feeds are words
of their own, other white space is not kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from tokenizers import Tokenizer, models, pre_tokenizers, trainers

JOINER = "@@"
LINE_FEED = "<nl>"
_END = "</w>"


class Bpe:
    """A learnt encoding. Characters that it was not taught are dropped to ``<unk>``."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    @classmethod
    def learn(cls, texts: Iterable[str], merges: int) -> Bpe:
        """Learn at most ``merges`` merges, each seen at least twice, from texts."""
        tokenizer = Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix=_END))  # noqa: S106
        tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
        lines = [text.replace("\n", f" {LINE_FEED} ") for text in texts]
        words = {word for line in lines for word in line.split() if word != LINE_FEED}
        # A letter that ends words has a second entry for that.
        letters = {letter for word in words for letter in word}
        ends = {word[-1] for word in words}
        trainer = trainers.BpeTrainer(
            vocab_size=merges + len(letters) + len(ends) + 2,
            min_frequency=2,
            special_tokens=["<unk>", LINE_FEED],
            end_of_word_suffix=_END,
            show_progress=False,
        )
        tokenizer.train_from_iterator(lines, trainer)
        return cls(tokenizer)

    def encode(self, text: str) -> list[str]:
        """The pieces of a text."""
        encoded = self._tokenizer.encode(text.replace("\n", f" {LINE_FEED} ")).tokens
        return [
            piece.removesuffix(_END)
            if piece.endswith(_END) or piece == LINE_FEED
            else piece + JOINER
            for piece in encoded
        ]

    @staticmethod
    def decode(pieces: Sequence[str]) -> str:
        """The text of pieces: words one space apart, lines as they were."""
        words = " ".join(pieces).replace(f"{JOINER} ", "").removesuffix(JOINER)
        lines = words.split(LINE_FEED)
        return "\n".join(line.strip() for line in lines)

    def save(self, path: Path) -> None:
        """Write as JSON."""
        self._tokenizer.save(str(path))

    @classmethod
    def load(cls, path: Path) -> Bpe:
        """Read what ``save`` wrote."""
        return cls(Tokenizer.from_file(str(path)))
