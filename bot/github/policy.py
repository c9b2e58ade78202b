"""Which settings count: the operator's, the organisation's, the default branch's, in that order.

Both files are read at the default branch of their repository, whatever the pull request is about:
a branch cannot configure its own review. A file that cannot be used is told on the pull request
once, and the last one that could be is used in its place.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Protocol

from bot.github import requests as rq
from bot.github.auth import Identity
from bot.github.client import Api
from bot.github.errors import Answered
from bot.github.markers import has_marker, notice_marker, with_marker
from bot.github.text import clip, fence
from bot.jobs.forge import Plan, PullRef, PullState, RequestKind, ReviewRequest
from bot.kept_config import GOOD
from bot.repo_config import CONFIG_PATH, Limits, RepoConfig, review_options, stack
from bot.repo_config_reader import ConfigError, read_config
from bot.store.memory import pull_scope, repo_scope

PAUSED = "paused"
"""The name under which a pull request's pause is kept."""


@dataclass(frozen=True, slots=True)
class Operator:
    """What the operator chose and allows.

    ``shadow`` writes nothing to GitHub; ``quiet`` posts no notice of faults in settings.
    """

    defaults: RepoConfig = field(default_factory=RepoConfig)
    limits: Limits = field(default_factory=Limits)
    shadow: bool = False
    quiet: bool = False


@dataclass(frozen=True, slots=True)
class Layered:
    """The settings that count, with the layers they were stacked from and what was wrong."""

    config: RepoConfig
    layers: tuple[tuple[str, RepoConfig], ...]
    errors: tuple[ConfigError, ...] = ()


class Memory(Protocol):
    """Values kept by name: the ledger's (``bot.store.memory.Memory``), or a run's own."""

    def get(self, scope: str, key: str, default: Any = None) -> Any:
        """A value kept by name."""
        ...

    def put(self, scope: str, key: str, value: Any, now: float, by: str = "") -> None:
        """Keep a value by name."""
        ...

    def forget(self, scope: str, key: str) -> None:
        """Drop a value."""
        ...


class OperatorOf(Protocol):
    """Reads the operator's choices when they are needed, so that a reload counts."""

    def __call__(self) -> Operator:
        """The choices now."""
        ...


class GitHubPolicy:
    """Settings from GitHub's files over the operator's (``bot.jobs.forge.Policy``)."""

    def __init__(
        self,
        identity: Identity,
        memory: Memory,
        operator: OperatorOf | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._identity = identity
        self._memory = memory
        self._operator = operator or Operator
        self._now = now

    def plan(self, ref: PullRef, state: PullState, request: ReviewRequest) -> Plan:
        """What is to be done for a request; wrong files are told on the pull request once."""
        operator = self._operator()
        layered = self.settings(ref)
        if layered.errors and not (operator.shadow or operator.quiet):
            self._tell(ref, layered.errors)
        config = layered.config
        notes = tuple(
            f"{error.source} has {len(error.problems)} problems; its last good version was used"
            for error in layered.errors
        )
        return Plan(
            options=review_options(config),
            skip=self._skip(ref, state, request, config),
            incremental=config.incremental,
            check_run=config.check_run and self._identity.app_id is not None,
            notes=notes,
            resolve_threads=config.resolve_threads,
            summary=config.summary,
            mode="shadow" if operator.shadow else config.mode,
            learn=config.feedback.learn,
            answers=config.feedback.answers,
        )

    def settings(self, ref: PullRef) -> Layered:
        """The settings that count for a repository."""
        operator = self._operator()
        owner = ref.repository.partition("/")[0]
        layers = [("operator", operator.limits.clamp(operator.defaults))]
        errors: list[ConfigError] = []
        places = {f"{owner}/.github": "organisation"}
        places.setdefault(ref.repository, "repository")
        for repository, name in places.items():
            config, error = self._layer(ref, repository, operator.limits)
            if error is not None:
                errors.append(error)
            if config is not None:
                layers.append((name, config))
        merged = operator.limits.clamp(stack(config for _, config in layers))
        return Layered(merged, tuple(layers), tuple(errors))

    def _layer(
        self, ref: PullRef, repository: str, limits: Limits
    ) -> tuple[RepoConfig | None, ConfigError | None]:
        raw = read_default_branch(self._identity.api(ref.installation_id), repository)
        scope, key = repo_scope(ref.repository_id), f"{GOOD}{repository.lower()}"
        source = f"{repository}:{CONFIG_PATH}"
        if raw is None:
            if self._memory.get(scope, key) is not None:
                self._memory.forget(scope, key)
            return None, None
        try:
            config = read_config(raw, source, limits)
        except ConfigError as error:
            good = self._memory.get(scope, key)
            if not isinstance(good, str):
                return None, error
            try:
                return read_config(good, source, limits), error
            except ConfigError:
                return None, error  # the operator's limits have changed since
        text = raw.decode("utf-8-sig")
        if self._memory.get(scope, key) != text:
            self._memory.put(scope, key, text, self._now())
        return config, None

    def _skip(
        self, ref: PullRef, state: PullState, request: ReviewRequest, config: RepoConfig
    ) -> str:
        if request.kind is not RequestKind.EVENT:
            return ""
        if self._memory.get(pull_scope(ref.repository_id, ref.number), PAUSED):
            return "paused"
        return skip_reason(config, state)

    def _tell(self, ref: PullRef, errors: tuple[ConfigError, ...]) -> None:
        lines = [line for error in errors for line in error.lines()]
        key = "config-" + hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]
        scope = pull_scope(ref.repository_id, ref.number)
        if self._memory.get(scope, key):
            return
        body = (
            "Marginalia's configuration cannot be used; the last good one counts, or the "
            f"operator's:\n\n{fence(clip(chr(10).join(lines), 20_000))}\n\n"
            "`marginalia config validate` checks it before it is merged."
        )
        try:
            say_once(self._identity, ref, body, notice_marker(key))
        except Answered:
            return  # the conversation is locked, or not ours to write in: the review goes on
        self._memory.put(scope, key, True, self._now())


def skip_reason(config: RepoConfig, state: PullState) -> str:
    """Why a pull request is not reviewed unasked, for a person; "" where it is."""
    when = config.when
    labels = set(state.labels)
    author = state.author.lower()
    unwanted = sorted(labels & set(when.skip_labels))
    if not config.enabled:
        return "switched off by the configuration (enabled: false)"
    if state.draft and not when.drafts:
        return "a draft"
    if state.author_is_bot and not when.bots:
        return "by a bot"
    if author in (name.lower() for name in when.skip_authors):
        return f"by {state.author}"
    if unwanted:
        return f'has the label "{unwanted[0]}"'
    if when.only_labels and not labels & set(when.only_labels):
        return f"has none of the labels {', '.join(when.only_labels)}"
    if when.base_branches and not any(
        fnmatchcase(state.base_ref, pattern) for pattern in when.base_branches
    ):
        return f"goes into {state.base_ref}"
    return ""


def read_default_branch(api: Api, repository: str) -> bytes | None:
    """The configuration file of a repository's default branch; ``None`` where there is none.

    A file over 1 MB comes back as bytes that no reader accepts.
    """
    try:
        data = api.data(rq.contents(repository, CONFIG_PATH))
    except Answered as error:
        if error.status in (403, 404):
            return None
        raise
    if not isinstance(data, dict) or data.get("type") != "file":
        return None
    if data.get("encoding") != "base64":
        return b"#" * 100_000
    try:
        return base64.b64decode(str(data.get("content", "")))
    except binascii.Error:
        return b"\xff"


def say_once(identity: Identity, ref: PullRef, body: str, marker: str) -> bool:
    """Write a comment in the conversation unless one of ours ends in ``marker``; whether it did."""
    api = identity.api(ref.installation_id)
    if already_said(api, identity.login, rq.issue_comments(ref.repository, ref.number), marker):
        return False
    api.send(rq.create_issue_comment(ref.repository, ref.number, with_marker(body, marker)))
    return True


def already_said(api: Api, login: str, comments: rq.Request, marker: str) -> bool:
    """Whether a comment of ours in a list ends in ``marker``."""
    for row in api.items(comments):
        author = str((row.get("user") or {}).get("login") or "").lower()
        if author == login.lower() and has_marker(row.get("body"), marker):
            return True
    return False
