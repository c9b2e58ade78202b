"""The door: records, judges, makes trouble, and passes calls to GitHub's double.

A call takes this way: fault rules; then, for a call that GitHub's OpenAPI description knows,
through ``prism proxy`` (which judges the request, hands it back to this same server, and judges
the answer), else straight to the double. Both ways end in ``core``.
"""

from __future__ import annotations

import hashlib
import http.client
import io
import itertools
import json
import re
import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from werkzeug.test import run_wsgi_app

from tests.github_double.faults import Fault, Faults
from tests.github_double.world import World

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
Wsgi = Callable[[Environ, StartResponse], Iterable[bytes]]

_RAW_MEDIA = re.compile(r"\.(diff|patch|raw|sha|html|text|full)\b")
_PAST = re.compile(
    r"^/(graphql|api/graphql|login/oauth/|settings/apps/|organizations/|apps/[^/]+/installations/"
    r"new|[^/]+/[^/]+/pull/|repos/[^/]+/[^/]+/contents/?$)"
)
"""What GitHub's description does not know, so that prism cannot judge it."""

_TAIL = re.compile(
    r"^(/repos/[^/]+/[^/]+/(?:contents|git/ref|branches|compare|commits)/)(.+?)"
    r"(/check-runs|/pulls)?$"
)
"""Calls whose last part may hold slashes, which a path template cannot say."""

_GIT = re.compile(r"^/[^/]+/[^/]+?(\.git)?/(info/refs|git-upload-pack|git-receive-pack)$")
_HOP = {
    "connection",
    "keep-alive",
    "transfer-encoding",
    "content-length",
    "content-encoding",
    "date",
    "server",
}


@dataclass(slots=True)
class Answer:
    """A whole answer."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str:
        """A header's value or ``""``."""
        return next((v for k, v in self.headers if k.lower() == name.lower()), "")


@dataclass(slots=True)
class Call:
    """One recorded request with what became of it."""

    number: int
    at: float
    method: str
    path: str
    query: str
    caller: str
    body: Any
    headers: dict[str, str]
    judged: bool = False
    status: int = 0
    fault: str = ""
    milliseconds: float = 0.0
    violations: list[dict[str, Any]] = field(default_factory=list)

    def show(self) -> dict[str, Any]:
        """The call as the double's own API shows it; credentials are never in it."""
        return {name: getattr(self, name) for name in self.__slots__}


class Gateway:
    """The WSGI application that the server runs."""

    def __init__(self, world: World, core: Wsgi, own: Wsgi, git: Wsgi, pages: Wsgi) -> None:
        self.world = world
        self.faults = Faults()
        self.calls: list[Call] = []
        self.prism: tuple[str, int] | None = None
        self._core, self._own, self._git, self._pages = core, own, git, pages
        self._pass = secrets.token_hex(16)
        self._originals: dict[str, Environ] = {}
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)

    def __call__(self, environ: Environ, start: StartResponse) -> Iterable[bytes]:
        path = environ["PATH_INFO"]
        if path.startswith("/_double/"):
            return self._own(environ, start)
        if environ.get("HTTP_X_DOUBLE_PASS") == self._pass:
            return self._judged_half(environ, start)
        return self._front(environ, start)

    # -- from the outside ------------------------------------------------------------------

    def _front(self, environ: Environ, start: StartResponse) -> Iterable[bytes]:
        body = _read(environ)
        path, root = environ["PATH_INFO"], f"http://{environ.get('HTTP_HOST', '')}"
        if path.startswith("/api/v3"):
            path, root = path[7:] or "/", root + "/api/v3"
        elif path == "/api/graphql":
            path, root = "/graphql", root + "/api/v3"
        environ["PATH_INFO"], environ["double.root"] = path, root
        call = self._record(environ, path, body)
        began = time.monotonic()
        fault = self.faults.take(call.method, path)
        if fault is not None:
            call.fault = fault.kind
        answer = self._trouble_before(fault)
        if answer is None and not (fault and fault.kind == "drop"):
            answer = self._perform(environ, path, body, call)
            answer = self._trouble_after(fault, answer)
        call.milliseconds = round((time.monotonic() - began) * 1000, 1)
        if answer is None:
            _cut(environ)
            return []
        call.status = answer.status
        answer = _conditional(environ, answer)
        start(f"{answer.status} {http.client.responses.get(answer.status, 'X')}", answer.headers)
        return [] if call.method == "HEAD" else [answer.body]

    def _record(self, environ: Environ, path: str, body: bytes) -> Call:
        try:
            shown: Any = json.loads(body) if body else None
            if isinstance(shown, dict) and "access_token" in shown:
                shown["access_token"] = "***"
        except ValueError:
            shown = f"<{len(body)} bytes>"
        keep = ("HTTP_ACCEPT", "HTTP_USER_AGENT", "HTTP_IF_NONE_MATCH", "CONTENT_TYPE")
        headers = {k.removeprefix("HTTP_").lower(): environ[k] for k in keep if environ.get(k)}
        with self._lock:
            call = Call(
                next(self._numbers),
                time.time(),
                environ["REQUEST_METHOD"],
                path,
                environ.get("QUERY_STRING", ""),
                "",
                shown,
                headers,
            )
            self.calls.append(call)
        return call

    def _trouble_before(self, fault: Fault | None) -> Answer | None:
        if fault is None:
            return None
        if fault.kind == "delay":
            time.sleep(fault.seconds)
        elif fault.kind == "hold-before":
            fault.let_go.wait(fault.seconds)
        elif fault.kind == "status" and not fault.perform:
            return _made(fault)
        elif fault.kind == "rate-limit":
            reset = str(int(time.time() + fault.seconds))
            headers = {
                "X-RateLimit-Remaining": "0",
                "X-RateLimit-Limit": "5000",
                "X-RateLimit-Used": "5000",
                "X-RateLimit-Reset": reset,
                "X-RateLimit-Resource": "core",
            }
            status = fault.status if fault.status in (403, 429) else 403
            return _json_answer(status, {"message": "API rate limit exceeded"}, headers)
        elif fault.kind == "secondary-limit":
            wait = {"Retry-After": str(int(fault.seconds))} if fault.seconds else {}
            status = fault.status if fault.status in (403, 429) else 403
            text = "You have exceeded a secondary rate limit. Please wait a few minutes."
            return _json_answer(status, {"message": text}, wait)
        return None

    def _trouble_after(self, fault: Fault | None, answer: Answer) -> Answer | None:
        if fault is None:
            return answer
        if fault.kind == "hold-after":
            fault.let_go.wait(fault.seconds)
        if fault.kind == "lose":
            return None
        return _made(fault) if fault.kind == "status" and fault.perform else answer

    def _perform(self, environ: Environ, path: str, body: bytes, call: Call) -> Answer:
        accept = environ.get("HTTP_ACCEPT", "")
        past = _PAST.match(path) or _GIT.match(path) or _RAW_MEDIA.search(accept)
        if self.prism is None or past or call.method == "HEAD":
            answer = self._direct(environ, path, body)
        else:
            answer = self._through_prism(environ, path, body, call)
        call.caller = answer.header("X-Double-Caller") or "anonymous"
        if answer.header("X-Double-Gap"):
            call.violations.append({"severity": "Error", "message": "the double has no such call"})
        answer.headers = [
            (k, v)
            for k, v in answer.headers
            if not k.lower().startswith(("x-double", "sl-viol", "access-control"))
            and k.lower() not in _HOP
        ]
        answer.headers.append(("Content-Length", str(len(answer.body))))
        return answer

    def _direct(self, environ: Environ, path: str, body: bytes) -> Answer:
        target = self._core
        if _GIT.match(path):
            target = self._git
        elif re.match(r"^/[^/]+/[^/]+/pull/\d+", path) and environ["REQUEST_METHOD"] == "GET":
            target = self._pages
        return _run(target, environ, body)

    def _through_prism(self, environ: Environ, path: str, body: bytes, call: Call) -> Answer:
        """Have the call judged; prism gives it back to this server to be answered."""
        assert self.prism is not None
        call.judged = True
        key = secrets.token_hex(8)
        self._originals[key] = environ
        headers = {
            "Accept": "application/json",
            "User-Agent": environ.get("HTTP_USER_AGENT", ""),
            "X-Double-Pass": self._pass,
            "X-Double-Key": key,
        }
        if body:
            headers["Content-Type"] = environ.get("CONTENT_TYPE") or "application/json"
        query = environ.get("QUERY_STRING", "")
        connection = http.client.HTTPConnection(*self.prism, timeout=120)
        try:
            target = environ.get("REQUEST_URI") or path
            target = re.sub(r"^/api/v3", "", target.split("?")[0]) or "/"
            target = _TAIL.sub(lambda m: m[1] + m[2].replace("/", "%2F") + (m[3] or ""), target)
            connection.request(
                call.method, target + (f"?{query}" if query else ""), body or None, headers
            )
            got = connection.getresponse()
            answer = Answer(got.status, got.getheaders(), got.read())
        except (OSError, http.client.HTTPException) as error:
            call.violations.append({"severity": "Error", "message": f"prism: {error}"})
            return _json_answer(500, {"message": f"prism: {error}"}, {})
        finally:
            connection.close()
            self._originals.pop(key, None)
        call.violations.extend(_violations(answer))
        return answer

    # -- back from prism ---------------------------------------------------------------------

    def _judged_half(self, environ: Environ, start: StartResponse) -> Iterable[bytes]:
        original = self._originals.get(environ.get("HTTP_X_DOUBLE_KEY", ""), environ)
        answer = _run(self._core, original, _read(environ))
        headers = [(k, v) for k, v in answer.headers if k.lower() not in _HOP]
        headers.append(("Content-Length", str(len(answer.body))))
        start(f"{answer.status} {http.client.responses.get(answer.status, 'X')}", headers)
        return [answer.body]


def _violations(answer: Answer) -> list[dict[str, Any]]:
    text = answer.header("sl-violations")
    found: list[dict[str, Any]] = json.loads(text) if text else []
    if "application/problem+json" in answer.header("Content-Type"):
        found.append({"severity": "Error", "message": answer.body.decode(errors="replace")[:500]})
    return [v for v in found if not _undocumented(v, answer.status)]


def _undocumented(violation: dict[str, Any], status: int) -> bool:
    """A refusal that the description leaves out for this call though GitHub may always give it."""
    unknown = "Unable to match the returned status code" in violation.get("message", "")
    return unknown and status in (401, 403, 404, 409, 422, 429, 500, 502, 503, 504)


def _run(target: Wsgi, environ: Environ, body: bytes) -> Answer:
    inner = dict(environ)
    inner["wsgi.input"] = io.BytesIO(body)
    inner["CONTENT_LENGTH"] = str(len(body))
    inner.pop("HTTP_TRANSFER_ENCODING", None)
    inner.pop("wsgi.input_terminated", None)
    chunks, status, headers = run_wsgi_app(target, inner, buffered=True)
    return Answer(int(status.split()[0]), list(headers), b"".join(chunks))


def _read(environ: Environ) -> bytes:
    if environ.get("wsgi.input_terminated"):
        return bytes(environ["wsgi.input"].read())
    length = environ.get("CONTENT_LENGTH") or "0"
    return bytes(environ["wsgi.input"].read(int(length))) if length.isdigit() else b""


def _made(fault: Fault) -> Answer:
    body = fault.body if fault.body is not None else {"message": "Made by a fault rule"}
    if isinstance(body, str):
        headers = [("Content-Type", "text/html; charset=utf-8"), *fault.headers.items()]
        return Answer(fault.status, headers, body.encode())
    return _json_answer(fault.status, body, fault.headers)


def _json_answer(status: int, body: Any, headers: dict[str, str]) -> Answer:
    if isinstance(body, dict):
        body = {"documentation_url": "https://docs.github.com/rest", **body}
    data = json.dumps(body).encode()
    return Answer(
        status,
        [
            ("Content-Type", "application/json; charset=utf-8"),
            *headers.items(),
            ("Content-Length", str(len(data))),
        ],
        data,
    )


def _conditional(environ: Environ, answer: Answer) -> Answer:
    """304 for a caller that has this answer already; an ETag for the others."""
    if environ["REQUEST_METHOD"] != "GET" or answer.status != 200:
        return answer
    tag = f'"{hashlib.sha256(answer.body).hexdigest()}"'
    headers = [*answer.headers, ("ETag", tag)]
    if environ.get("HTTP_IF_NONE_MATCH") in (tag, f"W/{tag}"):
        kept = [(k, v) for k, v in headers if not k.lower().startswith("content-")]
        return Answer(304, kept, b"")
    return Answer(200, headers, answer.body)


def _cut(environ: Environ) -> None:
    """Close the caller's connection without a word."""
    connection: socket.socket = environ["werkzeug.socket"]
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        return
