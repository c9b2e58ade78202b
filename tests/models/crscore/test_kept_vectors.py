"""Vectors kept between fits: the same numbers, encoded once, for one encoder only."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from models.crscore.encoder import EncoderError, Variant, Vectors
from models.crscore.kept_vectors import KeptVectors


class Lengths:
    """An encoder of its own kind: a text's vector is its length and a one."""

    name, dtype, library = "lengths", "float32", "none:1"

    def __init__(self, sha256: str = "a" * 64) -> None:
        self.sha256 = sha256
        self.encoded: list[str] = []

    def encode_groups(
        self, groups: Sequence[Sequence[str]], variant: Variant = "paper"
    ) -> list[Vectors]:
        self.encoded += [text for group in groups for text in group]
        return [np.array([[len(t), 1.0] for t in group], dtype=np.float32) for group in groups]


def test_a_second_run_encodes_only_what_is_new(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "vectors.safetensors"
    first = KeptVectors(Lengths(), path)
    groups = [["a", "bb\n\u00e9", "a"], [], ["bb\n\u00e9"]]
    found = first.encode_groups(groups)
    assert [part.shape for part in found] == [(3, 2), (0, 0), (1, 2)]
    first.save()
    inner = Lengths()
    again = KeptVectors(inner, path)
    for left, right in zip(again.encode_groups(groups), found, strict=True):
        np.testing.assert_array_equal(left, right)
    assert inner.encoded == []
    again.encode_groups([["a", "new"]])
    assert inner.encoded == ["new"]
    again.encode_groups([["a"]], "reference")
    assert inner.encoded == ["new", "a"]


def test_another_encoders_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "vectors.safetensors"
    kept = KeptVectors(Lengths(), path)
    kept.save()
    assert not path.exists()
    kept.encode_groups([["a"]])
    kept.save()
    with pytest.raises(EncoderError, match="another encoder"):
        KeptVectors(Lengths("b" * 64), path)
    path.write_bytes(b"no")
    with pytest.raises(EncoderError, match="no file of vectors"):
        KeptVectors(Lengths(), path)
