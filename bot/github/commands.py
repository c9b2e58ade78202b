"""Commands in comments: parsed, never interpreted.

A command is a line of a comment's own prose that begins with ``/marginalia``. Lines in code, in
quotes, in lists, in HTML comments, or escaped with a backslash are not: they are about something
else or by someone else. Which text is which is CommonMark's to say (``markdown-it-py``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

PREFIX = "/marginalia"
MOST_COMMANDS = 5
"""Commands taken from one comment."""

# Escaped characters stay tokens of their own, so that "\\/marginalia" is no command.
_MARKDOWN = MarkdownIt("commonmark").disable("text_join")
_START = re.compile(r"/marginalia(?![\w/-])", re.IGNORECASE)


class CommandKind(StrEnum):
    """What a person can ask for; the value is how it is written."""

    REVIEW = "review"
    FULL_REVIEW = "full review"
    PAUSE = "pause"
    RESUME = "resume"
    EXPLAIN = "explain"
    DISMISS = "dismiss"
    SUGGEST = "suggest"
    QUEUE = "queue"
    ACCEPT = "accept"
    REJECT = "reject"
    EDIT = "edit"
    CONFIG = "config"
    HELP = "help"
    UNKNOWN = ""


TAKE_TEXT = (CommandKind.DISMISS, CommandKind.ACCEPT, CommandKind.REJECT, CommandKind.EDIT)
"""Commands that may be followed by something: a reason, or numbers of the queue."""


@dataclass(frozen=True, slots=True)
class Command:
    """One command; ``text`` is what stood after the prefix, on one line."""

    kind: CommandKind
    text: str = ""


def mentions(body: str) -> bool:
    """Whether a text may hold a command: cheap, and never wrong when it says no."""
    return _START.search(body) is not None


def parse(body: str) -> tuple[Command, ...]:
    """The commands of a comment in their order, each once, at most ``MOST_COMMANDS``.

    ``/marginalia`` alone asks for help. Text after a command that takes none makes it unknown:
    better asked than half understood. ``dismiss`` takes a reason, ``accept``, ``reject`` and
    ``edit`` take numbers of the queue.
    """
    if not mentions(body):
        return ()
    found: list[Command] = []
    for line in _prose(_MARKDOWN.parse(body)):
        match = _START.match(line)
        if match is None:
            continue
        command = _command(" ".join(line[match.end() :].split()))
        if command not in found:
            found.append(command)
    return tuple(found[:MOST_COMMANDS])


def _command(text: str) -> Command:
    words = text.lower().rstrip(" .!")
    if not words:
        return Command(CommandKind.HELP)
    for kind in CommandKind:
        if kind is not CommandKind.UNKNOWN and words == kind.value:
            return Command(kind, text)
    for kind in TAKE_TEXT:
        if words.startswith(f"{kind} "):
            return Command(kind, text)
    return Command(CommandKind.UNKNOWN, text)


def _prose(tokens: list[Token]) -> list[str]:
    """The lines of the paragraphs that stand by themselves, as plain text."""
    lines: list[str] = []
    for paragraph, inline in pairwise(tokens):
        if paragraph.type != "paragraph_open" or paragraph.level != 0 or inline.type != "inline":
            continue
        line = ""
        for token in inline.children or ():
            if token.type in ("softbreak", "hardbreak"):
                lines.append(line)
                line = ""
            elif token.type == "text":
                line += token.content
            else:
                # code, links, emphasis, escapes: part of the line, but no text of a command
                line += "\0"
        lines.append(line)
    return [line for line in lines if line]


def words_after(body: str) -> tuple[str | None, str | None]:
    """The texts that an edit brings: the prose of a comment, and its first suggestion block.

    Command lines are left out of the prose; ``None`` for what is not there.
    """
    tokens = _MARKDOWN.parse(body)
    block = next((t for t in tokens if t.type == "fence" and t.info.strip() == "suggestion"), None)
    fences = {n for t in tokens if t.type == "fence" and t.map for n in range(*t.map)}
    prose = [
        line
        for number, line in enumerate(body.splitlines())
        if number not in fences and not _START.match(line.lstrip())
    ]
    words = "\n".join(prose).strip()
    suggestion = None if block is None else block.content.removesuffix("\n")
    return words or None, suggestion


HELP = """\
| write | and |
| --- | --- |
| `/marginalia review` | what is new since the last review is reviewed |
| `/marginalia full review` | the whole change is reviewed |
| `/marginalia pause` | pushes to this pull request are no longer reviewed |
| `/marginalia resume` | they are again, and what came meanwhile is reviewed now |
| `/marginalia explain` | in a thread of mine: the scores behind the remark |
| `/marginalia dismiss` | in a thread of mine: the remark never comes back in this repository |
| `/marginalia suggest` | in a thread of yours: the revision it asks for, if I am sure |
| `/marginalia queue` | what waits for approval, with its numbers |
| `/marginalia accept 3 4` | these are posted; `all` for all that wait here |
| `/marginalia reject 3 4` | these are not, and do not come back |
| `/marginalia edit 3` | accepted with the words and the suggestion block below the command |
| `/marginalia config` | the settings that count here, and where each comes from |
| `/marginalia help` | this table |

Commands stand at the beginning of a line and need write permission."""
