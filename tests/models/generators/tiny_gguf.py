"""A Llama of a few thousand parameters in a GGUF file, as llama.cpp's converter writes them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import torch
from gguf import GGMLQuantizationType, GGUFWriter
from gguf.quants import quantize
from tokenizers import Tokenizer, pre_tokenizers
from tokenizers.models import BPE
from tokenizers.trainers import BpeTrainer
from transformers import LlamaConfig, LlamaForCausalLM

SPECIALS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
TEXT = (
    "user assistant python java <<< >>> use rename remove the a to this print total items "
    "def first(items): return items[0] for i in range(len(items)): print(total)\n    \n"
)
WIDTH, HEADS, KEY_HEADS, INNER, LAYERS = 64, 4, 2, 96, 2


def tiny_llama(seed: int = 0) -> tuple[LlamaForCausalLM, Tokenizer]:
    """Random weights, with a tokenizer like SmolLM2's."""
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(
        [TEXT] * 3,
        BpeTrainer(special_tokens=list(SPECIALS), vocab_size=340, initial_alphabet=alphabet),
    )
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=WIDTH,
        intermediate_size=INNER,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        num_key_value_heads=KEY_HEADS,
        max_position_embeddings=512,
        rms_norm_eps=1e-5,
        rope_theta=100000.0,
        tie_word_embeddings=True,
        initializer_range=0.2,
    )
    return LlamaForCausalLM(config).eval(), tokenizer


def write_gguf(
    path: Path,
    model: LlamaForCausalLM,
    tokenizer: Tokenizer,
    kind: GGMLQuantizationType = GGMLQuantizationType.F32,
) -> Path:
    """The file; matrices are quantised as ``kind`` says, norms never are."""
    writer = GGUFWriter(path, "llama")
    writer.add_context_length(model.config.max_position_embeddings)
    writer.add_embedding_length(model.config.hidden_size)
    writer.add_block_count(model.config.num_hidden_layers)
    writer.add_feed_forward_length(model.config.intermediate_size)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KEY_HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(100000.0)
    vocabulary = sorted(tokenizer.get_vocab(), key=tokenizer.get_vocab().__getitem__)
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(vocabulary)
    writer.add_token_types([3 if token in SPECIALS else 1 for token in vocabulary])
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    writer.add_token_merges([" ".join(pair) for pair in merges])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_pad_token_id(2)
    for name, value in model.state_dict().items():
        if name == "lm_head.weight":
            continue  # it is the embedding
        array = value.numpy().astype(np.float32)
        if "q_proj" in name or "k_proj" in name:
            heads = HEADS if "q_proj" in name else KEY_HEADS
            rows, width = array.shape
            array = array.reshape(heads, 2, rows // heads // 2, width).swapaxes(1, 2)
            array = array.reshape(rows, width)
        if array.ndim == 1 or kind is GGMLQuantizationType.F32:
            writer.add_tensor(_place(name), np.ascontiguousarray(array))
        else:
            writer.add_tensor(_place(name), quantize(array, kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _place(name: str) -> str:
    if name == "model.embed_tokens.weight":
        return "token_embd.weight"
    if name == "model.norm.weight":
        return "output_norm.weight"
    _, _, number, *part = name.split(".")
    parts = {
        "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm",
        "q_proj": "attn_q", "k_proj": "attn_k", "v_proj": "attn_v", "o_proj": "attn_output",
        "gate_proj": "ffn_gate", "up_proj": "ffn_up", "down_proj": "ffn_down",
    }  # fmt: skip
    return f"blk.{number}.{parts[part[-2]]}.weight"
