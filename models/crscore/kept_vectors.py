"""Sentence vectors kept in a file between fits: encoding is most of what a fit of the judge costs.

Equal texts have equal vectors with one encoder, so a second fit (another setting, another column)
only encodes what is new. The file belongs to one encoder, which it names by its hash.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from models.crscore.encoder import Encoder, EncoderError, Variant, Vectors


class KeptVectors:
    """An encoder that remembers, with ``path`` as its memory (made by ``save``).

    Raises ``EncoderError`` where the file is another encoder's.
    """

    def __init__(self, encoder: Encoder, path: Path) -> None:
        self._encoder, self._path = encoder, path
        self.name, self.sha256 = encoder.name, encoder.sha256
        self.dtype, self.library = encoder.dtype, encoder.library
        self._known: dict[str, Vectors] = {}
        self._fresh = 0
        if path.exists():
            self._read()

    def _read(self) -> None:
        from safetensors import SafetensorError, safe_open

        try:
            with safe_open(self._path, framework="np") as file:
                maker = (file.metadata() or {}).get("encoder", "")
                texts = json.loads(file.get_tensor("texts").tobytes().decode("utf-8"))
                vectors = file.get_tensor("vectors")
        except (SafetensorError, ValueError) as error:
            raise EncoderError(f"{self._path}: no file of vectors ({error}); delete it") from error
        if maker != self._maker():
            raise EncoderError(f"{self._path}: vectors of another encoder; name another file")
        self._known = dict(zip(texts, vectors, strict=True))

    def _maker(self) -> str:
        return f"{self.sha256} {self.dtype}"

    def encode_groups(
        self, groups: Sequence[Sequence[str]], variant: Variant = "paper"
    ) -> list[Vectors]:
        """See ``Encoder``; only variant ``paper`` is remembered."""
        if variant != "paper":
            return self._encoder.encode_groups(groups, variant)
        texts = dict.fromkeys(text for group in groups for text in group)
        missing = [text for text in texts if text not in self._known]
        if missing:
            fresh = self._encoder.encode_groups([missing])[0]
            self._known.update(zip(missing, fresh, strict=True))
            self._fresh += len(missing)
        return [
            np.stack([self._known[text] for text in group])
            if group
            else np.zeros((0, 0), dtype=np.float32)
            for group in groups
        ]

    def save(self) -> None:
        """Write what is known, where something is new."""
        from safetensors.numpy import save_file

        if not self._fresh:
            return
        texts = np.frombuffer(json.dumps(list(self._known)).encode("utf-8"), dtype=np.uint8)
        vectors = np.stack(list(self._known.values())).astype(np.float32)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        save_file(
            {"texts": texts, "vectors": vectors}, self._path, metadata={"encoder": self._maker()}
        )
        self._fresh = 0
