"""The webhook: signatures, bodies, durability, and logs without secrets."""

from __future__ import annotations

import hashlib
import hmac
import io
import json
import logging
from typing import Any
from urllib.parse import urlencode

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient
from gunicorn.http.errors import (  # type: ignore[import-untyped]
    ChunkMissingTerminator,
    InvalidChunkSize,
)

from bot.app import create_app
from bot.jobs.queue import JobQueue
from bot.settings import Settings, SettingsError
from bot.store.ledger import Ledger
from bot.store.tables import DeliveryState
from tests.bot.webhook.deliveries import PULL, SECRET, client, headers, post, sign

__all__ = ["client"]


def test_a_delivery_is_recorded_queued_and_answered(
    client: FlaskClient, ledger: Ledger, queue: JobQueue
) -> None:
    answer = post(client, PULL)
    assert (answer.status_code, answer.json["reason"]) == (202, "queued")
    row = ledger.deliveries.find("integration:99", "g1")
    assert row is not None
    assert (row.event, row.action, row.repository, row.pull) == ("pull_request", "opened", "o/r", 3)
    assert (row.installation_id, row.state) == (5, DeliveryState.RECEIVED)
    assert json.loads(row.body or b"") == PULL
    assert row.headers["X-GitHub-Hook-Installation-Target-ID"] == "99"
    assert "X-Hub-Signature-256" not in row.headers
    assert len(queue.client.list_workflows(queue_name="deliveries")) == 1
    again = post(client, PULL)
    assert (again.status_code, again.json["status"]) == (202, "duplicate")
    assert len(queue.client.list_workflows(queue_name="deliveries")) == 1


def test_unsigned_forged_and_old_signatures_are_refused(
    client: FlaskClient, ledger: Ledger
) -> None:
    body = json.dumps(PULL).encode()
    good = headers(body)
    without = {k: v for k, v in good.items() if k != "X-Hub-Signature-256"}
    sha1 = "sha1=" + hmac.new(SECRET, body, hashlib.sha1).hexdigest()
    refused = [
        without,
        {**without, "X-Hub-Signature": sha1},
        {**good, "X-Hub-Signature-256": sha1},
        {**good, "X-Hub-Signature-256": sign(body, b"other")},
        {**good, "X-Hub-Signature-256": sign(body + b" ")},
        {**good, "X-Hub-Signature-256": sign(body).removeprefix("sha256=")},
        {**good, "X-Hub-Signature-256": sign(body).upper()},
        {**good, "X-Hub-Signature-256": "sha256=\u00e9"},
        {**good, "X-Hub-Signature-256": ""},
    ]
    for bad in refused:
        assert client.post("/webhook", data=body, headers=bad).status_code == 401
    assert ledger.deliveries.find("integration:99", "g1") is None


def test_a_signature_without_a_secret_is_refused(
    settings: Settings, ledger: Ledger, queue: JobQueue
) -> None:
    open_ = settings.model_copy(update={"webhook_secret": None, "allow_unsigned": True})
    client = create_app(open_, ledger, queue).test_client()
    body = json.dumps(PULL).encode()
    signed = headers(body)
    assert client.post("/webhook", data=body, headers=signed).status_code == 401
    del signed["X-Hub-Signature-256"]
    assert client.post("/webhook", data=body, headers=signed).status_code == 202


def test_no_secret_no_server(settings: Settings) -> None:
    with pytest.raises(SettingsError, match="MARGINALIA_WEBHOOK_SECRET"):
        create_app(settings.model_copy(update={"webhook_secret": None}))
    exposed = {"webhook_secret": None, "allow_unsigned": True, "host": "0.0.0.0"}
    with pytest.raises(SettingsError, match="this machine alone"):
        create_app(settings.model_copy(update=exposed))


def test_the_previous_secret_is_good_while_it_is_changed(
    settings: Settings, ledger: Ledger, queue: JobQueue
) -> None:
    from pydantic import SecretStr

    both = {"webhook_secret": SecretStr("new"), "previous_webhook_secret": SecretStr("s3cret")}
    client = create_app(settings.model_copy(update=both), ledger, queue).test_client()
    assert post(client, PULL).status_code == 202


def test_form_bodies(client: FlaskClient, ledger: Ledger) -> None:
    body = urlencode({"payload": json.dumps({**PULL, "title": "é&="})}).encode()
    form = "application/x-www-form-urlencoded"
    answer = client.post("/webhook", data=body, headers=headers(body, Content_Type=form))
    assert answer.status_code == 202
    row = ledger.deliveries.find("integration:99", "g1")
    assert row is not None
    assert json.loads(row.body or b"")["title"] == "é&="
    for wrong in (b"", b"payload", b"a=b", b"payload=%ff", b"payload={&payload={}", b"\xff"):
        answer = client.post(
            "/webhook", data=wrong, headers=headers(wrong, guid="g2", Content_Type=form)
        )
        assert answer.status_code == 400


@pytest.mark.parametrize(
    ("body", "more", "status"),
    [
        (b"{", {}, 400),
        (b"[]", {}, 400),
        (b"\xff\xfe", {}, 400),
        (b"[" * 200_000, {}, 400),
        (b'{"a": ' + b"9" * 5000 + b"}", {}, 400),
        (b"{}", {"Content_Type": "text/plain"}, 415),
        (b"{}", {"Content_Type": ""}, 415),
        (b"{}", {"event": ""}, 400),
        (b"{}", {"event": "Pull Request"}, 400),
        (b"{}", {"guid": ""}, 400),
        (b"{}", {"guid": "g" * 129}, 400),
        (b"{}", {"event": "ping"}, 200),
        (b"{}", {"event": "star"}, 202),
        (b"{}", {"event": "pull_request"}, 400),
    ],
)
def test_odd_bodies_and_headers(
    client: FlaskClient, body: bytes, more: dict[str, str], status: int
) -> None:
    assert client.post("/webhook", data=body, headers=headers(body, **more)).status_code == status


def test_a_body_over_the_limit_is_refused(
    settings: Settings, ledger: Ledger, queue: JobQueue
) -> None:
    small = settings.model_copy(update={"max_body_bytes": 2000})
    client = create_app(small, ledger, queue).test_client()
    body = b'{"a": "' + b"x" * 3000 + b'"}'
    assert client.post("/webhook", data=body, headers=headers(body)).status_code == 413
    assert settings.max_body_bytes == 25 * 1024 * 1024


def test_unserved_repositories_are_ignored_with_a_reason(
    settings: Settings, ledger: Ledger, queue: JobQueue
) -> None:
    """Trouble 23: an allow-list of repositories, not a deny-list of comments."""
    only = settings.model_copy(update={"repositories": ("acme/*",)})
    client = create_app(only, ledger, queue).test_client()
    answer = post(client, PULL)
    assert (answer.status_code, answer.json["status"]) == (202, "ignored")
    assert "o/r" in answer.json["reason"]


def test_a_redelivery_wakes_what_failed(
    client: FlaskClient, ledger: Ledger, queue: JobQueue
) -> None:
    number = post(client, PULL).json["delivery"]
    ledger.deliveries.finish(number, DeliveryState.FAILED, "no such pull request", 1.0)
    assert "runs again" in post(client, PULL).json["reason"]
    row = ledger.deliveries.get(number)
    assert row is not None
    assert (row.state, row.dispatch) == (DeliveryState.RECEIVED, 1)


def test_the_ledger_away_is_503_and_says_when_to_come_back(
    client: FlaskClient, ledger: Ledger, caplog: pytest.LogCaptureFixture
) -> None:
    with ledger.database.write() as session:
        session.execute(sa.text("ALTER TABLE deliveries RENAME TO gone"))
    answer = post(client, PULL)
    assert answer.status_code == 503
    assert answer.headers["Retry-After"] == "60"
    (record,) = caplog.records
    assert record.exc_info is None
    assert "deliveries" in vars(record)["reason"]
    assert "\n" not in vars(record)["reason"]
    # what the processes counted themselves is still told, and that the rest is missing
    text = client.get("/metrics").text
    assert "marginalia_ledger_up 0.0" in text
    assert "marginalia_acknowledgement_seconds_count 1.0" in text


class _Broken(io.RawIOBase):
    """A body that breaks while it is read, as the server's own."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def readable(self) -> bool:
        return True

    def readinto(self, _buffer: Any) -> int:
        raise self._error


@pytest.mark.parametrize("error", [InvalidChunkSize(b"ZZ"), ChunkMissingTerminator(b"")])
def test_a_badly_chunked_body_is_refused(client: FlaskClient, error: Exception) -> None:
    answer = client.post(
        "/webhook",
        headers=headers(b""),
        environ_overrides={"wsgi.input": _Broken(error), "wsgi.input_terminated": True},
    )
    assert answer.status_code == 400
    assert answer.json["status"] == "refused"
    assert answer.json["reason"].startswith("body: badly chunked (")
    assert 'marginalia_deliveries_refused_total{status="400"} 1.0' in client.get("/metrics").text


def test_health(client: FlaskClient, ledger: Ledger) -> None:
    assert client.get("/healthz").json == {"status": "ok"}
    assert client.get("/readyz").json == {"status": "ok", "workers": 0}
    ledger.workers.beat("w", "h", 1)
    assert client.get("/readyz").json["workers"] == 1
    post(client, PULL)
    text = client.get("/metrics").get_data(as_text=True)
    assert 'marginalia_deliveries_total{event="pull_request",outcome="received"} 1.0' in text
    assert 'marginalia_ledger_deliveries{state="received"} 1.0' in text
    assert "marginalia_workers 1.0" in text
    assert client.get("/nowhere").status_code == 404


def test_logs_name_the_delivery_and_nothing_secret(
    client: FlaskClient, capsys: pytest.CaptureFixture[str]
) -> None:
    from bot.logs import set_up

    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    try:
        set_up("INFO", json_lines=True)
        post(client, {**PULL, "title": "ghp_abcdefghijklmnopqrstuvwxyz012345"}, guid="the-guid")
        logging.getLogger("x").info(
            "url https://u:pw@h/ %s", "ghs_abcdefghijklmnop1234", extra={"token": "t", "n": 1}
        )
    finally:
        root.handlers[:], root.level = before, level
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert lines[0]["delivery"] == "the-guid"
    assert lines[-1]["message"] == "url https://***@h/ ***"
    assert "token" not in lines[-1]
    assert lines[-1]["n"] == 1
    assert "ghp_" not in json.dumps(lines)
