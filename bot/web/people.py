"""Who is signed in: sessions in the ledger, worth nothing without the browser's cookie.

The cookie holds 32 random bytes. The ledger keeps their SHA-256 as the session's name and the
person's GitHub token sealed with a key made of them, so that neither a copy of the database nor
a cookie alone is a token. A session ends by itself, and with it the token is gone.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from dataclasses import dataclass, field

import sqlalchemy as sa
from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from bot.store.database import Database
from bot.store.tables import WebSession

SESSION_SECONDS = 8 * 3600.0
"""A working day; GitHub's own tokens of people end after as long."""
_LONGEST_COOKIE = 100


@dataclass(frozen=True, slots=True)
class Person:
    """Someone who is signed in; ``csrf`` is what their forms must bring along."""

    session: str
    login: str
    csrf: str
    token: str = field(repr=False)


class Sessions:
    """The ledger's sessions."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def begin(self, login: str, token: str, now: float) -> str:
        """Sign someone in; the value of their cookie, which is kept nowhere here."""
        cookie = secrets.token_urlsafe(32)
        sealed = _seal(cookie).encrypt(token.encode()).decode()
        row = WebSession(
            id=_name(cookie),
            login=login,
            token=sealed,
            created_at=now,
            ends_at=now + SESSION_SECONDS,
        )
        with self._db.write() as session:
            session.add(row)
        return cookie

    def find(self, cookie: str, now: float) -> Person | None:
        """Who brings this cookie; ``None`` where nobody does, or no longer."""
        if not cookie or len(cookie) > _LONGEST_COOKIE:
            return None
        with self._db.read() as session:
            row = session.get(WebSession, _name(cookie))
        if row is None or row.ends_at <= now:
            return None
        try:
            token = _seal(cookie).decrypt(row.token.encode()).decode()
        except InvalidToken:
            return None
        return Person(row.id, row.login, _derive(cookie, b"form").hex(), token)

    def end(self, person: Person) -> None:
        """Sign someone out: the token is gone with the row."""
        with self._db.write() as session:
            session.execute(sa.delete(WebSession).where(WebSession.id == person.session))


def same(given: str, wanted: str) -> bool:
    """Whether two secrets are equal, in a time that does not tell where they differ."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode())


def _name(cookie: str) -> str:
    return hashlib.sha256(cookie.encode("utf-8", "replace")).hexdigest()


def _seal(cookie: str) -> Fernet:
    return Fernet(base64.urlsafe_b64encode(_derive(cookie, b"token")))


def _derive(cookie: str, purpose: bytes) -> bytes:
    # the cookie is random already: one round, with the purpose mixed in, keeps the keys apart
    made = HKDF(SHA256(), 32, salt=None, info=b"marginalia web " + purpose)
    return made.derive(cookie.encode("utf-8", "replace"))
