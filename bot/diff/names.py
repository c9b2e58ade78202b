"""File names as diffs write them: C-style quoting, prefixes, and the line that holds two names.

git quotes a name that holds a control character, a quote, a backslash or (with
``core.quotePath``) a byte above 127, as C would (git-config, ``core.quotePath``). All names here
are text decoded with ``surrogateescape``, as ``os.fsdecode`` does, so that a name that is no
UTF-8 still opens the right file; ``shown`` makes one fit to print.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

DEV_NULL = "/dev/null"

_ESCAPE = re.compile(rb"\\([0-7]{1,3}|.)", re.DOTALL)
_LETTERS = {b"a": 7, b"b": 8, b"t": 9, b"n": 10, b"v": 11, b"f": 12, b"r": 13}
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
# git's own prefixes: a/ b/, the mnemonic i/ w/ c/ o/, and 1/ 2/ of --no-index
_PREFIX = re.compile(r"^[abciow12]/")


def decode(raw: bytes) -> str:
    """Bytes of a diff or a name as text that ``encode`` turns back into the same bytes."""
    return raw.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    """The bytes that ``decode`` made this text from."""
    return text.encode("utf-8", "surrogateescape")


def is_utf8(text: str) -> bool:
    """Whether decoded text stands for valid UTF-8, that is, can be printed as it is."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def shown(name: str) -> str:
    r"""A name fit for a message or a page: bytes that are no UTF-8 and controls as ``\x..``."""
    text = encode(name).decode("utf-8", "backslashreplace")
    return "".join(ch if ch.isprintable() else ch.encode("unicode_escape").decode() for ch in text)


def unquote(name: str) -> str:
    """The name behind C-style quotes; a name without quotes is returned as it is."""
    if len(name) < 2 or not (name.startswith('"') and name.endswith('"')):
        return name

    def byte(match: re.Match[bytes]) -> bytes:
        code = match.group(1)
        if code[:1] in b"01234567":
            return bytes([int(code, 8) & 0xFF])
        return bytes([_LETTERS.get(code, code[0])])

    return decode(_ESCAPE.sub(byte, encode(name[1:-1])))


def split_names(rest: str) -> tuple[str, str] | None:
    """The two names of ``diff --git OLD NEW`` without prefixes, where both are the same file.

    Names with spaces are not quoted, so the line alone is ambiguous; what settles it is that
    without a rename both names are equal behind their prefixes (git-diff, "Generating patch
    text with -p"). ``None`` where no reading makes them equal: a rename or a copy, whose
    names stand on lines of their own.
    """
    for left, right in _readings(rest):
        old, new = unquote(left), unquote(right)
        if old == new:
            return old, new
        old_tail, new_tail = old.partition("/")[2], new.partition("/")[2]
        if old_tail and old_tail == new_tail:
            return old_tail, new_tail
    return None


def _readings(rest: str) -> Iterator[tuple[str, str]]:
    """Every way to cut the line into two names, the likeliest first."""
    quoted = _QUOTED.match(rest)
    if quoted:
        yield quoted.group(), rest[quoted.end() + 1 :]
        return
    if rest.endswith('"'):
        start = rest.find(' "')
        if start > 0:
            yield rest[:start], rest[start + 1 :]
        return
    middle = len(rest) // 2
    cuts = [at for at, ch in enumerate(rest) if ch == " "]
    # prefixes are of one length nearly always, so the cut is in the middle
    for at in sorted(cuts, key=lambda at: abs(at - middle)):
        yield rest[:at], rest[at + 1 :]


def header_name(text: str) -> str:
    """The name on a ``---`` or ``+++`` line, prefix kept: the tab and what follows it are off."""
    quoted = _QUOTED.match(text)
    return unquote(quoted.group()) if quoted else text.partition("\t")[0]


def strip_prefixes(old: str, new: str) -> tuple[str | None, str | None]:
    """The names of a ``---``/``+++`` pair without their prefixes; ``None`` for ``/dev/null``.

    Besides git's prefixes, two folders that were compared (``diff -r old new``) count as
    prefixes too: the first component is dropped where the rest is equal.
    """
    if old == DEV_NULL or new == DEV_NULL:
        return (
            None if old == DEV_NULL else _PREFIX.sub("", old),
            None if new == DEV_NULL else _PREFIX.sub("", new),
        )
    if old == new:
        return old, new
    old_tail, new_tail = old.partition("/")[2], new.partition("/")[2]
    if old_tail and old_tail == new_tail:
        return old_tail, new_tail
    if _PREFIX.match(old) and _PREFIX.match(new) and old[0] != new[0]:
        return old[2:], new[2:]
    return old, new
