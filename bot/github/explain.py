"""The numbers behind a posted remark, as a Markdown table for its thread."""

from __future__ import annotations

from bot.github.text import code_span, one_line, quiet
from bot.review.claims import origin_in_words
from bot.store.reviews import Explanation


def explain_text(found: Explanation) -> str:
    """What made a remark, how it was scored and how it ranked among the review's candidates."""
    candidate = found.candidate
    if candidate is None:
        return "The scores behind this remark are no longer kept."
    nearest = candidate.nearest or {}
    judge = "not asked" if candidate.judge is None else f"{candidate.judge:.2f}"
    rows = [
        ("made by", code_span(candidate.origin)),
        ("conciseness, comprehensiveness, relevance",
         f"{candidate.con:.2f}, {candidate.comp:.2f}, {candidate.rel:.2f}"),
        ("judge: a person would find it relevant", judge),
        ("confidence", f"{candidate.confidence:.2f} (weakest word {candidate.weakest:.2f})"),
        ("rank", f"{candidate.rank} of {len(found.candidates)}"),
        ("verdict", f"{candidate.reason}{f': {candidate.detail}' if candidate.detail else ''}"),
        ("scored with", code_span(candidate.signature)),
    ]  # fmt: skip
    if nearest.get("text"):
        said = quiet(one_line(str(nearest["text"]), 300))
        source = quiet(one_line(origin_in_words(str(nearest.get("origin") or "")), 100))
        near = f"{said} ({candidate.similarity:.2f}{f'; {source}' if source else ''})"
        rows.insert(3, ("closest claim or smell", near))
    held = sum(row.reason != "posted" for row in found.candidates)
    lines = ["| | |", "| --- | --- |"]
    lines += [f"| {name} | {_cell(value)} |" for name, value in rows]
    lines += ["", f"{held} of {len(found.candidates)} candidates of this review were held back."]
    return "\n".join(lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
