"""The operator's settings: environment (``MARGINALIA_...``), then TOML, then defaults.

Two TOML files are read where they exist: the operator's own (``MARGINALIA_CONFIG``, else
``marginalia.toml`` in the current folder) and ``app.toml`` in the data folder, which set-up writes
with the App's number, key and secret. The environment wins over both, the operator's file over
the other. A reviewed repository never reaches these values; it may only narrow what they allow.
"""

from __future__ import annotations

import ipaddress
import os
import re
import sqlite3
import sys
from fnmatch import fnmatchcase
from pathlib import Path
from typing import ClassVar, Self

from pydantic import Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)
from pydantic_settings import SettingsError as NotReadable

from bot.repo_config import MODEL_DEFAULT, MODEL_OFF, Analyzer
from bot.review.claims import READ_OFF, WAIT_S, ClaimChoice, unknown_source
from bot.settings_problems import SettingsError as SettingsError
from bot.settings_problems import TomlFile, in_words

APP_FILE = "app.toml"


class Settings(BaseSettings):
    """Every setting of the service. Times are seconds unless the name says otherwise."""

    trusts_folder: ClassVar[bool] = True
    """Whether ``marginalia.toml`` and the data folder in the current folder are read unnamed."""

    model_config = SettingsConfigDict(env_prefix="MARGINALIA_", extra="forbid", frozen=True)

    # where things are kept
    data_dir: Path = Path("marginalia-data")
    database_url: str = ""
    """Empty: SQLite in ``data_dir``. For several machines ``postgresql://user:pw@host/db``."""
    retention_days: int = Field(default=180, ge=1)
    """How long deliveries, jobs and candidates stay in the ledger."""
    body_retention_days: int = Field(default=14, ge=1)
    """How long the bodies of deliveries stay; they hold titles and comments."""

    # the web side
    host: str = "127.0.0.1"
    port: int = Field(default=3000, ge=0, le=65535)
    web_processes: int = Field(default=1, ge=1)
    web_threads: int = Field(default=16, ge=1)
    webhook_secret: SecretStr | None = None
    previous_webhook_secret: SecretStr | None = None
    """Accepted beside ``webhook_secret`` while a secret is being changed."""
    allow_unsigned: bool = False
    max_body_bytes: int = Field(default=25 * 1024 * 1024, ge=1024)
    """GitHub's own limit of a delivery is 25 MB."""
    metrics: bool = True

    # GitHub
    github_api_url: str = "https://api.github.com"
    github_url: str = "https://github.com"
    app_id: int | None = None
    private_key: SecretStr | None = None
    private_key_file: Path | None = None
    client_id: str = ""
    client_secret: SecretStr | None = None
    """The App's OAuth client: with both, people can sign in to the web pages."""
    public_url: str = ""
    """Where browsers reach the web pages, behind a proxy; the App's callback address begins so."""
    token: SecretStr | None = None
    """A personal or fine-grained token, in place of an App."""
    repositories: tuple[str, ...] = ("*",)
    """The only repositories served, as ``owner/name`` patterns."""

    # reviewing: what a repository's own configuration may narrow but not widen
    sure: float = Field(default=0.5, ge=0, le=1)
    max_comments: int = Field(default=10, ge=0, le=50)
    """At most 50, as in a repository's own configuration, which is laid over this."""
    use_model: bool = True
    model: str | None = None
    """Folder or Hub id of the model that reviews unless a repository chooses another one of
    ``models``; the shipped one where it is not set."""
    models: dict[str, str] = Field(default_factory=dict)
    """Further models that a repository may choose: name -> folder or Hub id."""
    analyzers: tuple[Analyzer, ...] | None = None
    rules: Path | None = None
    """A folder of own ast-grep rules (*.yml), which run beside the shipped ones."""
    claims: str = READ_OFF
    """Where the claims come from that remarks are graded by: ``syntax`` (read off the change),
    ``generator`` (a small trained one), ``model``, or some joined by ``+``. A source that cannot be
    had is one line in the log; the review goes on with what is read off the change."""
    claims_model: str = ""
    """With ``model``: a causal model's folder or Hub id; with ``claims_endpoint``, its name there.
    """
    claims_endpoint: str = ""
    """``http://HOST:PORT/v1`` of a chat server on this machine or a private network."""
    claims_key: SecretStr | None = None
    """The bearer token that the endpoint wants, where it wants one."""
    claims_generator: str = ""
    """With ``generator``: a checkpoint of ``marginalia train --mixture claims``; the shipped one
    where it is empty."""
    claims_cache: Path | None = None
    """A folder that keeps what models wrote, by repository and content; without it a process
    remembers. ``marginalia data`` shows and deletes it on the machine on which it runs."""
    claims_wait: float = Field(default=WAIT_S, gt=0)
    """How long a review waits for claims that models write."""
    review_drafts: bool = False
    review_bots: bool = False
    incremental: bool = True
    check_run: bool = False
    resolve_threads: bool = False
    """Resolving threads needs ``contents: write``: only where the operator granted it."""
    shadow: bool = False
    """Record everything, post nothing."""

    # jobs
    jobs_per_machine: int = Field(default=2, ge=1)
    jobs_per_repository: int = Field(default=2, ge=1)
    deliveries_per_machine: int = Field(default=8, ge=1)
    poll_interval: float = Field(default=0.2, gt=0)
    heartbeat: float = Field(default=5, gt=0)
    lease: float = Field(default=20, gt=0)
    """A worker that has not been heard of for so long is taken for dead."""
    stall_after: float = Field(default=1800, gt=0)
    """A worker one of whose steps makes no progress for so long ends itself and is started anew."""
    sweep_interval: float = Field(default=10, gt=0)
    max_tries: int = Field(default=5, ge=1)
    """After so many crashes or failures a job is parked."""
    retry_delay: float = Field(default=5, ge=0)
    retry_delay_max: float = Field(default=600, ge=0)
    give_up_after: float = Field(default=86_400, gt=0)
    """How long a job waits for a forge that is away before it is parked."""
    missed_interval: float = Field(default=3600, gt=0)
    """How often the App's delivery list is read for deliveries that never arrived."""
    poll_repositories: tuple[str, ...] = ()
    """Repositories to look at, where GitHub cannot reach this machine; ``owner/name``."""
    poll_repositories_interval: float = Field(default=60, gt=0)
    drain: float = Field(default=60, ge=0)
    """How long a stopping worker lets its jobs finish."""
    job_version: str = "1"
    """The version under which jobs are queued. It changes only when the steps of a queued job do:
    otherwise a new release would leave the old one's jobs waiting for ever."""

    # what is said
    log_level: str = "INFO"
    log_json: bool = True

    @field_validator("log_level")
    @classmethod
    def _known_level(cls, value: str) -> str:
        level = value.upper()
        if level not in {"DEBUG", "INFO", "WARNING", "ERROR"}:
            raise ValueError("must be one of DEBUG, INFO, WARNING, ERROR")
        return level

    @field_validator("poll_repositories")
    @classmethod
    def _names_of_repositories(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for name in value:
            if not re.fullmatch(r"[^/\s]+/[^/\s]+", name):
                raise ValueError(f'"{name}" is not a repository: write owner/name')
        return value

    @field_validator("models")
    @classmethod
    def _names_of_models(cls, value: dict[str, str]) -> dict[str, str]:
        for name, source in value.items():
            if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", name):
                raise ValueError(f'"{name}" is no name: use letters, digits, and . _ -')
            if name in (MODEL_DEFAULT, MODEL_OFF):
                raise ValueError(f'"{name}" has a meaning of its own: name the model otherwise')
            if not source:
                raise ValueError(f'"{name}" has no folder or Hub id')
        return value

    @field_validator("rules")
    @classmethod
    def _folder_of_rules(cls, value: Path | None) -> Path | None:
        if value is not None and not value.is_dir():
            raise ValueError(f"there is no folder {value}: name a folder of ast-grep rules (*.yml)")
        return value

    @field_validator("claims")
    @classmethod
    def _known_sources(cls, value: str) -> str:
        problem = unknown_source(value, "")
        if problem:
            raise ValueError(problem.strip())
        return value

    @field_validator("claims_cache", mode="before")
    @classmethod
    def _no_folder(cls, value: object) -> object:
        return value or None

    @field_validator("claims_cache")
    @classmethod
    def _folder_of_claims(cls, value: Path | None) -> Path | None:
        if value is not None and value.exists() and not value.is_dir():
            raise ValueError(f"{value} is no folder: name one that keeps what models write")
        return value

    @field_validator("github_api_url", "github_url")
    @classmethod
    def _no_trailing_slash(cls, value: str) -> str:
        if not value.startswith(("https://", "http://")):
            raise ValueError("must start with https:// (or http:// on the same machine)")
        return value.rstrip("/")

    @field_validator("public_url")
    @classmethod
    def _public_address(cls, value: str) -> str:
        if value and not value.startswith(("https://", "http://")):
            raise ValueError("must start with https:// (or http:// on the same machine)")
        return value.rstrip("/")

    @field_validator("database_url")
    @classmethod
    def _known_database(cls, value: str) -> str:
        if value.startswith("postgres://"):
            value = "postgresql://" + value.removeprefix("postgres://")
        if value.startswith("postgresql://"):
            value = "postgresql+psycopg://" + value.removeprefix("postgresql://")
        if value and not value.startswith(("sqlite:///", "postgresql+psycopg://")):
            raise ValueError("must start with sqlite:/// or postgresql://")
        return value

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.lease < 2 * self.heartbeat:
            raise ValueError(
                f"lease ({self.lease}) must be at least twice heartbeat ({self.heartbeat}), "
                "or one late beat makes a living worker a dead one"
            )
        problem = self.claim_choice.problem(lambda name: f"MARGINALIA_{name.upper()}")
        if problem:
            raise ValueError(problem)
        return self

    @property
    def claim_choice(self) -> ClaimChoice:
        """Where the claims of reviews come from."""
        return ClaimChoice(
            sources=self.claims,
            model=self.claims_model,
            endpoint=self.claims_endpoint,
            generator=self.claims_generator,
            cache=self.claims_cache,
            key=self.claims_key.get_secret_value() if self.claims_key else "",
            wait_s=self.claims_wait,
        )

    @property
    def database(self) -> str:
        """The database's SQLAlchemy URL."""
        return self.database_url or f"sqlite:///{(self.data_dir / 'marginalia.db').absolute()}"

    @property
    def secrets(self) -> tuple[bytes, ...]:
        """The webhook secrets that count, newest first; empty where unsigned is allowed."""
        both = (self.webhook_secret, self.previous_webhook_secret)
        return tuple(s.get_secret_value().encode() for s in both if s and s.get_secret_value())

    def serves(self, repository: str) -> bool:
        """Whether the operator allows reviews of ``owner/name`` (case does not count)."""
        name = repository.lower()
        return any(fnmatchcase(name, pattern.lower()) for pattern in self.repositories)

    def check_web(self) -> None:
        """Refuse to serve a webhook that anyone could call.

        Raises ``SettingsError`` where there is no secret and unsigned deliveries were not allowed,
        or were allowed on an address that other machines reach.
        """
        if self.secrets:
            return
        if not self.allow_unsigned:
            raise SettingsError(
                "no webhook secret: set MARGINALIA_WEBHOOK_SECRET to the secret of the hook "
                "(or give --allow-unsigned to try it on this machine alone)"
            )
        if not is_loopback(self.host):
            raise SettingsError(
                f"--allow-unsigned serves this machine alone, but host is {self.host}: "
                "use 127.0.0.1 or set MARGINALIA_WEBHOOK_SECRET"
            )

    def check_database(self) -> None:
        """Refuse a SQLite that the job library cannot use (``SettingsError``)."""
        if self.database.startswith("sqlite") and sys.version_info >= (3, 12):
            version = sqlite3.sqlite_version_info
            if version < (3, 42):
                raise SettingsError(
                    f"SQLite {sqlite3.sqlite_version} is too old for Python "
                    f"{sys.version_info.major}.{sys.version_info.minor}: it takes 3.42 or newer. "
                    "Use Python 3.11 or set MARGINALIA_DATABASE_URL to a PostgreSQL"
                )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments, environment, the operator's TOML, set-up's TOML: the first that says wins."""
        operator = TomlFile(settings_cls, config_file(cls.trusts_folder))
        data_dir = (
            init_settings().get("data_dir")
            or env_settings().get("data_dir")
            or operator().get("data_dir")
            or (cls.model_fields["data_dir"].default if cls.trusts_folder else None)
        )
        if data_dir is None:
            return init_settings, env_settings, operator
        made = TomlFile(settings_cls, Path(str(data_dir)) / APP_FILE)
        return init_settings, env_settings, operator, made


class SettingsFromOutside(Settings):
    """The settings without what lies in the current folder, unless it is named.

    For commands that a person runs inside a checkout, which may be hostile: its
    ``marginalia.toml`` would else say to which address the person's token goes.
    """

    trusts_folder: ClassVar[bool] = False


class SettingsOfRun(SettingsFromOutside):
    """The settings of a workflow's run: an input that is not given is an empty variable."""

    model_config = SettingsConfigDict(
        env_prefix="MARGINALIA_", env_ignore_empty=True, extra="forbid", frozen=True
    )


def config_file(here: bool = True) -> Path | None:
    """The operator's TOML file: it need not exist unless ``MARGINALIA_CONFIG`` names it.

    ``None`` where it is not named and the one in the current folder is not to be read.
    """
    named = os.environ.get("MARGINALIA_CONFIG")
    if named and not Path(named).is_file():
        raise SettingsError(f"MARGINALIA_CONFIG: there is no file {named}")
    if named:
        return Path(named)
    return Path("marginalia.toml") if here else None


def is_loopback(host: str) -> bool:
    """Whether an address or name reaches this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def load(kind: type[Settings] = Settings, /, **overrides: object) -> Settings:
    """Read the settings; ``overrides`` (command line options; ``None`` means not given) win.

    With ``SettingsFromOutside`` for ``kind`` nothing in the current folder counts.

    Raises ``SettingsError`` with one line a wrong setting.
    """
    given = {name: value for name, value in overrides.items() if value is not None}
    try:
        return kind(**given)  # type: ignore[arg-type]
    except ValidationError as error:
        raise SettingsError(in_words(error, kind.model_fields)) from None
    except NotReadable as error:
        # a list or a table that is no JSON; the cause says where in it
        field = re.search(r'field "(\w+)"', str(error))
        where = f"MARGINALIA_{field[1].upper()}" if field else "settings"
        raise SettingsError(f"{where}: not JSON ({error.__cause__})") from None
