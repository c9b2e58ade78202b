"""Deliveries as GitHub signs them, and an application that takes them."""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import Any

import pytest
from flask.testing import FlaskClient

from bot.app import create_app
from bot.jobs.queue import JobQueue
from bot.settings import Settings
from bot.store.ledger import Ledger

SECRET = b"s3cret"
PULL = {
    "action": "opened",
    "number": 3,
    "pull_request": {"number": 3},
    "repository": {"id": 7, "full_name": "o/r"},
    "installation": {"id": 5},
}


@pytest.fixture
def client(settings: Settings, ledger: Ledger, queue: JobQueue) -> FlaskClient:
    return create_app(settings, ledger, queue).test_client()


def sign(body: bytes, secret: bytes = SECRET) -> str:
    return "sha256=" + hmac.new(secret, body, hashlib.sha256).hexdigest()


def headers(body: bytes, event: str = "pull_request", guid: str = "g1", **more: str) -> Any:
    return {
        "Content-Type": "application/json",
        "X-GitHub-Event": event,
        "X-GitHub-Delivery": guid,
        "X-GitHub-Hook-Installation-Target-Type": "integration",
        "X-GitHub-Hook-Installation-Target-ID": "99",
        "X-Hub-Signature-256": sign(body),
        **{name.replace("_", "-"): value for name, value in more.items()},
    }


def post(client: FlaskClient, payload: Any, **more: Any) -> Any:
    body = json.dumps(payload).encode()
    return client.post("/webhook", data=body, headers=headers(body, **more))
