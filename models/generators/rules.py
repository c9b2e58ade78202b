"""What a line-edit model may write: well-formed edits that change something, or plain text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from models.generators.line_edits import EditCodec


class EditState(NamedTuple):
    """Where an answer stands.

    ``first`` is the line of an edit whose end is not written yet; ``floor`` the first line that a
    next edit may begin at; ``old`` the ids of the lines that the current edit replaces, of which
    ``same`` have been written again, in order (-1: something else was written); ``closed`` says
    that the text so far is whole lines. ``at`` is the place in ``old`` that the answer seems to
    copy from.
    """

    first: int | None = None
    floor: int = 0
    old: tuple[int, ...] = ()
    same: int = -1
    closed: bool = False
    at: int = 0


_START = EditState()
_NEAR = 8
"""How far ahead a copy may go on: further away, the same token is another one."""


class EditRule:
    """Edits of one window in ascending order, none of which writes the old lines again.

    Args:
        codec: of the model.
        lines: the window's lines.
    """

    def __init__(self, codec: EditCodec, lines: Sequence[str]) -> None:
        self.codec = codec
        self.lines = tuple(lines)
        self._newline = codec.newline
        self._known: dict[tuple[int, int], tuple[int, ...]] = {}

    def _ids(self, first: int, end: int) -> tuple[int, ...]:
        """The ids of some lines, each closed by a line feed."""
        if (first, end) not in self._known:
            text = "".join(line + "\n" for line in self.lines[first:end])
            self._known[first, end] = tuple(self.codec.text_ids([text])[0]) if text else ()
        return self._known[first, end]

    def start(self) -> EditState:
        """No edit yet."""
        return _START

    def allowed(self, state: EditState) -> tuple[bool, Sequence[int], Sequence[int]]:
        """See ``search.Rule``."""
        markers = self.codec.line_ids[: len(self.lines) + 1]
        if state is _START:
            return False, markers, ()
        if state.first is not None:
            return False, markers[state.first :], ()
        stops = [self.codec.end, *markers[state.floor :]] if state.closed else ()
        # one line feed short of the old lines: with it the edit would change nothing
        same = state.same >= 0 and state.same == len(state.old) - 1
        return True, stops, (self._newline,) if same else ()

    def advance(self, state: EditState, token: int) -> EditState:
        """See ``search.Rule``."""
        line = self.codec.line_of(token)
        if line is None:
            going = 0 <= state.same < len(state.old) and state.old[state.same] == token
            return EditState(
                None, state.floor, state.old, state.same + 1 if going else -1,
                token == self._newline, _after(state.old, state.at, token),
            )  # fmt: skip
        if state.first is None:
            return EditState(first=line, floor=state.floor)
        # an edit without text deletes, which an insertion place cannot be
        deletes = line > state.first
        old = self._ids(state.first, line)
        return EditState(None, line + 1, old, 0 if deletes else -1, deletes)

    def draft(self, state: EditState, most: int) -> Sequence[int]:
        """The rest of the lines that the edit replaces, and the answer's end.

        After the first marker of an edit: that it replaces this one line.
        """
        if state is _START:
            return ()
        if state.first is None:
            rest = (*state.old[state.at :], self.codec.end)
            return rest[:most] if state.at <= len(state.old) else ()
        end = min(state.first + 1, len(self.lines))
        return (self.codec.line_ids[end], *self._ids(state.first, end))[:most]


def _after(old: Sequence[int], at: int, token: int) -> int:
    """Where a copy goes on after a token: behind the same one near by, else one further."""
    for place in range(at, min(at + _NEAR, len(old))):
        if old[place] == token:
            return place + 1
    return at + 1


class PlainRule:
    """Any plain text of at least one token.

    Args:
        codec: of the model.
    """

    def __init__(self, codec: EditCodec) -> None:
        self._end = [codec.end]

    def start(self) -> int:
        """Nothing written."""
        return 0

    def allowed(self, state: int) -> tuple[bool, Sequence[int], Sequence[int]]:
        """See ``search.Rule``."""
        return True, self._end if state else (), ()

    def advance(self, state: int, token: int) -> int:
        """See ``search.Rule``."""
        return state + 1
