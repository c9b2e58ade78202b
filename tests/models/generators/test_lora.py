"""A trained difference: as layers, as a stored file, and put into the weights for good."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from models.generators.base import GeneratorError
from models.generators.lora import CONFIG, WEIGHTS, add_lora, merge_lora, save_lora
from tests.models.generators.tiny_gguf import tiny_llama

IDS = torch.tensor([[1, 20, 30, 40, 50]])


def test_it_starts_as_no_difference_and_merges_to_what_it_was_as_layers(tmp_path: Path) -> None:
    model, _ = tiny_llama()
    plain = model(IDS).logits
    parts = add_lora(model, 4, [1])
    assert torch.allclose(model(IDS).logits, plain)
    assert all(p.requires_grad for p in parts.values())
    assert sum(p.requires_grad for p in model.parameters()) == len(parts) == 14
    with torch.no_grad():
        for part in parts.values():
            part.add_(torch.randn_like(part) * 0.05)
    wanted = model(IDS).logits
    assert not torch.allclose(wanted, plain, atol=1e-3)
    save_lora(tmp_path, parts, 4, "a/base", torch.float32)
    fresh, _ = tiny_llama()
    merge_lora(fresh, tmp_path)
    assert torch.allclose(fresh(IDS).logits, wanted, atol=1e-5)


def test_the_stored_layout_is_peft_s(tmp_path: Path) -> None:
    model, _ = tiny_llama()
    save_lora(tmp_path, add_lora(model, 4, [0, 1]), 4, "a/base", torch.bfloat16)
    stored = load_file(tmp_path / WEIGHTS)
    name = "base_model.model.model.layers.1.self_attn.k_proj.lora_A.weight"
    assert (stored[name].shape, stored[name].dtype) == ((4, 64), torch.bfloat16)
    assert stored[name.replace("lora_A", "lora_B")].shape == (32, 4)
    config = json.loads((tmp_path / CONFIG).read_text())
    assert (config["peft_type"], config["r"], config["lora_alpha"]) == ("LORA", 4, 4)
    assert config["layers_to_transform"] == [0, 1]


def test_the_scale_of_another_s_adapter_is_heeded(tmp_path: Path) -> None:
    model, _ = tiny_llama()
    parts = add_lora(model, 4, [0])
    with torch.no_grad():
        for part in parts.values():
            part.add_(0.02)
    save_lora(tmp_path, parts, 4, "a/base", torch.float32)
    config = json.loads((tmp_path / CONFIG).read_text())
    (tmp_path / CONFIG).write_text(json.dumps({**config, "lora_alpha": 8}))
    merged, _ = tiny_llama()
    before = merged.model.layers[0].self_attn.q_proj.weight.clone()
    merge_lora(merged, tmp_path)
    lora = model.model.layers[0].self_attn.q_proj
    wanted = before + 2 * lora.lora_B @ lora.lora_A
    assert torch.allclose(merged.model.layers[0].self_attn.q_proj.weight, wanted, atol=1e-6)


def test_what_does_not_belong_is_said_in_one_line(tmp_path: Path) -> None:
    model, _ = tiny_llama()
    with pytest.raises(GeneratorError, match="no LoRA adapter that can be read"):
        merge_lora(model, tmp_path)
    parts = add_lora(model, 4, [0])
    save_lora(tmp_path, parts, 4, "a/base", torch.float32)
    (tmp_path / WEIGHTS).write_bytes((tmp_path / WEIGHTS).read_bytes()[:500])
    with pytest.raises(GeneratorError, match="no LoRA adapter that can be read"):
        merge_lora(model, tmp_path)
    moved = {name.replace("layers.0", "layers.7"): part for name, part in parts.items()}
    save_lora(tmp_path, moved, 4, "a/base", torch.float32)
    fresh, _ = tiny_llama()
    with pytest.raises(GeneratorError, match=r"layers\.7\S* is not in its base model"):
        merge_lora(fresh, tmp_path)
