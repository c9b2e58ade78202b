"""A review's text in the length that the configuration asks for."""

from __future__ import annotations

from collections import Counter

from bot.github.text import code_span, one_line, quiet
from bot.review.render import held_back
from bot.review.types import ReviewResult

MOST_ROWS = 100


def fit_summary(result: ReviewResult, length: str) -> str:
    """The summary: ``short`` is its first and its last paragraph (what was read, the signature),
    ``long`` has a table of every file and of what was held back, folded; else as it is."""
    text = result.review.summary
    if length == "short":
        parts = text.split("\n\n")
        return text if len(parts) < 3 else f"{parts[0]}\n\n{parts[-1]}"
    if length == "long":
        return f"{text}\n\n{_details(result)}"
    return text


def _details(result: ReviewResult) -> str:
    rows = [
        f"| {_cell(code_span(file.path))} | {file.status.value} | {_cell(quiet(file.note))} |"
        for file in result.coverage[:MOST_ROWS]
    ]
    left = len(result.coverage) - len(rows)
    if left > 0:
        rows.append(f"| and {left} more | | |")
    held = Counter(one.verdict.reason.value for one in held_back(result.candidates))
    seconds = sum(result.timings.values())
    lines = [
        "<details>",
        f"<summary>All {len(result.coverage)} files, and what was held back</summary>",
        "",
        "| file | read | note |",
        "| --- | --- | --- |",
        *rows,
        "",
        "| held back because | remarks |",
        "| --- | --- |",
        *(f"| {reason} | {count} |" for reason, count in held.most_common()),
        "",
        f"{len(result.candidates)} candidates in {seconds:.1f} s.",
        "",
        "</details>",
    ]
    return "\n".join(lines)


def _cell(text: str) -> str:
    return one_line(text, 300).replace("|", "\\|")
