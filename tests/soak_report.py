"""What the soak keeps of each commit, and the table that it prints."""

from __future__ import annotations

import json
import statistics
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from tests.soak_histories import Chosen

_COUNTERS = ("kinds", "read", "statuses", "by_kind", "reasons", "rules")


@dataclass(slots=True)
class Record:
    """One reviewed step; ``kinds`` are git's, ``read`` languages, ``default`` the comments that
    default settings post."""

    name: str
    seconds: float = 0.0
    peak_mib: float = 0.0
    hunks: int = 0
    comments: int = 0
    suggestions: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    read: Counter[str] = field(default_factory=Counter)
    statuses: Counter[str] = field(default_factory=Counter)
    by_kind: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    rules: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    default: list[dict[str, Any]] | None = None
    crashes: list[str] = field(default_factory=list)
    uncovered: list[str] = field(default_factory=list)
    form: list[str] = field(default_factory=list)
    unsafe: list[str] = field(default_factory=list)

    def to_line(self) -> str:
        """One line of the state file."""
        return json.dumps({one.name: getattr(self, one.name) for one in fields(self)}) + "\n"

    @classmethod
    def from_line(cls, line: str) -> Record:
        """The record in a line of the state file."""
        values = json.loads(line)
        return cls(**values | {name: Counter(values[name]) for name in _COUNTERS})


def report(records: Sequence[Record], chosen: Chosen, left: int) -> tuple[str, bool]:
    """The table for a person, and whether all that must be 0 is 0 and something was reviewed."""
    reviewed = [one for one in records if not one.crashes]
    seconds = sorted(one.seconds for one in reviewed) or [0.0]
    many = max(1, len(reviewed))

    def total(counter: Callable[[Record], Counter[str]]) -> str:
        added: Counter[str] = Counter()
        for one in records:
            added.update(counter(one))
        return ", ".join(f"{name} {count}" for name, count in added.most_common()) or "none"

    default = [one.default for one in reviewed if one.default is not None]
    posted = sum(map(len, default))
    silent = sum(not one for one in default)
    rows = [
        f"commits reviewed       {len(reviewed)}"
        + (f" ({left} are left for the next slice)" if left else ""),
        f"left out               {chosen.unreadable} that git cannot read in these clones"
        + (f", {chosen.without_code} without code" if chosen.without_code else ""),
        f"changed files          {total(lambda one: one.kinds)}",
        f"coverage               {total(lambda one: one.statuses)}",
        f"languages read         {total(lambda one: one.read)}",
        f"hunks                  {sum(one.hunks for one in reviewed)}",
        f"comments, gate open    {sum(one.comments for one in reviewed) / many:.2f} a commit"
        f" ({total(lambda one: one.by_kind)};"
        f" {sum(one.suggestions for one in reviewed)} with a suggestion)",
        f"comments, default      {posted / max(1, len(default)):.2f} a commit ({posted} in all;"
        f" {silent} of {len(default)} commits without any)",
        f"verdicts, gate open    {total(lambda one: one.reasons)}",
        f"seconds a commit       median {statistics.median(seconds):.2f},"
        f" 95% {seconds[int(0.95 * (len(seconds) - 1))]:.2f}, most {seconds[-1]:.2f},"
        f" in all {sum(seconds):.0f}",
        f"peak memory            {max((one.peak_mib for one in records), default=0):.0f} MiB",
    ]
    faults = {
        "crashes": [what for one in records for what in one.crashes],
        "uncovered files": [what for one in records for what in one.uncovered],
        "faults of form": [what for one in records for what in one.form],
        "unsafe comments": [what for one in records for what in one.unsafe],
    }
    rows += [f"{name:<22} {len(found)}" for name, found in faults.items()]
    rows += [what for found in faults.values() for what in found]
    return "\n".join(rows), bool(reviewed) and not any(faults.values())
