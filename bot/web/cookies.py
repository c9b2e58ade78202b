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
    """The session cookie's: with https a name that only this host can set, over https."""
    if not is_secure(desk):
        return "marginalia"
    # a host's cookie is for all of its paths: beside other programs on the host it is ours alone
    return "__Secure-marginalia" if request.script_root else "__Host-marginalia"


def cookie_path() -> str:
    """Where the session cookie goes: to these pages, whatever else is on the host."""
    return request.script_root or "/"
