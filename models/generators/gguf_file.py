"""GGUF files (version 3): what they say of themselves, and their tensors, no longer quantised.

The ``gguf`` package knows how the numbers are quantised. Its reader makes an object of every
string, which takes six seconds for a vocabulary; the header is read here in a third of one.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.generators.base import GeneratorError

_NUMBERS = {
    0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d",
}  # fmt: skip
"""The type numbers of single values, as ``struct`` writes them."""
_STRING, _ARRAY = 8, 9
_MAGIC, _VERSION = b"GGUF", 3
_ALIGNMENT = 32


@dataclass(frozen=True, slots=True)
class Stored:
    """Where a tensor lies, how it is quantised, and its shape (rows first)."""

    shape: tuple[int, ...]
    kind: int
    offset: int


class GgufFile:
    """An open file: ``fields`` by name, ``tensors`` by name.

    Raises ``GeneratorError`` where it is no such file, or is cut off.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with path.open("rb") as handle:
                self._bytes = mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ)
            self._place = 0
            if self._bytes[:4] != _MAGIC or self._number("I", skip=4) != _VERSION:
                raise GeneratorError(f"{path}: no GGUF file of version {_VERSION}")
            tensors, fields = self._number("Q"), self._number("Q")
            self.fields: Mapping[str, Any] = dict(self._field() for _ in range(fields))
            self.tensors: Mapping[str, Stored] = dict(self._stored() for _ in range(tensors))
        except GeneratorError:
            raise
        except (OSError, ValueError, IndexError, KeyError, struct.error) as error:
            raise GeneratorError(f"{path}: no GGUF file that can be read: {error}") from error
        step = self.fields.get("general.alignment", _ALIGNMENT)
        self._start = -(-self._place // step) * step

    def field(self, name: str) -> Any:
        """What the file says of ``name``. Raises ``GeneratorError`` where it says nothing."""
        if name not in self.fields:
            raise GeneratorError(f"{self.path}: has no {name}; give a Llama with its tokenizer")
        return self.fields[name]

    def values(self, name: str) -> NDArray[np.float32]:
        """A tensor's values, shape (rows, columns) or (size,)."""
        from gguf.constants import GGMLQuantizationType
        from gguf.quants import dequantize, quant_shape_to_byte_shape

        stored = self.tensors[name]
        try:
            kind = GGMLQuantizationType(stored.kind)
            shape = quant_shape_to_byte_shape(stored.shape, kind)
            start = self._start + stored.offset
            packed = np.frombuffer(self._bytes, np.uint8, int(np.prod(shape)), start)
        except ValueError as error:
            raise GeneratorError(f"{self.path}: cut off, or damaged, at {name}: {error}") from error
        # a copy where nothing was packed, for the file is not to be written to
        return np.array(dequantize(packed.reshape(shape), kind), dtype=np.float32)

    def _number(self, code: str, skip: int = 0) -> Any:
        layout = struct.Struct("<" + code)
        (value,) = layout.unpack_from(self._bytes, self._place + skip)
        self._place += skip + layout.size
        return value

    def _string(self) -> str:
        size = self._number("Q")
        text = self._bytes[self._place : self._place + size]
        self._place += size
        return text.decode("utf-8")

    def _field(self) -> tuple[str, Any]:
        return self._string(), self._value(self._number("I"))

    def _value(self, kind: int) -> Any:
        if kind == _STRING:
            return self._string()
        if kind == _ARRAY:
            inner, count = self._number("I"), self._number("Q")
            read: Callable[[], Any] = partial(self._value, inner)
            return [read() for _ in range(count)]
        return self._number(_NUMBERS[kind])

    def _stored(self) -> tuple[str, Stored]:
        name = self._string()
        shape = [self._number("Q") for _ in range(self._number("I"))]
        return name, Stored(tuple(reversed(shape)), self._number("I"), self._number("Q"))
