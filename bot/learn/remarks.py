"""One remark of a person in a past review, without the person.

Names, mentions and addresses are taken out before anything is kept (``bot.learn.people``); thanks,
approvals and other small talk teach nothing and are dropped.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from bot.learn.people import SOMEONE

_BLOCK = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_SMALL_TALK = """
thanks thank you thx ty cheers lgtm nice great good cool awesome perfect done fixed yes yep yeah no
nope ok okay sure agreed agree right same here ditto ack acked ship it approved +1 -1 catch point
idea work one job so much very for the this that will do updated addressed resolved makes sense
sounds too as well now in wow love like looks to me all a lot i it's is
"""
_SMALL = frozenset(_SMALL_TALK.split())


class Dropped(StrEnum):
    """Why a comment teaches nothing; of ``NOT_FOLLOWED`` it is kept that there was one."""

    REPLY = "replies"
    BOT = "by bots or deleted accounts"
    OURS = "our own in a person's name"
    AUTHOR = "by the author of the change"
    SMALL_TALK = "small talk"
    NO_LINES = "on no lines"
    NOT_FOLLOWED = "that nothing followed"
    UNREADABLE = "unreadable"


def told(tally: Mapping[str, int]) -> str:
    """A tally of comments (``Dropped``'s values and ``kept``) for a person."""
    reasons = [f"{one.value} {tally[one]}" for one in Dropped if tally.get(one)]
    dropped = f"; dropped: {', '.join(reasons)}" if reasons else ""
    return f"{sum(tally.values())} comments read, {tally.get('kept', 0)} kept{dropped}"


@dataclass(frozen=True, slots=True)
class Remark:
    """A comment on lines: where, on what, what it said, and what came of it.

    ``key`` names it within its repository; ``followed`` says whether the lines were changed after
    it (``None`` where that is not known); ``at`` is when it was made (0 where not known).
    """

    key: str
    repository: str
    path: str
    line: int | None
    side: str
    diff_hunk: str
    comment: str
    followed: bool | None = None
    at: float = 0.0


def without_text(remark: Remark) -> Remark:
    """A remark that nothing followed: what it said is not kept, that it was made is counted."""
    return replace(remark, diff_hunk="", comment="")


def is_bot(login: str, kind: str = "") -> bool:
    """Whether an account is an App's or calls itself a bot."""
    low = login.lower()
    return kind == "Bot" or low.endswith(("[bot]", "-bot", "_bot")) or low == "ghost"


def is_small_talk(comment: str) -> bool:
    """Whether a comment asks for nothing: thanks, approval, a single word."""
    if "```suggestion" in comment:
        return False
    said = _BLOCK.sub(" ", comment).replace(SOMEONE, " ").lower()
    words = re.findall(r"[a-z0-9'+-]+", re.sub(r":[a-z_0-9+-]+:", " ", said))
    return not [word for word in words if word.strip("'-") not in _SMALL] or len(words) < 2


def key_of(*parts: object) -> str:
    """A name made of what a remark is, the same at every reading."""
    text = "\0".join(str(part) for part in parts)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
