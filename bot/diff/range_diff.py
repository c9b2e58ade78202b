"""What a new patch has that the last reviewed patch had not: the ground of incremental review.

As ``git range-diff`` does, patches are compared with patches, never trees with trees and never
by dates: both are diffs from their own merge base, so a rebase, a force-push or a merge of the
main branch brings in nothing of what others did. The unit is the block, a run of changed lines
without context between; it is the same block when its deleted and added lines are the same,
whatever their numbers are now. Large blocks (a new file is one block) are compared line by line.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from rapidfuzz.distance import LCSseq

from models.change import Change, ChangedFile, Coverage, FileStatus, Hunk, Line, LineKind

# up to this many changed lines a block is new as a whole when a line of it is
_SMALL = 20
# lines of context that are compared, and kept around what is new
_CONTEXT = 3
# a block with at least this many letters and digits is known by itself, without its context
_TELLING = 40

_Key = tuple[tuple[LineKind, str], ...]


@dataclass(frozen=True, slots=True)
class _Block:
    """A run of changed lines: where it stands, what it changes, what stands around it."""

    hunk: int
    begin: int
    end: int
    key: _Key
    around: frozenset[str]

    @property
    def telling(self) -> bool:
        return sum(ch.isalnum() for _, text in self.key for ch in text) >= _TELLING


def new_hunks(previous: Change, current: Change) -> Change:
    """The part of ``current`` that ``previous``, the last reviewed patch, did not have.

    Both must be changes from their merge bases. Files with nothing new are left out; a file
    with something new keeps only the hunks that hold it, cut down to it where a hunk also holds
    what was there before. All lines keep their numbers in ``current``, so anchors stay valid.
    A file that cannot be compared (its patch is missing, say) counts as new.
    """
    known = _Counterparts(previous, current)
    files = (_news(known.of(file), file) for file in current)
    return replace(current, files=tuple(file for file in files if file is not None))


class _Counterparts:
    """Which file of the previous patch a file of the current one was."""

    def __init__(self, previous: Change, current: Change) -> None:
        self._by_path = {file.path: file for file in previous}
        self._by_old = {file.old_path: file for file in previous if file.old_path is not None}
        kept = {file.path for file in current} | {file.old_path for file in current}
        self._left = [file for file in previous if file.path not in kept]

    def of(self, file: ChangedFile) -> ChangedFile | None:
        same = self._by_path.get(file.path)
        if same is None and file.old_path is not None:
            same = self._by_old.get(file.old_path) or self._by_path.get(file.old_path)
        if same is None and file.status is FileStatus.ADDED:
            same = next((old for old in self._left if _alike(old, file)), None)
        return same


def _alike(old: ChangedFile, new: ChangedFile) -> bool:
    """Whether a new file is an earlier new file under another name: half of its lines are."""
    if old.status is not FileStatus.ADDED:
        return False
    before = Counter(line.text for hunk in old.hunks for line in hunk.added)
    after = Counter(line.text for hunk in new.hunks for line in hunk.added)
    return 2 * (before & after).total() > max(before.total(), after.total())


def _news(old: ChangedFile | None, new: ChangedFile) -> ChangedFile | None:
    if old is None:
        return new
    if not new.hunks:
        # the note of a binary file or a submodule names its blobs or commits
        told = new.note != "" and new.coverage is not Coverage.PATCH_MISSING
        told = told or new.coverage is Coverage.REVIEWED
        return None if told and old == new else new
    if not old.hunks:
        return new
    fresh = _fresh_lines(old.hunks, new.hunks)
    hunks = tuple(
        part for at, hunk in enumerate(new.hunks) for part in _cut(hunk, fresh.get(at, set()))
    )
    if hunks == new.hunks:
        return new
    note = f"{new.note}; " if new.note else ""
    return (
        replace(new, hunks=hunks, note=f"{note}only what is new since the last review")
        if (hunks)
        else None
    )


def _fresh_lines(old: Sequence[Hunk], new: Sequence[Hunk]) -> dict[int, set[int]]:
    """By hunk of ``new``, the indices of the changed lines that ``old`` did not have."""
    left: dict[_Key, list[_Block]] = defaultdict(list)
    for block in _blocks(old):
        left[block.key].append(block)
    unknown = []
    for block in _blocks(new):
        twin = _twin(left[block.key], block)
        if twin is None:
            unknown.append(block)
        else:
            left[block.key].remove(twin)
    rest = [block for blocks in left.values() for block in blocks]
    fresh: dict[int, set[int]] = defaultdict(set)
    for block in unknown:
        fresh[block.hunk].update(block.begin + at for at in _fresh_in(rest, block))
    return fresh


def _blocks(hunks: Sequence[Hunk]) -> Iterator[_Block]:
    for number, hunk in enumerate(hunks):
        lines = hunk.lines
        at = 0
        while at < len(lines):
            if lines[at].kind is LineKind.CONTEXT:
                at += 1
                continue
            begin = at
            while at < len(lines) and lines[at].kind is not LineKind.CONTEXT:
                at += 1
            key = tuple((line.kind, line.text) for line in lines[begin:at])
            around = _telling_lines(lines[max(begin - _CONTEXT, 0) : begin])
            around |= _telling_lines(lines[at : at + _CONTEXT])
            yield _Block(number, begin, at, key, around)


def _telling_lines(lines: Iterable[Line]) -> frozenset[str]:
    """Context that says where it stands: not blank, not a lone bracket."""
    return frozenset(
        line.text.strip()
        for line in lines
        if line.kind is LineKind.CONTEXT and any(ch.isalnum() for ch in line.text)
    )


def _twin(candidates: Sequence[_Block], block: _Block) -> _Block | None:
    """The same block in the previous patch.

    A short block (a lone bracket, ``return None``) may stand in many places, so some of its
    context must be the same too; context that drifts on one side only does no harm.
    """
    for other in candidates:
        if block.around & other.around or not (block.around or other.around):
            return other
    return candidates[0] if candidates and block.telling else None


def _fresh_in(rest: Sequence[_Block], block: _Block) -> Iterable[int]:
    """The indices within an unmatched block of the lines that are new."""
    size = len(block.key)
    if size <= _SMALL:
        return range(size)
    lines = Counter(block.key)
    shared = [(lines & Counter(other.key)).total() for other in rest]
    best = max(range(len(rest)), key=shared.__getitem__, default=None)
    if best is None or 2 * shared[best] < min(size, len(rest[best].key)):
        return range(size)
    return _inserted(rest[best].key, block.key)


def _inserted(old: _Key, new: _Key) -> set[int]:
    """The indices of ``new`` that a longest common subsequence with ``old`` leaves over.

    Where lines of ``old`` are gone with nothing in their place, the neighbours of the gap count
    too, since what they mean may have changed. Blank lines alone are no common ground.
    """
    fresh: set[int] = set()
    codes = list(LCSseq.opcodes(old, new))
    for at, code in enumerate(codes):
        begin, end = code.dest_start, code.dest_end
        if code.tag == "equal":
            if not _any_text(new[begin:end]):
                fresh.update(range(begin, end))
        elif code.tag == "delete":
            around = codes[max(at - 1, 0) : at] + codes[at + 1 : at + 2]
            gone = old[code.src_start : code.src_end]
            if all(near.tag == "equal" for near in around) and _any_text(gone):
                fresh.update(edge for edge in (begin - 1, begin) if 0 <= edge < len(new))
        else:
            fresh.update(range(begin, end))
    return fresh


def _any_text(lines: _Key) -> bool:
    return any(text.strip() for _, text in lines)


def _cut(hunk: Hunk, fresh: set[int]) -> Iterator[Hunk]:
    """The parts of a hunk that hold fresh lines, each with up to three lines of context."""
    lines = hunk.lines
    changed = {at for at, line in enumerate(lines) if line.kind is not LineKind.CONTEXT}
    if fresh >= changed:
        yield hunk
        return
    wanted: set[int] = set(fresh)
    for at in fresh:
        for step in (-1, 1):
            near = at + step
            while (
                0 <= near < len(lines)
                and abs(near - at) <= _CONTEXT
                and lines[near].kind is LineKind.CONTEXT
            ):
                wanted.add(near)
                near += step
    begin: int | None = None
    for at in range(len(lines) + 1):
        if at in wanted:
            begin = at if begin is None else begin
        elif begin is not None:
            yield _slice(hunk, begin, at)
            begin = None


def _slice(hunk: Hunk, begin: int, end: int) -> Hunk:
    """Lines ``begin`` to ``end`` (exclusive) of a hunk as a hunk of their own."""
    # the next line's number on each side; a side with no lines starts at the line before the gap
    old = hunk.old_start if hunk.old_count else hunk.old_start + 1
    new = hunk.new_start if hunk.new_count else hunk.new_start + 1
    old += sum(line.kind is not LineKind.ADDED for line in hunk.lines[:begin])
    new += sum(line.kind is not LineKind.DELETED for line in hunk.lines[:begin])
    lines = hunk.lines[begin:end]
    old_count = sum(line.kind is not LineKind.ADDED for line in lines)
    new_count = sum(line.kind is not LineKind.DELETED for line in lines)
    return Hunk(
        old_start=old if old_count else old - 1,
        old_count=old_count,
        new_start=new if new_count else new - 1,
        new_count=new_count,
        lines=lines,
        section=hunk.section,
    )
