"""Signing in through an App, and what such a person's token shows: their installations."""

from __future__ import annotations

import base64
import hashlib
import secrets
from typing import Any
from urllib.parse import urlencode

from flask import Blueprint, Response, redirect, request
from werkzeug.wrappers import Response as WerkzeugResponse

from tests.github_double import render
from tests.github_double.auth import role
from tests.github_double.errors import ApiError, not_found
from tests.github_double.records import App, Installation, Repo
from tests.github_double.rest_repos import permissions_of
from tests.github_double.web import answer, body, caller, empty, page, root, world

blueprint = Blueprint("oauth", __name__)


@blueprint.get("/login/oauth/authorize")
def authorize() -> WerkzeugResponse:
    """The page that asks a person for consent, given at once.

    The person is ``login``, else the one whom the double's settings call signed in; with nobody
    there the consent is refused.
    """
    app = next(
        (a for a in world().apps.values() if a.client_id == request.args.get("client_id")), None
    )
    target = request.args.get("redirect_uri")
    if app is None or not target:
        raise not_found()
    method = request.args.get("code_challenge_method")
    if request.args.get("code_challenge") and method != "S256":
        raise ApiError(422, "only S256 is supported as code_challenge_method")
    query = {"state": request.args.get("state", "")}
    login = request.args.get("login") or world().signed_in
    if login:
        query["code"] = secrets.token_hex(10)
        challenge = request.args.get("code_challenge", "")
        world().oauth_codes[query["code"]] = (app, world().account(login), challenge)
    else:
        query["error"] = "access_denied"
    return redirect(f"{target}{'&' if '?' in target else '?'}{urlencode(query)}")


@blueprint.post("/login/oauth/access_token")
def oauth_token() -> Response:
    """A code for a token; as on GitHub, refusals come with status 200."""
    form = request.form.to_dict() or (request.get_json(silent=True) or {})
    app, account, challenge = world().oauth_codes.pop(form.get("code", ""), (None, None, ""))
    out: dict[str, Any]
    if app is None or account is None or not _proven(challenge, form.get("code_verifier", "")):
        out = {"error": "bad_verification_code"}
    elif (form.get("client_id"), form.get("client_secret")) != (app.client_id, app.client_secret):
        out = {"error": "incorrect_client_credentials"}
    else:
        token = world().user_token(account.login)
        world().user_apps[token.value] = app
        out = {"access_token": token.value, "token_type": "bearer", "scope": ""}
    if "json" in request.headers.get("Accept", ""):
        return answer(out)
    return Response(urlencode(out), content_type="application/x-www-form-urlencoded")


@blueprint.delete("/applications/<client_id>/token")
def delete_token(client_id: str) -> Response:
    """The App's client takes one person's token back."""
    app = caller().app
    token = body().get("access_token")
    if not isinstance(token, str) or not token:
        raise ApiError(422, "Invalid request. access_token is missing.")
    if app is None or app.client_id != client_id or world().user_apps.get(token) is not app:
        raise not_found()
    del world().user_apps[token]
    world().tokens.pop(token, None)
    return empty()


def _proven(challenge: str, verifier: str) -> bool:
    """Proof Key for Code Exchange (RFC 7636), where the sign-in began with it."""
    digest = hashlib.sha256(verifier.encode()).digest()
    return not challenge or base64.urlsafe_b64encode(digest).rstrip(b"=").decode() == challenge


@blueprint.get("/user/installations")
def my_installations() -> Response:
    """The App's installations in which the person may see something."""
    app = _app()
    found = [i for i in world().installations.values() if i.app is app and list(_mine(i))]
    return page(
        found,
        lambda i: render.installation(root(), i),
        wrap=lambda rows: {"total_count": len(found), "installations": rows},
    )


@blueprint.get("/user/installations/<int:which>/repositories")
def my_repositories(which: int) -> Response:
    """The repositories of an installation that the person may see by name."""
    found = world().installations.get(which)
    if found is None or found.app is not _app():
        raise not_found()
    repos = list(_mine(found))
    return page(
        repos,
        lambda r: {
            **render.repo(root(), r),
            "permissions": permissions_of(r, caller().account),
        },
        wrap=lambda rows: {
            "total_count": len(repos),
            "repository_selection": "all" if found.repo_ids is None else "selected",
            "repositories": rows,
        },
    )


def _app() -> App:
    token = caller().token
    app = world().user_apps.get(token.value) if token else None
    if app is None:
        raise ApiError(403, "You must authenticate with an access token authorized to a GitHub App")
    return app


def _mine(installation: Installation) -> list[Repo]:
    """Explicit permission only: that a repository is public is not enough."""
    me = caller().account
    return [
        repo
        for repo in world().repos.values()
        if repo.owner is installation.account
        and (installation.repo_ids is None or repo.id in installation.repo_ids)
        and me is not None
        and (repo.owner is me or me.login.lower() in repo.collaborators)
        and role(repo, me) != "none"
    ]
