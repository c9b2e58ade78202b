"""Fresh tokenizers in the layouts of the published ones."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tokenizers import ByteLevelBPETokenizer, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import AutoTokenizer, PreTrainedTokenizerFast

SENTINELS = 100
ROBERTA_SPECIALS = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
"""RoBERTa's order: CodeBERT's and GraphCodeBERT's ids."""
CODET5_SPECIALS = ("<pad>", "<s>", "</s>", "<unk>", "<mask>")
"""CodeT5's order, padding first as T5 has it."""
CODEREVIEWER_TOKENS = (
    "<keep>", "<add>", "<del>", "<start>", "<end>", "<msg>", *(f"<e{n}>" for n in range(99, -1, -1))
)  # fmt: skip


def sentinels() -> list[str]:
    """T5's span marks, the last first, as CodeT5's added tokens have them."""
    return [f"<extra_id_{number}>" for number in range(SENTINELS - 1, -1, -1)]


def roberta_tokenizer(
    texts: Iterable[str], size: int, specials: Sequence[str], added: Sequence[str] = ()
) -> Any:
    """Byte-level BPE of at most ``size`` entries, as ``vocab.json`` and ``merges.txt`` hold it.

    ``added`` tokens stand after the learnt ones, above ``size``.
    """
    learnt = ByteLevelBPETokenizer()
    learnt.train_from_iterator(
        texts, vocab_size=size, min_frequency=2, special_tokens=list(specials), show_progress=False
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        learnt.save_model(name)
        write_roberta_files(folder, learnt.get_vocab_size(), added)
        return AutoTokenizer.from_pretrained(name, clean_up_tokenization_spaces=False)


def write_roberta_files(folder: Path, learnt: int, added: Sequence[str]) -> None:
    """The files beside ``vocab.json`` and ``merges.txt``, as the published checkpoints have them.

    ``learnt`` is the number of entries in ``vocab.json``; ``added`` follow it.
    """
    numbers = {token: learnt + place for place, token in enumerate(added)}
    names: dict[str, Any] = {
        "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "sep_token": "</s>",
        "pad_token": "<pad>", "cls_token": "<s>", "mask_token": "<mask>",
    }  # fmt: skip
    if added:
        (folder / "added_tokens.json").write_text(json.dumps(numbers), encoding="utf-8")
        names["additional_special_tokens"] = list(added)
    (folder / "special_tokens_map.json").write_text(json.dumps(names), encoding="utf-8")
    config = {**names, "tokenizer_class": "RobertaTokenizer", "add_prefix_space": False}
    (folder / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")


def unigram_tokenizer(texts: Iterable[str], size: int) -> Any:
    """A SentencePiece-like unigram tokenizer of at most ``size`` entries with T5's sentinels."""
    fixed = ["<pad>", "</s>", "<unk>"]
    tokenizer = _unigram(Tokenizer(models.Unigram()))
    trainer = trainers.UnigramTrainer(
        vocab_size=size - SENTINELS,
        special_tokens=fixed,
        unk_token="<unk>",  # noqa: S106
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return _t5(tokenizer)


def unigram_from_vocab(path: Path) -> Any:
    """The tokenizer of a SentencePiece ``.vocab`` file: a piece and its log-probability a line.

    Raises ValueError for a line of another form.
    """
    pieces: list[tuple[str, float]] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if not line:
            continue
        piece, tab, score = line.rpartition("\t")
        if not tab:
            raise ValueError(f"{path}, line {number}: not a piece and a score, apart by a tab")
        pieces.append((piece, float(score)))
    names = [piece for piece, _ in pieces]
    unknown = names.index("<unk>") if "<unk>" in names else None
    return _t5(_unigram(Tokenizer(models.Unigram(pieces, unk_id=unknown))))


def _unigram(tokenizer: Tokenizer) -> Tokenizer:
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    return tokenizer


def _t5(tokenizer: Tokenizer) -> Any:
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<pad>",  # noqa: S106
        eos_token="</s>",  # noqa: S106
        unk_token="<unk>",  # noqa: S106
        additional_special_tokens=[f"<extra_id_{number}>" for number in range(SENTINELS)],
        clean_up_tokenization_spaces=False,
    )
