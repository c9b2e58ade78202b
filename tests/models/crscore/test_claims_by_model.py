"""Claims by a model: what is read of an answer, a real server, a real causal model, the cache."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bot.commands.score import app
from bot.errors import FatalError
from models.crscore.claims.by_model import (
    MAX_DIFF,
    CausalModel,
    ClaimsError,
    Endpoint,
    ModelClaims,
    read_claims,
)
from models.crscore.judge import row_of

DIFF = "@@ -1 +1 @@\n-timeout = 5\n+timeout = 50\n"
ANSWER = """Changes:
1. The timeout was raised from 5 to 50.
2) The value is still a number
Implications:
- Callers wait up to ten times longer.
- Slow servers are given
- This line comes after a broken one.
"""
CLAIMS = [
    "The timeout was raised from 5 to 50.",
    "The value is still a number",
    "Callers wait up to ten times longer.",
]


class Server(ThreadingHTTPServer):
    """A chat server on this machine: it keeps what it was asked and answers from ``say``."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        self.status = 200
        self.say: bytes = completion(ANSWER)
        self.drop = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((self.path, dict(self.headers), body))
        if self.server.drop:
            self.server.drop -= 1
            self.close_connection = True
            return
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(self.server.say)))
        if self.server.status == 302:
            self.send_header("Location", "http://example.com/v1")
        self.end_headers()
        self.wfile.write(self.server.say)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is printed."""


def completion(text: str | None) -> bytes:
    return json.dumps({"choices": [{"message": {"role": "assistant", "content": text}}]}).encode()


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.05,))
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def test_an_answer_is_read_as_the_paper_reads_it() -> None:
    assert read_claims(ANSWER) == CLAIMS
    assert read_claims("") == []
    assert read_claims("**Changes**\n* a `b` is c\n* a `b` is c\n\n## Implications:\nnone") == [
        "a `b` is c"
    ]
    assert len(read_claims("".join(f"{n}. claim {n}\n" for n in range(100)))) == 24


def test_an_endpoint_is_asked_once_a_change(server: Server, tmp_path: Path) -> None:
    claims = ModelClaims(Endpoint(server.url, "coder", "secret"), tmp_path)
    found = claims.of(DIFF)
    assert [claim.text for claim in found] == CLAIMS
    assert {claim.origin for claim in found} == {"model:coder/512"}
    [(path, headers, body)] = server.asked
    assert path == "/v1/chat/completions"
    assert headers["Authorization"] == "Bearer secret"
    assert (body["model"], body["temperature"]) == ("coder", 0)
    assert DIFF.strip() in body["messages"][0]["content"]
    assert claims.of(DIFF) == found
    again = ModelClaims(Endpoint(server.url, "coder", "secret"), tmp_path)
    assert again.of(DIFF) == found
    assert len(server.asked) == 1
    # another model, another change and a damaged file are asked anew
    ModelClaims(Endpoint(server.url, "other"), tmp_path).of(DIFF)
    assert "Authorization" not in server.asked[-1][1]
    again.of(DIFF + "+x\n" * MAX_DIFF)
    assert len(server.asked[-1][2]["messages"][0]["content"]) < MAX_DIFF + 1000
    for kept in tmp_path.rglob("*.json"):
        kept.write_text("{")
    assert ModelClaims(Endpoint(server.url, "coder"), tmp_path).of(DIFF) == found
    assert len(server.asked) == 4
    row = row_of(DIFF, "A review.", found)
    assert row.references == tuple(CLAIMS)


def test_a_broken_connection_is_tried_once_more(server: Server) -> None:
    server.drop = 1
    assert len(ModelClaims(Endpoint(server.url, "coder")).of(DIFF)) == 3
    server.drop = 2
    with pytest.raises(ClaimsError, match="broke twice"):
        ModelClaims(Endpoint(server.url, "coder")).of(DIFF)


@pytest.mark.parametrize(
    ("status", "say", "message"),
    [
        (500, b"out of memory", "HTTP 500 out of memory"),
        (302, b"", "HTTP 302"),
        (200, b"<html>", "not a chat completion"),
        (200, b"[]", "not a chat completion"),
        (200, completion(None), "holds no text"),
        (200, b"x" * ((1 << 20) + 1), "over 1 MiB"),
    ],
)
def test_bad_answers_are_said_in_a_line(
    server: Server, status: int, say: bytes, message: str
) -> None:
    server.status, server.say = status, say
    with pytest.raises(ClaimsError, match=message) as raised:
        ModelClaims(Endpoint(server.url, "coder")).of(DIFF)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("http://127.0.0.1:9/v1", "is the server running"),
        ("http://93.184.216.34/v1", "not of a private network"),
        ("http://[2606:2800:220:1::1]/v1", "not of a private network"),
        ("file:///etc/passwd", "not an address"),
        ("localhost:8000", "not an address"),
        ("http://no-such-host.invalid/v1", "no such host"),
    ],
)
def test_addresses_that_are_not_asked(url: str, message: str) -> None:
    with pytest.raises(ClaimsError, match=message):
        Endpoint(url, "coder").answer("x")


@pytest.mark.weights
def test_the_command_takes_claims_of_a_model(server: Server, tmp_path: Path) -> None:
    row = json.dumps({"diff": DIFF, "review": "Why is the timeout ten times longer now?"})
    named = ["--claims-model", "coder", "--claims-endpoint", server.url]
    kept = ["--claims-cache", str(tmp_path)]
    runner = CliRunner()
    for claims, refs in (("model", "refs:model"), ("syntax+model", "refs:model+syntax")):
        result = runner.invoke(app, ["--claims", claims, *named, *kept], input=row + "\n" + row)
        assert result.exit_code == 0, result.exception
        for line in result.stdout.splitlines():
            assert refs in json.loads(line)["signature"].split("|")
            assert json.loads(line)["rel"] > 0
    assert len(server.asked) == 1
    server.status = 500
    result = runner.invoke(app, ["--claims", "model", *named], input=row)
    assert isinstance(result.exception, FatalError)
    assert "HTTP 500" in str(result.exception)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--claims", "other"], "joined by +"),
        (["--claims", "model"], "name the model"),
        (["--claims-model", "coder"], "named but not asked"),
        (
            ["--claims", "model", "--claims-model", "x", "--claims-endpoint", "http://8.8.8.8/v1"],
            "not of a private network",
        ),
    ],
)
def test_options_that_do_not_fit(options: list[str], message: str) -> None:
    result = CliRunner().invoke(app, options, input="")
    assert isinstance(result.exception, FatalError)
    assert message in str(result.exception)


def tiny_model(folder: Path, positions: int) -> None:
    """A causal model of a few thousand random weights that reads bytes."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    alphabet = pre_tokenizers.ByteLevel.alphabet()
    vocabulary = {letter: number for number, letter in enumerate(["<end>", *sorted(alphabet)])}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<end>").save_pretrained(folder)
    torch.manual_seed(0)
    shape = GPT2Config(
        vocab_size=len(vocabulary), n_positions=positions, n_embd=16, n_layer=1, n_head=2,
        bos_token_id=0, eos_token_id=0,
    )  # fmt: skip
    GPT2LMHeadModel(shape).save_pretrained(folder)


def test_a_causal_model_answers_the_same_twice(tmp_path: Path) -> None:
    tiny_model(tmp_path, 256)
    model = CausalModel(str(tmp_path), max_tokens=24)
    answer = model.answer("What does it do?" * 100)
    assert answer
    assert CausalModel(str(tmp_path), max_tokens=24).answer("What does it do?" * 100) == answer
    assert model.key.startswith(f"{tmp_path.name}@")
    assert model.key != CausalModel(str(tmp_path), max_tokens=25).key
    with pytest.raises(ClaimsError, match="too few for answers of 250"):
        CausalModel(str(tmp_path), max_tokens=250).answer("x")
    with pytest.raises(ClaimsError, match="no causal model there"):
        CausalModel(str(tmp_path / "none")).answer("x")
