"""Checkpoints on disk: finding them, reading their task cards, hashing them. No torch here."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from models.generators.base import GeneratorError

CARD = "marginalia.json"
FORMAT = "line-edits-1"


_FILES = ["*.json", "*.txt", "*.model", "*.vocab", "*.safetensors"]


def checkpoint_folder(source: str | Path) -> Path:
    """The folder of a checkpoint: itself, or a Hub id's snapshot.

    A Hub id is fetched only where HF_HUB_OFFLINE is not set, else read from the local cache.

    Raises:
        GeneratorError: there is no such folder and the Hub (or its cache) has no such model.
    """
    folder = Path(source)
    if folder.is_dir():
        return folder
    name = str(source)
    if name.count("/") != 1 or folder.is_absolute():
        raise GeneratorError(f"no model {name!r}: no such folder; name a folder or a Hub id")
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    offline = os.environ.get("HF_HUB_OFFLINE", "") not in ("", "0")
    fetch: Any = snapshot_download
    try:
        found = Path(fetch(name, allow_patterns=_FILES, local_files_only=offline))
        if not any(found.glob("*.safetensors")):
            # older checkpoints have PyTorch's own file only
            fetch(name, allow_patterns=["*.bin"], local_files_only=offline)
    except (OSError, HfHubHTTPError, HFValidationError, ValueError) as error:
        raise GeneratorError(
            f"no model {name!r}: it is no folder here and its files cannot be loaded from the Hub "
            f"({type(error).__name__}); name a folder or a Hub id that is in the local cache, or "
            "unset HF_HUB_OFFLINE to fetch it"
        ) from error
    return found


def read_card(folder: Path, source: str | Path) -> dict[str, Any]:
    """The task card of a checkpoint.

    Raises:
        GeneratorError: it has none, or one of another format.
    """
    path = folder / CARD
    if not path.exists():
        raise GeneratorError(
            f"model {str(source)!r} has no task card ({CARD}): it was not trained to review; "
            f"fine-tune it first: marginalia train --from {source}"
        )
    try:
        card: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise GeneratorError(f"{path}: the task card is not JSON ({error})") from error
    if card.get("format") != FORMAT:
        raise GeneratorError(f"{path}: format {card.get('format')!r}; this version reads {FORMAT}")
    return card


def weights_hash(folder: Path) -> str:
    """First 12 hex digits of the SHA-256 of the checkpoint's weights and, if any, tokenizer."""
    digest = hashlib.sha256()
    for path in [*sorted(folder.glob("*.safetensors")), *folder.glob("tokenizer.json")]:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]
