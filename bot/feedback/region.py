"""Following the lines that a comment is about into a later head, by their content.

Commit ids and line numbers do not survive rebases, force-pushes and squash merges; text does. The
file as it stood under the comment is aligned with the later file (longest common subsequence of
lines), and so is the same file with the suggestion committed: whichever of the two the later file
contains at that place says what happened. No I/O: the caller brings the blobs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from rapidfuzz.distance import Indel

from models.change import Side
from models.metrics.edit_progress import edit_progress, token_distance

TELLING = 8
"""Letters and digits that a block must have before it is recognised in another place."""
RENAMED = 0.5
"""Share of lines in common from which a vanished file is taken for one under a new name."""
MOST_CELLS = 4_000_000_000
"""Largest product of two files' line counts (after their common ends) that is aligned."""
MOST_WINDOW = 80
"""Lines of a rewritten place in which the region is searched for by distance."""
NEIGHBOURS = 3
"""How far from the region a telling neighbour may stand, in lines."""


class Fate(StrEnum):
    """What one later head shows of the commented lines."""

    UNCHANGED = "unchanged"
    AS_IS = "as-is"
    EDITED = "edited"
    CHANGED = "changed"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Anchor:
    """The commented lines: ``start_line``..``line`` (1-based, inclusive) of ``text``.

    ``text`` is the file's blob on ``side`` of the reviewed change; ``suggestion`` the lines
    proposed in their place (no line endings, empty for a deletion), ``None`` for prose. Raises
    ``ValueError`` where the lines are not in the text.
    """

    path: str
    text: bytes
    start_line: int
    line: int
    suggestion: tuple[str, ...] | None = None
    side: Side = Side.RIGHT

    def __post_init__(self) -> None:
        count = len(_lines(self.text))
        if not 1 <= self.start_line <= self.line <= count:
            raise ValueError(
                f"{self.path}: lines {self.start_line} to {self.line} are not in a file of "
                f"{count} lines: give the blob that the comment was made on"
            )


@dataclass(frozen=True, slots=True)
class Followed:
    """Where the region is in a later head, and what happened to it.

    ``start_line``/``line`` are 1-based; ``line`` is one less than ``start_line`` for an emptied
    place and both are 0 where it is gone. ``edit_progress`` is the share of the way to the
    suggestion (1 is all of it), ``None`` where there is no suggestion or no such way.
    """

    fate: Fate
    path: str = ""
    start_line: int = 0
    line: int = 0
    edit_progress: float | None = None


def follow(
    anchor: Anchor,
    head: bytes | None,
    others: Mapping[str, bytes] | None = None,
    before: Mapping[str, bytes] | None = None,
    base: bytes | None = None,
) -> Followed:
    """What a later head made of the anchored lines.

    Args:
        anchor: the lines as the comment found them.
        head: the same path's blob in the later head (or in the merge commit); ``None``: no file.
        others: blobs of other files that changed since, where the lines may have gone.
        before: the same files as they were under the comment, as far as known: what was there
            already has not moved there.
        base: the path's blob at the merge base: where the whole changed block is back to it, the
            change was withdrawn and the comment has nothing left to speak of.
    """
    place = _Place(anchor)
    elsewhere = dict(others or {})
    elsewhere.pop(anchor.path, None)
    if anchor.side is Side.LEFT:
        return place.left(head)
    found: Followed | None = None
    if head is not None:
        found = place.within(anchor.path, _lines(head))
        if found.fate not in (Fate.CHANGED, Fate.EDITED):
            return found
    moved = place.moved(head, elsewhere, before or {})
    if moved is not None:
        return moved
    if found is not None:
        withdrawn = base is not None and head is not None and place.withdrawn(base, head)
        return Followed(Fate.GONE) if withdrawn else found
    renamed = place.renamed(elsewhere)
    if renamed is not None:
        return place.within(renamed, _lines(elsewhere[renamed]))
    return Followed(Fate.GONE)


class _Place:
    """An anchor with its lines cut, ready to be looked for."""

    def __init__(self, anchor: Anchor) -> None:
        self.anchor = anchor
        self.lines = _lines(anchor.text)
        self.start, self.end = anchor.start_line - 1, anchor.line
        self.region = self.lines[self.start : self.end]
        self.suggestion = None if anchor.suggestion is None else list(anchor.suggestion)
        # A suggestion that only lays lines out anew must not look like what it replaces.
        spacing = self.suggestion is not None and list(map(_loose, self.suggestion)) == list(
            map(_loose, self.region)
        )
        self.key = _exact if spacing else _loose

    def within(self, path: str, new: list[str]) -> Followed:
        """What the file with these lines made of the region, at the region's own place."""
        keys = list(map(self.key, new))
        match = _match(list(map(self.key, self.lines)), keys)
        kept = _Run.of(match, self.start, self.end, len(new))
        if kept is not None and kept.tight:
            return Followed(Fate.UNCHANGED, path, kept.low + 1, kept.high)
        if self.suggestion is not None:
            applied = [*self.lines[: self.start], *self.suggestion, *self.lines[self.end :]]
            end = self.start + len(self.suggestion)
            taken = _Run.of(_match(list(map(self.key, applied)), keys), self.start, end, len(new))
            if taken is not None and (
                taken.tight or kept is None or len(self.suggestion) > len(self.region)
            ):
                return self._taken(path, new, taken.low, taken.high)
        if kept is not None:
            return Followed(Fate.UNCHANGED, path, kept.low + 1, kept.high)
        low = max((j for j in match[: self.start] if j >= 0), default=-1) + 1
        high = min((j for j in match[self.end :] if j >= 0), default=len(new))
        return self._rewritten(path, new, low, high)

    def left(self, head: bytes | None) -> Followed:
        """Deleted lines: they count as changed where they are back."""
        if head is None:
            return Followed(Fate.UNCHANGED)
        new = _lines(head)
        match = _match(list(map(self.key, self.lines)), list(map(self.key, new)))
        back = _Run.of(match, self.start, self.end, len(new))
        if back is None or not _telling(self.region):
            return Followed(Fate.UNCHANGED)
        return Followed(Fate.CHANGED, self.anchor.path, back.low + 1, back.high)

    def moved(
        self, head: bytes | None, others: Mapping[str, bytes], before: Mapping[str, bytes]
    ) -> Followed | None:
        """The region, or the suggestion, in exactly one other place where it was not before."""
        files = dict(others)
        known = dict(before)
        if head is not None:
            files[self.anchor.path] = head
            known[self.anchor.path] = self.anchor.text
        own = list(map(self.key, self.lines))
        for block in (self.suggestion, self.region):
            if not block or not _telling(block):
                continue
            keys = list(map(self.key, block))
            if block is self.suggestion and _places(keys, own):
                continue
            places = []
            for path, text in files.items():
                already = len(_places(keys, list(map(self.key, _lines(known.get(path, b""))))))
                here = _places(keys, list(map(self.key, _lines(text))))
                if path == self.anchor.path and block is self.region:
                    already -= 1
                places += [(path, at) for at in here] if len(here) > already else []
            if len(places) != 1:
                continue
            path, at = places[0]
            if block is self.suggestion:
                return self._taken(path, _lines(files[path]), at, at + len(block))
            return Followed(Fate.UNCHANGED, path, at + 1, at + len(block))
        return self._with_neighbours(others, before)

    def renamed(self, others: Mapping[str, bytes]) -> str | None:
        """The file that holds most of the vanished file's lines, if it is at least half."""
        own = list(map(self.key, self.lines))
        best, most = None, RENAMED
        for path in sorted(others):
            lines = list(map(self.key, _lines(others[path])))
            if not lines or min(len(lines), len(own)) < most * max(len(lines), len(own)) / 2:
                continue
            share = 2 * sum(j >= 0 for j in _match(own, lines)) / (len(own) + len(lines))
            if share >= most and (best is None or share > most):
                best, most = path, share
        return best

    def withdrawn(self, base: bytes, head: bytes) -> bool:
        """Whether the block of changed lines around the region is back to the base's text."""
        old, new = list(map(_exact, _lines(base))), list(map(_exact, _lines(head)))
        if old == new:
            return True
        here = list(map(_exact, self.lines))
        match = _match(here, old)
        start, end = self.start, self.end
        while start > 0 and match[start - 1] < 0:
            start -= 1
        while end < len(here) and match[end] < 0:
            end += 1
        if (start, end) == (self.start, self.end):
            return False  # taking back just these lines is an answer to the comment
        was = _between(match, start, end, len(old))
        now = _between(_match(here, new), start, end, len(new))
        return old[was[0] : was[1]] == new[now[0] : now[1]]

    def _with_neighbours(
        self, others: Mapping[str, bytes], before: Mapping[str, bytes]
    ) -> Followed | None:
        """A rewritten region between the neighbours with which it moved to one other file."""
        above = self._neighbour(range(self.start - 1, max(-1, self.start - 1 - NEIGHBOURS), -1))
        below = self._neighbour(range(self.end, min(len(self.lines), self.end + NEIGHBOURS)))
        if above is None or below is None:
            return None
        room = len(self.region) + len(self.suggestion or ()) + 2 * NEIGHBOURS + 10
        places: list[tuple[str, list[str], int, int]] = []
        for path in sorted(others):
            lines = _lines(others[path])
            keys = list(map(self.key, lines))
            if above in map(self.key, _lines(before.get(path, b""))):
                continue
            if keys.count(above) == 1 and keys.count(below) == 1:
                low, high = keys.index(above) + 1, keys.index(below)
                if 0 <= high - low <= room:
                    places.append((path, lines, low, high))
        return self._rewritten(*places[0]) if len(places) == 1 else None

    def _neighbour(self, numbers: range) -> str | None:
        own = list(map(self.key, self.lines))
        for number in numbers:
            if _telling([self.lines[number]]) and own.count(own[number]) == 1:
                return own[number]
        return None

    def _taken(self, path: str, new: list[str], low: int, high: int) -> Followed:
        here = list(map(_exact, new[low:high]))
        as_is = here == list(map(_exact, self.suggestion or ()))
        return Followed(Fate.AS_IS if as_is else Fate.EDITED, path, low + 1, high, 1.0)

    def _rewritten(self, path: str, new: list[str], low: int, high: int) -> Followed:
        """The region was rewritten somewhere in ``low``..``high``: nearer to the suggestion?"""
        low, high = self._window(new, low, high)
        if self.suggestion is None:
            return Followed(Fate.CHANGED, path, low + 1, high)
        source, target = "\n".join(self.region), "\n".join(self.suggestion)
        progress = edit_progress(source, target, "\n".join(new[low:high]))
        nearer = progress is not None and progress > 0
        return Followed(Fate.EDITED if nearer else Fate.CHANGED, path, low + 1, high, progress)

    def _window(self, new: list[str], low: int, high: int) -> tuple[int, int]:
        """The part of a rewritten place that stands for the region.

        Neighbours may have been rewritten with it: the part nearest to the region's text or to
        the suggestion's is taken, and between equals the one nearer to the region's.
        """
        sizes = {len(self.region), len(self.suggestion or self.region)}
        if high - low <= max(sizes) or high - low > MOST_WINDOW:
            return low, high
        texts = ["\n".join(self.region)]
        if self.suggestion:
            texts.append("\n".join(self.suggestion))
        best = (low, high)
        least: tuple[int, int] | None = None
        for size in range(max(1, min(sizes)), min(high - low, max(sizes) + NEIGHBOURS) + 1):
            for at in range(low, high - size + 1):
                here = "\n".join(new[at : at + size])
                far = [token_distance(here, text) for text in texts]
                rank = (min(far), far[0])
                if least is None or rank < least:
                    best, least = (at, at + size), rank
        return best


@dataclass(frozen=True, slots=True)
class _Run:
    """Lines found again one after the other; ``tight`` where both their neighbours are too."""

    low: int
    high: int
    tight: bool

    @classmethod
    def of(cls, match: Sequence[int], start: int, end: int, total: int) -> _Run | None:
        """The run of ``match[start:end]``, ``None`` where it is broken.

        An empty run exists only where its neighbours meet.
        """
        before = match[start - 1] if start > 0 else -1
        after = match[end] if end < len(match) else total
        if start == end:
            meet = after == before + 1 and (start == 0 or before >= 0)
            return cls(after, after, tight=True) if meet else None
        low = match[start]
        if low < 0 or any(match[start + k] != low + k for k in range(end - start)):
            return None
        high = low + end - start
        joined = before == low - 1 and (start == 0 or before >= 0)
        return cls(low, high, tight=joined and after == high)


def _between(match: Sequence[int], start: int, end: int, total: int) -> tuple[int, int]:
    low = max((j for j in match[:start] if j >= 0), default=-1) + 1
    high = min((j for j in match[end:] if j >= 0), default=total)
    return low, high


def _match(old: Sequence[str], new: Sequence[str]) -> list[int]:
    """For every old line the index of the same line in the new file, or -1; ascending."""
    match = [-1] * len(old)
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        match[head] = head
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        match[len(old) - 1 - tail] = len(new) - 1 - tail
        tail += 1
    left, right = old[head : len(old) - tail], new[head : len(new) - tail]
    if not left or not right or len(left) * len(right) > MOST_CELLS:
        return match
    for code in Indel.opcodes(left, right):
        if code.tag == "equal":
            for step in range(code.src_end - code.src_start):
                match[head + code.src_start + step] = head + code.dest_start + step
    return match


def _places(block: Sequence[str], lines: Sequence[str]) -> list[int]:
    size = len(block)
    return [
        at
        for at in range(len(lines) - size + 1)
        if lines[at] == block[0] and list(lines[at : at + size]) == list(block)
    ]


def _telling(lines: Sequence[str]) -> bool:
    return sum(char.isalnum() for line in lines for char in line) >= TELLING


def _lines(text: bytes) -> list[str]:
    lines = text.decode("utf-8", "surrogateescape").removeprefix("\ufeff").split("\n")
    return lines if lines[-1] else lines[:-1]


def _exact(line: str) -> str:
    return line.rstrip()


def _loose(line: str) -> str:
    return " ".join(line.split())
