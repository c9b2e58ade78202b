"""The one table of languages: how each is recognised, and which node types play which role.

A row is all that a language needs to have targets (enclosing definitions, splitting at syntax),
the gate's count of parse errors, and claims. Node types are those of the pinned tree-sitter
grammars; a type that a grammar lacks is simply never met.
"""

from __future__ import annotations

from models.syntax import rows_core, rows_more
from models.syntax.language import Language

LANGUAGES: tuple[Language, ...] = (
    rows_core.PYTHON,
    rows_core.JAVASCRIPT,
    rows_core.TYPESCRIPT,
    rows_core.TSX,
    rows_core.JAVA,
    rows_core.GO,
    rows_more.RUST,
    rows_more.C,
    rows_more.CPP,
    rows_more.CSHARP,
    rows_more.RUBY,
    rows_more.PHP,
    rows_more.KOTLIN,
    rows_more.SCALA,
    rows_more.BASH,
)

BY_NAME: dict[str, Language] = {row.name: row for row in LANGUAGES}
BY_ALIAS: dict[str, Language] = BY_NAME | {alias: row for row in LANGUAGES for alias in row.aliases}


def language_row(name: str) -> Language | None:
    """The row of a language by its name or an alias ("py", "c++"), case-insensitively."""
    return BY_ALIAS.get(name.strip().lower())


def supported() -> tuple[str, ...]:
    """The names of all languages in the table, in its order."""
    return tuple(BY_NAME)
