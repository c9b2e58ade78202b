"""Giving a stored delivery to the webhook: GitHub's own record of it, ours, or a bare payload."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

import requests
from flask.testing import FlaskClient

from bot.errors import FatalError
from bot.github.deliveries import StoredDelivery
from bot.settings import Settings, SettingsError

EVENT = "X-GitHub-Event"
GUID = "X-GitHub-Delivery"
KEPT = "x-github-"


def read_delivery(file: Path, event: str = "", guid: str = "") -> StoredDelivery:
    """A delivery from a JSON file; raises ``FatalError``.

    Three forms are taken: what GitHub's API answers for a delivery (``request.headers`` and
    ``request.payload``), ``{"headers": ..., "payload": ...}``, and a bare payload with ``event``.
    Without a GUID it gets a new one.
    """
    try:
        data = json.loads(file.read_bytes())
    except OSError as error:
        raise FatalError(f"{file}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise FatalError(f"{file}: not JSON ({error})") from error
    if not isinstance(data, dict):
        raise FatalError(f"{file}: expected a JSON object")
    record = _table(data, "request") or data
    payload = record.get("payload", data if "headers" not in record else None)
    if not isinstance(payload, dict):
        raise FatalError(f"{file}: there is no payload in it")
    headers = {
        str(name): str(value)
        for name, value in _table(record, "headers").items()
        if str(name).lower().startswith(KEPT)
    }
    names = {name.lower(): name for name in headers}
    said = event or _text(data, "event")
    if said:
        headers[names.get(EVENT.lower(), EVENT)] = said
    elif EVENT.lower() not in names:
        raise FatalError(f"{file}: it does not say its event: give --event")
    own = guid or _text(data, "guid")
    if own or GUID.lower() not in names:
        headers[names.get(GUID.lower(), GUID)] = own or f"replay-{uuid.uuid4()}"
    body = json.dumps(payload, separators=(",", ":"), ensure_ascii=False)
    return StoredDelivery(
        {**headers, "Content-Type": "application/json"}, body.encode("utf-8", "surrogatepass")
    )


def _table(data: dict[str, Any], name: str) -> dict[str, Any]:
    value = data.get(name)
    return value if isinstance(value, dict) else {}


def _text(data: dict[str, Any], name: str) -> str:
    value = data.get(name)
    return value if isinstance(value, str) else ""


def signed_headers(delivery: StoredDelivery, settings: Settings) -> dict[str, str]:
    """The headers with the signature, or without where the server takes unsigned ones."""
    secrets = settings.secrets
    return delivery.signed(secrets[0]) if secrets else dict(delivery.headers)


def send_to(url: str, delivery: StoredDelivery, settings: Settings) -> tuple[int, str]:
    """POST to a running server; status and answer. Raises ``FatalError`` where none answers."""
    try:
        answer = requests.post(
            url,
            data=delivery.body,
            headers=signed_headers(delivery, settings),
            timeout=30,
            allow_redirects=False,
        )
    except requests.RequestException as error:
        raise FatalError(f"{url}: no answer ({type(error).__name__})") from error
    return answer.status_code, answer.text.strip()


def send_here(delivery: StoredDelivery, settings: Settings) -> tuple[int, str]:
    """Through the same application in this process, into the same ledger; status and answer."""
    from bot.app import create_app, web_state
    from bot.service.prepare import open_ledger

    ledger = open_ledger(settings)
    try:
        app = create_app(settings, ledger)
    except SettingsError as error:
        raise FatalError(str(error)) from error
    client: FlaskClient = app.test_client()
    answer = client.post("/webhook", data=delivery.body, headers=signed_headers(delivery, settings))
    with app.app_context():
        web_state().queue.close()
    ledger.close()
    return answer.status_code, answer.get_data(as_text=True).strip()
