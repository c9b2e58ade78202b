"""The pages' cookies: for this host, over https, out of scripts' reach."""

from __future__ import annotations

from urllib.parse import urlsplit

from flask import request

from bot.settings import is_loopback
from bot.web.desk import Desk


def is_secure(desk: Desk) -> bool:
    """Whether browsers come by https: directly, or to the public address."""
    return request.is_secure or desk.settings.public_url.startswith("https://")


def is_private(desk: Desk) -> bool:
    """Whether what goes to and fro is read by nobody else: https, or this machine alone."""
    return is_secure(desk) or is_loopback(urlsplit(request.host_url).hostname or "")


def cookie_name(desk: Desk) -> str:
    """The session cookie's: with https a name that only this host can set, for all paths."""
    return "__Host-marginalia" if is_secure(desk) else "marginalia"
