"""LoRA (Hu et al. 2021, arXiv:2106.09685): a small trained difference to a model that stays.

A linear layer's weight W of shape (out, in) becomes W + B A, with A of shape (rank, in) and B of
shape (out, rank). Kept in the layout of the ``peft`` library (``adapter_model.safetensors`` beside
``adapter_config.json``), so that other programs can read it; here its scale is always 1.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn

from models.generators.base import GeneratorError

WEIGHTS, CONFIG = "adapter_model.safetensors", "adapter_config.json"
_PREFIX = "base_model.model."
_LAYERS = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")


class LoraLinear(nn.Module):
    """A frozen linear layer with a trained difference, kept in float32."""

    def __init__(self, base: nn.Linear, rank: int) -> None:
        super().__init__()
        self.base = base.requires_grad_(False)
        bound = base.in_features**-0.5
        self.lora_A = nn.Parameter(torch.empty(rank, base.in_features).uniform_(-bound, bound))
        self.lora_B = nn.Parameter(torch.zeros(base.out_features, rank))

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """The layer's output with the difference; ``inputs`` is (..., in)."""
        down = nn.functional.linear(inputs, self.lora_A.to(inputs.dtype))
        output: torch.Tensor = self.base(inputs)
        return output + nn.functional.linear(down, self.lora_B.to(inputs.dtype))


def add_lora(model: nn.Module, rank: int, blocks: Sequence[int]) -> dict[str, nn.Parameter]:
    """Freeze a Llama, give the linear layers of ``blocks`` a difference, and return its parts.

    The names are those of the stored file.
    """
    model.requires_grad_(False)
    trained: dict[str, nn.Parameter] = {}
    for number in blocks:
        for name, layer in list(model.get_submodule(f"model.layers.{number}").named_modules()):
            if name.rpartition(".")[2] not in _LAYERS or not isinstance(layer, nn.Linear):
                continue
            place = f"model.layers.{number}.{name}"
            around, _, last = place.rpartition(".")
            lora = LoraLinear(layer, rank)
            setattr(model.get_submodule(around), last, lora)
            trained[f"{_PREFIX}{place}.lora_A.weight"] = lora.lora_A
            trained[f"{_PREFIX}{place}.lora_B.weight"] = lora.lora_B
    return trained


def save_lora(
    folder: Path, parts: Mapping[str, torch.Tensor], rank: int, base: str, dtype: torch.dtype
) -> None:
    """Write the difference in peft's layout."""
    folder.mkdir(parents=True, exist_ok=True)
    stored = {name: part.detach().to(dtype).contiguous() for name, part in parts.items()}
    save_file(stored, folder / WEIGHTS)
    config = {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "base_model_name_or_path": base,
        "r": rank,
        "lora_alpha": rank,
        "target_modules": list(_LAYERS),
        "layers_to_transform": sorted({int(name.split(".")[4]) for name in parts}),
        "bias": "none",
    }
    (folder / CONFIG).write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


@torch.no_grad()
def merge_lora(model: nn.Module, folder: Path) -> None:
    """Add a stored difference to the weights of ``model``, for good.

    Raises ``GeneratorError`` where the difference is not one of this model's.
    """
    try:
        config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
        parts = load_file(folder / WEIGHTS)
        scale = config["lora_alpha"] / config["r"]
    except (OSError, ValueError, KeyError, TypeError, SafetensorError) as error:
        raise GeneratorError(f"{folder}: no LoRA adapter that can be read: {error}") from error
    for name, down in parts.items():
        if not name.endswith(".lora_A.weight"):
            continue
        place = name.removeprefix(_PREFIX).removesuffix(".lora_A.weight")
        up = parts[name.replace(".lora_A.", ".lora_B.")]
        try:
            weight = model.get_parameter(f"{place}.weight")
            weight.add_((scale * (up.float() @ down.float())).to(weight.dtype))
        except (AttributeError, RuntimeError) as error:
            raise GeneratorError(f"{folder}: {place} is not in its base model: {error}") from error
