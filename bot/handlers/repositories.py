"""Repositories: renamed, or given to another owner."""

from __future__ import annotations

from bot.events import Context, RepositoryNamed, Routed, Routes, ignored
from bot.payload import Payload


def renamed(payload: Payload, _context: Context) -> Routed:
    """The same repository has another name from now on."""
    name = payload.text("repository.full_name")
    old = payload.maybe_text("changes.repository.name.from")
    return _named(payload, f"{name.partition('/')[0]}/{old}" if old else "")


def transferred(payload: Payload, _context: Context) -> Routed:
    """The same repository has another owner, who is a part of its name."""
    name = payload.text("repository.full_name")
    old = payload.maybe_text("changes.owner.from.user.login") or payload.maybe_text(
        "changes.owner.from.organization.login"
    )
    return _named(payload, f"{old}/{name.partition('/')[2]}" if old else "")


def _named(payload: Payload, before: str) -> Routed:
    name = payload.text("repository.full_name")
    if before.lower() == name.lower():
        return ignored("the name is the same")
    return Routed((RepositoryNamed(payload.number("repository.id"), name, before),))


ROUTES: Routes = {
    ("repository", "renamed"): renamed,
    ("repository", "transferred"): transferred,
}
