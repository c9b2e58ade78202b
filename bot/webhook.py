"""``POST /webhook``: verify, record, acknowledge.

The signature is checked on the raw bytes before anything is decoded, the delivery is on disk
before it is answered, and all work happens elsewhere. Whatever the payload is, the answer is 2xx
or 4xx; 503 only where the ledger itself is away.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import re
from dataclasses import replace
from urllib.parse import parse_qs

from flask import Blueprint, Response, current_app, jsonify, request
from sqlalchemy.exc import SQLAlchemyError
from werkzeug.datastructures import Headers

from bot.events import Context, Router
from bot.logs import delivery_log
from bot.metrics_export import Metrics
from bot.payload import Malformed, Payload, parse
from bot.settings import Settings
from bot.store.database import said_by
from bot.store.deliveries import NewDelivery
from bot.store.recorder import Recorder
from bot.store.tables import DeliveryState

log = logging.getLogger(__name__)
webhook = Blueprint("webhook", __name__)

EXTENSION = "marginalia"
SIGNATURE = "X-Hub-Signature-256"
OLD_SIGNATURE = "X-Hub-Signature"
_GUID = re.compile(r"[\x21-\x7e]{1,128}")
_EVENT = re.compile(r"[a-z][a-z0-9_]{0,63}")
_TARGET = re.compile(r"[a-z]{1,32}:[0-9]{1,20}")
KEPT_HEADERS = (
    "X-GitHub-Event",
    "X-GitHub-Delivery",
    "X-GitHub-Hook-ID",
    "X-GitHub-Hook-Installation-Target-ID",
    "X-GitHub-Hook-Installation-Target-Type",
    "X-GitHub-Enterprise-Host",
    "X-GitHub-Enterprise-Version",
    "Content-Type",
    "User-Agent",
)


class Refused(Exception):
    """A delivery that is not taken: an HTTP status of the 4xx kind and one line."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Receiver:
    """Takes deliveries in; one a web process, shared by its threads."""

    def __init__(
        self, settings: Settings, recorder: Recorder, router: Router, metrics: Metrics
    ) -> None:
        self._settings = settings
        self._recorder = recorder
        self._router = router
        self._metrics = metrics
        self._context = Context(app_id=settings.app_id)

    def take(self, headers: Headers, raw: bytes) -> tuple[int, dict[str, object]]:
        """Verify, record and answer one delivery: HTTP status and JSON body.

        Raises ``Refused`` for what is not taken, SQLAlchemy's errors where nothing was recorded.
        """
        verify_signature(
            self._settings.secrets, headers.get(SIGNATURE), headers.get(OLD_SIGNATURE), raw
        )
        guid = headers.get("X-GitHub-Delivery", "")
        if not _GUID.fullmatch(guid):
            raise Refused(400, "X-GitHub-Delivery: missing or not printable")
        event = headers.get("X-GitHub-Event", "")
        if not _EVENT.fullmatch(event):
            raise Refused(400, "X-GitHub-Event: missing or not an event's name")
        with delivery_log(guid):
            body = json_body(headers.get("Content-Type", ""), raw)
            try:
                payload = parse(body)
            except Malformed as error:
                raise Refused(400, str(error)) from None
            if event == "ping":
                return self._answer(200, "pong", event)
            new = self._describe(event, guid, headers, payload, body)
            recorded = self._recorder.record(new)
            if new.state is DeliveryState.FAILED:
                self._metrics.delivery(event, "malformed")
                raise Refused(400, new.reason)
            outcome = new.state.value if recorded.fresh else "duplicate"
            reason = new.reason or ("queued" if recorded.fresh else "known already")
            if recorded.revived:
                reason = "known already; what it left unfinished runs again"
            return self._answer(202, reason, event, outcome, recorded.id)

    def _answer(
        self, status: int, reason: str, event: str, outcome: str = "ping", number: int = 0
    ) -> tuple[int, dict[str, object]]:
        self._metrics.delivery(event, outcome)
        log.info("delivery taken", extra={"event": event, "outcome": outcome, "reason": reason})
        answer: dict[str, object] = {"status": outcome, "reason": reason}
        if number:
            answer["delivery"] = number
        return status, answer

    def _describe(
        self, event: str, guid: str, headers: Headers, payload: Payload, body: bytes
    ) -> NewDelivery:
        new = NewDelivery(
            target=hook_target(headers),
            guid=guid,
            event=event,
            headers={name: headers[name] for name in KEPT_HEADERS if name in headers},
            body=body,
            body_sha256=hashlib.sha256(body).hexdigest(),
        )
        try:
            new = replace(
                new,
                action=payload.maybe_text("action"),
                installation_id=payload.maybe_number("installation.id"),
                repository_id=payload.maybe_number("repository.id"),
                repository=payload.maybe_text("repository.full_name"),
                pull=payload.maybe_number("pull_request.number")
                or payload.maybe_number("issue.number"),
            )
            routed = self._router.route(event, payload, self._context)
        except Malformed as error:
            # Kept all the same: what GitHub sends and we cannot read is worth a look.
            return replace(new, state=DeliveryState.FAILED, reason=str(error))
        reason = routed.reason
        if routed.actions and new.repository and not self._settings.serves(new.repository):
            reason = f"repository {new.repository} is not among those served"
        if reason:
            return replace(new, state=DeliveryState.IGNORED, reason=reason)
        return new


def verify_signature(
    secrets: tuple[bytes, ...], signature: str | None, old_signature: str | None, raw: bytes
) -> None:
    """HMAC-SHA256 of the raw body, compared in constant time; raises ``Refused`` (401).

    Both "a secret but no signature" and "a signature but no secret" are refused: the first may be
    forged, the second cannot be checked, and its sender believes that it was.
    """
    if not secrets:
        if signature is None and old_signature is None:
            return
        raise Refused(401, f"{SIGNATURE}: this server has no secret to check it with")
    if signature is None:
        raise Refused(401, f"{SIGNATURE}: missing (SHA-1 signatures are not taken)")
    given = signature.encode("utf-8", "replace")
    # Every secret is tried in full: the time must not tell which one fits.
    matches = [
        hmac.compare_digest(
            b"sha256=" + hmac.new(secret, raw, hashlib.sha256).hexdigest().encode(), given
        )
        for secret in secrets
    ]
    if not any(matches):
        raise Refused(401, f"{SIGNATURE}: does not fit the body and the secret")


def json_body(content_type: str, raw: bytes) -> bytes:
    """The JSON bytes of a delivery: the body itself, or the form's ``payload`` field."""
    kind = content_type.partition(";")[0].strip().lower()
    if kind == "application/json":
        return raw
    if kind == "application/x-www-form-urlencoded":
        try:
            fields = parse_qs(raw.decode("ascii"), max_num_fields=16, errors="strict")
        except (UnicodeDecodeError, ValueError):
            raise Refused(400, "body: not a form") from None
        payloads = fields.get("payload", [])
        if len(payloads) != 1:
            raise Refused(400, "body: the form has no field payload")
        return payloads[0].encode("utf-8")
    raise Refused(415, "Content-Type: expected application/json or a form")


def hook_target(headers: Headers) -> str:
    """Which hook a delivery is of, ``integration:1234``; ``unknown:0`` where it does not say."""
    kind = headers.get("X-GitHub-Hook-Installation-Target-Type", "")
    number = headers.get("X-GitHub-Hook-Installation-Target-ID", "")
    target = f"{kind}:{number}"
    return target if _TARGET.fullmatch(target) else "unknown:0"


@webhook.post("/webhook")
def receive() -> tuple[Response, int]:
    """Take one delivery in."""
    state = current_app.extensions[EXTENSION]
    receiver: Receiver = state.receiver
    metrics: Metrics = state.metrics
    with metrics.acknowledgement():
        raw = request.get_data(cache=False)
        try:
            status, answer = receiver.take(request.headers, raw)
        except Refused as error:
            metrics.refused(error.status)
            log.warning("delivery refused", extra={"status": error.status, "reason": str(error)})
            return jsonify(status="refused", reason=str(error)), error.status
        except SQLAlchemyError as error:
            log.error("delivery not recorded", extra={"reason": said_by(error)})
            response = jsonify(status="unavailable", reason="the ledger is away: deliver again")
            response.headers["Retry-After"] = "60"
            return response, 503
    return jsonify(answer), status
