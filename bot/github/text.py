"""Markdown that cannot break out: fences, code spans, and texts cut to GitHub's limits."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

MOST_CHARACTERS = 65_535
"""GitHub answers 422 to a comment or review of 65,536 characters or more: "body is too long
(maximum is 65536 characters)" (trouble 25 of the field's list)."""

_BACKTICKS = re.compile(r"`+")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})([^\n]*)$")
# what GitHub would act on outside of code
_LOUD = re.compile(r"<!--|(?<![\w`])@(?=\w)")
_QUIET = {"<!--": "&lt;!--", "@": "@\N{ZERO WIDTH SPACE}"}
_CUT = "\n\n*(cut: too long for one comment)*"


def fence(text: str, info: str = "") -> str:
    """``text`` as a fenced code block whose fence is longer than any run of backticks inside."""
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    ticks = "`" * max(3, longest + 1)
    return f"{ticks}{info}\n{text}{'' if text.endswith(chr(10)) or not text else chr(10)}{ticks}"


def code_span(text: str) -> str:
    """``text`` as inline code on one line, whatever backticks it has."""
    flat = " ".join(text.split()) or " "
    longest = max((len(run) for run in _BACKTICKS.findall(flat)), default=0)
    ticks = "`" * (longest + 1)
    pad = " " if flat.startswith("`") or flat.endswith("`") else ""
    return f"{ticks}{pad}{flat}{pad}{ticks}"


def clip(text: str, limit: int = MOST_CHARACTERS) -> str:
    """``text`` in at most ``limit`` characters, cut between lines, open fences closed.

    A cut is said in the text. Without a line break to cut at, the line itself is cut.
    """
    if len(text) <= limit:
        return text
    room = limit - len(_CUT)
    if room <= 0:
        return text[:limit]
    head = text[:room]
    at = head.rfind("\n")
    head = head[:at] if at > room // 2 else head
    opened, fence_at = _open_fence(head)
    if opened and len(head) + 1 + len(opened) > room:
        head = head[: max(room - 1 - len(opened), 0)]
        if len(head) <= fence_at + len(opened):  # no room for the block: leave it out
            head, opened = head[:fence_at], ""
    return head + (f"\n{opened}" if opened else "") + _CUT


def _open_fence(text: str) -> tuple[str, int]:
    """The fence left open at the end of ``text`` and where its block begins ("", 0 if none)."""
    opened, begins, at = "", 0, 0
    for row in text.split("\n"):
        match = _FENCE.match(row)
        if match and not opened:
            opened, begins = match[1], at
        elif match and match[1].startswith(opened) and not match[2].strip():
            opened, begins = "", 0
        at += len(row) + 1
    return opened, begins


def one_line(text: str, limit: int = 200) -> str:
    """``text`` on one line of at most ``limit`` characters, for lists and annotations."""
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else flat[: limit - 1].rstrip() + "…"


def quiet(text: str) -> str:
    """``text`` with mentions and HTML comments made harmless; code spans are left as they are.

    Nobody is called by something that a model or an analyzer wrote, and no marker of ours can be
    written by them.
    """
    parts: list[str] = []
    at = 0
    for start, end in (*_code_spans(text), (len(text), len(text))):
        parts.append(_LOUD.sub(lambda match: _QUIET[match[0]], text[at:start]))
        parts.append(text[start:end])
        at = end
    return "".join(parts)


def _code_spans(text: str) -> Iterator[tuple[int, int]]:
    """Where code spans begin and end: at runs of backticks of one length (CommonMark 6.1)."""
    runs = [match.span() for match in _BACKTICKS.finditer(text)]
    by_length: dict[int, list[int]] = {}
    for index, (start, end) in enumerate(runs):
        by_length.setdefault(end - start, []).append(index)
    index = 0
    while index < len(runs):
        start, end = runs[index]
        same = by_length[end - start]
        after = bisect_right(same, index)
        if after < len(same):
            index = same[after]
            yield start, runs[index][1]
        index += 1
