"""Tiny checkpoints in the exact layouts of the published ones."""

import json
from pathlib import Path

import torch
from tokenizers import ByteLevelBPETokenizer
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    RobertaConfig,
    RobertaForMaskedLM,
    T5Config,
    T5ForConditionalGeneration,
)

from models.systems.tokenizers import (
    CODEREVIEWER_TOKENS,
    CODET5_SPECIALS,
    ROBERTA_SPECIALS,
    sentinels,
    write_roberta_files,
)

TEXTS = ["public void close(Door door) { door.close(); }", "return name;", "check door for null"]


def _byte_level(folder: Path, specials, added=()) -> int:
    learnt = ByteLevelBPETokenizer()
    learnt.train_from_iterator(TEXTS * 4, vocab_size=300, special_tokens=list(specials))
    learnt.save_model(str(folder))
    write_roberta_files(folder, learnt.get_vocab_size(), added)
    return learnt.get_vocab_size() + len(added)


def _config(folder: Path, config, kind: str, architecture: str) -> None:
    row = {**config.to_diff_dict(), "model_type": kind, "architectures": [architecture]}
    (folder / "config.json").write_text(json.dumps(row))


def _t5(folder: Path, entries: int, head: bool = False) -> T5ForConditionalGeneration:
    config = T5Config(
        vocab_size=entries, d_model=32, d_kv=16, d_ff=64, num_layers=1, num_heads=2,
        pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=0,
    )  # fmt: skip
    torch.manual_seed(0)
    model = T5ForConditionalGeneration(config)
    weights = dict(model.state_dict())
    if head:
        weights["cls_head.weight"], weights["cls_head.bias"] = torch.ones(2, 32), torch.zeros(2)
    torch.save(weights, folder / "pytorch_model.bin")
    _config(folder, config, "t5", "T5ForConditionalGeneration")
    return model


def codet5(folder: Path) -> T5ForConditionalGeneration:
    """Salesforce/codet5-base: vocab.json, merges.txt, added_tokens.json, pytorch_model.bin."""
    return _t5(folder, _byte_level(folder, CODET5_SPECIALS, sentinels()))


def codereviewer(folder: Path) -> T5ForConditionalGeneration:
    """microsoft/codereviewer: CodeT5's layout, its own tokens, and a quality head."""
    return _t5(folder, _byte_level(folder, CODET5_SPECIALS, CODEREVIEWER_TOKENS), head=True)


def codebert(folder: Path) -> RobertaForMaskedLM:
    """microsoft/codebert-base: RoBERTa's layout, weights under ``roberta.``."""
    entries = _byte_level(folder, ROBERTA_SPECIALS)
    config = RobertaConfig(
        vocab_size=entries, hidden_size=32, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=64, max_position_embeddings=514, type_vocab_size=1,
        pad_token_id=1, bos_token_id=0, eos_token_id=2,
    )  # fmt: skip
    torch.manual_seed(0)
    model = RobertaForMaskedLM(config)
    torch.save(model.state_dict(), folder / "pytorch_model.bin")
    _config(folder, config, "roberta", "RobertaModel")
    return model


def codegpt(folder: Path) -> GPT2LMHeadModel:
    """microsoft/CodeGPT-small-java: GPT-2's layout with its own special tokens."""
    entries = _byte_level(folder, ("<s>", "</s>", "<pad>", "<unk>", "<mask>", "<EOL>"))
    config = GPT2Config(
        vocab_size=entries, n_embd=32, n_layer=1, n_head=2, n_positions=128,
        bos_token_id=0, eos_token_id=1, pad_token_id=2,
    )  # fmt: skip
    torch.manual_seed(0)
    model = GPT2LMHeadModel(config)
    torch.save(model.state_dict(), folder / "pytorch_model.bin")
    _config(folder, config, "gpt2", "GPT2LMHeadModel")
    return model


def t5_review(folder: Path) -> T5ForConditionalGeneration:
    """The converted dumps of T5-Review beside ``TokenizerModel.vocab`` of SentencePiece."""
    words = ["▁public", "▁void", "▁close", "(", ")", ";", "▁door", "▁code2code", ":", "▁", "<", ">"]
    letters = sorted(set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ/&{}._=0123456789"))
    rows = [("<pad>", 0), ("</s>", 0), ("<unk>", 0)]
    rows += [(piece, -float(rank)) for rank, piece in enumerate([*words, *letters], 1)]
    (folder / "TokenizerModel.vocab").write_text(
        "".join(f"{piece}\t{score}\n" for piece, score in rows), encoding="utf-8"
    )
    model = _t5(folder, len(rows) + 100)
    config = json.loads((folder / "config.json").read_text())
    config["eos_token_id"] = 1
    (folder / "config.json").write_text(json.dumps(config))
    return model
