"""Keeping the lines that each comment is about, so that they can be found again in later heads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import sqlalchemy as sa
from sqlalchemy.orm import Session

from bot.feedback.region import Anchor
from bot.feedback.tables import AnchorRow
from bot.review.types import Sources
from bot.store.tables import CommentRow
from models.change import Side

Texts = Mapping[tuple[str, str], bytes | None]
"""Files by path and side."""


def read_texts(places: Iterable[tuple[str, str]], sources: Sources) -> Texts:
    """The files that comments stand on; ``None`` for what cannot be read."""
    return {
        (path, side): sources.base(path) if side == Side.LEFT.value else sources.head(path)
        for path, side in dict.fromkeys(places)
    }


def keep_anchors(
    session: Session,
    comments: Sequence[CommentRow],
    suggestions: Mapping[str, str | None],
    texts: Texts,
) -> None:
    """Keep the file under every comment.

    Args:
        session: the transaction that writes the comments.
        comments: their rows, with numbers.
        suggestions: what each proposes, by fingerprint; ``None`` for prose.
        texts: the files. A comment whose file is not among them has no anchor: nothing is ever
            said of its lines.
    """
    drop_anchors(session, [one.id for one in comments])
    for comment in comments:
        text = texts.get((comment.path, comment.side))
        row = None if text is None else _row(comment, suggestions.get(comment.fingerprint), text)
        if row is not None:
            session.add(row)


def _row(comment: CommentRow, suggestion: str | None, text: bytes) -> AnchorRow | None:
    row = AnchorRow(
        comment_id=comment.id,
        path=comment.path,
        side=comment.side,
        start_line=comment.start_line or comment.line,
        line=comment.line,
        suggestion=None if suggestion is None else suggestion_lines(suggestion),
        text=text,
    )
    try:
        anchor_of(row)
    except ValueError:
        return None
    return row


def suggestion_lines(text: str) -> list[str]:
    """A suggestion's text as lines; the empty text deletes the lines it stands for."""
    return text.split("\n") if text else []


def anchor_of(row: AnchorRow) -> Anchor:
    """The anchor that a row keeps; raises ``ValueError`` where its lines are not in its text."""
    return Anchor(
        path=row.path,
        text=row.text,
        start_line=row.start_line,
        line=row.line,
        suggestion=None if row.suggestion is None else tuple(str(one) for one in row.suggestion),
        side=Side(row.side),
    )


def drop_anchors(session: Session, comment_ids: Iterable[int]) -> None:
    """Forget the files under comments whose state is final."""
    session.execute(sa.delete(AnchorRow).where(AnchorRow.comment_id.in_(list(comment_ids))))
