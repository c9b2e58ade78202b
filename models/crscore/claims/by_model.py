"""Claims written by a language model: one on the operator's own network, or a local causal one.

Off unless the operator names a model. CRScore's authors had a fine-tuned model write claims
(section 3.1): a list of what changed and what follows, one a line. Any causal model that
``transformers`` loads can do so here, or any server with an OpenAI-compatible chat endpoint (vLLM,
Ollama, llama.cpp) whose address is on this machine or in a private network: a change never goes
further. Answers are kept by content, so that a change is asked about once and scores replay.

The answer is only ever compared with reviews; whatever a hostile diff talks a model into saying is
one more sentence there.
"""

from __future__ import annotations

import functools
import hashlib
import http.client
import ipaddress
import json
import re
import socket
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Protocol, runtime_checkable
from urllib.parse import urlsplit

from models.review_types import PseudoReference, ReferenceKind

PROMPT = """Below is a change to a source file in unified diff form. Write what it does.

First, under "Changes:", list each thing that was changed, one plain sentence a line, numbered.
Then, under "Implications:", list what follows from these changes for the code that surrounds
them or uses them, in the same way. Name the functions, variables and values. Do not judge the
change and do not repeat its lines.

```diff
{diff}
```
"""
LIMIT = 24
"""Claims kept of one answer."""
MAX_DIFF = 12_000
"""Characters of a diff that are shown to a model."""
_MAX_ANSWER = 1 << 20
_NUMBER = re.compile(r"^\s*(?:[-*\u2022]|\(?\d+[.):])\s*")
_HEADING = re.compile(r"^\W*(?P<kind>changes?|implications?)\b\W*$", re.I)


class ClaimsError(RuntimeError):
    """No claims could be had; the message says from where, why, and what to do, in one line."""


class Writer(Protocol):
    """Something that answers a prompt. ``key`` names it with all that shapes its answers."""

    @property
    def key(self) -> str:
        """Name of the model and of its settings: answers of equal keys are interchangeable."""

    def answer(self, prompt: str) -> str:
        """The model's text; raises ``ClaimsError``."""


@runtime_checkable
class BatchWriter(Writer, Protocol):
    """A writer that answers several prompts sooner together than one after the other.

    ``lot`` is how many it takes at once.
    """

    lot: int

    def answers(self, prompts: Sequence[str]) -> list[str]:
        """The model's text for each prompt, as ``answer`` would give it; raises ``ClaimsError``."""


def read_claims(answer: str) -> list[str]:
    """The claims of an answer, numbering stripped, in order, each once.

    As in the published pipeline the implications end at the first line that does not end in a
    full stop: there the model was cut off or began to chat.
    """
    found: list[str] = []
    implied = False
    for line in answer.splitlines():
        heading = _HEADING.match(line)
        if heading:
            implied = heading["kind"].lower().startswith("implication")
            continue
        text = _NUMBER.sub("", line).strip()
        if not any(map(str.isalnum, text)) or text.startswith("```"):
            continue
        if implied and not text.endswith("."):
            break
        found.append(text)
    return list(dict.fromkeys(found))[:LIMIT]


@dataclass(slots=True)
class ModelClaims:
    """Claims of changes by a writer, kept in ``cache`` (a folder; ``None``: in memory only).

    ``prompt`` is what the writer is asked, with ``{diff}`` in the diff's place.
    """

    writer: Writer
    cache: Path | None = None
    prompt: str = PROMPT
    _known: dict[str, list[str]] = field(default_factory=dict)

    @property
    def lot(self) -> int:
        """How many diffs are best asked about together."""
        return self.writer.lot if isinstance(self.writer, BatchWriter) else 1

    def of(self, diff: str) -> tuple[PseudoReference, ...]:
        """Pseudo-references of origin ``model:NAME``; raises ``ClaimsError``."""
        return self.of_all([diff])[0]

    def of_all(self, diffs: Sequence[str], under: str = "") -> list[tuple[PseudoReference, ...]]:
        """``of`` each diff; what is not known yet is asked together where the writer can.

        ``under`` is the part of the cache in which answers are looked for and kept.
        """
        prompts = [self.prompt.format(diff=diff[:MAX_DIFF]) for diff in diffs]
        digests = [self._digest(prompt) for prompt in prompts]
        found: dict[str, list[str]] = {}
        for digest in dict.fromkeys(digests):
            claims = self._known.get(digest)
            if claims is None:
                claims = self._stored(digest, under)
            if claims is not None:
                found[digest] = claims
        missing = {
            digest: prompt
            for digest, prompt in zip(digests, prompts, strict=True)
            if digest not in found
        }
        for digest, answer in zip(missing, self._answers(list(missing.values())), strict=True):
            found[digest] = read_claims(answer)
            self._store(digest, found[digest], under)
        if len(self._known) > 4096:
            self._known.clear()
        self._known.update(found)
        origin = f"model:{self.writer.key}"
        return [
            tuple(
                PseudoReference(ReferenceKind.CLAIM, text, origin=origin) for text in found[digest]
            )
            for digest in digests
        ]

    def _answers(self, prompts: list[str]) -> Iterator[str]:
        """One answer a prompt; each is there before the next is asked where they go one by one."""
        if len(prompts) > 1 and isinstance(self.writer, BatchWriter):
            yield from self.writer.answers(prompts)
        else:
            for prompt in prompts:
                yield self.writer.answer(prompt)

    def _digest(self, prompt: str) -> str:
        # a lone surrogate has no UTF-8 form, and is one more odd character to a model
        raw = f"{self.writer.key}\0{prompt}".encode("utf-8", "replace")
        return hashlib.sha256(raw).hexdigest()

    def _path(self, digest: str, under: str) -> Path | None:
        return self.cache / under / digest[:2] / f"{digest}.json" if self.cache else None

    def _stored(self, digest: str, under: str) -> list[str] | None:
        path = self._path(digest, under)
        if path is None or not path.exists():
            return None
        try:
            claims = json.loads(path.read_text("utf-8"))["claims"]
        except (OSError, ValueError, KeyError, TypeError):
            return None  # a file that was cut short: the model is asked again
        return [text for text in claims if isinstance(text, str)]

    def _store(self, digest: str, claims: list[str], under: str) -> None:
        path = self._path(digest, under)
        if path is None:
            return
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(
                "w", encoding="utf-8", dir=path.parent, suffix=".part", delete=False
            ) as part:
                json.dump({"model": self.writer.key, "claims": claims}, part, ensure_ascii=False)
            # whole or not at all: another process may be reading
            Path(part.name).replace(path)
        except OSError as error:
            raise ClaimsError(f"{path}: {error.strerror or error}; choose another cache") from error


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect could lead out of the network, so it is an answer like any other."""

    def redirect_request(
        self, req: Any, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> None:
        return None


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An OpenAI-compatible chat endpoint, ``url`` up to and with ``/v1``.

    Its host must be this machine or resolve to private addresses only; neither proxies nor
    redirects are followed. ``api_key`` is sent as a bearer token where it is not empty.
    """

    url: str
    model: str
    api_key: str = field(default="", repr=False)
    timeout_s: float = 120.0
    max_tokens: int = 512

    @property
    def key(self) -> str:
        """The model's name and the length of its answers; not where it happens to run."""
        return f"{self.model}/{self.max_tokens}"

    def answer(self, prompt: str) -> str:
        """See ``Writer.answer``; one more try where the connection broke."""
        self.check()
        body = {
            "model": self.model,
            "messages": [{"role": "user", "content": prompt}],
            "temperature": 0,
            "seed": 0,
            "max_tokens": self.max_tokens,
        }
        request = urllib.request.Request(  # noqa: S310 (the scheme is checked)
            f"{self.url.rstrip('/')}/chat/completions",
            data=json.dumps(body).encode("ascii"),
            headers={"Content-Type": "application/json", "Accept": "application/json"},
        )
        if self.api_key:
            request.add_header("Authorization", f"Bearer {self.api_key}")
        try:
            raw = self._send(request)
        except (ConnectionError, http.client.HTTPException):
            raw = self._send_last(request)
        try:
            text = json.loads(raw)["choices"][0]["message"]["content"]
        except (ValueError, KeyError, IndexError, TypeError) as error:
            raise ClaimsError(f"{self.url}: not a chat completion ({raw[:80]!r})") from error
        if not isinstance(text, str):
            raise ClaimsError(f"{self.url}: the completion holds no text; is {self.model} a chat?")
        return text

    def check(self) -> None:
        """Raises ``ClaimsError`` where the address is none, or not of the operator's network."""
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ClaimsError(f"{self.url!r}: not an address; give http://HOST:PORT/v1")
        try:
            found = socket.getaddrinfo(parts.hostname, parts.port or 80, type=socket.SOCK_STREAM)
        except (OSError, ValueError) as error:
            raise ClaimsError(f"{self.url}: no such host ({error})") from error
        for *_, address in found:
            number = ipaddress.ip_address(str(address[0]).partition("%")[0])
            if not (number.is_private or number.is_loopback or number.is_link_local):
                raise ClaimsError(
                    f"{self.url}: {number} is not of a private network; changes are not sent out"
                )

    def _send(self, request: urllib.request.Request) -> bytes:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _NoRedirect)
        try:
            with opener.open(request, timeout=self.timeout_s) as answer:
                raw: bytes = answer.read(_MAX_ANSWER + 1)
        except urllib.error.HTTPError as error:
            with error:
                said = " ".join(error.read(300).decode("utf-8", "replace").split())
            raise ClaimsError(f"{self.url}: HTTP {error.code} {said}") from error
        except TimeoutError as error:
            raise ClaimsError(f"{self.url}: no answer in {self.timeout_s:.0f} s") from error
        except urllib.error.URLError as error:
            if isinstance(error.reason, ConnectionResetError):
                raise error.reason from error
            raise ClaimsError(f"{self.url}: {error.reason}; is the server running?") from error
        if len(raw) > _MAX_ANSWER:
            raise ClaimsError(f"{self.url}: the answer is over {_MAX_ANSWER // 2**20} MiB")
        return raw

    def _send_last(self, request: urllib.request.Request) -> bytes:
        try:
            return self._send(request)
        except (ConnectionError, http.client.HTTPException) as error:
            kind = type(error).__name__
            raise ClaimsError(f"{self.url}: the connection broke twice ({kind})") from error


class CausalModel:
    """A causal model by folder or Hub id, through ``transformers``; greedy, so that it replays.

    It is loaded at its first answer. A model with a chat template is asked through it.
    """

    def __init__(self, name: str, max_tokens: int = 512, device: str = "cpu") -> None:
        self.name = name
        self.max_tokens = max_tokens
        self._device = device
        self._loaded: tuple[Any, Any] | None = None

    @functools.cached_property
    def key(self) -> str:
        """The model's name (of a folder: its last part and a hash of what lies in it)."""
        folder = Path(self.name)
        if not folder.is_dir():
            return f"{self.name}/{self.max_tokens}"
        digest = hashlib.sha256()
        for path in sorted((*folder.glob("*.json"), *folder.glob("*.safetensors"))):
            with path.open("rb") as handle:
                digest.update(hashlib.file_digest(handle, "sha256").digest())
        return f"{folder.name}@{digest.hexdigest()[:12]}/{self.max_tokens}"

    def _load(self) -> tuple[Any, Any]:
        if self._loaded is None:
            from transformers import AutoModelForCausalLM, AutoTokenizer

            try:
                tokenizer = AutoTokenizer.from_pretrained(self.name)
                model = AutoModelForCausalLM.from_pretrained(self.name, dtype="auto")
            except (OSError, ValueError) as error:
                first = str(error).strip().splitlines()[0]
                raise ClaimsError(f"{self.name}: no causal model there: {first}") from error
            self._loaded = tokenizer, model.to(self._device).eval()
        return self._loaded

    def answer(self, prompt: str) -> str:
        """See ``Writer.answer``."""
        import torch

        tokenizer, model = self._load()
        text = prompt + "\nChanges:\n"
        if tokenizer.chat_template:
            turns = [{"role": "user", "content": prompt}]
            text = tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
        window = int(getattr(model.config, "max_position_embeddings", 0) or 1 << 20)
        room = window - self.max_tokens
        if room < 32:
            raise ClaimsError(
                f"{self.name}: reads {window} tokens, too few for answers of {self.max_tokens}"
            )
        ids = tokenizer(text, return_tensors="pt", add_special_tokens=not tokenizer.chat_template)
        # a diff that is too long loses its end, but the question at the end of the prompt stays
        tokens = ids["input_ids"][0]
        if len(tokens) > room:
            tail = tokenizer("\n```\nChanges:\n", add_special_tokens=False)["input_ids"]
            tokens = torch.cat([tokens[: room - len(tail)], torch.tensor(tail)])
        with torch.inference_mode():
            out = model.generate(
                tokens[None].to(self._device),
                attention_mask=torch.ones_like(tokens[None]).to(self._device),
                max_new_tokens=self.max_tokens,
                do_sample=False,
                pad_token_id=tokenizer.eos_token_id or 0,
            )
        return str(tokenizer.decode(out[0, len(tokens) :], skip_special_tokens=True))
