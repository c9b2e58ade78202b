"""One module a concern; each has ``ROUTES``, from event and action to a pure handler."""

from bot.events import Router
from bot.handlers import (
    approval,
    checks,
    comments,
    installations,
    pulls,
    repositories,
    threads,
)


def router() -> Router:
    """The router of the whole App."""
    return Router(
        pulls.ROUTES,
        comments.ROUTES,
        threads.ROUTES,
        checks.ROUTES,
        approval.ROUTES,
        installations.ROUTES,
        repositories.ROUTES,
    )
