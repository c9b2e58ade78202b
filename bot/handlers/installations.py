"""Installations: who may be served."""

from __future__ import annotations

from bot.events import Context, InstallationChanged, RepositoriesChanged, Routed, Routes
from bot.payload import Payload


def active(payload: Payload, _context: Context) -> Routed:
    """Installed, unsuspended, or given other permissions."""
    return _changed(payload, "active")


def suspended(payload: Payload, _context: Context) -> Routed:
    """Suspended: nothing can be read or posted until further notice."""
    return _changed(payload, "suspended")


def removed(payload: Payload, _context: Context) -> Routed:
    """Removed for good."""
    return _changed(payload, "removed")


def _changed(payload: Payload, state: str) -> Routed:
    change = InstallationChanged(
        installation_id=payload.number("installation.id"),
        account=payload.maybe_text("installation.account.login"),
        state=state,
        selection=payload.maybe_text("installation.repository_selection"),
        permissions={
            name: value
            for name, value in payload.table("installation.permissions").items()
            if isinstance(value, str)
        },
        repositories=_names(payload.items("repositories")),
    )
    return Routed((change,))


def repositories(payload: Payload, _context: Context) -> Routed:
    """Repositories were added to an installation or taken from it."""
    change = RepositoriesChanged(
        installation_id=payload.number("installation.id"),
        added=_names(payload.items("repositories_added")),
        removed=tuple(_names(payload.items("repositories_removed"))),
    )
    return Routed((change,))


def _names(items: list[Payload]) -> dict[int, str]:
    return {item.number("id"): item.text("full_name") for item in items}


ROUTES: Routes = {
    ("installation", "created"): active,
    ("installation", "unsuspend"): active,
    ("installation", "new_permissions_accepted"): active,
    ("installation", "suspend"): suspended,
    ("installation", "deleted"): removed,
    ("installation_repositories", "added"): repositories,
    ("installation_repositories", "removed"): repositories,
}
