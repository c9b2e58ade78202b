"""A review as one Markdown page: the summary, the remarks, and (explained) every candidate."""

from __future__ import annotations

from bot.github.text import code_span, one_line, quiet
from bot.review.claims import origin_in_words
from bot.review.nearest import none_near
from bot.review.render import whole
from bot.review.types import ReviewResult
from models.review_types import PseudoReference


def to_markdown(result: ReviewResult, *, explain: bool = False) -> str:
    """The review as Markdown with a final line feed."""
    parts = [f"# Review of {quiet(result.change.repo or 'a change')}", result.review.summary]
    for comment in result.review.comments:
        lines = (
            f"{comment.line}"
            if comment.start_line is None
            else (f"{comment.start_line}-{comment.line}")
        )
        parts.append(f"## {code_span(f'{comment.path}:{lines}')}\n\n{comment.body}")
    if explain:
        rows = [
            "| # | where | what | origin | nearest | con | comp | rel | confidence | verdict |",
            "|---|---|---|---|---|---|---|---|---|---|",
        ]
        for judged in result.candidates:
            candidate, score = judged.candidate, judged.score
            cells = (
                str(judged.rank),
                code_span(f"{candidate.path}:{candidate.line}"),
                quiet(one_line(candidate.text, 120)),
                code_span(candidate.origin),
                none_near(candidate.kind) if score.nearest is None else _nearest(score.nearest),
                f"{score.con:.2f}",
                f"{score.comp:.2f}",
                f"{score.rel:.2f}",
                f"{candidate.confidence:.2f}",
                f"{judged.verdict.reason.value}: {judged.verdict.detail}".rstrip(": "),
            )
            rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        parts.append("## Every candidate\n\n" + "\n".join(rows))
    return whole("\n\n".join(parts) + "\n")


def _nearest(reference: PseudoReference) -> str:
    """A claim or smell, and who says it."""
    return quiet(one_line(f"{reference.text} ({origin_in_words(reference.origin)})", 160))
