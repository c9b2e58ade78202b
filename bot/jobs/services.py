"""What a worker works with: the outside, in one value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from bot.feedback.watcher import Watcher
from bot.jobs.forge import Commander, Comment, Composer, Forge, Policy, PullRef, Reviewer

Watch = Callable[[str, str], None]
"""Told ``before`` and ``after`` each step, with the step's name; for tracing and for tests."""


def watch_nothing(_moment: str, _step: str) -> None:
    """The ``Watch`` that does nothing."""


class Suggester(Protocol):
    """Proposes the revision that a person's comment asks for."""

    def unasked(self, ref: PullRef, comment: Comment) -> str:
        """Answer, where the configuration wants it; what was done, in words. Idempotent."""
        ...


class Approvals(Protocol):
    """How people learn that candidates wait, and how their buttons are understood."""

    def announce(self, ref: PullRef, head: str, job_id: str, count: int) -> tuple[str, ...]:
        """Tell that ``count`` candidates wait on the pull request; once a job.

        What could not be done comes back as one-line notes; only ``Transient`` is raised.
        """
        ...

    def pressed(self, ref: PullRef, button: str, login: str) -> str:
        """Do what a person's press of a button says; what was done, in one line. Idempotent."""
        ...


class InPerson(Protocol):
    """Posts what people accepted in their own name, where they let it."""

    def poster(self, batch: str) -> Forge | None:
        """Writes in the name of who accepted the batch; ``None`` where the bot is to post."""
        ...

    def bot(self, logins: frozenset[str]) -> Forge:
        """The bot's forge, which also finds again what these people posted themselves."""
        ...

    def decline(self, batch: str, why: str) -> None:
        """From now on the bot posts this batch, and its review says why."""
        ...

    def finish(self, now: float) -> None:
        """Forget what is not needed any more, and end the sign-ins of who left meanwhile."""
        ...


@dataclass(frozen=True, slots=True)
class Services:
    """Everything that a job needs from outside; built once a worker process."""

    forge: Forge
    policy: Policy
    reviewer: Reviewer
    composer: Composer
    commander: Commander
    approvals: Approvals | None = None
    watcher: Watcher | None = None
    suggester: Suggester | None = None
    in_person: InPerson | None = None


@dataclass(frozen=True, slots=True)
class Chore:
    """Something that one worker of all does now and then, at its start first."""

    name: str
    every: float
    run: Callable[[], None]
