"""``marginalia review``: the road from the command line."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from bot.review.types import Progress, ReviewResult, Sources
    from models.change import Change

FormatName = Literal["sarif", "rdjson", "rdjsonl", "github", "junit"]
LevelName = Literal["info", "warning", "error"]


def review(
    range_text: Annotated[
        str | None,
        typer.Argument(
            metavar="[RANGE]",
            help="A..B, A...B or a commit (to HEAD). Default: what is new on this branch.",
        ),
    ] = None,
    repo: Annotated[Path, typer.Option(help="The git repository.")] = Path(),
    diff: Annotated[
        str | None, typer.Option(help="Review a unified diff file instead; - is standard input.")
    ] = None,
    pull: Annotated[
        str | None,
        typer.Option("--pr", metavar="URL", help="Review a pull request; nothing is written."),
    ] = None,
    staged: Annotated[
        bool, typer.Option("--staged", help="Review what is staged (a pre-commit hook).")
    ] = False,
    pushed: Annotated[
        bool, typer.Option("--pushed", help="Review what is pushed (pre-commit's pre-push stage).")
    ] = False,
    whole: Annotated[
        bool,
        typer.Option("--all", help="Review all files of a commit (default HEAD), as if new."),
    ] = False,
    all_limit: Annotated[
        int, typer.Option(min=1, help="With --all: at most so many files, and 100 lines for each.")
    ] = 200,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
    form: Annotated[
        FormatName | None, typer.Option("--format", help="Print for another program.")
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="List every candidate with scores and verdict.")
    ] = False,
    fail_on: Annotated[
        LevelName | None,
        typer.Option(help="Exit with 1 where a comment is at least this severe."),
    ] = None,
    max_comments: Annotated[int, typer.Option(min=0, help="At most so many comments.")] = 10,
    sure: Annotated[
        float,
        typer.Option(min=0, max=1, help="How sure to be; at 0 only the safety gate stands."),
    ] = 0.5,
    no_model: Annotated[bool, typer.Option("--no-model", help="Analyzers only.")] = False,
    model: Annotated[
        str | None, typer.Option(help="Folder or Hub id of a model; default: the shipped one.")
    ] = None,
    rules: Annotated[
        Path | None,
        typer.Option(envvar="MARGINALIA_RULES", help="Folder of own ast-grep rules."),
    ] = None,
    enable: Annotated[
        list[str] | None,
        typer.Option(metavar="RULE", help="A rule that is off by default, as analyzer:rule."),
    ] = None,
    claims: Annotated[
        str,
        typer.Option(
            envvar="MARGINALIA_CLAIMS",
            help="What remarks are graded by: syntax (claims read off the change), model, "
            "generator (a small trained one), or some joined by +.",
        ),
    ] = "syntax",
    claims_model: Annotated[
        str,
        typer.Option(
            envvar="MARGINALIA_CLAIMS_MODEL",
            help="A causal model's folder or Hub id; with an endpoint, its name there.",
        ),
    ] = "",
    claims_endpoint: Annotated[
        str,
        typer.Option(
            envvar="MARGINALIA_CLAIMS_ENDPOINT",
            help="http://HOST:PORT/v1 of a chat server on this machine or network.",
        ),
    ] = "",
    claims_generator: Annotated[
        str,
        typer.Option(
            envvar="MARGINALIA_CLAIMS_GENERATOR",
            help="Folder or Hub id of a checkpoint trained with --mixture claims.",
        ),
    ] = "",
    claims_cache: Annotated[
        Path | None,
        typer.Option(
            envvar="MARGINALIA_CLAIMS_CACHE",
            help="Folder that keeps a model's claims, by content.",
        ),
    ] = None,
    claims_wait: Annotated[
        float,
        typer.Option(
            envvar="MARGINALIA_CLAIMS_WAIT",
            min=0,
            help="Seconds to wait for claims that models write.",
        ),
    ] = 120.0,
) -> None:
    """Review a change and print what passes the gate.

    Exit codes: 0 reviewed (whatever was found), 1 a printed comment is as severe as --fail-on
    says, 2 wrong input.
    """
    from bot.errors import FatalError
    from bot.review.claims import KEY_NAME, ClaimChoice
    from bot.review.local import load_pipeline, with_progress
    from bot.review.types import ReviewOptions

    choice = ClaimChoice(
        claims,
        claims_model,
        claims_endpoint,
        claims_generator,
        claims_cache,
        os.environ.get(KEY_NAME, ""),
        claims_wait,
    )
    problem = choice.problem(lambda name: f"--{name.replace('_', '-')}")
    if problem:
        raise FatalError(problem)
    _check_rules(enable or ())
    if claims_cache is not None and claims_cache.exists() and not claims_cache.is_dir():
        raise FatalError(f"--claims-cache {claims_cache}: no folder: name one")
    _only_one({"--json": as_json, "--markdown": markdown, "--format": form is not None})
    sources_named = {
        "--pr": pull is not None,
        "--diff": diff is not None,
        "--staged": staged,
        "--pushed": pushed,
    }
    _only_one({**sources_named, "--all": whole})
    if range_text is not None and any(sources_named.values()):
        given = next(name for name, is_given in sources_named.items() if is_given)
        raise FatalError(f"{given} and a range exclude each other: give one of them")
    if explain and form is not None:
        raise FatalError("--explain goes with the terminal, --json and --markdown: drop --format")
    options = ReviewOptions(
        sure=sure,
        max_comments=max_comments,
        use_model=not no_model,
        enabled_rules=frozenset(enable or ()),
    )
    with with_progress() as progress:
        if staged or pushed or whole:
            reading = _read_repository(repo, range_text, staged, whole, all_limit, progress)
        elif pull is not None:
            from bot.review.remote import change_of_pull
            from bot.service.prepare import read_settings
            from bot.settings import SettingsFromOutside

            # the current folder may be a hostile checkout: its settings do not count
            reading = change_of_pull(pull, read_settings(SettingsFromOutside))
        else:
            from bot.review.local import read_change

            reading = read_change(repo, range_text, diff)
        with reading as (change, sources):
            if not change.files:
                sys.stderr.write("marginalia: nothing changed in this range\n")
            progress("loading", 0, 1)
            pipeline = load_pipeline(
                model=model, use_model=not no_model, rules=rules, claims=choice
            )
            result = pipeline.review(change, sources, options, progress)
    _print(result, "json" if as_json else "markdown" if markdown else form, explain)
    if fail_on is not None:
        from bot.review.formats import reaches
        from models.review_types import Severity

        if reaches(result, Severity(fail_on)):
            raise typer.Exit(1)


def _check_rules(enable: Sequence[str]) -> None:
    """Refuse a rule that nothing would turn on: it is on already, or there is no such rule."""
    if not enable:
        return
    import difflib

    from bot.errors import FatalError
    from models.analyzers.rule_table import off_by_default

    known = off_by_default()
    for rule in enable:
        if rule in known:
            continue
        near = difflib.get_close_matches(rule, sorted(known), n=1, cutoff=0.6)
        hint = f"did you mean {near[0]}?" if near else "write analyzer:rule, as ruff:T201"
        raise FatalError(f"--enable {rule}: no rule that is off by default; {hint}")


def _only_one(given: dict[str, bool]) -> None:
    from bot.errors import FatalError

    named = [name for name, is_given in given.items() if is_given]
    if len(named) > 1:
        raise FatalError(f"{' and '.join(named)} exclude each other: give one of them")


@contextmanager
def _read_repository(
    repo: Path,
    rev: str | None,
    staged: bool,
    whole: bool,
    limit: int,
    progress: Progress,
) -> Iterator[tuple[Change, Sources]]:
    """What is staged, what is pushed, or a whole tree, with its sources."""
    from bot.diff import DiffError, GitError, GitRepository
    from bot.errors import FatalError
    from bot.review.hooks import pushed_range, staged_change
    from bot.review.whole import whole_change

    try:
        with GitRepository(repo) as repository:
            if staged:
                change = staged_change(repository)
                yield change, repository.sources(change)
                return
            range_text = None if whole else pushed_range(os.environ)
            if range_text is not None:
                change = repository.change(range_text)
                yield change, repository.sources(change)
                return
            yield whole_change(
                repository,
                rev or "HEAD",
                max_files=limit,
                max_lines=100 * limit,
                progress=progress,
            )
    except (GitError, DiffError) as error:
        raise FatalError(str(error)) from error


def _print(result: ReviewResult, form: str | None, explain: bool) -> None:
    if form == "json":
        from bot.review.output_json import to_json

        sys.stdout.write(to_json(result, explain=explain))
    elif form == "markdown":
        from bot.review.output_markdown import to_markdown

        sys.stdout.write(to_markdown(result, explain=explain))
    elif form is not None:
        from bot.review.formats import Format, render

        sys.stdout.write(render(result, Format(form)))
    else:
        from rich.console import Console

        from bot.review.output_terminal import to_terminal

        to_terminal(result, Console(highlight=False), explain=explain)
