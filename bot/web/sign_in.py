"""Signing in and out."""

from __future__ import annotations

import re
from dataclasses import asdict

from flask import Blueprint, Response, g, make_response, redirect, render_template, request, url_for
from itsdangerous import BadData, URLSafeTimedSerializer
from werkzeug.wrappers import Response as BaseResponse

from bot.github.sign_out import SignOuts
from bot.jobs.forge import ForgeError
from bot.web.cookies import cookie_name, cookie_path, is_private, is_secure
from bot.web.desk import Desk
from bot.web.oauth import CALLBACK, Attempt, SignInError, exchange, login_of
from bot.web.paging import whole_number
from bot.web.people import SESSION_SECONDS, same

ATTEMPT_COOKIE = "marginalia_sign_in"
ATTEMPT_SECONDS = 600
_CODE = re.compile(r"[A-Za-z0-9_-]{1,200}")
_PLACE = re.compile(r"/(?![/\\])[\x21-\x7e]{0,500}")
"""A page of ours: never another host's, whatever the address says."""


NO_APP = (
    "Nobody can sign in here: this server speaks to GitHub with a token (MARGINALIA_TOKEN), and "
    "only a GitHub App can ask who someone is. Decide by comments on the pull request instead: "
    "/marginalia queue, accept N, edit N, reject N; marginalia feedback report and marginalia jobs "
    "list show the rest on this machine. For these pages make an App: stop the server, unset "
    "MARGINALIA_TOKEN, start marginalia serve, and open the /setup address that it prints."
)
"""What there is to do where no App is: the operator reads it, or who was sent here."""


def add(pages: Blueprint, desk: Desk) -> None:
    """Add the routes."""

    @pages.get("/sign-in")
    def sign_in() -> BaseResponse:
        if g.person is not None:
            return redirect(_here(_place(request.args.get("after"))))
        return _sign_in(desk, request.args.get("after"))

    @pages.get("/auth/github")
    def begin() -> BaseResponse:
        if _problem(desk):
            return _sign_in(desk, None, status=503)
        attempt = Attempt.new(_place(request.args.get("after")))
        made = redirect(attempt.address(desk.settings, _callback(desk)))
        made.set_cookie(
            ATTEMPT_COOKIE,
            _signer(desk).dumps(asdict(attempt)),
            max_age=ATTEMPT_SECONDS,
            httponly=True,
            secure=is_secure(desk),
            samesite="Lax",  # GitHub's way back is a top-level GET
            path=_here("/auth"),
        )
        return made

    @pages.get(CALLBACK)
    def callback() -> BaseResponse:
        try:
            attempt = _attempt(desk)
            token = exchange(desk.settings, attempt, _code(), _callback(desk))
            login = login_of(desk.settings, token)
        except SignInError as error:
            return _sign_in(desk, None, str(error), 400)
        except ForgeError:
            return _sign_in(desk, None, "GitHub does not answer now: try again in a minute.", 502)
        if g.person is not None:
            _end(desk)
        cookie = desk.sessions.begin(login, token, desk.now())
        made = redirect(_here(attempt.after))
        made.set_cookie(
            cookie_name(desk),
            cookie,
            max_age=int(SESSION_SECONDS),
            httponly=True,
            secure=is_secure(desk),
            samesite="Lax",
            path=cookie_path(),
        )
        made.delete_cookie(ATTEMPT_COOKIE, path=_here("/auth"))
        return made

    @pages.post("/sign-out")
    def sign_out() -> BaseResponse:
        left = _end(desk)
        made = redirect(url_for("web.sign_in", left=left or None))
        made.delete_cookie(
            cookie_name(desk),
            path=cookie_path(),
            secure=is_secure(desk),
            httponly=True,
            samesite="Lax",
        )
        return made


def _end(desk: Desk) -> int:
    """End the session here, whatever GitHub says, and then its token there.

    How many candidates are still posted in the person's name before the token ends.
    """
    person = desk.person
    desk.sessions.end(person)
    desk.access.forget(person)
    return SignOuts(desk.database, desk.settings).of(person.login, person.token, desk.now())


def _sign_in(desk: Desk, after: str | None, said: str = "", status: int = 200) -> Response:
    problem = _problem(desk)
    made = make_response(
        render_template(
            "sign_in.html",
            after=_place(after),
            problem=problem or said,
            can=not problem,
            left=whole_number(request.args.get("left"), 0),
        )
    )
    made.status_code = status
    return made


def _problem(desk: Desk) -> str:
    """Why nobody can sign in here, for the operator; empty where they can."""
    settings = desk.settings
    if settings.app_id is None and settings.token is not None:
        return NO_APP
    if not settings.client_id or settings.client_secret is None:
        return (
            "Sign-in is not set up: give the App's MARGINALIA_CLIENT_ID and "
            f"MARGINALIA_CLIENT_SECRET, and the App the callback address {_callback(desk)}"
        )
    if not is_private(desk):
        return (
            "This page came over plain http, where others could read the sign-in: serve it by "
            "https and set MARGINALIA_PUBLIC_URL to its https:// address"
        )
    return ""


def _callback(desk: Desk) -> str:
    return f"{desk.settings.public_url or request.host_url.rstrip('/')}{CALLBACK}"


def _here(place: str) -> str:
    """A page's address under the path at which we are served."""
    return f"{request.script_root}{place}"


def _place(after: str | None) -> str:
    return after if after and _PLACE.fullmatch(after) else "/queue"


def _signer(desk: Desk) -> URLSafeTimedSerializer:
    secret = desk.settings.client_secret
    key = "" if secret is None else secret.get_secret_value()
    if not key:
        raise SignInError("Sign-in is not set up.")
    return URLSafeTimedSerializer(key, salt="marginalia-sign-in")


def _attempt(desk: Desk) -> Attempt:
    """The attempt that this browser began; ``SignInError`` for anything else."""
    again = "This sign-in was not begun in this browser, or too long ago: begin again."
    try:
        kept = _signer(desk).loads(request.cookies.get(ATTEMPT_COOKIE, ""), max_age=ATTEMPT_SECONDS)
        attempt = Attempt(str(kept["state"]), str(kept["verifier"]), str(kept["after"]))
    except (BadData, KeyError, TypeError) as error:
        raise SignInError(again) from error
    if not same(request.args.get("state", ""), attempt.state):
        raise SignInError(again)
    return attempt


def _code() -> str:
    if request.args.get("error"):
        raise SignInError("GitHub says that you did not agree: nobody was signed in.")
    code = request.args.get("code", "")
    if not _CODE.fullmatch(code):
        raise SignInError("GitHub's answer lacks its code: begin again.")
    return code
