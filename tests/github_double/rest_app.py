"""Apps: JWT calls, installations, tokens, delivery lists, manifest, users, limits."""

from __future__ import annotations

import json
import secrets
import time
from typing import Any
from urllib.parse import urlencode

from flask import Blueprint, Response, redirect, request
from werkzeug.wrappers import Response as WerkzeugResponse

from tests.github_double import deliveries, render
from tests.github_double.auth import Caller, need_app, require
from tests.github_double.errors import ApiError, not_found
from tests.github_double.records import DEFAULT_PERMISSIONS, App, Delivery, Hook, Installation
from tests.github_double.web import (
    answer,
    body,
    caller,
    empty,
    find_repo,
    number,
    page,
    root,
    world,
)

blueprint = Blueprint("app", __name__)
_RANK = {"read": 1, "write": 2, "admin": 3}


@blueprint.get("/app")
def get_app() -> Response:
    return answer(render.app(root(), need_app(caller())))


@blueprint.get("/app/installations")
def list_installations() -> Response:
    app = need_app(caller())
    found = [i for i in world().installations.values() if i.app is app]
    return page(found, lambda i: render.installation(root(), i))


def _installation(which: int) -> Installation:
    app = need_app(caller())
    found = world().installations.get(which)
    if found is None or found.app is not app:
        raise not_found()
    return found


@blueprint.get("/app/installations/<int:which>")
def get_installation(which: int) -> Response:
    return answer(render.installation(root(), _installation(which)))


@blueprint.delete("/app/installations/<int:which>")
def delete_installation(which: int) -> Response:
    del world().installations[_installation(which).id]
    return empty()


@blueprint.get("/<any(orgs,users):kind>/<login>/installation")
def account_installation(kind: str, login: str) -> Response:
    app = need_app(caller())
    for found in world().installations.values():
        if found.app is app and found.account.login.lower() == login.lower():
            return answer(render.installation(root(), found))
    raise not_found()


@blueprint.post("/app/installations/<int:which>/access_tokens")
def create_token(which: int) -> Response:
    found = _installation(which)
    if found.suspended_at:
        raise ApiError(403, "This installation has been suspended")
    data = body()
    wanted = data.get("permissions")
    for area, level in (wanted or {}).items():
        if _RANK.get(found.permissions.get(area, ""), 0) < _RANK.get(level, 9):
            raise ApiError(422, "The permissions requested are not granted to this installation.")
    ids = set(data.get("repository_ids") or [])
    names = {n.lower() for n in data.get("repositories") or []}
    chosen = None
    if ids or names:
        inside = [
            r
            for r in world().repos.values()
            if r.owner is found.account and (found.repo_ids is None or r.id in found.repo_ids)
        ]
        chosen = {r.id for r in inside if r.id in ids or r.name.lower() in names}
        if len(chosen) < len(ids | names):
            raise ApiError(
                422,
                "There is at least one repository that does not exist or is not accessible "
                "to the parent installation.",
            )
    token = world().installation_token(found, wanted, chosen)
    expires = token.expires_at
    out: dict[str, Any] = {
        "token": token.value,
        "expires_at": expires.strftime("%Y-%m-%dT%H:%M:%SZ") if expires else "",
        "permissions": token.permissions,
        "repository_selection": "all" if found.repo_ids is None and not chosen else "selected",
    }
    if chosen:
        out["repositories"] = [
            render.repo(root(), r) for r in world().repos.values() if r.id in chosen
        ]
    return answer(out, 201)


@blueprint.get("/installation/repositories")
def installation_repositories() -> Response:
    found = caller().installation
    token = caller().token
    if found is None or token is None:
        raise ApiError(403, "You must authenticate with an installation access token.")
    repos = [
        r
        for r in world().repos.values()
        if r.owner is found.account
        and (found.repo_ids is None or r.id in found.repo_ids)
        and (token.repo_ids is None or r.id in token.repo_ids)
    ]
    return page(
        repos,
        lambda r: render.repo(root(), r),
        wrap=lambda rows: {
            "total_count": len(repos),
            "repository_selection": "all" if found.repo_ids is None else "selected",
            "repositories": rows,
        },
    )


# -- deliveries of the App's hook and of a repository's hooks ----------------------------------


@blueprint.get("/app/hook/config")
def get_hook_config() -> Response:
    return answer(render.hook_config(need_app(caller()).hook))


@blueprint.patch("/app/hook/config")
def set_hook_config() -> Response:
    hook = need_app(caller()).hook
    data = body()
    hook.url, hook.secret = data.get("url", hook.url), data.get("secret", hook.secret)
    hook.content_type = data.get("content_type", hook.content_type)
    return answer(render.hook_config(hook))


@blueprint.get("/app/hook/deliveries")
def app_deliveries() -> Response:
    return _delivery_list(need_app(caller()).hook)


@blueprint.get("/app/hook/deliveries/<int:which>")
def app_delivery(which: int) -> Response:
    return answer(render.delivery(_delivery(need_app(caller()).hook, which)))


@blueprint.post("/app/hook/deliveries/<int:which>/attempts")
def app_redeliver(which: int) -> Response:
    return _redeliver(_delivery(need_app(caller()).hook, which))


def _repo_hook(owner: str, name: str, hook_id: int) -> Hook:
    repo = find_repo(owner, name)
    if caller().installation is None:
        require(caller(), repo, "admin", "administration")
    else:
        require(caller(), repo, "read", "repository_hooks")
    hook = repo.hooks.get(hook_id)
    if hook is None:
        raise not_found()
    return hook


@blueprint.get("/repos/<owner>/<name>/hooks")
def repo_hooks(owner: str, name: str) -> Response:
    repo = find_repo(owner, name, "admin", "repository_hooks")
    return page(list(repo.hooks.values()), lambda h: render.hook(root(), repo.full_name, h))


@blueprint.get("/repos/<owner>/<name>/hooks/<int:hook_id>/deliveries")
def repo_deliveries(owner: str, name: str, hook_id: int) -> Response:
    return _delivery_list(_repo_hook(owner, name, hook_id))


@blueprint.get("/repos/<owner>/<name>/hooks/<int:hook_id>/deliveries/<int:which>")
def repo_delivery(owner: str, name: str, hook_id: int, which: int) -> Response:
    return answer(render.delivery(_delivery(_repo_hook(owner, name, hook_id), which)))


@blueprint.post("/repos/<owner>/<name>/hooks/<int:hook_id>/deliveries/<int:which>/attempts")
def repo_redeliver(owner: str, name: str, hook_id: int, which: int) -> Response:
    return _redeliver(_delivery(_repo_hook(owner, name, hook_id), which))


def _delivery_list(hook: Hook) -> Response:
    """Newest first, by cursor: the Link header holds the next one."""
    size = number("per_page", 30, 100)
    rows = list(reversed(hook.deliveries))
    cursor = request.args.get("cursor", "")
    if cursor.startswith("v1_") and cursor[3:].isdigit():
        rows = [d for d in rows if d.id <= int(cursor[3:])]
    elif cursor:
        raise ApiError(400, "Invalid cursor")
    status = request.args.get("status")
    if status:
        good = status == "success"
        rows = [d for d in rows if (200 <= d.status_code < 300) == good]
    out = answer([render.delivery_item(d) for d in rows[:size]])
    if len(rows) > size:
        args = {**request.args.to_dict(), "cursor": f"v1_{rows[size].id}"}
        out.headers["Link"] = f'<{root()}{request.path}?{urlencode(args)}>; rel="next"'
    return out


def _delivery(hook: Hook, which: int) -> Delivery:
    for found in hook.deliveries:
        if found.id == which:
            return found
    raise not_found()


def _redeliver(old: Delivery) -> Response:
    deliveries.send_later([deliveries.again(world(), old)])
    return answer({}, 202)


# -- the manifest flow -------------------------------------------------------------------------


@blueprint.post("/settings/apps/new")
@blueprint.post("/organizations/<org>/settings/apps/new")
def new_app(org: str = "") -> WerkzeugResponse:
    """GitHub's page for a manifest, as if the person had clicked "Create" at once."""
    manifest = json.loads(request.form.get("manifest") or "{}")
    hook = manifest.get("hook_attributes") or {}
    target = manifest.get("redirect_url")
    if not target or not manifest.get("url"):
        raise ApiError(422, "Invalid GitHub App configuration: url and redirect_url are needed")
    app = world().create_app(
        manifest.get("name") or "An App",
        owner=org or "alice",
        hook_url=hook.get("url", ""),
        permissions=manifest.get("default_permissions", DEFAULT_PERMISSIONS),
        events=manifest.get("default_events") or [],
    )
    code = secrets.token_hex(20)
    world().manifest_codes[code] = app
    query = {"code": code}
    if request.args.get("state"):
        query["state"] = request.args["state"]
    return redirect(f"{target}{'&' if '?' in target else '?'}{urlencode(query)}")


@blueprint.post("/app-manifests/<code>/conversions")
def convert_manifest(code: str) -> Response:
    app = world().manifest_codes.pop(code, None)
    if app is None:
        raise not_found()
    out = render.app(root(), app)
    out.update(
        client_id=app.client_id,
        client_secret=app.client_secret,
        webhook_secret=app.hook.secret,
        pem=app.pem,
    )
    return answer(out, 201)


@blueprint.get("/apps/<slug>/installations/new")
def install_app(slug: str) -> Response:
    """GitHub's installation page, as if the person had chosen everything of the owner's."""
    app = _app_by_slug(slug)
    made = world().install(app, app.owner)
    return answer(render.installation(root(), made))


@blueprint.get("/apps/<slug>")
def get_app_by_slug(slug: str) -> Response:
    return answer(render.app(root(), _app_by_slug(slug)))


def _app_by_slug(slug: str) -> App:
    for app in world().apps.values():
        if app.slug == slug:
            return app
    raise not_found()


# -- people and limits -------------------------------------------------------------------------


@blueprint.get("/user")
def get_me() -> Response:
    me = caller()
    if me.installation is not None or me.account is None:
        status = 403 if me.installation else 401
        text = "Resource not accessible by integration" if me.installation else "Bad credentials"
        raise ApiError(status, text)
    return answer(render.full_user(root(), me.account, private=True))


@blueprint.get("/users/<login>")
def get_user(login: str) -> Response:
    found = world().accounts.get(login.lower())
    if found is None:
        raise not_found()
    return answer(render.full_user(root(), found, private=False))


@blueprint.get("/rate_limit")
def rate_limit() -> Response:
    state = rate_state(caller())
    names = ("core", "search", "graphql", "integration_manifest")
    return answer({"resources": dict.fromkeys(names, state), "rate": state})


def rate_state(who: Caller) -> dict[str, int]:
    """A caller's hourly allowance: the numbers behind the rate-limit headers."""
    limit = world().limits.hourly_requests if who.account or who.app else 60
    used = who.token.used if who.token else 0
    reset = (int(time.time()) // 3600 + 1) * 3600
    return {"limit": limit, "used": used, "remaining": max(0, limit - used), "reset": reset}


@blueprint.get("/")
def api_root() -> Response:
    return answer({"current_user_url": f"{root()}/user"})


@blueprint.get("/meta")
def meta() -> Response:
    return answer({"verifiable_password_authentication": False})


@blueprint.get("/zen")
def zen() -> Response:
    return Response("Keep it logically awesome.", content_type="text/plain; charset=utf-8")
