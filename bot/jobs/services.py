"""What a worker works with: the outside, in one value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bot.jobs.forge import Commander, Composer, Forge, Policy, Reviewer

Watch = Callable[[str, str], None]
"""Told ``before`` and ``after`` each step, with the step's name; for tracing and for tests."""


def watch_nothing(_moment: str, _step: str) -> None:
    """The ``Watch`` that does nothing."""


@dataclass(frozen=True, slots=True)
class Services:
    """Everything that a job needs from outside; built once a worker process."""

    forge: Forge
    policy: Policy
    reviewer: Reviewer
    composer: Composer
    commander: Commander


@dataclass(frozen=True, slots=True)
class Chore:
    """Something that one worker of all does now and then, at its start first."""

    name: str
    every: float
    run: Callable[[], None]
