"""Static analyzers: each gives ``Finding``; see ``base`` for the frame around them."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from models.analyzers.base import Analyzer

_MODULES: Mapping[str, tuple[str, str, str]] = {
    "ruff": ("ruff", "Ruff", "ruff"),
    "ast-grep": ("ast_grep", "AstGrep", "ast-grep"),
    "bandit": ("bandit", "Bandit", "bandit"),
    "oxlint": ("oxlint", "Oxlint", "oxlint"),
    "shellcheck": ("shellcheck", "ShellCheck", "shellcheck"),
    "hadolint": ("hadolint", "Hadolint", "hadolint"),
    "zizmor": ("zizmor", "Zizmor", "zizmor"),
    "yamllint": ("yamllint", "YamlLint", "yamllint"),
    "sqlfluff": ("sqlfluff", "SqlFluff", "sqlfluff"),
    "cppcheck": ("cppcheck", "CppCheck", "cppcheck"),
    "lizard": ("lizard", "Lizard", "lizard"),
    "pmd": ("pmd", "Pmd", "pmd"),
}
"""Name -> module, class, command."""
OPTIONAL = frozenset({"pmd"})
"""Analyzers that no installation is expected to have."""


@functools.cache
def _load(name: str) -> Analyzer:
    module, kind, tool = _MODULES[name]
    made: Analyzer = getattr(importlib.import_module(f"models.analyzers.{module}"), kind)(tool)
    return made


class _Registry(Mapping[str, "Analyzer"]):
    """The analyzers by name; each one's module is imported when it is first asked for."""

    def __getitem__(self, name: str) -> Analyzer:
        if name not in _MODULES:
            raise KeyError(name)
        return _load(name)

    def __iter__(self) -> Iterator[str]:
        return iter(_MODULES)

    def __len__(self) -> int:
        return len(_MODULES)


ANALYZERS: Mapping[str, Analyzer] = _Registry()


def doctor() -> list[tuple[str, str | None, str]]:
    """For each analyzer: its name, its version (``None`` where absent), how to get it."""
    return [(name, one.version(), one.how_to_get) for name, one in ANALYZERS.items()]
