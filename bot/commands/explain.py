"""``marginalia explain``: what the ledger knows of a posted remark, or of all of a review's."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bot.errors import FatalError

if TYPE_CHECKING:
    from bot.settings import Settings
    from bot.store.ledger import Ledger
    from bot.store.reviews import Explanation
    from bot.store.tables import CandidateRow, ReviewRow

MOST_REFERENCES = 60
"""So many claims and smells are printed for a person; ``--json`` has them all."""
_ROW_NUMBERS = frozenset({"id", "review_id", "candidate_id"})


def explain(
    what: Annotated[
        str,
        typer.Argument(
            metavar="URL|FINGERPRINT",
            help="A review's or comment's address (a pull request's: its last review), or the "
            "fingerprint in a comment's last line.",
        ),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
    data_dir: Annotated[
        Path | None, typer.Option("--data-dir", help="Folder of the service's ledger.")
    ] = None,
) -> None:
    """Say how a remark was scored and why it was posted, or all candidates of a review.

    Only the ledger is read. Exit codes: 0 explained, 2 wrong input or not in the ledger.
    """
    from bot.commands.simulate import printable
    from bot.service.prepare import read_settings
    from bot.store.lookup import existing_ledger
    from bot.store.text import clean_value

    settings = read_settings(log_json=False, data_dir=data_dir)
    with existing_ledger(settings) as ledger:
        if ledger is None:
            raise FatalError(
                f"there is no ledger in {settings.data_dir}: name the service's folder with "
                "--data-dir, or its database with MARGINALIA_DATABASE_URL"
            )
        found = _find(what, settings, ledger)
    if as_json:
        shown = json.dumps(clean_value(_document(found)), indent=2, ensure_ascii=False)
    else:
        shown = printable("\n".join(_words(found)))
    sys.stdout.write(f"{shown}\n")


def _find(what: str, settings: Settings, ledger: Ledger) -> Explanation:
    """What the ledger has of an address or fingerprint; raises ``FatalError`` for nothing."""
    from bot.github.pr_url import UrlKind, looks_like_url
    from bot.review.remote import pull_url
    from bot.store.lookup import explain_github_id, explain_last

    if not looks_like_url(what):
        return _by_fingerprint(what, ledger)
    url = pull_url(what, settings)
    if url.kind is UrlKind.COMMENT:
        found = ledger.reviews.explain_comment(url.id)
    elif url.kind is UrlKind.PULL:
        found = explain_last(ledger, url.repository, url.number)
    else:
        found = explain_github_id(ledger, url.id, single=url.kind is UrlKind.NOTE)
    if found is None:
        thing = "review" if url.kind is UrlKind.PULL else f"{url.kind.value} {url.id}"
        raise FatalError(
            f"{url}: the ledger has no such {thing}: it was not made by this service, or is older "
            f"than MARGINALIA_RETENTION_DAYS ({settings.retention_days})"
        )
    return found


def _by_fingerprint(name: str, ledger: Ledger) -> Explanation:
    from bot.store.lookup import SHORTEST_PREFIX, explain_fingerprint

    found = explain_fingerprint(ledger, name)
    if not isinstance(found, tuple):
        return found
    if found:
        raise FatalError(f'"{name}" begins several fingerprints: {", ".join(found)}')
    raise FatalError(
        f'"{name[:80]}" is no address and no fingerprint in the ledger (its first '
        f"{SHORTEST_PREFIX} digits would do)"
    )


def _document(found: Explanation) -> dict[str, Any]:
    """Everything that is known, as JSON values."""
    from bot.store.tables import CandidateRow, CommentRow, ReviewRow

    review = _columns(found.review, ReviewRow)
    references = review.pop("references")
    one = found.comment is not None or found.candidate is not None
    candidates = [found.candidate] if found.candidate else [] if one else list(found.candidates)
    comments = [found.comment] if found.comment else [] if one else list(found.comments)
    return {
        "review": review,
        "candidates_in_review": len(found.candidates),
        "candidates": [_columns(row, CandidateRow) for row in candidates],
        "comments": [_columns(row, CommentRow) for row in comments],
        "references": references,
    }


def _columns(row: Any, table: type[Any]) -> dict[str, Any]:
    names = [column.key for column in table.__table__.columns]
    return {name: getattr(row, name) for name in names if name not in _ROW_NUMBERS}


def _words(found: Explanation) -> list[str]:
    """The explanation for a person, line by line."""
    review = found.review
    rows = _head(review)
    if found.comment is None and found.candidate is None:
        held = sum(row.reason != "posted" for row in found.candidates)
        rows.append(f"{len(found.candidates)} candidates, {held} of them held back; best first.")
        for row in found.candidates:
            rows += ["", *_candidate(row, found)]
        return [*rows, *_references(review, None)]
    comment = found.comment
    if comment is not None:
        where = "in the review's text" if comment.moved else comment.url or "in the draft"
        place = f"{comment.path}, line {comment.line}"
        rows.append(f"The remark on {place} stands {where} ({comment.state}).")
    if found.candidate is None:
        return [*rows, "", "The scores behind this remark are no longer kept."]
    return [
        *rows, "", *_candidate(found.candidate, found), *_references(review, found.candidate.path)
    ]  # fmt: skip


def _head(review: ReviewRow) -> list[str]:
    what = {
        "submitted": f"posted: {review.url}" if review.url else "posted",
        "pending": "begun on GitHub, not submitted yet",
        "drafted": "drafted, not on GitHub yet",
        "empty": "nothing was posted: there was nothing to say",
        "shadow": "kept and not posted: shadow mode",
    }.get(review.state, review.state)
    rows = [
        f"Review of {review.repository}#{review.pull} at {review.head[:12]} "
        f"(merge base {review.merge_base[:12]}): {what}"
    ]
    rows += [f"note: {note}" for note in review.notes]
    return rows


def _candidate(row: CandidateRow, found: Explanation) -> list[str]:
    """One candidate: what it says, its verdict, and every number in words."""
    lines = f"line {row.line}" if row.start_line == row.line else f"{row.start_line} to {row.line}"
    side = "head" if row.side == "RIGHT" else "base"
    posted = row.reason == "posted"
    why = f"{row.reason}{f' ({row.detail})' if row.detail else ''}"
    rows = [f"{row.rank} of {len(found.candidates)}: {row.path}, {lines} of the {side}"]
    rows += [f"  > {line}" for line in row.text.split("\n")]
    for line in (row.replacement or {}).get("lines", ()):
        rows.append(f"  + {line}")
    judge = (
        "not asked"
        if row.judge is None
        else f"a person would call it relevant with a probability of {row.judge:.2f}"
    )
    rows += [
        f"  made by            {row.origin} ({row.kind}, {row.severity})",
        f"  verdict            {'posted' if posted else f'held back: {why}'}",
        f"  conciseness        {row.con:.2f} of its sentences speak of a claim or smell",
        f"  comprehensiveness  {row.comp:.2f} of the claims and smells are spoken of",
        f"  relevance          {row.rel:.2f}, the harmonic mean of the two",
        f"  closest            {_nearest(row)}",
        f"  judge              {judge}",
        f"  confidence         {row.confidence:.2f}; its least likely word {row.weakest:.2f}",
        f"  fingerprint        {row.fingerprint or 'none'}",
        f"  scored with        {row.signature}",
    ]
    return rows


def _nearest(row: CandidateRow) -> str:
    from bot.review.claims import origin_in_words
    from bot.review.nearest import none_near

    nearest = row.nearest or {}
    if not nearest.get("text"):
        return none_near(row.kind)
    said = " ".join(str(nearest["text"]).split())
    source = origin_in_words(str(nearest.get("origin") or ""))
    who = f" ({source})" if source else ""
    return f"{nearest.get('kind', 'claim')}, cosine {row.similarity:.2f}: {said}{who}"


def _references(review: ReviewRow, path: str | None) -> list[str]:
    """The claims and smells that remarks were held against; of one file where one is asked."""
    wanted = [one for one in review.references if path is None or one.get("path", "") in ("", path)]
    if not wanted:
        return ["", "No claims and no smells are kept for it."]
    of_file = f" of {path}" if path else ""
    rows = ["", f"Claims and smells{of_file} ({len(wanted)}):"]
    for one in wanted[:MOST_REFERENCES]:
        numbers = sorted(int(n) for n in one.get("lines") or ())
        at = "" if not numbers else f":{numbers[0]}" + (f"-{numbers[-1]}" if numbers[1:] else "")
        place = f"{one.get('path', '')}{at}"
        said = " ".join(str(one.get("text", "")).split())
        rows.append(
            f"  {one.get('kind', '')}: {said} [{place or 'the change'}; {one.get('origin', '')}]"
        )
    left = len(wanted) - MOST_REFERENCES
    return [*rows, f"  and {left} more (--json has them)"] if left > 0 else rows
