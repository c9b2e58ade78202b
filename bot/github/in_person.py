"""Who posts what was accepted: the person who accepted it, where the configuration wants that.

``bot.handover`` brings the person's token to the worker. Where it cannot be used (any more), the
bot posts, and says who accepted: nobody waits for a person to sign in again.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

from bot.feedback.waiting import Sealed, erase_spent, sealed_of, unseal
from bot.github.auth import Identity, Pace, TokenIdentity
from bot.github.errors import Answered
from bot.github.forge import GitHubForge
from bot.github.sign_out import SignOuts
from bot.github.text import one_line
from bot.handover import GOOD_SECONDS, Handover
from bot.jobs.forge import Forge
from bot.settings import Settings
from bot.store.database import Database

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class InPerson:
    """Finds the poster of a batch of accepted candidates (``bot.jobs.services.InPerson``).

    Args:
        database: the ledger's.
        settings: the operator's, for the secret and GitHub's address.
        identity: the bot's.
        pace: how gently GitHub is asked in a person's name.
    """

    database: Database
    settings: Settings
    identity: Identity
    pace: Pace | None = None

    def poster(self, batch: str) -> Forge | None:
        """The person's own hands; ``None`` where the bot is to post.

        Raises ``Transient`` where GitHub does not say now whose token it is.
        """
        people = sealed_of(self.database, batch)
        if not people:
            return None
        handover = Handover.of(self.settings)
        token = None if handover is None else _token(handover, people)
        if token is not None:
            identity = TokenIdentity(token, self.settings.github_api_url, self.pace)
            try:
                if identity.login.lower() == people[0].login.lower():
                    return GitHubForge(identity, self.settings.github_url)
            except Answered as error:
                log.info("a person's token is not taken", extra={"reason": str(error)})
        self.decline(batch, "GitHub does not take their sign-in any more")
        return None

    def bot(self, logins: frozenset[str]) -> Forge:
        """The bot, who also finds again what these people posted in their own name."""
        return GitHubForge(
            self.identity,
            self.settings.github_url,
            self.settings.resolve_threads,
            also=logins,
        )

    def decline(self, batch: str, why: str) -> None:
        """The bot posts this batch, and the review says why."""
        unseal(self.database, batch, one_line(why, 300))

    def finish(self, now: float) -> None:
        """Forget what is not needed any more; end the sign-ins of who left meanwhile."""
        erase_spent(self.database, now - GOOD_SECONDS)
        SignOuts(self.database, self.settings).finish(now)


def _token(handover: Handover, people: list[Sealed]) -> str | None:
    for one in people:
        token = handover.open(one.sealed, one.number, one.login)
        if token is not None:
            return token
    return None
