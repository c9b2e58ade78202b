"""Trouble on demand: refusals, lost answers, delays, limits, calls held until let go."""

from __future__ import annotations

import fnmatch
import itertools
import threading
from dataclasses import dataclass, field
from typing import Any, Literal

Kind = Literal[
    "status", "rate-limit", "secondary-limit", "drop", "lose", "delay", "hold-before", "hold-after"
]
KINDS: tuple[str, ...] = (
    "status",
    "rate-limit",
    "secondary-limit",
    "drop",
    "lose",
    "delay",
    "hold-before",
    "hold-after",
)


@dataclass(slots=True)
class Fault:
    """A rule for the next calls that match a method and a path.

    ``path`` is a shell pattern (``*`` also matches ``/``). ``times`` counts down at each call it
    catches; ``skip`` calls are let through first. What the kinds do:

    - ``status``: answer this status (with ``body`` and ``headers``), without performing the call;
      with ``perform`` the call is done first, its answer thrown away.
    - ``rate-limit``, ``secondary-limit``: the two kinds of refusal for too many calls;
      ``seconds`` until the reset or in Retry-After (0 in the second: no Retry-After).
    - ``drop``: cut the connection, the call was not performed.
    - ``lose``: perform the call, then cut the connection.
    - ``delay``: wait ``seconds``, then perform and answer.
    - ``hold-before``, ``hold-after``: wait before or after the call was performed, until the
      fault is released (or ``seconds`` pass), then go on.
    """

    id: int
    kind: str
    method: str = "*"
    path: str = "*"
    times: int = 1
    skip: int = 0
    status: int = 503
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    seconds: float = 60.0
    perform: bool = False
    hits: int = 0
    reached: threading.Event = field(default_factory=threading.Event)
    let_go: threading.Event = field(default_factory=threading.Event)

    def show(self) -> dict[str, Any]:
        """The rule as the double's own API shows it."""
        return {
            "id": self.id,
            "kind": self.kind,
            "method": self.method,
            "path": self.path,
            "left": self.times,
            "skip": self.skip,
            "hits": self.hits,
        }


class Faults:
    """The rules in force, oldest first; the first that matches a call is used."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ids = itertools.count(1)
        self._rules: dict[int, Fault] = {}

    def add(self, **settings: Any) -> Fault:
        """Put a rule in force; ``ValueError`` for one that makes no sense."""
        kind = settings.get("kind")
        if kind not in KINDS:
            raise ValueError(f"kind: {kind!r} is none of {', '.join(KINDS)}")
        known = {
            "kind",
            "method",
            "path",
            "times",
            "skip",
            "status",
            "body",
            "headers",
            "seconds",
            "perform",
        }
        unknown = set(settings) - known
        if unknown:
            raise ValueError(f"unknown: {', '.join(sorted(unknown))}")
        with self._lock:
            rule = Fault(next(self._ids), **settings)
            rule.method = rule.method.upper()
            self._rules[rule.id] = rule
            return rule

    def get(self, rule_id: int) -> Fault | None:
        """A rule by its id, spent ones included."""
        return self._rules.get(rule_id)

    def all(self) -> list[Fault]:
        """Every rule, spent ones included."""
        return list(self._rules.values())

    def clear(self) -> None:
        """Forget all rules and let go of what they hold."""
        with self._lock:
            for rule in self._rules.values():
                rule.times = 0
                rule.let_go.set()
            self._rules.clear()

    def take(self, method: str, path: str) -> Fault | None:
        """The rule for this call, counted down; ``None`` in peace."""
        with self._lock:
            for rule in self._rules.values():
                if rule.times <= 0 or rule.method not in ("*", method):
                    continue
                if not fnmatch.fnmatchcase(path, rule.path):
                    continue
                if rule.skip > 0:
                    rule.skip -= 1
                    continue
                rule.times -= 1
                rule.hits += 1
                rule.reached.set()
                return rule
        return None
