"""A review on a terminal: coloured with the code around each remark; plain where it is piped."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from bot.review.claims import origin_in_words
from bot.review.nearest import none_near
from bot.review.render import MAX_PLACES, also_said, held_back
from bot.review.types import JudgedCandidate, ReviewComment, ReviewResult
from models.change import ChangedFile, Coverage, LineKind, Side
from models.review_types import CandidateKind, PseudoReference, Severity

AROUND = 2
WIDEST = 200
"""Characters of a line of code that are shown; minified code and tables go on for thousands."""
_COLOUR = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}


def clean(text: str) -> str:
    """Text without control characters: a reviewed file must not steer the reader's terminal."""
    return "".join(c if c.isprintable() or c == "\t" else "\N{REPLACEMENT CHARACTER}" for c in text)


def code_line(text: str) -> str:
    """A line of code as shown: clean, without its carriage return or a byte order mark, clipped."""
    shown = clean(text.removeprefix("\ufeff").removesuffix("\r"))
    return shown if len(shown) <= WIDEST else f"{shown[: WIDEST - 1]}\N{HORIZONTAL ELLIPSIS}"


def to_terminal(result: ReviewResult, console: Console, *, explain: bool = False) -> None:
    """Print the review."""
    for comment in result.review.comments:
        _comment(result, comment, console)
    _coverage(result, console)
    if explain:
        _explain(result, console)
    for note in result.notes:
        console.print(f"note: {escape(clean(note))}", style="dim", highlight=False)
    _closing(result, console)


def _comment(result: ReviewResult, comment: ReviewComment, console: Console) -> None:
    judged = comment.source
    candidate = judged.candidate
    file = result.change.file(comment.path)
    start = comment.start_line or comment.line
    where = f"{start}" if start == comment.line else f"{start}-{comment.line}"
    head = Text(f"{clean(comment.path)}:{where}", style="bold")
    head.append(f"  {candidate.kind.value}", style=_COLOUR[candidate.severity])
    head.append(f"  {candidate.origin}", style="dim")
    console.print(head, soft_wrap=True)
    for paragraph in candidate.text.split("\n"):
        console.print(Text("  " + clean(paragraph)), soft_wrap=True)
    if file is not None:
        _code(file, comment.side, start, comment.line, console)
    if comment.suggestion is not None:
        for line in comment.suggestion.split("\n"):
            console.print(Text(f"        > {code_line(line)}", style="green"), soft_wrap=True)
    console.print(Text("  " + _grounds(judged), style="dim"), soft_wrap=True)
    console.print()


def _code(file: ChangedFile, side: Side, start: int, end: int, console: Console) -> None:
    for hunk in file.hunks:
        for line in hunk.lines:
            number = line.old_no if side is Side.LEFT else line.new_no
            if number is None or not start - AROUND <= number <= end + AROUND:
                continue
            sign = {LineKind.ADDED: "+", LineKind.DELETED: "-", LineKind.CONTEXT: " "}[line.kind]
            inside = start <= number <= end
            style = "bold" if inside else "dim"
            text = f"  {number:>5} {sign} {code_line(line.text)}"
            console.print(Text(text, style=style), soft_wrap=True)


def _grounds(judged: JudgedCandidate) -> str:
    score, candidate = judged.score, judged.candidate
    parts = [f"con {score.con:.2f}, comp {score.comp:.2f}, rel {score.rel:.2f}"]
    if score.judge is not None:
        parts.append(f"judge {score.judge:.2f}")
    if candidate.kind is not CandidateKind.FINDING:
        parts.append(f"confidence {candidate.confidence:.2f}")
    if score.nearest is not None:
        parts.append(f"nearest: {_nearest(score.nearest)}")
    return " · ".join(parts)


def _nearest(reference: PseudoReference) -> str:
    """A claim or smell, and who says it."""
    return f"{clean(reference.text)[:120]} ({clean(origin_in_words(reference.origin))})"


def _coverage(result: ReviewResult, console: Console) -> None:
    table = Table(title="What was read", title_justify="left", box=None, pad_edge=False)
    table.add_column("file", overflow="fold")
    table.add_column("status", no_wrap=True)
    table.add_column("note", overflow="fold")
    for file in result.coverage:
        style = "" if file.status is Coverage.REVIEWED else "yellow"
        table.add_row(
            escape(clean(file.path)),
            f"[{style}]{file.status.value}[/]" if style else file.status.value,
            escape(clean(file.note)),
        )
    console.print(table)
    console.print()


def _explain(result: ReviewResult, console: Console) -> None:
    console.print(Text("Every candidate, best first", style="bold"))
    for judged in result.candidates:
        candidate, score = judged.candidate, judged.score
        console.print(
            Text(
                f"{judged.rank:>3}. {clean(candidate.path)}:{candidate.line} "
                f"{candidate.kind.value} {candidate.origin}  "
                f"[{judged.verdict.reason.value}] {judged.verdict.detail}",
                style="green" if judged.verdict.posted else "",
            ),
            soft_wrap=True,
        )
        console.print(Text(f"     {clean(candidate.text)[:300]}"), soft_wrap=True)
        if candidate.replacement is not None:
            for line in candidate.replacement.lines[:12]:
                console.print(Text(f"     > {code_line(line)}"), soft_wrap=True)
        near = none_near(candidate.kind)
        if score.nearest is not None:
            near = f"nearest ({score.similarity:.2f}): {_nearest(score.nearest)}"
        console.print(
            Text(
                f"     con {score.con:.2f}, comp {score.comp:.2f}, rel {score.rel:.2f}"
                + (f", judge {score.judge:.2f}" if score.judge is not None else "")
                + f", confidence {candidate.confidence:.3f}; {near}",
                style="dim",
            ),
            soft_wrap=True,
        )
    console.print()


def _closing(result: ReviewResult, console: Console) -> None:
    for rule, places in also_said(result.candidates).items():
        named = ", ".join(map(clean, places[:MAX_PLACES]))
        left = len(places) - MAX_PLACES
        more = f" and {left} more" if left > 0 else ""
        console.print(Text(f"{clean(rule)} speaks here too: {named}{more}"), soft_wrap=True)
    posted = len(result.review.comments)
    held = len(held_back(result.candidates))
    graded = sum(c.candidate.kind is not CandidateKind.FINDING for c in result.candidates)
    seconds = sum(result.timings.values())
    console.print(
        Text(
            f"{posted} of {posted + held} remarks shown, {held} held back "
            f"({graded} candidates were written by a model or a fixer); {seconds:.1f} s"
        ),
        soft_wrap=True,
    )
    console.print(Text(result.review.signature, style="dim"), soft_wrap=True)
