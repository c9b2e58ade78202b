"""Texts without the people in them, so that what is learnt from a remark is the remark alone.

Taken out are mentions, addresses, trailers and profiles of anybody, and of those who took part the
login and, where GitHub tells it, the name. A login or a part of a name may be a word as well
(``main``, ``Will``): words that reviews use everywhere (``bot.learn.ordinary_words``) go only where
they stand for a person. Code is left as it is: ``@property`` is a decorator.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from bot.learn.ordinary_words import ORDINARY

SOMEONE = "@someone"
LEAST_LOGIN = 4
"""A login of fewer characters is looked for as a mention only."""

_LOGIN = r"[A-Za-z0-9][A-Za-z0-9-]{0,38}"
_MENTION = re.compile(
    rf"(?:(?<![\w`/.@])|(?<=\bcc/))@{_LOGIN}(?:\[bot\])?(?:/@{_LOGIN}(?:\[bot\])?)*(?![\w/])"
)
"""One mention, or some joined by slashes; ``@scope/package`` is none."""
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_PERSON_LINE = re.compile(r"(?im)^\s*(co-authored-by|signed-off-by|reviewed-by|cc)\s*:.*$")
_PROFILE = re.compile(r"https?://github\.com/(?!orgs/)[A-Za-z0-9-]+(?=[\s)\].,]|$)")
_WORD = re.compile(r"(?<![\w@-])[\w-]+")
_CODE = re.compile(r"(```.*?```|`[^`\n]*`)", re.DOTALL)
_PART = re.compile(r"[^\W\d_][\w'\u2019-]*")
_OPENING = re.compile(r"(?:\A|[.!?:;]\s+|\n\s*|[-*>(]\s*)\Z")
"""What a capital at the beginning of a sentence stands behind."""
_NOUN_BEFORE = re.compile(
    r"\b(?:an?|the|this|that|these|each|every|any|our|your|its|new|class|type|function|method|field)"
    r"\s+\Z",
    re.IGNORECASE,
)
"""Behind such a word a capital is a thing's, ``the Page``."""
_SAYS = re.compile(
    r"(?:,|['\u2019]s\b|\s+(?:said|says|suggested|suggests|mentioned|asked|asks|wrote|thinks|wants"
    r"|wanted|noted|pointed|proposed|explained|told)\b)"
)
"""What follows a person who is spoken to or of."""


def without_people(text: str, logins: Iterable[str] = (), names: Iterable[str] = ()) -> str:
    """A text without mentions, addresses, trailers and profiles, and without who took part.

    Args:
        text: a comment as Markdown; code spans and blocks keep what they have.
        logins: of people who took part. As a mention each goes; as a bare word one of
            ``LEAST_LOGIN`` characters and more, in any case, that is no ordinary word.
        names: their display names. The whole name goes in any case; a part of it where it has its
            capital and stands as a name does.
    """
    logins = [one for one in logins if one]
    words = {one.lower() for one in logins if len(one) >= LEAST_LOGIN} - ORDINARY
    mention = _mention_of(logins)
    said = [pattern for name in names for pattern in _patterns(name)]
    text = _PERSON_LINE.sub("", text)
    text = _EMAIL.sub("someone", text)
    text = _PROFILE.sub("someone", text)
    parts = _CODE.split(text)
    for at in range(0, len(parts), 2):
        prose = parts[at]
        if mention is not None:
            prose = mention.sub(SOMEONE, prose)
        prose = _MENTION.sub(SOMEONE, prose)
        for pattern, anywhere in said:
            prose = _taken_out(prose, pattern, anywhere)
        if words:
            prose = _WORD.sub(lambda m: SOMEONE if m[0].lower() in words else m[0], prose)
        parts[at] = prose
    return "".join(parts).strip()


def _mention_of(logins: list[str]) -> re.Pattern[str] | None:
    """Mentions of these, whatever they are joined with: ``@al/@bo``, ``cc:@al``, ``@ann_acme``."""
    if not logins:
        return None
    known = "|".join(sorted(map(re.escape, logins), key=len, reverse=True))
    return re.compile(rf"(?<![\w`@])@(?:{known})(?![\w-])", re.IGNORECASE)


def _patterns(name: str) -> list[tuple[re.Pattern[str], bool]]:
    """What of a display name is looked for, and whether it goes wherever it stands."""
    parts = _PART.findall(name)
    if not parts:
        return []
    whole = r"\s+".join(map(re.escape, parts))
    if not any(map(_has_case, parts)):
        # a script without capitals, mostly without spaces too: the name stands between any letters
        return [(re.compile(whole), True)] if len("".join(parts)) > 1 else []
    found = []
    if len(parts) > 1:
        ordinary = all(part.lower() in ORDINARY for part in parts)
        found.append((re.compile(rf"(?<!\w){whole}(?!\w)", 0 if ordinary else re.IGNORECASE), True))
    for part in parts:
        if len(part) > 2 and part[0].isupper():
            at = re.compile(rf"(?<![\w@.-]){re.escape(part)}(?![\w(\[-]|\.\w)")
            found.append((at, False))
        elif len(part) >= LEAST_LOGIN and _has_case(part) and part.lower() not in ORDINARY:
            found.append((re.compile(rf"(?<![\w@.-]){re.escape(part)}(?![\w(\[-]|\.\w)"), True))
    return found


def _has_case(part: str) -> bool:
    return part.lower() != part.upper()


def _taken_out(prose: str, pattern: re.Pattern[str], anywhere: bool) -> str:
    """Prose without what the pattern finds, where that is a person."""
    return pattern.sub(
        lambda m: "someone" if anywhere or _is_person(prose, m.start(), m.end()) else m[0], prose
    )


def _is_person(prose: str, start: int, end: int) -> bool:
    """Whether a capitalized part of a name stands as a name does."""
    before = prose[max(0, start - 40) : start]
    if _OPENING.search(before):
        ordinary = prose[start:end].lower() in ORDINARY
        return not ordinary or bool(_SAYS.match(prose, end))
    return not _NOUN_BEFORE.search(before)
