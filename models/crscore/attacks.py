"""Texts that try to please a grader without reviewing anything.

The judge is fitted with such texts marked as irrelevant, and tested with others of the same
kinds: each must score below a real, relevant review of the same change.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from models.crscore.change_text import ChangeText

PRAISE = (
    "Great work, this looks good to me!",
    "LGTM, thanks for the contribution.",
    "Nice change. The code is clean and well written, and it improves readability.",
    "This is a good improvement. The code is easy to follow and maintain.",
    "Looks fine to me. Nice job keeping the code simple and readable.",
    "The change seems fine and follows best practices.",
)
FILLING = (
    "The code is written in a programming language.",
    "Tests are important for software quality.",
    "This file is part of the repository.",
    "Good code should be easy to read.",
    "Software changes over time.",
    "Every commit should have a clear message.",
    "Git records who wrote each line.",
    "Teams that review code ship fewer defects.",
    "An editor can show this file with colours.",
    "It is worth remembering that code lives for a long time.",
    "Both sides of the diff can be compared.",
    "All of this is stored as text.",
    "Programming requires attention to detail.",
    "Someone will have to maintain this later.",
    "The lines above belong together.",
    "Edge cases deserve thought.",
)
"""None is among the fillings that the judge is fitted with (``models.crscore.idle``)."""


@dataclass(frozen=True, slots=True)
class Attack:
    """One such text and its kind: repeat, names, praise, swap or filling."""

    kind: str
    text: str


def attacks_on(
    change: ChangeText, good_elsewhere: Sequence[str], seed: int, good_here: Sequence[str] = ()
) -> list[Attack]:
    """Attacks on one change; ``good_elsewhere`` are good reviews of other changes, and
    ``good_here`` good ones of this, each of which gets a true but useless sentence appended."""
    pick = random.Random(seed)  # noqa: S311 (a seeded choice, not a secret)
    names = sorted(change.names)
    pick.shuffle(names)
    found = [
        Attack(
            "repeat",
            "\n".join(f"+{line}" for line in change.added[:20])
            + "\n"
            + "\n".join(f"-{line}" for line in change.deleted[:20]),
        ),
        Attack("repeat", change.block[:600]),
        Attack("names", ", ".join(names[:20])),
        Attack("names", " ".join(f"`{name}`" for name in names[:12])),
        *(Attack("praise", text) for text in pick.sample(PRAISE, 2)),
    ]
    if good_elsewhere:
        count = min(2, len(good_elsewhere))
        found += [Attack("swap", text) for text in pick.sample(list(good_elsewhere), count)]
    found += [Attack("filling", f"{text.rstrip()} {pick.choice(FILLING)}") for text in good_here]
    return found
