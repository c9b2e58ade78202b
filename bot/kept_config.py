"""A repository's settings as they were last read: what counts there, without asking GitHub.

The policy (``bot.github.policy``) keeps the last good text of each file in the ledger. Web pages
and reports read those: they must not wait for GitHub, and may be a review older than the file.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from bot.feedback.calibration import Choices
from bot.repo_config import MODEL_DEFAULT, MODEL_OFF, Limits, RepoConfig, stack
from bot.repo_config_reader import ConfigError, read_config
from bot.settings import Settings
from bot.store.memory import Memory, repo_scope

GOOD = "config:good:"
"""Under this and the file's repository (in lower case) its last good text is kept."""


def operator_layer(settings: Settings) -> tuple[RepoConfig, Limits]:
    """The operator's own layer of configuration, and what it lets repositories choose."""
    analyzers: dict[str, Any] = {}
    if settings.analyzers is not None:
        analyzers = {"only": settings.analyzers}
    defaults = RepoConfig.model_validate(
        {
            "sure": settings.sure,
            "max_comments": settings.max_comments,
            "incremental": settings.incremental,
            "check_run": settings.check_run,
            "resolve_threads": settings.resolve_threads,
            "model": MODEL_DEFAULT if settings.use_model else MODEL_OFF,
            "analyzers": analyzers,
            "when": {"drafts": settings.review_drafts, "bots": settings.review_bots},
        }
    )
    allowed = None if settings.analyzers is None else frozenset(settings.analyzers)
    return defaults, Limits(models=tuple(settings.models), analyzers=allowed)


def kept_config(
    memory: Memory, settings: Settings, repository_id: int, repository: str
) -> RepoConfig:
    """What counted in a repository at its last review; the operator's own where it had none."""
    defaults, limits = operator_layer(settings)
    layers = [limits.clamp(defaults)]
    organisation = f"{repository.partition('/')[0]}/.github"
    for place in dict.fromkeys((organisation.lower(), repository.lower())):
        text = memory.get(repo_scope(repository_id), f"{GOOD}{place}")
        config = _parsed(text, place, limits) if isinstance(text, str) else None
        if config is not None:
            layers.append(config)
    if len(layers) == 1:
        return layers[0]
    return limits.clamp(stack(layers))


@lru_cache(256)
def _parsed(text: str, place: str, limits: Limits) -> RepoConfig | None:
    """A kept text; ``None`` where the operator's limits have changed since, as in the policy.

    Every view of a page asks: it is parsed once, not each time.
    """
    try:
        return read_config(text, place, limits)
    except ConfigError:
        return None


def choices_of(config: RepoConfig) -> Choices:
    """The rules that a person pinned or banned."""
    return Choices(frozenset(config.feedback.pinned), frozenset(config.feedback.banned))
