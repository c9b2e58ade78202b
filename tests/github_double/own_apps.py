"""The double's own API, Apps, installations, hooks and tokens."""

from __future__ import annotations

from flask import Blueprint, Response

from tests.github_double.deliveries import announce
from tests.github_double.errors import not_found
from tests.github_double.own_world import hold, let_go, repo_of
from tests.github_double.records import (
    Hook,
    now,
)
from tests.github_double.web import answer, body, world

blueprint = Blueprint("own_apps", __name__, url_prefix="/_double")
blueprint.before_request(hold)
blueprint.teardown_request(let_go)
_REPO = "/repos/<owner>/<name>"


@blueprint.post("/apps")
def make_app() -> Response:
    data = body()
    app = world().create_app(
        data.get("name", "Marginalia"),
        owner=data.get("owner", "acme"),
        hook_url=data.get("webhook_url", ""),
        hook_secret=data.get("webhook_secret"),
        permissions=data.get("permissions"),
        events=data.get("events"),
    )
    return answer(
        {
            "id": app.id,
            "slug": app.slug,
            "client_id": app.client_id,
            "pem": app.pem,
            "client_secret": app.client_secret,
            "webhook_secret": app.hook.secret,
            "hook_id": app.hook.id,
            "bot": app.bot.login,
        },
        201,
    )


@blueprint.patch("/apps/<int:which>")
def change_app(which: int) -> Response:
    app, data = world().apps.get(which), body()
    if app is None:
        raise not_found()
    app.hook.url = data.get("webhook_url", app.hook.url)
    app.hook.secret = data.get("webhook_secret", app.hook.secret)
    return answer({})


@blueprint.post("/installations")
def make_installation() -> Response:
    data = body()
    app = world().apps.get(data["app_id"])
    if app is None:
        raise not_found()
    names = data.get("repos")
    chosen = None if names is None else [repo_of(*n.split("/")) for n in names]
    account = world().account(data.get("account", app.owner.login), "Organization")
    made = world().install(app, account, chosen)
    made.permissions.update(data.get("permissions") or {})
    announce(world(), "installation", "created", made, app.owner)
    return answer({"id": made.id}, 201)


@blueprint.patch("/installations/<int:which>")
def change_installation(which: int) -> Response:
    found, data = world().installations.get(which), body()
    if found is None:
        raise not_found()
    found.permissions.update(data.get("permissions") or {})
    if "suspended" in data:
        found.suspended_at = now() if data["suspended"] else None
    if "repos" in data:
        found.repo_ids = {repo_of(*n.split("/")).id for n in data["repos"]}
    return answer({})


@blueprint.delete("/installations/<int:which>")
def remove_installation(which: int) -> Response:
    world().installations.pop(which, None)
    return answer({})


@blueprint.post(f"{_REPO}/hooks")
def make_hook(owner: str, name: str) -> Response:
    data, repo = body(), repo_of(owner, name)
    hook = Hook(
        world().next_id(),
        "repository",
        repo.id,
        data["url"],
        data.get("secret", ""),
        data.get("events") or ["*"],
        data.get("content_type", "json"),
    )
    repo.hooks[hook.id] = hook
    return answer({"id": hook.id}, 201)


@blueprint.post("/tokens")
def make_token() -> Response:
    data = body()
    if data.get("installation_id"):
        found = world().installations.get(data["installation_id"])
        if found is None:
            raise not_found()
        return answer({"token": world().installation_token(found).value}, 201)
    return answer({"token": world().user_token(data.get("login", "alice")).value}, 201)


@blueprint.delete("/tokens/<value>")
def revoke_token(value: str) -> Response:
    """Take one person's token back."""
    world().tokens.pop(value, None)
    return answer({})


@blueprint.post("/tokens/expire")
def expire_tokens() -> Response:
    """End every installation token now, as if its hour were over."""
    gone = [v for v, t in world().tokens.items() if t.installation is not None]
    for value in gone:
        del world().tokens[value]
    return answer({"expired": len(gone)})
