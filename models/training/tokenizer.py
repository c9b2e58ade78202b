"""The tokenizer of the shipped model: byte-level BPE that keeps white space.

Indentation is one piece, a line feed is always a token of its own (edits end lines by it), words
take the single space before them, digits stand alone. Byte-level, so that any text is encoded and
decoded without loss.
"""

from __future__ import annotations

from collections.abc import Iterable

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

from models.generators.line_edits import special_tokens

PIECES = r"\n|^[ \t]+| ?[\p{L}_]+| ?\d| ?[^\s\p{L}_\d]+|\s+"


def train_tokenizer(texts: Iterable[str], vocabulary: int) -> Tokenizer:
    """Learn a byte-level BPE of ``vocabulary`` entries, special tokens included, from texts."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PIECES), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=special_tokens(),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        min_frequency=4,
        max_token_length=24,
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer
