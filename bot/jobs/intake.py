"""Deliveries that nobody delivered: missed ones, and polling where nothing can reach us.

They come in by the webhook's own door (``Receiver.take``): signed, recorded, answered.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable

from werkzeug.datastructures import Headers

from bot.github.auth import AppIdentity, Identity
from bot.github.deliveries import PollState, StoredDelivery, missed, poll
from bot.jobs.forge import ForgeError
from bot.settings import Settings
from bot.store.ledger import Ledger
from bot.webhook import Receiver, Refused

log = logging.getLogger(__name__)

APP_SCOPE = "app"
MISSED_KEY = "missed:since"
POLL_KEY = "poll:state"
KEPT_BY_GITHUB = 3 * 24 * 3600.0
"""How far back GitHub's delivery list reaches, in seconds."""
OVERLAP = 3600.0
"""A delivery may be listed late: each pass looks this much further back than the last one."""


class Intake:
    """Takes in what did not come by itself."""

    def __init__(
        self, settings: Settings, ledger: Ledger, receiver: Receiver, identity: Identity
    ) -> None:
        self._settings = settings
        self._ledger = ledger
        self._receiver = receiver
        self._identity = identity

    def missed(self) -> None:
        """Read the App's delivery list and take in what the ledger does not know."""
        if not isinstance(self._identity, AppIdentity):
            return
        now = time.time()
        since = float(self._ledger.memory.get(APP_SCOPE, MISSED_KEY, now - KEPT_BY_GITHUB))
        try:
            found = missed(
                self._identity.app_api(), self._ledger.deliveries.known_guids, since - OVERLAP
            )
            taken = self._take(found)
        except ForgeError as error:
            log.warning("the delivery list could not be read", extra={"reason": str(error)})
            return
        self._ledger.memory.put(APP_SCOPE, MISSED_KEY, now, now)
        if taken:
            log.warning("deliveries that never arrived were taken in", extra={"count": taken})

    def poll(self, repositories: Iterable[tuple[str, int | None]]) -> None:
        """Look at each repository (with its installation) for what is new."""
        for name, installation in repositories:
            scope = f"repository:{name.lower()}"
            kept = self._ledger.memory.get(scope, POLL_KEY, {})
            heads = {int(number): head for number, head in kept.get("heads", {}).items()}
            marks = {int(number): mark for number, mark in kept.get("marks", {}).items()}
            before = PollState(kept.get("since", ""), heads, marks)
            try:
                api = self._identity.api(installation)
                found, after = poll(api, name, before, installation)
                # What is told again must not count as a redelivery, which revives what has ended.
                known = self._ledger.deliveries.known_guids([one.guid for one in found])
                self._take(one for one in found if one.guid not in known)
            except ForgeError as error:
                log.warning("a repository could not be polled", extra={"reason": str(error)})
                continue
            value = {
                "since": after.since,
                "heads": {str(number): head for number, head in after.heads.items()},
                "marks": {str(number): mark for number, mark in after.marks.items()},
            }
            # Kept only now: what a crash leaves untold is told again, with the same GUIDs.
            self._ledger.memory.put(scope, POLL_KEY, value, time.time())

    def _take(self, found: Iterable[StoredDelivery]) -> int:
        secrets = self._settings.secrets
        taken = 0
        for delivery in found:
            headers = delivery.signed(secrets[0]) if secrets else dict(delivery.headers)
            try:
                self._receiver.take(Headers(headers), delivery.body)
            except Refused as error:
                log.warning("a delivery was not taken", extra={"reason": str(error)})
                continue
            taken += 1
        return taken
