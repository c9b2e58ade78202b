"""Puts a worker's services together from the operator's settings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bot.feedback.watcher import Watcher
from bot.github.approvals import GitHubApprovals
from bot.github.auth import AppIdentity, Identity, TokenIdentity
from bot.github.commander import GitHubCommander
from bot.github.compose import GitHubComposer
from bot.github.forge import GitHubForge
from bot.github.heads import GitHubHeads
from bot.github.in_person import InPerson
from bot.github.policy import GitHubPolicy, Operator
from bot.github.requests import get, repository
from bot.github.suggest import GitHubSuggester
from bot.handlers import router
from bot.jobs.forge import Refused
from bot.jobs.intake import Intake
from bot.jobs.queue import JobQueue
from bot.jobs.services import Chore, Services
from bot.kept_config import operator_layer
from bot.metrics_export import Metrics
from bot.settings import Settings, SettingsError
from bot.store.ledger import Ledger
from bot.store.recorder import Recorder
from bot.webhook import Receiver

if TYPE_CHECKING:
    from bot.jobs.forge import Reviewer
    from models.generators.base import Generator


def identity_of(settings: Settings, metrics: Metrics | None = None) -> Identity:
    """Who we are to GitHub; raises ``SettingsError`` where the settings do not say."""
    quota = metrics.quota if metrics else None
    if settings.app_id is not None:
        key = _private_key(settings)
        try:
            return AppIdentity(settings.app_id, key, settings.github_api_url, quota=quota)
        except Refused as error:
            where = "KEY" if settings.private_key is not None else "KEY_FILE"
            raise SettingsError(f"MARGINALIA_PRIVATE_{where}: {error}") from None
    if settings.token is not None:
        return TokenIdentity(
            settings.token.get_secret_value(), settings.github_api_url, quota=quota
        )
    raise SettingsError(
        "no way to speak to GitHub: set MARGINALIA_APP_ID and MARGINALIA_PRIVATE_KEY_FILE "
        "(or open /setup), or set MARGINALIA_TOKEN"
    )


def _private_key(settings: Settings) -> str:
    if settings.private_key is not None:
        return settings.private_key.get_secret_value()
    path: Path | None = settings.private_key_file
    if path is None:
        raise SettingsError("MARGINALIA_PRIVATE_KEY_FILE: the App's key is missing")
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "no text"
        raise SettingsError(
            f"MARGINALIA_PRIVATE_KEY_FILE: {path}: {reason}: name the .pem file that GitHub made"
        ) from None


def operator_of(settings: Settings) -> Operator:
    """The operator's own layer of configuration, and what it lets repositories choose."""
    defaults, limits = operator_layer(settings)
    return Operator(defaults=defaults, limits=limits, shadow=settings.shadow)


def load_reviewer(settings: Settings, ledger: Ledger | None = None) -> Reviewer:
    """The pipeline with its models: the one place where the service loads any.

    With a ledger, what was learnt of a repository's past is said again where it fits.
    """
    from bot.learn.index import Histories
    from bot.review.local import load_pipeline

    return load_pipeline(
        model=settings.model,
        use_model=settings.use_model,
        offered=settings.models,
        rules=settings.rules,
        history=None if ledger is None else Histories(ledger.database).of,
        claims=settings.claim_choice,
    )


def build_services(
    settings: Settings,
    ledger: Ledger,
    reviewer: Reviewer,
    metrics: Metrics | None = None,
    identity: Identity | None = None,
) -> Services:
    """Everything that the jobs need from outside, on GitHub."""
    identity = identity or identity_of(settings, metrics)
    operator = operator_of(settings)
    policy = GitHubPolicy(identity, ledger.memory, lambda: operator)
    commander = GitHubCommander(identity, ledger, policy, settings.shadow)
    approvals = GitHubApprovals(
        identity,
        ledger.database,
        commander.may_command,
        settings.public_url,
        settings.shadow,
    )
    commander.extend(approvals.commands())
    forge = GitHubForge(identity, settings.github_url, settings.resolve_threads)
    watcher = Watcher(
        ledger.database, GitHubHeads(identity), forge.reactions, lambda ref: forge.pull(ref).is_open
    )
    suggester = GitHubSuggester(
        identity,
        forge,
        policy,
        ledger.database,
        lambda: generators_of(reviewer),
        settings.shadow,
    )
    commander.extend(suggester.commands())
    return Services(
        forge=forge,
        policy=policy,
        reviewer=reviewer,
        composer=GitHubComposer(),
        commander=commander,
        approvals=approvals,
        watcher=watcher,
        suggester=suggester,
        in_person=InPerson(ledger.database, settings, identity),
    )


def generators_of(reviewer: Reviewer) -> Sequence[Generator]:
    """Who answers comments (``bot.review.local.answerers``), by the reviewer's own model."""
    from bot.review.local import answerers

    return answerers(getattr(reviewer, "generator", None))


def chores_of(
    settings: Settings, ledger: Ledger, identity: Identity, metrics: Metrics
) -> tuple[Chore, ...]:
    """What one worker of all does now and then: missed deliveries, polling."""
    receiver = Receiver(
        settings,
        Recorder(ledger.database, JobQueue(settings.database, settings.job_version).deliver_new),
        router(),
        metrics,
    )
    intake = Intake(settings, ledger, receiver, identity)
    chores = [Chore("missed deliveries", settings.missed_interval, intake.missed)]
    if settings.poll_repositories:
        chores.append(
            Chore(
                "polling",
                settings.poll_repositories_interval,
                lambda: intake.poll(_installed(settings, identity)),
            )
        )
    return tuple(chores)


def _installed(settings: Settings, identity: Identity) -> Iterator[tuple[str, int | None]]:
    """Each polled repository with the installation that may read it."""
    for name in settings.poll_repositories:
        if not isinstance(identity, AppIdentity):
            yield name, None
            continue
        data = identity.app_api().data(get(f"{repository(name)}/installation"))
        yield name, int(data["id"])
