"""Names on the command line that several subcommands take."""

from __future__ import annotations

from bot.errors import FatalError


def checked_repository(name: str | None, option: str) -> None:
    """Refuse what is no ``owner/name`` (``FatalError``); ``option`` says where it was given.

    A name that fits nothing would else look like a repository of which nothing is kept.
    """
    from bot.github.requests import repository

    if name is None:
        return
    try:
        repository(name)
    except ValueError as error:
        raise FatalError(f"{option}: {error}") from None
