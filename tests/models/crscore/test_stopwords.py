"""Which ids of a vocabulary are left out of a sentence's mean."""

from __future__ import annotations

from tokenizers import Tokenizer, decoders, models
from transformers import AutoTokenizer, PreTrainedTokenizerFast

from models.crscore.encoder import shipped_folder
from models.crscore.stopwords import STOP_TOKENS, stop_ids


def test_every_stop_token_of_the_shipped_vocabulary_is_found() -> None:
    tokenizer = AutoTokenizer.from_pretrained(shipped_folder())
    slow = [i for i in range(len(tokenizer)) if tokenizer.decode([i]) in STOP_TOKENS]
    assert stop_ids(tokenizer) == slow
    assert STOP_TOKENS - {tokenizer.decode([i]) for i in slow} == {"needn", "mustn", "mightn"}


def test_pieces_with_a_mark_count_by_what_they_decode_to() -> None:
    names = ["<unk>", "▁the", "the", "▁The", "▁.", ".", "▁thesis", "<0x2E>", "<0x41>", "▁don"]
    inner = Tokenizer(models.BPE({name: i for i, name in enumerate(names)}, [], unk_token="<unk>"))
    inner.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    )
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=inner, unk_token="<unk>")
    found = stop_ids(tokenizer)
    assert found == [i for i in range(len(names)) if tokenizer.decode([i]) in STOP_TOKENS]
    assert {names[i] for i in found} >= {"the", ".", "<0x2E>"}
    assert {names[i] for i in found}.isdisjoint({"▁The", "▁thesis", "<0x41>", "<unk>"})
