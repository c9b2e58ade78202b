"""``marginalia serve``, ``web``, ``worker``, ``replay`` and ``jobs``."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bot.errors import FatalError

if TYPE_CHECKING:
    from flask import Flask

    from bot.settings import Settings
    from bot.store.ledger import Ledger
    from bot.store.tables import Job

Host = Annotated[str | None, typer.Option(help="Address to listen on (127.0.0.1).")]
Port = Annotated[int | None, typer.Option(help="Port to listen on (3000).")]
DataDir = Annotated[Path | None, typer.Option("--data-dir", help="Folder for all that is kept.")]
Unsigned = Annotated[
    bool, typer.Option("--allow-unsigned", help="Take unsigned deliveries from this machine.")
]
Shadow = Annotated[bool, typer.Option("--shadow", help="Record everything, post nothing.")]
Poll = Annotated[
    list[str] | None,
    typer.Option("--poll", metavar="OWNER/NAME", help="Look at a repository that cannot call us."),
]
Token = Annotated[
    str | None,
    typer.Option(
        "--token",
        help="Act with this token on a plain webhook, without an App; - reads it from standard "
        "input (others on this machine can read a command line).",
    ),
]
PlainLogs = Annotated[bool, typer.Option("--plain-logs", help="Logs for a person, not JSON.")]

STDIN = "-"

jobs_app = typer.Typer(help="The jobs in the ledger.", no_args_is_help=True, add_completion=False)


def serve(
    host: Host = None,
    port: Port = None,
    data_dir: DataDir = None,
    allow_unsigned: Unsigned = False,
    shadow: Shadow = False,
    poll: Poll = None,
    token: Token = None,
    plain_logs: PlainLogs = False,
) -> None:
    """Web and worker together; without an App or a token, first the set-up page."""
    from bot.service.prepare import make_folder, open_ledger, read_settings, share_metrics
    from bot.service.supervisor import Supervisor
    from bot.service.web import check_address
    from bot.settings import SettingsError

    given = _given(host, port, data_dir, allow_unsigned, shadow, poll, plain_logs)
    if token is not None:
        given["token"] = _typed(token)
    settings = read_settings(**given)
    if settings.port == 0:  # one free port for the set-up page, the webhook and what is printed
        settings = read_settings(**(given := given | {"port": check_address(settings.host, 0)}))
    env = {**_without_mistyped(), **_environment(given)}
    make_folder(settings.data_dir)
    share_metrics(settings.data_dir)
    env["PROMETHEUS_MULTIPROC_DIR"] = os.environ["PROMETHEUS_MULTIPROC_DIR"]
    supervisor = Supervisor(env)
    supervisor.listen()
    settings = _after_set_up(settings, given, supervisor)
    # what the processes would end with again and again is said here, once
    _check_identity(settings)
    commands = {"worker": _own("worker")}
    if settings.poll_repositories and not settings.secrets and not settings.allow_unsigned:
        _say("Polling only: without a webhook secret there is no webhook.")
    else:
        try:
            settings.check_web()
        except SettingsError as error:
            raise FatalError(str(error)) from error
        check_address(settings.host, settings.port)
        commands["web"] = _own("web")
    open_ledger(settings).close()
    if "web" in commands:
        _say(f"Webhook: http://{settings.host}:{settings.port}/webhook")
    supervisor.run(commands, settings.drain + 35)


def _without_mistyped() -> dict[str, str]:
    """The environment without variables that are nearly a setting, which are told here.

    A slip there (``MARGINALIA_SHADOWS``) would else be seen only by what is posted.
    """
    from bot.settings import Settings
    from bot.settings_problems import mistyped

    slips = mistyped(os.environ, Settings.model_fields)
    for name, near in slips.items():
        sys.stderr.write(f"marginalia: {name} is no setting and does nothing: use {near}\n")
    return {name: value for name, value in os.environ.items() if name not in slips}


def _typed(token: str) -> str:
    """The token itself, or the first line of standard input for ``-``."""
    value = (sys.stdin.readline() if token == STDIN else token).strip()
    if not value:
        raise FatalError("--token: nothing was given: pass a token, or - and the token on stdin")
    return value


def _after_set_up(settings: Settings, given: dict[str, Any], supervisor: Any) -> Settings:
    """Serve the set-up page until the App is made; the settings with it."""
    from bot.service.prepare import read_settings
    from bot.service.web import check_address
    from bot.web.setup import SetupDesk

    desk = SetupDesk(settings)
    if desk.needed():
        check_address(settings.host, settings.port)
    try:
        token = desk.open_for_business()
    except OSError as error:
        raise FatalError(
            f"MARGINALIA_DATA_DIR: {settings.data_dir}: {error.strerror}: give a folder to write in"
        ) from error
    if token is None:
        return settings
    _say("There is no App and no token yet. Make the App here (the address works once):")
    _say(f"  http://{settings.host}:{settings.port}/setup?token={token}")
    made = supervisor.run({"set-up": _own("web", "--set-up")}, 35, until=desk.app_file.exists)
    if not made:
        raise typer.Exit
    return read_settings(**given)


def _check_identity(settings: Settings) -> None:
    """Refuse an App or a token that no worker could use."""
    from bot.settings import SettingsError
    from bot.wiring import identity_of

    try:
        identity_of(settings)
    except SettingsError as error:
        raise FatalError(str(error)) from error


def web(
    host: Host = None,
    port: Port = None,
    data_dir: DataDir = None,
    allow_unsigned: Unsigned = False,
    plain_logs: PlainLogs = False,
    set_up: Annotated[bool, typer.Option("--set-up", hidden=True)] = False,
) -> None:
    """The webhook alone: verifies, records, answers."""
    from bot.service.prepare import open_ledger, read_settings
    from bot.service.web import check_address
    from bot.settings import SettingsError

    settings = read_settings(
        **_given(host, port, data_dir, allow_unsigned, False, None, plain_logs)
    )
    _without_mistyped()
    if set_up:
        _serve_set_up(settings)
        return
    try:
        settings.check_web()
    except SettingsError as error:
        raise FatalError(str(error)) from error
    check_address(settings.host, settings.port)
    open_ledger(settings).close()

    def make() -> Flask:
        from bot.app import create_app
        from bot.jobs.queue import JobQueue
        from bot.store.ledger import Ledger
        from bot.web.desk import Desk
        from bot.web.pages import dashboard

        ledger = Ledger(settings.database)
        queue = JobQueue(settings.database, settings.job_version)
        pages = dashboard(Desk.of(settings, ledger, queue))
        return create_app(settings, ledger, queue, [pages])

    from bot.service.web import WebServer

    WebServer(settings, make).run()


def _serve_set_up(settings: Settings) -> None:
    from bot.app import create_setup_app
    from bot.service.web import WebServer
    from bot.web.setup import SetupDesk, setup_pages

    pages = setup_pages(SetupDesk(settings))
    WebServer(settings, lambda: create_setup_app([pages], settings.public_url)).run()


def worker(
    data_dir: DataDir = None,
    shadow: Shadow = False,
    poll: Poll = None,
    plain_logs: PlainLogs = False,
) -> None:
    """The jobs alone: fetches, reviews, posts. Start as many as there are machines."""
    from bot.jobs.worker import Worker
    from bot.metrics_export import Metrics
    from bot.service.prepare import open_ledger, read_settings
    from bot.settings import SettingsError
    from bot.wiring import build_services, chores_of, identity_of, load_reviewer

    settings = read_settings(**_given(None, None, data_dir, False, shadow, poll, plain_logs))
    _without_mistyped()
    ledger = open_ledger(settings)
    metrics = Metrics()
    try:
        identity = identity_of(settings, metrics)
        chores = chores_of(settings, ledger, identity, metrics)
    except SettingsError as error:
        raise FatalError(str(error)) from error
    services = build_services(settings, ledger, load_reviewer(settings, ledger), metrics, identity)
    Worker(settings, ledger, services, metrics, chores=chores).run_until_signal()
    ledger.close()


def replay(
    file: Annotated[Path, typer.Argument(metavar="DELIVERY.json", help="A stored delivery.")],
    event: Annotated[str, typer.Option(help="The event, where the file holds a payload.")] = "",
    guid: Annotated[str, typer.Option(help="Another GUID than the file's.")] = "",
    url: Annotated[
        str, typer.Option(help="A running server's webhook; else in this process.")
    ] = "",
    data_dir: DataDir = None,
) -> None:
    """Give a stored delivery to the real webhook, signed; a worker does the rest."""
    from bot.service.prepare import read_settings
    from bot.service.replay import read_delivery, send_here, send_to

    delivery = read_delivery(file, event, guid)
    settings = read_settings(**({} if data_dir is None else {"data_dir": data_dir}))
    status, answer = send_to(url, delivery, settings) if url else send_here(delivery, settings)
    _say(f"{status} {answer}")
    if status >= 400:
        raise typer.Exit(1)


@jobs_app.command("list")
def list_jobs(
    state: Annotated[
        list[str] | None, typer.Option(help="Only these states (parked, failed, running ...).")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000)] = 50,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
    data_dir: DataDir = None,
) -> None:
    """The newest jobs, the newest first."""
    from bot.store.tables import JobState

    known = {item.value for item in JobState}
    wrong = sorted(set(state or ()) - known)
    if wrong:
        raise FatalError(f"--state {wrong[0]}: there is {', '.join(sorted(known))}")
    with _ledger(data_dir) as (ledger, _):
        for job in ledger.jobs.recent(tuple(state or ()), limit):
            if as_json:
                _say(json.dumps(_job(job)))
            else:
                age = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(job.created_at))
                where = f"{job.repository}#{job.pull}@{job.head[:10]}"
                _say(f"{age}  {job.state:10}  {where:40}  {job.reason[:60]}  {job.id}")


@jobs_app.command("show")
def show_job(name: Annotated[str, typer.Argument(metavar="JOB")], data_dir: DataDir = None) -> None:
    """Everything that the ledger knows of one job, as JSON."""
    with _ledger(data_dir) as (ledger, _):
        job = ledger.jobs.get(name)
        if job is None:
            raise FatalError(f"there is no job {name}: see marginalia jobs list")
        review = ledger.reviews.of_job(name)
        shown = _job(job)
        if review is not None:
            shown["review"] = {
                "state": review.state,
                "github_id": review.github_id,
                "url": review.url,
                "notes": review.notes,
                "timings": review.timings,
            }
        _say(json.dumps(shown, indent=2))


@jobs_app.command("retry")
def retry_job(
    name: Annotated[str, typer.Argument(metavar="JOB", help="A job's id, or delivery:NUMBER.")],
    data_dir: DataDir = None,
) -> None:
    """Queue a parked, failed, skipped or cancelled job again."""
    from bot.jobs.queue import JobQueue

    with _ledger(data_dir) as (ledger, settings):
        queue = JobQueue(settings.database, settings.job_version)
        try:
            kind, _, number = name.partition(":")
            if kind == "delivery" and number.isdigit():
                again = ledger.deliveries.retry(int(number), queue.deliver)
            else:
                again = ledger.jobs.retry(name, time.time(), queue.review)
        finally:
            queue.close()
    if not again:
        raise FatalError(f"{name}: unknown, in work, or done already")
    _say(f"{name}: queued")


@contextmanager
def _ledger(data_dir: Path | None) -> Iterator[tuple[Ledger, Settings]]:
    """The ledger that is there, and the settings that name it; none is made here."""
    from bot.service.prepare import read_settings
    from bot.store.lookup import existing_ledger, no_ledger

    settings = read_settings(**({} if data_dir is None else {"data_dir": data_dir}))
    with existing_ledger(settings) as ledger:
        if ledger is None:
            raise no_ledger(settings)
        yield ledger, settings


def _job(job: Job) -> dict[str, Any]:
    return {column.name: getattr(job, column.key) for column in type(job).__table__.columns}


def _given(
    host: str | None,
    port: int | None,
    data_dir: Path | None,
    allow_unsigned: bool,
    shadow: bool,
    poll: list[str] | None,
    plain_logs: bool,
) -> dict[str, Any]:
    """The options that were given, as settings."""
    values = {
        "host": host,
        "port": port,
        "data_dir": data_dir,
        "allow_unsigned": allow_unsigned or None,
        "shadow": shadow or None,
        "poll_repositories": tuple(poll) if poll else None,
        "log_json": False if plain_logs else None,
    }
    return {name: value for name, value in values.items() if value is not None}


def _environment(given: dict[str, Any]) -> dict[str, str]:
    """The options for the processes that ``serve`` starts."""
    return {
        f"MARGINALIA_{name.upper()}": (
            str(value) if isinstance(value, (str, Path)) else json.dumps(value)
        )
        for name, value in given.items()
    }


def _own(*words: str) -> list[str]:
    # -P: a folder named like a library, where the service was started, is never imported.
    return [sys.executable, "-P", "-m", "bot.commands.serve", *words]


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> None:
    """These commands alone (``python -m bot.commands.serve``): what ``serve`` itself starts."""
    from bot.cli import run

    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    for command in (serve, web, worker, replay):
        app.command()(command)
    app.add_typer(jobs_app, name="jobs")
    try:
        run(app)
    except FatalError as error:
        sys.stderr.write(f"marginalia: {error}\n")
        sys.exit(error.code)


if __name__ == "__main__":
    main()
