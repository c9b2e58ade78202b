"""The pages for people, under their guard: who may come in, what forms must bring, which headers.

``dashboard`` makes the blueprint; each page's module adds its own routes. Nothing is shown to
someone who is not signed in but the sign-in itself; a repository that GitHub does not let a person
see is not there for them (404), and one where they cannot write takes no decision of theirs (403).
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Any

from flask import Blueprint, Response, g, make_response, redirect, render_template, request, url_for
from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Response as BaseResponse

from bot.feedback import approval
from bot.github.errors import Unauthorized
from bot.jobs.forge import ForgeError
from bot.web import feedback_page, jobs_page, queue_page, review_pages, sign_in
from bot.web.cookies import cookie_name, is_secure
from bot.web.desk import Desk
from bot.web.people import same
from bot.web.words import add_filters

OPEN_ENDPOINTS = {"web.static", "web.sign_in", "web.begin", "web.callback"}
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
ASSET_SECONDS = 31_536_000
_ERRORS = {
    400: "The form is out of date or incomplete. Go back, load the page again and repeat it.",
    401: "Sign in first.",
    403: "You can read this repository, but deciding takes write permission.",
    404: "There is nothing here, or GitHub does not let you see it.",
    409: "Someone was faster.",
}


def dashboard(desk: Desk) -> Blueprint:
    """The blueprint of all pages for people; its assets are under ``/assets``."""
    pages = Blueprint(
        "web", __name__, template_folder="templates", static_folder="static",
        static_url_path="/assets",
    )  # fmt: skip
    add_filters(pages)
    _guard(pages, desk)
    _errors(pages, desk)

    @pages.get("/")
    def home() -> BaseResponse:
        return redirect(url_for("web.queue"))

    for module in (sign_in, queue_page, review_pages, feedback_page, jobs_page):
        module.add(pages, desk)
    return pages


def _guard(pages: Blueprint, desk: Desk) -> None:
    @pages.before_request
    def known() -> BaseResponse | None:
        if request.endpoint == "web.static":
            return None
        cookie = request.cookies.get(cookie_name(desk), "")
        g.person = desk.sessions.find(cookie, desk.now())
        # what browsers say of where a form came from; the forms' own secret is asked for below
        come = request.headers.get("Sec-Fetch-Site", "none")
        if request.method == "POST" and come not in ("same-origin", "none"):
            return _page("error.html", 400, code=400, words=_ERRORS[400])
        if request.endpoint in OPEN_ENDPOINTS:
            return None
        if g.person is None:
            if request.method != "GET":
                return _page("error.html", 401, code=401, words=_ERRORS[401])
            after = request.full_path.rstrip("?")
            return redirect(url_for("web.sign_in", after=after if after != "/" else None))
        if request.method == "POST" and not same(request.form.get("csrf", ""), g.person.csrf):
            return _page("error.html", 400, code=400, words=_ERRORS[400])
        if request.endpoint != "web.sign_out":
            # before any page, so that what is hidden and what is not there answer alike
            g.seen = desk.seen
        return None

    @pages.after_request
    def locked_down(response: Response) -> Response:
        headers = response.headers
        headers["Content-Security-Policy"] = POLICY
        headers["X-Content-Type-Options"] = "nosniff"
        headers["X-Frame-Options"] = "DENY"
        headers["Referrer-Policy"] = "same-origin"
        headers["Cross-Origin-Opener-Policy"] = "same-origin"
        headers["Cross-Origin-Resource-Policy"] = "same-origin"
        headers["Permissions-Policy"] = "camera=(), microphone=(), geolocation=()"
        if is_secure(desk):
            headers["Strict-Transport-Security"] = "max-age=31536000"
        static = request.endpoint == "web.static"
        if static and response.status_code == 200:
            headers["Cache-Control"] = f"public, max-age={ASSET_SECONDS}, immutable"
        elif not static:
            headers["Cache-Control"] = "no-store"
            headers["Vary"] = "Cookie"
        return response

    @pages.context_processor
    def shared() -> dict[str, Any]:
        seen = g.get("seen")
        waiting = 0 if seen is None else approval.count(desk.database, seen.names)
        return {"person": g.get("person"), "asset": _asset, "waiting_count": waiting}


def _errors(pages: Blueprint, desk: Desk) -> None:
    @pages.errorhandler(Unauthorized)
    def token_gone(_error: Unauthorized) -> BaseResponse:
        """GitHub took the token back: the session is worth nothing."""
        if g.get("person") is not None:
            desk.sessions.end(g.person)
            desk.access.forget(g.person)
        return redirect(url_for("web.sign_in"))

    @pages.errorhandler(ForgeError)
    def away(_error: ForgeError) -> Response:
        words = "GitHub does not say now what you may see. Try again in a minute."
        return _page("error.html", 503, code=503, words=words)

    @pages.errorhandler(HTTPException)
    def refused(error: HTTPException) -> Response | HTTPException:
        code = error.code or 500
        if code < 400:
            return error
        words = _ERRORS.get(code, error.description or error.name)
        return _page("error.html", code, code=code, words=words)


def _page(template: str, status: int, **values: Any) -> Response:
    made = make_response(render_template(template, **values))
    made.status_code = status
    return made


def _asset(name: str) -> str:
    """An asset's address, which changes with its content: so browsers may keep it."""
    return url_for("web.static", filename=name, v=_version(name))


@cache
def _version(name: str) -> str:
    path = Path(__file__).with_name("static") / name
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]
