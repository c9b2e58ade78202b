"""``/setup``: make the GitHub App by GitHub's manifest flow, once.

Opened by a one-time token that ``marginalia serve`` prints on its console; the first browser that
brings it gets a cookie and the token is spent. When the App is made, its number, key and secret
go into ``app.toml`` (mode 0600) in the data folder and the pages are gone for good. The state lives
in a file beside it, so that several web processes agree, and a second opening loses the race.

The flow is GitHub's "Registering a GitHub App from a manifest": a form with the manifest is posted
to GitHub, which comes back with a code, which is exchanged within the hour for the App's secrets.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import requests
from flask import Blueprint, Response, abort, request
from itsdangerous import BadData, URLSafeTimedSerializer

from bot.settings import APP_FILE, Settings, is_loopback
from bot.web.setup_html import DONE, FORM, SEND, page

COOKIE = "marginalia_setup"
STATE_FILE = "setup.json"
OPENED_FILE = "setup-opened.json"
MOST_AGE_SECONDS = 3600
"""GitHub's code is good for an hour; so is the browser's cookie."""

PERMISSIONS = {
    "contents": "read",
    "pull_requests": "write",
    "checks": "write",
    "metadata": "read",
    # only read, and only because GitHub refuses a manifest that names issue_comment without it:
    # comments on pull requests are that event
    "issues": "read",
}
EVENTS = (
    "check_run",
    "issue_comment",
    "pull_request",
    "pull_request_review",
    "pull_request_review_comment",
    "pull_request_review_thread",
    "repository",
)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 _-]{0,33}")
_LOGIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})")
_CODE = re.compile(r"[A-Za-z0-9_-]{1,200}")


class SetupError(Exception):
    """What is wrong with a set-up, in one line for the person who makes it."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What the person chose: the App's name, its owner (an organisation, or "" for themselves),
    where GitHub reaches this server, GitHub's address, and whether threads may be resolved."""

    name: str
    organisation: str
    public_url: str
    github_url: str
    resolve_threads: bool = False


def manifest(wish: Wish) -> dict[str, Any]:
    """The App's manifest: the least permissions, the events the router knows, a private App."""
    permissions = dict(PERMISSIONS)
    if wish.resolve_threads:
        permissions["contents"] = "write"
    return {
        "name": wish.name,
        "url": wish.public_url,
        "description": "Reviews pull requests with small local models.",
        "public": False,
        "redirect_url": f"{wish.public_url}/setup/made",
        "callback_urls": [f"{wish.public_url}/auth/callback"],
        "hook_attributes": {"url": f"{wish.public_url}/webhook", "active": True},
        "default_permissions": permissions,
        "default_events": list(EVENTS),
    }


def api_url(github_url: str) -> str:
    """Where a GitHub's API is: github.com's, a ``ghe.com`` tenant's, an Enterprise Server's."""
    parts = urlsplit(github_url)
    host = parts.hostname or ""
    if host == "github.com":
        return "https://api.github.com"
    if host.endswith(".ghe.com"):
        return f"{parts.scheme}://api.{parts.netloc}"
    return f"{github_url}/api/v3"


class SetupDesk:
    """The state of the set-up of one data folder.

    ``open_for_business`` makes a token; ``done`` is called with the file's path when the App's
    secrets are kept, so that the service can take them up.
    """

    def __init__(self, settings: Settings, done: Callable[[Path], None] | None = None) -> None:
        self.settings = settings
        self._folder = settings.data_dir
        self._done = done

    @property
    def app_file(self) -> Path:
        """Where the App's secrets go."""
        return self._folder / APP_FILE

    def needed(self) -> bool:
        """Whether there is neither an App nor a token yet."""
        return not (
            self.settings.app_id or self.settings.token or self.app_file.exists()
        )  # fmt: skip

    def open_for_business(self) -> str | None:
        """A fresh one-time token, or ``None`` where the set-up is closed for good.

        An earlier token and an earlier browser's cookie are worth nothing afterwards.
        """
        if not self.needed():
            self._forget()
            return None
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._forget()
        token = secrets.token_urlsafe(32)
        state = {"token": _digest(token), "key": secrets.token_urlsafe(32)}
        _write_new(self._folder / STATE_FILE, json.dumps(state))
        return token

    def spend(self, token: str) -> URLSafeTimedSerializer | None:
        """Take the token in exchange for what signs cookies; ``None`` where it is not good."""
        waiting = self._folder / STATE_FILE
        state = _read_state(waiting)
        if state is None or not self.needed():
            return None
        if not hmac.compare_digest(state["token"].encode(), _digest(token).encode()):
            return None
        try:
            waiting.rename(self._folder / OPENED_FILE)
        except FileNotFoundError:
            return None  # another process was first
        return _signer(state["key"])

    def signer(self) -> URLSafeTimedSerializer | None:
        """What signs the cookies of the browser that opened the set-up; ``None`` if closed."""
        state = _read_state(self._folder / OPENED_FILE) if self.needed() else None
        return None if state is None else _signer(state["key"])

    def keep(
        self,
        answer: dict[str, Any],
        github: str,
        api: str,
        resolve_threads: bool = False,
        public_url: str = "",
    ) -> None:
        """Write the App's secrets and close the set-up; ``SetupError`` if that is impossible."""
        try:
            values = {
                "app_id": int(answer["id"]),
                "private_key": str(answer["pem"]),
                "webhook_secret": str(answer["webhook_secret"]),
                "github_url": github,
                "github_api_url": api,
                "resolve_threads": resolve_threads,
            }
            signing_in = {
                "client_id": str(answer.get("client_id") or ""),
                "client_secret": str(answer.get("client_secret") or ""),
                "public_url": public_url,
            }
            values.update({name: value for name, value in signing_in.items() if value})
        except (KeyError, TypeError, ValueError) as error:
            raise SetupError("GitHub's answer lacks the App's number, key or secret") from error
        rows = "".join(f"{name} = {json.dumps(value)}\n" for name, value in values.items())
        text = f"# made by /setup; keep it secret: it is the App\n{rows}"
        try:
            _write_new(self.app_file, text)
        except FileExistsError as error:
            raise SetupError(
                f"{self.app_file} is there already: another set-up was first"
            ) from error
        self._forget()
        if self._done is not None:
            self._done(self.app_file)

    def _forget(self) -> None:
        for name in (STATE_FILE, OPENED_FILE):
            (self._folder / name).unlink(missing_ok=True)


def setup_pages(desk: SetupDesk, timeout: float = 20.0) -> Blueprint:
    """The pages under ``/setup``: 404 for everyone but the browser that spent the token."""
    pages = Blueprint("setup", __name__)

    @pages.get("/setup")
    def begin() -> Response:
        token = request.args.get("token", "")
        signer = desk.spend(token) if token else None
        if signer is None:
            _visitor(desk)  # a reload by the same browser goes on
            return page(FORM, wish=_default_wish(desk), problem="")
        shown = page(FORM, wish=_default_wish(desk), problem="")
        shown.set_cookie(
            COOKIE,
            signer.dumps("visitor"),
            max_age=MOST_AGE_SECONDS,
            httponly=True,
            samesite="Lax",  # GitHub's way back is a top-level GET
            secure=request.is_secure,
            path="/setup",
        )
        return shown

    @pages.post("/setup")
    def choose() -> Response:
        signer = _visitor(desk)
        wish = _wish(desk)
        try:
            _check(wish)
        except SetupError as error:
            return page(FORM, 400, wish=wish, problem=str(error))
        owner = f"organizations/{quote(wish.organisation)}/" if wish.organisation else ""
        state = signer.dumps(
            {
                "state": secrets.token_urlsafe(16),
                "github": wish.github_url,
                "resolve": wish.resolve_threads,
                "public": wish.public_url,
            }
        )
        return page(
            SEND,
            target=f"{wish.github_url}/{owner}settings/apps/new?state={quote(state)}",
            manifest=json.dumps(manifest(wish)),
            shown=json.dumps(manifest(wish), indent=2),
        )

    @pages.get("/setup/made")
    def made() -> Response:
        signer = _visitor(desk)
        code = request.args.get("code", "")
        try:
            state = signer.loads(request.args.get("state", ""), max_age=MOST_AGE_SECONDS)
            github, resolve = str(state["github"]), bool(state["resolve"])
            public = str(state["public"])
        except (BadData, KeyError, TypeError):
            abort(403)
        if not _CODE.fullmatch(code):
            abort(400)
        same = github == desk.settings.github_url
        api = desk.settings.github_api_url if same else api_url(github)
        try:
            answer = _convert(api, code, timeout)
            desk.keep(answer, github, api, resolve, public)
        except SetupError as error:
            return page(FORM, 502, wish=_default_wish(desk), problem=str(error))
        shown = page(
            DONE,
            name=str(answer.get("name") or "The App"),
            install=f"{answer.get('html_url') or github}/installations/new",
        )
        shown.delete_cookie(COOKIE, path="/setup")
        return shown

    return pages


def _convert(api: str, code: str, timeout: float) -> dict[str, Any]:
    try:
        answer = requests.post(
            f"{api}/app-manifests/{quote(code)}/conversions",
            headers={"Accept": "application/vnd.github+json, application/json"},
            timeout=timeout,
            allow_redirects=False,
        )
        data = answer.json() if answer.status_code == 201 else None
    except (requests.RequestException, ValueError) as error:
        kind = type(error).__name__
        raise SetupError(f"GitHub's API at {api} gave no usable answer ({kind})") from error
    if not isinstance(data, dict):
        raise SetupError(
            f"GitHub answered {answer.status_code} to the code: it is good once and for an hour. "
            "Begin again."
        )
    return data


def _visitor(desk: SetupDesk) -> URLSafeTimedSerializer:
    """The signer, if the request comes from the browser that opened the set-up; else 404."""
    signer = desk.signer()
    if signer is None:
        abort(404)
    try:
        signer.loads(request.cookies.get(COOKIE, ""), max_age=MOST_AGE_SECONDS)
    except BadData:
        abort(404)
    return signer


def _default_wish(desk: SetupDesk) -> Wish:
    return Wish("", "", request.url_root.rstrip("/"), desk.settings.github_url)


def _wish(desk: SetupDesk) -> Wish:
    form = request.form
    return Wish(
        form.get("name", "").strip(),
        form.get("organisation", "").strip(),
        form.get("public_url", "").strip().rstrip("/"),
        form.get("github_url", "").strip().rstrip("/") or desk.settings.github_url,
        form.get("resolve_threads") == "yes",
    )


def _check(wish: Wish) -> None:
    if not _NAME.fullmatch(wish.name):
        raise SetupError("Name: up to 34 letters, digits, spaces, - and _; GitHub wants it unique")
    if wish.organisation and not _LOGIN.fullmatch(wish.organisation):
        raise SetupError("Organisation: its login as in its address, or nothing")
    for what, url in (("Address", wish.public_url), ("GitHub", wish.github_url)):
        parts = urlsplit(url)
        plain = parts.scheme == "http" and is_loopback(parts.hostname or "")
        if not parts.hostname or not (parts.scheme == "https" or plain):
            raise SetupError(f"{what}: an address that begins with https://")
        if parts.query or parts.fragment or parts.username or re.search(r"[\s\"'<>;,]", url):
            raise SetupError(f"{what}: only scheme, host, port and path")


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def _signer(key: str) -> URLSafeTimedSerializer:
    return URLSafeTimedSerializer(key, salt="marginalia-setup")


def _read_state(path: Path) -> dict[str, str] | None:
    try:
        state = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    wanted = ("token", "key")
    if isinstance(state, dict) and all(isinstance(state.get(name), str) for name in wanted):
        return state
    return None


def _write_new(path: Path, text: str) -> None:
    """Write a file that is not there yet, for us alone, whole or not at all."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.link(temporary, path)  # unlike a rename it never replaces what is there
    finally:
        temporary.unlink(missing_ok=True)
