"""``marginalia simulate``: everything but the POST, and what the POST would be."""

from __future__ import annotations

import json
import sys
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from bot.jobs.forge import DraftComment
    from bot.service.simulation import Simulated


def simulate(
    url: Annotated[
        str, typer.Argument(metavar="PR_URL", help="https://github.com/OWNER/NAME/pull/NUMBER")
    ],
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object; the request as it would be sent.")
    ] = False,
    full: Annotated[
        bool, typer.Option("--full", help="As after a person's /marginalia full review.")
    ] = False,
    data_dir: Annotated[
        Path | None, typer.Option("--data-dir", help="Folder of the service's ledger.")
    ] = None,
) -> None:
    """Show what would be posted on a pull request now, or why nothing would be.

    Credentials and settings are those of serve. GitHub and the ledger are only read. Exit codes:
    0 shown (also that nothing would be posted), 2 wrong input, or GitHub did not answer.
    """
    from bot.review.local import with_progress
    from bot.review.remote import find_pull, github_errors, pull_url, reading_identity
    from bot.service.prepare import read_settings
    from bot.service.simulation import Simulation
    from bot.store.lookup import existing_ledger
    from bot.wiring import load_reviewer

    settings = read_settings(log_json=False, data_dir=data_dir)
    where = pull_url(url, settings)
    with existing_ledger(settings) as ledger, github_errors(where), with_progress() as progress:
        identity = reading_identity(settings)
        simulation = Simulation(
            settings, identity, ledger, lambda: load_reviewer(settings, ledger), full
        )
        done = simulation.run(find_pull(identity, where), progress)
    shown = _json(done) if as_json else shown_text(done, with_ledger=ledger is not None)
    sys.stdout.write(f"{shown}\n")


def _json(done: Simulated) -> str:
    from bot.github import requests as rq
    from bot.store.text import clean_value

    request: dict[str, Any] | None = None
    if done.draft is not None:
        made = rq.create_review(
            done.ref.repository,
            done.ref.number,
            done.state.head,
            done.draft.body,
            done.draft.comments,
        )
        request = {"method": made.method, "path": made.path, "body": made.body}
    document = {
        "repository": done.ref.repository,
        "pull": done.ref.number,
        "head": done.state.head,
        "merge_base": done.state.merge_base,
        "posted": done.posted,
        "reason": done.reason,
        "request": request,
        "told": list(done.told),
        "notes": list(done.notes),
    }
    return json.dumps(clean_value(document), indent=2, ensure_ascii=False)


def shown_text(done: Simulated, with_ledger: bool) -> str:
    """A simulation for a person: the draft word for word, or why nothing would be posted."""
    ref, state = done.ref, done.state
    rows = [f"{ref.repository}#{ref.number} at {state.head} (merge base {state.merge_base})"]
    if not with_ledger:
        rows.append("There is no ledger here: this is the pull request's first review.")
    if done.told:
        rows += ["", "Told in the conversation, once: the configuration cannot be used."]
        rows += [f"  {line}" for line in done.told]
    rows.append("")
    if done.reason:
        rows.append(f"Nothing would be posted: {done.reason}.")
    if done.draft is not None:
        count = len(done.draft.comments)
        if done.reason:
            rows.append("Without that, it would be this.")
        rows += [
            f"One review, submitted as COMMENT, with {count} comment{'' if count == 1 else 's'}:",
            "",
            "=== the review's text",
            done.draft.body,
        ]
        for number, comment in enumerate(done.draft.comments, 1):
            rows += ["", f"=== comment {number} of {count}: {_place(comment)}", comment.body]
    if done.notes:
        rows += ["", "=== how the change was read", *(f"- {note}" for note in done.notes)]
    return printable("\n".join(rows))


def _place(comment: DraftComment) -> str:
    first = comment.start_line
    lines = (
        f"line {comment.line}"
        if first is None or first == comment.line
        else f"lines {first} to {comment.line}"
    )
    return f"{comment.path}, {comment.side.value}, {lines}"


def printable(text: str) -> str:
    """``text`` without control characters but line ends and tabs.

    Nothing that a pull request says may steer the reader's terminal; all else stays as posted.
    """
    return "".join(
        "\N{REPLACEMENT CHARACTER}"
        if unicodedata.category(c) in ("Cc", "Cs") and c not in "\n\t"
        else c
        for c in text
    )
