"""Git over HTTP, by git's own ``http-backend``."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Iterable
from typing import Any

from werkzeug.wrappers import Request

from tests.github_double.auth import Caller, allowed, can_read, identify
from tests.github_double.errors import ApiError
from tests.github_double.world import World

Environ = dict[str, Any]


class GitHttp:
    """Smart HTTP for every repository: reads by contents: read, pushes by contents: write."""

    def __init__(self, world: World) -> None:
        self.world = world

    def __call__(self, environ: Environ, start: Callable[..., Any]) -> Iterable[bytes]:
        path = environ["PATH_INFO"]
        match = re.match(r"^/([^/]+)/([^/]+?)(?:\.git)?(/.*)$", path)
        assert match is not None
        owner, name, tail = match.groups()
        push = "git-receive-pack" in path + environ.get("QUERY_STRING", "")
        with self.world.lock:
            try:
                caller = identify(self.world, Request(environ))  # type: ignore[arg-type]
            except ApiError:
                caller = None
            repo = self.world.repos.get(f"{owner}/{name}".lower())
            seen = repo is not None and caller is not None and can_read(caller, repo)
        if repo is None or caller is None or not seen or (push and caller.account is None):
            anonymous = caller is None or caller.account is None
            return _refuse(start, 401 if anonymous else 404)
        if not self._may(caller, repo, push):
            return _refuse(start, 403)
        before = repo.git.branches() if push else {}
        answer = _backend(environ, str(repo.git.folder), tail, caller.name)
        if push and "git-receive-pack" in path:
            self._moved(repo, before)
        head, _, body = answer.partition(b"\r\n\r\n")
        headers = [
            (k, v.strip())
            for k, _, v in (row.partition(":") for row in head.decode().split("\r\n"))
            if k.lower() != "status"
        ]
        status = next(
            (row[8:] for row in head.decode().split("\r\n") if row.startswith("Status: ")), "200 OK"
        )
        start(status, headers)
        return [body]

    def _may(self, caller: Caller, repo: Any, push: bool) -> bool:
        with self.world.lock:
            return allowed(caller, repo, "write" if push else "read", "contents")

    def _moved(self, repo: Any, before: dict[str, str]) -> None:
        from tests.github_double import pulls

        with self.world.lock:
            for branch, sha in repo.git.branches().items():
                if before.get(branch) != sha:
                    pulls.follow(self.world, repo, branch)


def _backend(environ: Environ, folder: str, tail: str, user: str) -> bytes:
    body: bytes = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    env = {
        "PATH": os.environ.get("PATH", ""),
        "GIT_PROJECT_ROOT": folder,
        "GIT_HTTP_EXPORT_ALL": "1",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "REQUEST_METHOD": environ["REQUEST_METHOD"],
        "QUERY_STRING": environ.get("QUERY_STRING", ""),
        "PATH_INFO": tail,
        "PATH_TRANSLATED": folder + tail,
        "CONTENT_TYPE": environ.get("CONTENT_TYPE", ""),
        "CONTENT_LENGTH": str(len(body)),
        "REMOTE_USER": user,
        "REMOTE_ADDR": "127.0.0.1",
    }
    if environ.get("HTTP_GIT_PROTOCOL"):
        env["GIT_PROTOCOL"] = environ["HTTP_GIT_PROTOCOL"]
    if environ.get("HTTP_CONTENT_ENCODING"):
        env["HTTP_CONTENT_ENCODING"] = environ["HTTP_CONTENT_ENCODING"]
    done = subprocess.run(["git", "http-backend"], input=body, capture_output=True, env=env)
    return done.stdout


def _refuse(start: Callable[..., Any], status: int) -> list[bytes]:
    words = {401: "401 Unauthorized", 403: "403 Forbidden", 404: "404 Not Found"}
    headers = [("Content-Type", "text/plain")]
    if status == 401:
        headers.append(("WWW-Authenticate", 'Basic realm="GitHub"'))
    start(words[status], headers)
    return [b""]
