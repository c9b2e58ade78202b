"""What a repository may choose about its reviews: ``.github/marginalia.yml``.

The model below is the whole of it: its JSON Schema (``marginalia config schema``) is generated
from it, and so are the errors of ``bot.repo_config_reader``. Three layers of it are stacked, the
later one counting: the operator's own, the organisation's (``.github`` repository), the
repository's default branch. The pull request's branch is never read. What a repository may choose
at all is bounded by ``Limits``, which only the operator sets.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, get_args

from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore import GitIgnorePatternError
from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic_core import PydanticCustomError

from bot.review.types import ReviewOptions
from models.change import Change, ChangedFile, Coverage

CONFIG_PATH = ".github/marginalia.yml"
SCHEMA_ID = "urn:marginalia:repository-configuration:1"
MODEL_OFF = "off"
MODEL_DEFAULT = "default"
MOST_COMMENTS = 50
# A pattern becomes a regular expression that backtracks at every star, and the paths are the pull
# request's: five stars in one segment already cost seconds on a name made for it.
MOST_STARS = 4

Language = Literal[
    "bash", "c", "cpp", "csharp", "go", "java", "javascript", "kotlin", "php", "python", "ruby",
    "rust", "scala", "tsx", "typescript",
]  # fmt: skip
Analyzer = Literal[
    "ast-grep", "bandit", "cppcheck", "hadolint", "lizard", "oxlint", "pmd", "ruff", "shellcheck",
    "sqlfluff", "yamllint", "zizmor",
]  # fmt: skip
SummaryLength = Literal["short", "normal", "long"]
Mode = Literal["post", "approve", "shadow"]
Answers = Literal["command", "comments"]
Poster = Literal["bot", "person"]

_RULE = re.compile(r"[a-z][a-z0-9-]*:\S+")
_SPEAKER = re.compile(r"[a-z][a-z0-9-]*(:\S+)?")


def _gitignore_pattern(text: str) -> str:
    """Accept what git would accept as one line of a ``.gitignore``."""
    if not text.strip() or "\n" in text:
        raise PydanticCustomError("pattern", "must be one pattern as in a .gitignore file")
    if any(len(re.findall(r"\*+", part)) > MOST_STARS for part in text.split("/")):
        raise PydanticCustomError(
            "pattern", '"{text}" has too many stars: at most 4 in one segment', {"text": text}
        )
    try:
        spec = GitIgnoreSpec.from_lines([text])
    except GitIgnorePatternError as error:
        raise PydanticCustomError(
            "pattern", '"{text}" is not a pattern that git understands', {"text": text}
        ) from error
    if not any(pattern.include is not None for pattern in spec.patterns):
        raise PydanticCustomError(
            "pattern",
            '"{text}" matches nothing (a pattern that begins with # is a comment)',
            {"text": text},
        )
    return text


def _rule_id(text: str) -> str:
    """Accept ``analyzer:rule``, as the comments' footers name rules."""
    if not _RULE.fullmatch(text):
        raise PydanticCustomError(
            "rule",
            '"{text}" does not name a rule: write analyzer:rule, for example ruff:B006',
            {"text": text},
        )
    analyzer = text.partition(":")[0]
    if analyzer not in get_args(Analyzer):
        near = difflib.get_close_matches(analyzer, get_args(Analyzer), n=1, cutoff=0.5)
        raise PydanticCustomError(
            "rule",
            'there is no analyzer "{analyzer}"{hint}',
            {"analyzer": analyzer, "hint": f": did you mean {near[0]}?" if near else ""},
        )
    return text


def _speaker(text: str) -> str:
    """Accept ``analyzer:rule``, or an analyzer or model family alone."""
    if not _SPEAKER.fullmatch(text):
        raise PydanticCustomError(
            "rule",
            '"{text}" names no rule and no analyzer: write analyzer:rule or analyzer, for example '
            "ruff:B006 or ruff",
            {"text": text},
        )
    return text


Pattern = Annotated[str, AfterValidator(_gitignore_pattern), Field(min_length=1, max_length=400)]
Rule = Annotated[str, AfterValidator(_rule_id), Field(min_length=3, max_length=200)]
Speaker = Annotated[str, AfterValidator(_speaker), Field(min_length=2, max_length=200)]
Name = Annotated[str, Field(min_length=1, max_length=200)]


class _Section(BaseModel):
    """Unknown keys are errors, values are never converted, nothing changes after reading."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True
    )


class Paths(_Section):
    """Which changed files are reviewed. Patterns are those of a .gitignore file."""

    include: tuple[Pattern, ...] = ()
    """Only files that match one of these are reviewed; empty means all."""
    exclude: tuple[Pattern, ...] = ()
    """Files that match are left out, whatever `include` says."""


class Analyzers(_Section):
    """Which analyzers and rules speak."""

    only: tuple[Analyzer, ...] | None = None
    """Run only these analyzers; without this key all that are installed."""
    rules_off: tuple[Rule, ...] = ()
    """Rules that never lead to a comment, each as analyzer:rule."""
    rules_on: tuple[Rule, ...] = ()
    """Rules that are off by default and wanted here, each as analyzer:rule."""


class When(_Section):
    """Which pull requests are reviewed without being asked (a command always works)."""

    drafts: bool = False
    """Review drafts too."""
    base_branches: tuple[Name, ...] = ()
    """Only pull requests into these branches; `*` stands for any text. Empty means all."""
    skip_labels: tuple[Name, ...] = ()
    """Not with any of these labels."""
    only_labels: tuple[Name, ...] = ()
    """Only with one of these labels; empty means always."""
    skip_authors: tuple[Name, ...] = ()
    """Not by these logins (a bot's login ends in [bot])."""
    bots: bool = True
    """Review the pull requests of bots too."""


class Feedback(_Section):
    """What the program makes of people's answers."""

    learn: bool = True
    """What people accepted and dismissed moves how sure a remark must be."""
    pinned: tuple[Speaker, ...] = ()
    """Rules (analyzer:rule) or analyzers that never fade, however often they are dismissed."""
    banned: tuple[Speaker, ...] = ()
    """Rules or analyzers that never speak here."""
    history: bool = True
    """Say again what people of this repository said of similar code, where `marginalia learn` has
    read it."""
    answers: Answers = "command"
    """Propose the revision that a comment asks for on `/marginalia suggest`, or on every comment
    on a line."""


class RepoConfig(_Section):
    """Settings of Marginalia for one repository."""

    version: Literal[1] = 1
    """The version of this file's format."""
    enabled: bool = True
    """Whether pull requests are reviewed without being asked."""
    mode: Mode = "post"
    """`post` comments at once, `approve` waits for a person's decision on each remark, `shadow`
    only records what would be said."""
    accepted_as: Poster = "bot"
    """With `mode: approve`, who posts what a person accepted on the web page: the `bot`, which says
    who accepted it, or the `person` in their own name. By command it is always the bot."""
    sure: Annotated[float, Field(ge=0, le=1)] = 0.5
    """How sure to be before commenting: 0 posts all that is safe, 1 next to nothing."""
    max_comments: Annotated[int, Field(ge=0, le=MOST_COMMENTS)] = 10
    """The most comments in one review; the rest go into the review's text."""
    summary: SummaryLength = "normal"
    """How long the review's text is."""
    model: Name = MODEL_DEFAULT
    """A model from the operator's list, or `off` for analyzers alone."""
    languages: tuple[Language, ...] | None = None
    """Review only these languages; without this key all that are known."""
    incremental: bool = True
    """After a push, review only what is new since the last review."""
    check_run: bool = False
    """Post a neutral check run with annotations beside the review."""
    resolve_threads: bool = True
    """Resolve this program's own threads whose code is gone, where the operator allowed it."""
    paths: Paths = Paths()
    """Which changed files are reviewed."""
    analyzers: Analyzers = Analyzers()
    """Which analyzers and rules speak."""
    when: When = When()
    """Which pull requests are reviewed."""
    feedback: Feedback = Feedback()
    """What the program makes of people's answers."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What the operator lets repositories choose.

    ``models`` are the names a repository may write under ``model`` (``off`` and ``default`` are
    always allowed); ``analyzers`` of ``None`` means any known one.
    """

    models: tuple[str, ...] = ()
    max_comments: int = MOST_COMMENTS
    min_sure: float = 0.0
    analyzers: frozenset[str] | None = None

    def problems(self, config: RepoConfig) -> tuple[tuple[tuple[str | int, ...], str], ...]:
        """What in ``config`` goes beyond these limits: (place in the file, message) pairs.

        Only what the file says itself is looked at, never a default.
        """
        found: list[tuple[tuple[str | int, ...], str]] = []
        said = config.model_fields_set
        allowed = (MODEL_DEFAULT, MODEL_OFF, *self.models)
        if "model" in said and config.model not in allowed:
            names = ", ".join(dict.fromkeys(allowed))
            found.append((("model",), f'"{config.model}" is not offered here: choose from {names}'))
        if "max_comments" in said and config.max_comments > self.max_comments:
            found.append(
                (("max_comments",), f"the operator allows at most {self.max_comments} comments")
            )
        if "sure" in said and config.sure < self.min_sure:
            found.append((("sure",), f"the operator asks for at least {self.min_sure:g}"))
        if self.analyzers is not None:
            offered = ", ".join(sorted(self.analyzers)) or "none"
            for index, name in enumerate(config.analyzers.only or ()):
                if name not in self.analyzers:
                    found.append(
                        (
                            ("analyzers", "only", index),
                            f'"{name}" is not offered here: choose from {offered}',
                        )
                    )
        return tuple(found)

    def clamp(self, config: RepoConfig) -> RepoConfig:
        """``config`` with its numbers and names brought inside the limits (for defaults)."""
        allowed = {MODEL_DEFAULT, MODEL_OFF, *self.models}
        only = config.analyzers.only
        if self.analyzers is not None:
            only = tuple(a for a in (only if only is not None else sorted(self.analyzers))  # type: ignore[misc]
                         if a in self.analyzers)  # fmt: skip
        return config.model_copy(
            update={
                "model": config.model if config.model in allowed else MODEL_DEFAULT,
                "max_comments": min(config.max_comments, self.max_comments),
                "sure": max(config.sure, self.min_sure),
                "analyzers": config.analyzers.model_copy(update={"only": only}),
            }
        )


def stack(layers: Iterable[RepoConfig]) -> RepoConfig:
    """Lay configurations over each other, the later one counting.

    Sections are merged key by key; a list replaces the earlier list. Keys that a layer does not
    mention leave the earlier layer's value.
    """
    merged: dict[str, Any] = {}
    for layer in layers:
        _merge(merged, layer.model_dump(mode="json", exclude_unset=True))
    return RepoConfig.model_validate_json(json.dumps(merged))


def _merge(into: dict[str, Any], layer: Mapping[str, Any]) -> None:
    for key, value in layer.items():
        if isinstance(value, dict):
            _merge(into.setdefault(key, {}), value)
        else:
            into[key] = value


def review_options(
    config: RepoConfig,
    known: frozenset[str] = frozenset(),
    dismissed: frozenset[str] = frozenset(),
) -> ReviewOptions:
    """The part of a configuration that the review pipeline reads.

    ``known`` and ``dismissed`` are fingerprints from the ledger.
    """
    only = config.analyzers.only
    return ReviewOptions(
        sure=config.sure,
        max_comments=config.max_comments,
        use_model=config.model != MODEL_OFF,
        analyzers=None if only is None else frozenset(only),
        disabled_rules=frozenset(config.analyzers.rules_off),
        enabled_rules=frozenset(config.analyzers.rules_on),
        model="" if config.model in (MODEL_DEFAULT, MODEL_OFF) else config.model,
        known_fingerprints=known,
        dismissed_fingerprints=dismissed,
        include=config.paths.include,
        exclude=config.paths.exclude,
        languages=None if config.languages is None else frozenset(config.languages),
        pinned=frozenset(config.feedback.pinned),
        banned=frozenset(config.feedback.banned),
        history=config.feedback.history,
    )


def keep_languages(
    change: Change,
    languages: frozenset[str] | None,
    text: Callable[[str], bytes | None] = lambda path: None,
) -> Change:
    """``change`` with files of other languages marked as ignored; ``None`` keeps all.

    ``text`` gives the head's bytes of a path: a script without an ending is known by its first
    line alone.
    """
    if languages is None:
        return change
    from models.syntax.detect import language_of, language_of_file

    def kept(file: ChangedFile) -> ChangedFile:
        if file.coverage not in (Coverage.REVIEWED, Coverage.CLIPPED):
            return file
        name = language_of(file.path)
        if not name and "." not in file.path.rpartition("/")[2]:
            name = language_of_file(file.path, text(file.path))
        if name in languages:
            return file
        note = "not among the configuration's languages"
        return replace(file, coverage=Coverage.IGNORED, note=note)

    return replace(change, files=tuple(kept(file) for file in change))


def json_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of ``.github/marginalia.yml``, for editors."""
    schema = RepoConfig.model_json_schema()
    for section in (schema, *schema["$defs"].values()):
        for key in section["properties"].values():
            if key.get("default", "") is None:
                # "not set" cannot be written in the file: it is no value to offer in an editor
                del key["default"]
                key |= next(kind for kind in key.pop("anyOf") if kind != {"type": "null"})
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA_ID,
        **schema,
        "title": "Marginalia's repository configuration (.github/marginalia.yml)",
    }
