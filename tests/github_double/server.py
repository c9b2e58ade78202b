"""The server: world, core, own API, git and pages behind one gateway on one port."""

from __future__ import annotations

import json
from pathlib import Path

from flask import Flask, Response
from werkzeug.serving import BaseWSGIServer, WSGIRequestHandler, make_server

from tests.github_double import own_apps, own_control, own_people, own_world
from tests.github_double.core import create_core
from tests.github_double.errors import ApiError
from tests.github_double.gateway import Gateway
from tests.github_double.git_http import GitHttp
from tests.github_double.git_store import GitError
from tests.github_double.pages import Pages
from tests.github_double.prism import Prism
from tests.github_double.world import World


class _Quiet(WSGIRequestHandler):
    """Requests are in the double's own record, not on the console."""

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        return


def create_own(world: World) -> Flask:
    """The application under ``/_double/``."""
    app = Flask("github_double_own", static_folder=None)
    app.extensions["world"] = world
    app.json.sort_keys = False  # type: ignore[attr-defined]
    app.register_blueprint(own_world.blueprint)
    app.register_blueprint(own_apps.blueprint)
    app.register_blueprint(own_people.blueprint)
    app.register_blueprint(own_control.blueprint)

    @app.errorhandler(ApiError)
    def refused(error: ApiError) -> Response:
        return _json(error.status, error.body())

    @app.errorhandler(GitError)
    def git_failed(error: GitError) -> Response:
        return _json(422, {"message": str(error)})

    @app.errorhandler(KeyError)
    def missing(error: KeyError) -> Response:
        return _json(422, {"message": f"missing: {error}"})

    return app


def _json(status: int, data: dict[str, object]) -> Response:
    return Response(json.dumps(data), status=status, content_type="application/json")


class Server:
    """A double that listens; ``http.serve_forever()`` answers until ``close``."""

    def __init__(
        self, folder: Path, *, host: str = "127.0.0.1", port: int = 0, judge: bool = True
    ) -> None:
        self.world = World(folder)
        own = create_own(self.world)
        core = create_core(self.world)
        self.gateway = Gateway(self.world, core, own, GitHttp(self.world), Pages(self.world))
        own.extensions["gateway"] = self.gateway
        self.http: BaseWSGIServer = make_server(
            host, port, self.gateway, threaded=True, request_handler=_Quiet
        )
        self.port = self.http.port
        self.url = f"http://{host}:{self.port}"
        self.world.root = self.url
        rules = [rule.rule for rule in core.url_map.iter_rules()]
        self.prism = Prism(self.url, folder, rules) if judge else None

    def close(self) -> None:
        """Stop listening and stop prism."""
        self.gateway.faults.clear()
        self.http.server_close()
        if self.prism is not None:
            self.prism.stop()
