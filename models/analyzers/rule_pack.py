"""Our own ast-grep rules: one file a rule, its example in its metadata.

A rule file is an ordinary ast-grep rule (id, language, severity, message, note, rule, fix) with
``metadata``: ``bad`` (code in which the rule reports exactly once), ``good`` (code in which it
doesn't), ``fixed`` (``bad`` after the fix, where there is one), ``also`` (further languages of the
same rule, e.g. TypeScript), ``ending`` (of the example's file, where it matters) and
``default: off`` for a rule that is too noisy to run unasked (a finding in over 10 of 1,000 windows
of accepted code, by ``tests.bench.rule_precision``) or a matter of house style
(prints, ``var``).
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parent / "rules"


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule file, read; ``body`` is the whole mapping as ast-grep takes it."""

    id: str
    languages: tuple[str, ...]
    default_on: bool
    message: str
    bad: str
    good: str
    fixed: str | None
    ending: str | None
    body: Mapping[str, Any]
    path: Path


def read_rule(path: Path) -> Rule:
    """Read one rule file; raises ``ValueError`` with the file's name where it isn't one."""
    try:
        body = yaml.load(path.read_text("utf-8"), Loader=_Loader)  # noqa: S506
        metadata = body.get("metadata", {})
        return Rule(
            id=body["id"],
            languages=(body["language"], *metadata.get("also", ())),
            default_on=metadata.get("default", True) not in (False, "off"),
            message=body["message"],
            bad=metadata.get("bad", ""),
            good=metadata.get("good", ""),
            fixed=metadata.get("fixed"),
            ending=metadata.get("ending"),
            body=body,
            path=path,
        )
    except (yaml.YAMLError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path}: not an ast-grep rule with id, language and message") from error


_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@functools.cache
def shipped_rules() -> tuple[Rule, ...]:
    """All rules of ``rules/<language>/*.yml``, by path."""
    return tuple(read_rule(path) for path in sorted(FOLDER.glob("*/*.yml")))


def _variants(rule: Rule) -> Iterator[dict[str, Any]]:
    """The rule for each of its languages, under one id, so that one comment silences them all."""
    for language in rule.languages:
        body = {key: value for key, value in rule.body.items() if key != "metadata"}
        yield {**body, "language": language}


@functools.cache
def rule_file_text(enable: frozenset[str]) -> str:
    """What ``ast-grep scan --rule`` reads: every rule that is on, or named in ``enable``."""
    bodies = [
        body
        for rule in shipped_rules()
        if rule.default_on or rule.id in enable
        for body in _variants(rule)
    ]
    return yaml.dump_all(bodies, allow_unicode=True, sort_keys=False)
