"""The buttons of the approval check run, apart, so that the web process loads no client."""

from __future__ import annotations

ACCEPT_ALL = "accept-all"
REJECT_ALL = "reject-all"
OPEN_QUEUE = "open-queue"
BUTTONS = (
    (ACCEPT_ALL, "Accept all", "Post every remark that waits"),
    (REJECT_ALL, "Reject all", "Post none of them"),
    (OPEN_QUEUE, "Open the queue", "Say where each can be decided"),
)
"""Identifier, label and description: GitHub takes three, of 20, 20 and 40 characters."""
