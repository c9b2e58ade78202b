"""``create_app``: the Flask application and its blueprints, nothing else."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass

from flask import Blueprint, Flask, Response, current_app, jsonify
from gunicorn.http.errors import ParseException  # type: ignore[import-untyped]
from sqlalchemy.exc import SQLAlchemyError
from werkzeug.exceptions import HTTPException, RequestEntityTooLarge

from bot.handlers import router
from bot.jobs.queue import JobQueue
from bot.metrics_export import Metrics, exposition
from bot.settings import Settings
from bot.store.database import said_by
from bot.store.ledger import Ledger
from bot.store.recorder import Recorder
from bot.web.prefix import UnderPrefix, prefix_of
from bot.webhook import EXTENSION, Receiver, webhook

log = logging.getLogger(__name__)

alive = Blueprint("alive", __name__)
health = Blueprint("health", __name__)


@dataclass(frozen=True, slots=True)
class WebState:
    """What the views share; found at ``app.extensions["marginalia"]``."""

    settings: Settings
    ledger: Ledger
    queue: JobQueue
    metrics: Metrics
    receiver: Receiver


def create_app(
    settings: Settings,
    ledger: Ledger | None = None,
    queue: JobQueue | None = None,
    blueprints: Iterable[Blueprint] = (),
) -> Flask:
    """The web application; ``blueprints`` are further pages (set-up, dashboard).

    The database must have been migrated. Raises ``SettingsError`` where anyone could call the
    webhook.
    """
    settings.check_web()
    ledger = ledger or Ledger(settings.database)
    queue = queue or JobQueue(settings.database, settings.job_version)
    metrics = Metrics()
    recorder = Recorder(ledger.database, queue.deliver_new)
    app = Flask("marginalia")
    app.config["MAX_CONTENT_LENGTH"] = settings.max_body_bytes
    app.extensions[EXTENSION] = WebState(
        settings, ledger, queue, metrics, Receiver(settings, recorder, router(), metrics)
    )
    app.register_blueprint(webhook)
    app.register_blueprint(alive)
    app.register_blueprint(health)
    for blueprint in blueprints:
        app.register_blueprint(blueprint)
    if prefix := prefix_of(settings.public_url):
        app.wsgi_app = UnderPrefix(app.wsgi_app, prefix)  # type: ignore[method-assign]
    app.register_error_handler(RequestEntityTooLarge, _too_large)
    app.register_error_handler(HTTPException, _plain_error)
    app.register_error_handler(SQLAlchemyError, _ledger_away)
    app.register_error_handler(ParseException, _broken_body)
    return app


def create_setup_app(blueprints: Iterable[Blueprint], public_url: str = "") -> Flask:
    """The application while there is no App yet: the set-up's pages, and no webhook at all."""
    app = Flask("marginalia")
    if prefix := prefix_of(public_url):
        app.wsgi_app = UnderPrefix(app.wsgi_app, prefix)  # type: ignore[method-assign]
    app.register_blueprint(alive)
    for blueprint in blueprints:
        app.register_blueprint(blueprint)
    app.register_error_handler(HTTPException, _plain_error)
    return app


def web_state() -> WebState:
    """The state of the running application, for views."""
    state: WebState = current_app.extensions[EXTENSION]
    return state


@alive.get("/healthz")
def healthz() -> tuple[Response, int]:
    """This process answers."""
    return jsonify(status="ok"), 200


@health.get("/readyz")
def readyz() -> tuple[Response, int]:
    """Deliveries can be recorded: the ledger is there, in this version's shape."""
    state = web_state()
    try:
        current = state.ledger.database.is_current()
        workers = len(state.ledger.workers.alive(state.settings.lease))
    except SQLAlchemyError:
        return jsonify(status="unavailable", reason="the ledger is away"), 503
    if not current:
        return jsonify(status="unavailable", reason="the ledger needs a migration"), 503
    return jsonify(status="ok", workers=workers), 200


@health.get("/metrics")
def metrics() -> tuple[Response, int]:
    """Prometheus metrics, unless the operator turned them off."""
    state = web_state()
    if not state.settings.metrics:
        return jsonify(status="off"), 404
    text = exposition(state.metrics, state.ledger.database, state.settings.lease)
    return Response(text, mimetype="text/plain; version=0.0.4; charset=utf-8"), 200


def _too_large(_error: RequestEntityTooLarge) -> tuple[Response, int]:
    state = web_state()
    state.metrics.refused(413)
    limit = state.settings.max_body_bytes
    return jsonify(status="refused", reason=f"body: more than {limit} bytes"), 413


def _broken_body(error: Exception) -> tuple[Response, int]:
    """The server reads a body only when it is asked for, so its faults come up in a view."""
    web_state().metrics.refused(400)
    reason = f"body: badly chunked ({type(error).__name__})"
    log.warning("request refused", extra={"status": 400, "reason": reason})
    return jsonify(status="refused", reason=reason), 400


def _ledger_away(error: SQLAlchemyError) -> tuple[Response, int]:
    """A page cannot be made while the database is away or its disk is full."""
    log.error("the ledger is away", extra={"reason": said_by(error)})
    response = jsonify(status="unavailable", reason="the ledger is away: try again")
    response.headers["Retry-After"] = "60"
    return response, 503


def _plain_error(error: HTTPException) -> tuple[Response, int]:
    code = error.code or 500
    return jsonify(status="error", reason=error.name), code
