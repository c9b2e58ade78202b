"""What a judge reads of a change: its added, deleted and unchanged lines and their words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from models.change import Hunk, LineKind
from models.crscore.subjects import Shown, shown_subjects
from models.crscore.words import identifiers, sub_words
from models.hunk_text import parse_hunks

MAX_LINES = 48
"""Lines of each kind that are read; a longer change is judged by its first ones."""
_MAX_CHARACTERS = 240


@dataclass(frozen=True, slots=True)
class ChangeText:
    """Stripped non-empty lines of a change by kind, and their words.

    ``fresh`` are sub-words that only the added lines have, ``gone`` those that only the deleted
    lines have, ``kept`` those of unchanged lines; ``names`` are whole identifiers of changed
    lines, ``all_names`` of all lines. ``subjects``: see ``models.crscore.subjects``.
    """

    added: tuple[str, ...]
    deleted: tuple[str, ...]
    context: tuple[str, ...]
    fresh: frozenset[str]
    gone: frozenset[str]
    changed: frozenset[str]
    kept: frozenset[str]
    names: frozenset[str]
    all_names: frozenset[str]
    subjects: Shown

    @property
    def block(self) -> str:
        """The changed lines as one text."""
        return "\n".join((*self.added, *self.deleted))


def read_change(diff: str | Sequence[Hunk]) -> ChangeText:
    """The change of a diff's text or of hunks that are already read."""
    hunks = parse_hunks(diff) if isinstance(diff, str) else diff
    lines: dict[LineKind, list[str]] = {kind: [] for kind in LineKind}
    whole: dict[LineKind, list[str]] = {kind: [] for kind in LineKind}
    for hunk in hunks:
        if hunk.section.strip():
            lines[LineKind.CONTEXT].append(hunk.section.strip()[:_MAX_CHARACTERS])
        for line in hunk.lines:
            whole[line.kind].append(line.text[:_MAX_CHARACTERS])
            text = line.text.strip()
            if any(character.isalnum() for character in text):
                lines[line.kind].append(text[:_MAX_CHARACTERS])
    added, deleted, context = (
        tuple(dict.fromkeys(lines[kind]))[:MAX_LINES]
        for kind in (LineKind.ADDED, LineKind.DELETED, LineKind.CONTEXT)
    )
    plus, minus, kept = (_words(part) for part in (added, deleted, context))
    names = frozenset(_names((*added, *deleted)))
    return ChangeText(
        added=added,
        deleted=deleted,
        context=context,
        fresh=plus - minus,
        gone=minus - plus,
        changed=plus | minus,
        kept=kept,
        names=names,
        all_names=names | _names(context),
        subjects=shown_subjects(
            *(
                whole[kind][: 2 * MAX_LINES]
                for kind in (LineKind.ADDED, LineKind.DELETED, LineKind.CONTEXT)
            )
        ),
    )


def _words(lines: Iterable[str]) -> frozenset[str]:
    return frozenset(word for line in lines for word in sub_words(line))


def _names(lines: Iterable[str]) -> frozenset[str]:
    return frozenset(name for line in lines for name in identifiers(line))
