"""A pull request's change read from GitHub for the command line: no checkout, nothing written.

Who asks is what the service's settings say: the App, found on the repository, or a token.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from bot.errors import FatalError
from bot.github.pr_url import PullUrl, UrlError, check_site, parse_url

if TYPE_CHECKING:
    from bot.github.auth import Identity
    from bot.jobs.forge import PullRef
    from bot.review.types import Sources
    from bot.settings import Settings
    from models.change import Change

Tell = Callable[[str], None]
"""Told one line at a time about what could not be read."""


def tell_on_stderr(note: str) -> None:
    """Write a remark for the person at the terminal."""
    from bot.review.output_terminal import clean

    sys.stderr.write(f"marginalia: {clean(note)}\n")


@contextmanager
def change_of_pull(
    url: str, settings: Settings, tell: Tell = tell_on_stderr
) -> Iterator[tuple[Change, Sources]]:
    """The change of the pull request at ``url``, from its merge base to its head, with sources.

    ``tell`` is given what GitHub did not show. The sources read GitHub as they are asked.

    Raises:
        FatalError: no such address, no credentials, GitHub refused or does not answer; also for
            what GitHub answers to the sources inside the ``with`` block.
    """
    from bot.github.forge import GitHubForge

    where = pull_url(url, settings)
    with github_errors(where):
        identity = reading_identity(settings)
        ref = find_pull(identity, where)
        forge = GitHubForge(identity, settings.github_url)
        fetched = forge.change(ref, forge.pull(ref), None)
        for note in fetched.notes:
            tell(note)
        yield fetched.change, fetched.sources


def pull_url(text: str, settings: Settings) -> PullUrl:
    """An address on the GitHub that the settings speak of; raises ``FatalError``."""
    try:
        url = parse_url(text)
        check_site(url, settings.github_url)
    except UrlError as error:
        raise FatalError(str(error)) from None
    return url


def reading_identity(settings: Settings) -> Identity:
    """Who the settings say we are to GitHub; raises ``FatalError`` where they do not."""
    from bot.settings import SettingsError
    from bot.wiring import identity_of

    try:
        return identity_of(settings)
    except SettingsError as error:
        raise FatalError(str(error)) from error


def find_pull(identity: Identity, url: PullUrl) -> PullRef:
    """The pull request's lasting name: the repository's number and, for an App, its installation.

    Raises ``ForgeError``; ``FatalError`` where the App is not installed on the repository.
    """
    from bot.github import requests as rq
    from bot.github.auth import AppIdentity
    from bot.github.errors import Gone
    from bot.jobs.forge import PullRef

    path = rq.repository(url.repository)
    installation: int | None = None
    if isinstance(identity, AppIdentity):
        try:
            found = identity.app_api().data(rq.get(f"{path}/installation"))
        except Gone:
            raise FatalError(
                f"the App is not installed on {url.repository}, or there is no such repository"
            ) from None
        installation = int(found["id"])
    data = identity.api(installation).data(rq.get(path))
    return PullRef(int(data["id"]), str(data["full_name"]), url.number, installation)


@contextmanager
def github_errors(url: PullUrl) -> Iterator[None]:
    """Tell what GitHub answered, or did not, in one line: ``FatalError``."""
    from bot.github.errors import Gone, Unauthorized
    from bot.jobs.forge import ForgeError, Superseded, Transient

    try:
        yield
    except Gone as error:
        raise FatalError(
            f"{url}: there is no such thing, or these credentials may not see it ({error})"
        ) from error
    except Unauthorized as error:
        raise FatalError(
            f"{url}: GitHub does not take these credentials: see MARGINALIA_TOKEN, or "
            f"MARGINALIA_APP_ID and MARGINALIA_PRIVATE_KEY_FILE ({error})"
        ) from error
    except Transient as error:
        wait = f" in {error.retry_after:.0f} s" if error.retry_after else ""
        raise FatalError(f"{url}: {error}: try again{wait}") from error
    except ForgeError as error:
        raise FatalError(f"{url}: {error}") from error
    except Superseded as error:
        raise FatalError(f"{url}: {error} while it was read: try again") from error
