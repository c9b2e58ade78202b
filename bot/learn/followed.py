"""Whether the lines of a past remark were changed after it, read from the blobs.

As for our own comments (``bot.feedback.watcher``): the commented lines as the comment found them
are looked for in the head that was merged (``bot.feedback.region``). One object a pull request: it
asks once for what was changed since a commit on which there are remarks, and reads no file that
was not among it.
"""

from __future__ import annotations

from typing import Any

from bot.feedback.region import Anchor, Fate, follow
from bot.feedback.watcher import MOST_FILES, Compared, Heads
from bot.jobs.forge import PullRef
from models.change import Side


class Aftermath:
    """What became of the remarks on one pull request.

    Args:
        heads: reads files at commits.
        ref: names the repository.
        merged: the head that was merged.
    """

    def __init__(self, heads: Heads, ref: PullRef, merged: str) -> None:
        self._heads = heads
        self._ref = ref
        self._merged = merged
        self._texts: dict[tuple[str, str], bytes | None] = {}
        self._compared: dict[str, Compared | None] = {}

    def of(self, row: dict[str, Any], line: int) -> bool | None:
        """Whether the lines were changed; ``None`` where that cannot be told.

        Args:
            row: a review comment as GitHub tells it.
            line: its line, at the commit on which it was made.
        """
        if row.get("side") == "LEFT":
            return None
        made_on = str(row.get("original_commit_id") or "")
        if not made_on:
            return None
        if made_on == self._merged:
            return False
        path = str(row["path"])
        compared = self._since(made_on)
        if compared is None:
            return None
        straight = compared.merge_base == made_on and compared.whole
        if straight and path not in compared.paths and path not in compared.gone:
            return False
        text = self._text(path, made_on)
        if text is None:
            return None
        try:
            anchor = Anchor(path, text, _first(row, line), line, None, Side.RIGHT)
        except ValueError:
            return None
        head = self._text(path, self._merged)
        if head is not None:
            return follow(anchor, head).fate is not Fate.UNCHANGED
        return self._elsewhere(anchor, made_on, compared)

    def _since(self, made_on: str) -> Compared | None:
        """What was changed after a commit; ``None`` where it or the merged head is gone."""
        if made_on not in self._compared:
            self._compared[made_on] = self._heads.compared(self._ref, made_on, self._merged)
        return self._compared[made_on]

    def _elsewhere(self, anchor: Anchor, made_on: str, compared: Compared) -> bool:
        """The file is not there any more: deleted, or under a new name."""
        others = [path for path in compared.paths if path != anchor.path][:MOST_FILES]
        now = {path: self._text(path, self._merged) for path in others}
        before = {path: self._text(path, made_on) for path in others}
        fate = follow(
            anchor,
            None,
            {path: text for path, text in now.items() if text is not None},
            {path: text for path, text in before.items() if text is not None},
        ).fate
        return fate is not Fate.UNCHANGED

    def _text(self, path: str, commit: str) -> bytes | None:
        if (path, commit) not in self._texts:
            self._texts[path, commit] = self._heads.text(self._ref, path, commit)
        return self._texts[path, commit]


def _first(row: dict[str, Any], line: int) -> int:
    """The first line of a remark; one that began on the other side is about its last line."""
    start, side = row.get("original_start_line"), row.get("start_side")
    return int(start) if start and side in (None, "RIGHT") else line
