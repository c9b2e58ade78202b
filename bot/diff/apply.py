"""A change laid on the old text gives the new text, byte for byte.

The tests prove the reader by it, the working tree's head is read by it, and the gate lays
suggestions on a head blob by ``apply_replacements``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from bot.diff.errors import ApplyError
from bot.diff.names import encode, shown
from models.change import Change, ChangedFile, Coverage, FileStatus, Line
from models.review_types import Replacement

_NOT_READ = {Coverage.BINARY, Coverage.PATCH_MISSING, Coverage.CLIPPED, Coverage.SUBMODULE}
_BOM = b"\xef\xbb\xbf"


def apply_change(change: Change, tree: Mapping[str, bytes]) -> dict[str, bytes]:
    """The head's files from the base's (path to content); files that did not change stay.

    Submodules hold no content here and are passed over. Raises :class:`ApplyError` where a
    file's patch was not read or does not fit.
    """
    files = [file for file in change if file.coverage is not Coverage.SUBMODULE]
    made: dict[str, bytes] = {}
    for file in files:
        old = b""
        if file.old_path is not None:
            if file.old_path not in tree:
                raise ApplyError(f"{shown(file.old_path)} is not in the old tree")
            old = tree[file.old_path]
        new = apply_file(file, old)
        if file.new_path is not None:
            made[file.new_path] = new
    gone = {
        file.old_path for file in files if file.status in {FileStatus.REMOVED, FileStatus.RENAMED}
    }
    return {path: text for path, text in tree.items() if path not in gone} | made


def apply_file(file: ChangedFile, old: bytes) -> bytes:
    """The new content of one file from its old content (empty for an added file).

    Raises :class:`ApplyError` where the patch was not read, or a line of the old side is not
    in ``old`` at its number.
    """
    name = shown(file.path)
    if file.coverage in _NOT_READ:
        raise ApplyError(f"{name}: its patch was not read ({file.coverage.value})")
    source = _lines(old)
    made: list[bytes] = []
    done = 0
    for hunk in file.hunks:
        begin = hunk.old_start - 1 if hunk.old_count else hunk.old_start
        before = [_bytes(line) for line in hunk.before]
        end = begin + len(before)
        if begin < done or source[begin:end] != before:
            raise ApplyError(f"{name}: the hunk at old line {hunk.old_start} does not fit")
        made += source[done:begin]
        made += [_bytes(line) for line in hunk.after]
        done = end
    made += source[done:]
    if file.new_path is None and made:
        raise ApplyError(f"{name}: lines are left in a removed file")
    return b"".join(made)


def _lines(text: bytes) -> list[bytes]:
    """Lines with their line feeds; nothing but a line feed ends one."""
    lines = [part + b"\n" for part in text.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def _bytes(line: Line) -> bytes:
    return encode(line.text) + (b"" if line.no_newline else b"\n")


def apply_replacements(text: bytes, replacements: Iterable[Replacement]) -> bytes:
    """``text`` with lines replaced, in the line endings that it had.

    A new line takes the ending of the line in its place, a further one that of the last line
    replaced, and where that was the file's last line without a line feed, the new last line
    has none either. A byte order mark on line 1 stays. The order of ``replacements`` does not
    matter; each speaks of the lines of ``text``. Raises :class:`ApplyError` for a range outside
    the text, for two that overlap, and for a line with a line feed inside.
    """
    lines = _lines(text)
    ordered = sorted(replacements, key=lambda item: item.start_line)
    default = _usual_ending(lines)
    made: list[bytes] = []
    done = 0
    for item in ordered:
        begin, end = item.start_line - 1, item.end_line
        span = f"lines {item.start_line} to {item.end_line}"
        if not 0 <= begin < end <= len(lines):
            raise ApplyError(f"{span} are not in a text of {len(lines)} lines")
        if begin < done:
            raise ApplyError(f"{span} overlap another replacement")
        made += lines[done:begin]
        made += _replaced(lines[begin:end], item, default=default)
        done = end
    return b"".join(made + lines[done:])


def _replaced(old: list[bytes], item: Replacement, *, default: bytes) -> list[bytes]:
    new = [encode(line) for line in item.lines]
    if any(b"\n" in line for line in new):
        raise ApplyError(f"a new line for line {item.start_line} holds a line feed")
    endings = [_ending(line) for line in old]
    open_end = not endings[-1]
    if open_end:
        endings[-1] = endings[-2] if len(endings) > 1 else default
    made = []
    for at, line in enumerate(new):
        ending = endings[min(at, len(endings) - 1)]
        # a text that carries its own carriage return must not get two
        made.append(line.removesuffix(b"\r") + ending if ending == b"\r\n" else line + ending)
    if made and open_end:
        last = new[-1]
        stray = default == b"\r\n" and not old[-1].endswith(b"\r")
        made[-1] = last.removesuffix(b"\r") if stray else last
    if made and item.start_line == 1 and old[0].startswith(_BOM) and not made[0].startswith(_BOM):
        made[0] = _BOM + made[0]
    return made


def _ending(line: bytes) -> bytes:
    if line.endswith(b"\r\n"):
        return b"\r\n"
    return b"\n" if line.endswith(b"\n") else b""


def _usual_ending(lines: list[bytes]) -> bytes:
    """CRLF where most of the lines that end do so with it."""
    ended = [line for line in lines if line.endswith(b"\n")]
    crlf = sum(line.endswith(b"\r\n") for line in ended)
    return b"\r\n" if crlf * 2 > len(ended) else b"\n"
