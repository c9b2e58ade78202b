"""The end of a person's sign-in at GitHub: at once, or when what they approved stands there.

Who approves a candidate and signs out at once still wants it posted in their own name. So their
session ends here at once, and their token, sealed as for every approval (``bot.handover``), is left
to the workers, who take it back at GitHub as soon as nothing waits for it any more.
"""

from __future__ import annotations

import logging
import secrets
from dataclasses import dataclass
from urllib.parse import quote

import requests
import sqlalchemy as sa

from bot.feedback.waiting import in_hand
from bot.github.auth import API_VERSION
from bot.handover import GOOD_SECONDS, Handover
from bot.settings import Settings
from bot.store.database import Database
from bot.store.tables import WebSession

log = logging.getLogger(__name__)

LEFT = "left:"
"""How the name of a session begins that no browser can bring any more."""
KEPT_SECONDS = 8 * 3600.0
"""How long GitHub is asked again where it does not answer: its tokens of people end after that."""
_SHORT_TIMEOUT = 3.0


def revoke(settings: Settings, token: str) -> bool:
    """Ask GitHub to take a person's token back; whether it is gone.

    Nobody waits for it longer than some seconds: a token that is left ends by itself.
    """
    secret = settings.client_secret
    if secret is None or not settings.client_id:
        return False
    try:
        answer = requests.delete(
            f"{settings.github_api_url}/applications/{quote(settings.client_id, safe='')}/token",
            auth=(settings.client_id, secret.get_secret_value()),
            json={"access_token": token},
            headers={"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": API_VERSION},
            timeout=_SHORT_TIMEOUT,
            allow_redirects=False,
        )
    except requests.RequestException as error:
        log.warning("a token was not revoked", extra={"reason": type(error).__name__})
        return False
    # 404 and 422: there is no such token (any more)
    gone = answer.status_code in (204, 404, 422)
    if not gone:
        log.warning("a token was not revoked", extra={"status": answer.status_code})
    return gone


@dataclass(frozen=True, slots=True)
class SignOuts:
    """Ends sign-ins at GitHub; the web process and the workers each have one.

    Args:
        database: the ledger's.
        settings: the operator's, for the App's client and GitHub's address.
    """

    database: Database
    settings: Settings

    def of(self, login: str, token: str, now: float) -> int:
        """Sign someone out at GitHub; how many candidates are posted in their name before that."""
        handover = Handover.of(self.settings)
        waiting = 0 if handover is None else in_hand(self.database, login)
        if handover is None or not waiting:
            revoke(self.settings, token)
            return 0
        row = WebSession(
            id=f"{LEFT}{secrets.token_hex(16)}",
            login=login,
            token=handover.seal(0, login, token),
            created_at=now,
            ends_at=now + KEPT_SECONDS,
        )
        with self.database.write() as session:
            session.add(row)
        return waiting

    def finish(self, now: float) -> int:
        """Take back the tokens that nothing waits for any more; how many. Idempotent."""
        query = sa.select(WebSession).where(WebSession.id.startswith(LEFT))
        with self.database.read() as session:
            left = list(session.execute(query).scalars())
        handover = Handover.of(self.settings)
        done = 0
        for row in left:
            if row.created_at + GOOD_SECONDS > now and in_hand(self.database, row.login):
                continue
            token = None if handover is None else handover.open(row.token, 0, row.login, None)
            if token is not None and not revoke(self.settings, token):
                continue
            with self.database.write() as session:
                session.execute(sa.delete(WebSession).where(WebSession.id == row.id))
            done += 1
        return done
