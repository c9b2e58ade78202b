"""Claims about a hunk that no grammar reads: a plain difference of its lines."""

from __future__ import annotations

import difflib

from models.change import Hunk, Line, LineKind
from models.crscore.claims.wording import Said, quote

_MANY = 8
_MATRIX = 200


def _runs(hunk: Hunk) -> list[tuple[list[Line], list[Line]]]:
    """Runs of deleted and added lines between lines of context."""
    runs: list[tuple[list[Line], list[Line]]] = []
    deleted: list[Line] = []
    added: list[Line] = []
    for line in (*hunk.lines, None):
        if line is None or line.kind is LineKind.CONTEXT:
            if deleted or added:
                runs.append((deleted, added))
                deleted, added = [], []
        elif line.kind is LineKind.DELETED:
            deleted.append(line)
        else:
            added.append(line)
    return runs


def _numbers(*lines: Line) -> tuple[int, ...]:
    return tuple(n for line in lines if (n := line.new_no or line.old_no) is not None)


def claims(hunk: Hunk) -> list[Said]:
    """Say which lines were added, removed and changed, at most a few of each."""
    said: list[Said] = []
    deleted, added = [], []
    for old, new in _runs(hunk):
        olds = [line for line in old if line.text.strip()]
        news = [line for line in new if line.text.strip()]
        same = [line.text.split() for line in olds] == [line.text.split() for line in news]
        if same:
            text = (
                "Only the white space was changed."
                if olds
                else f"Only blank lines were {'added' if new else 'removed'}."
            )
            said.append(Said(text, 20, _numbers(*(new or old))))
            continue
        pairs = min(len(olds), len(news)) if len(olds) + len(news) <= _MATRIX else 0
        used_old: set[int] = set()
        used_new: set[int] = set()
        if pairs:
            for at, was in enumerate(olds):
                for to, now in enumerate(news):
                    if to in used_new or at in used_old or abs(at - to) > 5:
                        continue
                    ratio = difflib.SequenceMatcher(
                        None, was.text[:300], now.text[:300]
                    ).quick_ratio()
                    if was.text.strip() == now.text.strip() or ratio > 0.7:
                        used_old.add(at)
                        used_new.add(to)
                        if was.text.strip() != now.text.strip():
                            said.append(
                                Said(
                                    f"The line {quote(was.text)} was changed to {quote(now.text)}.",
                                    60,
                                    _numbers(now),
                                )
                            )
        deleted += [line for at, line in enumerate(olds) if at not in used_old]
        added += [line for at, line in enumerate(news) if at not in used_new]
    for word, group, weight in (("added", added, 55.0), ("removed", deleted, 50.0)):
        if len(group) > 1:
            said.append(Said(f"{len(group)} lines were {word}.", weight - 20, _numbers(*group)))
        said += [
            Said(f"The line {quote(line.text, 120)} was {word}.", weight, _numbers(line))
            for line in group[:_MANY]
        ]
    return said
