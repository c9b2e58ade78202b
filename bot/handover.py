"""A person's token on its way from the page where they accept to the worker that posts for them.

The worker posts, because only it knows how to do so exactly once. What it is handed is sealed with
a key made of the App's client secret, names the candidate and the person it is for, and is good for
some minutes: a copy of the database gives no token away, and a row moved elsewhere opens nothing.
It is erased as soon as the remark is posted, given up, or posted by the bot instead.
"""

from __future__ import annotations

import base64
import json

from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from bot.settings import Settings

GOOD_SECONDS = 900
"""How long a worker may use it; afterwards the bot posts."""


class Handover:
    """Seals and opens tokens; web and workers share the App's client secret."""

    def __init__(self, secret: str) -> None:
        made = HKDF(SHA256(), 32, salt=None, info=b"marginalia handover").derive(secret.encode())
        self._fernet = Fernet(base64.urlsafe_b64encode(made))

    @classmethod
    def of(cls, settings: Settings) -> Handover | None:
        """``None`` where the settings have no client secret: nobody signs in there."""
        secret = settings.client_secret
        return None if secret is None else cls(secret.get_secret_value())

    def seal(self, number: int, login: str, token: str) -> str:
        """A person's token for one candidate of the queue."""
        return self._fernet.encrypt(json.dumps([number, login, token]).encode()).decode()

    def open(
        self, sealed: str, number: int, login: str, within: int | None = GOOD_SECONDS
    ) -> str | None:
        """The token; ``None`` where it is another's, sealed with another secret, or too old.

        ``within`` is how old it may be, in seconds; ``None`` is any age.
        """
        try:
            made = json.loads(self._fernet.decrypt(sealed.encode(), ttl=within))
        except (InvalidToken, ValueError):
            return None
        if not isinstance(made, list) or made[:2] != [number, login]:
            return None
        return str(made[2])
