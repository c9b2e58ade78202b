"""Buttons of our check runs: what waits is accepted or rejected, or a review is asked for again."""

from __future__ import annotations

import re

from bot.events import Context, PressButton, Routed, Routes, ignored
from bot.github.buttons import BUTTONS
from bot.handlers.checks import again
from bot.jobs.forge import PullRef
from bot.payload import Payload

_EXTERNAL = re.compile(r"marginalia-queue:(\d{1,18}):.*", re.DOTALL)
_KNOWN = frozenset(identifier for identifier, _, _ in BUTTONS)


def pressed(payload: Payload, context: Context) -> Routed:
    """A press on a check run of ours; another button than the queue's asks for a review.

    The pull request is read from the run's external id, which is ours: a check run of a fork's
    pull request names none.
    """
    button = payload.maybe_text("requested_action.identifier")
    if button not in _KNOWN:
        return again(payload, context)
    if context.app_id is None or payload.maybe_number("check_run.app.id") != context.app_id:
        return ignored("another App's check run")
    match = _EXTERNAL.fullmatch(payload.maybe_text("check_run.external_id"))
    if match is None or int(match[1]) == 0:
        return ignored("a check run without a pull request")
    ref = PullRef(
        payload.number("repository.id"),
        payload.text("repository.full_name"),
        int(match[1]),
        payload.maybe_number("installation.id"),
    )
    return Routed((PressButton(ref, button, payload.text("sender.login")),))


ROUTES: Routes = {("check_run", "requested_action"): pressed}
