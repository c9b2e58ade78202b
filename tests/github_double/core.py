"""The Flask application behind the gateway: GitHub's routes and the double's own."""

from __future__ import annotations

import json
from typing import Any

from flask import Flask, Response, g, request
from werkzeug.exceptions import HTTPException

from tests.github_double import (
    graphql_api,
    rest_app,
    rest_checks,
    rest_oauth,
    rest_pulls,
    rest_repos,
)
from tests.github_double import rest_reviews as reviews_routes
from tests.github_double.auth import Caller, identify
from tests.github_double.errors import ApiError
from tests.github_double.world import World


def create_core(world: World) -> Flask:
    """GitHub's API over a world; the gateway says under which address it is known."""
    app = Flask("github_double", static_folder=None)
    app.extensions["world"] = world
    app.json.sort_keys = False  # type: ignore[attr-defined]
    # GitHub redirects nothing that a client would notice.
    app.url_map.strict_slashes = app.url_map.redirect_defaults = False
    app.url_map.merge_slashes = False
    routes = (rest_repos, rest_pulls, reviews_routes, rest_app, rest_oauth, rest_checks)
    for module in (*routes, graphql_api):
        app.register_blueprint(module.blueprint)

    @app.before_request
    def begin() -> None:
        world.lock.acquire()
        g.locked = True
        g.root = request.environ.get("double.root") or world.root
        g.caller = Caller(None)
        g.caller = identify(world, request)
        token = g.caller.token
        if token is not None and request.path != "/rate_limit":
            limit = world.limits.hourly_requests
            if token.used > limit:
                raise ApiError(403, f"API rate limit exceeded for {g.caller.name}.")

    @app.after_request
    def limits(out: Response) -> Response:
        state = rest_app.rate_state(g.get("caller", Caller(None)))
        for key, value in state.items():
            out.headers[f"X-RateLimit-{key.capitalize()}"] = str(value)
        out.headers["X-RateLimit-Resource"] = "graphql" if request.path == "/graphql" else "core"
        out.headers["X-GitHub-Media-Type"] = "github.v3; format=json"
        out.headers["X-Double-Caller"] = g.get("caller", Caller(None)).name
        return out

    @app.teardown_request
    def end(_error: BaseException | None) -> None:
        if g.pop("locked", False):
            world.lock.release()

    @app.errorhandler(ApiError)
    def refused(error: ApiError) -> Response:
        return _json(error.body(), error.status, error.headers)

    @app.errorhandler(HTTPException)
    def unknown(error: HTTPException) -> Response:
        code = error.code or 500
        if code in (404, 405):
            # Nothing answers here: a gap of the double, or an endpoint that does not exist.
            return _json(
                {"message": f"The double has no {request.method} {request.path}"},
                501,
                {"X-Double-Gap": "1"},
            )
        return _json({"message": error.description}, code, {})

    return app


def _json(data: Any, status: int, headers: dict[str, str]) -> Response:
    out = Response(json.dumps(data), status=status, content_type="application/json; charset=utf-8")
    out.headers.update(headers)
    return out
