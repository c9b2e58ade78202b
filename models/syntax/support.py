"""What works for each language, read off the table of languages and the analyzers themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from models.analyzers import ANALYZERS
from models.analyzers.base import CommandAnalyzer, matches
from models.analyzers.rule_pack import shipped_rules
from models.syntax.table import LANGUAGES

OUR_RULES = "ast-grep"
_PACK = {"tsx": "Tsx", "cpp": "Cpp", "javascript": "JavaScript", "typescript": "TypeScript"}
"""Names in our rule files, where they are not the table's own with a capital."""
_OTHER = (
    ("Dockerfile", ("Dockerfile",)),
    ("GitHub workflows", (".github/workflows/a.yml", "a.yml")),
    ("SQL", ("a.sql",)),
    ("YAML", ("a.yml",)),
)
"""What analyzers alone read: a title and file names that it goes by."""


@dataclass(frozen=True, slots=True)
class Support:
    """One row: ``analyzers`` by name, ``rules`` of ours; see ``table`` for what columns mean."""

    title: str
    files: tuple[str, ...]
    targets: bool
    claims: bool
    parses: bool
    analyzers: tuple[str, ...]
    rules: int = 0


def support() -> Iterator[Support]:
    """The rows: each language of the table, then what analyzers alone read."""
    rules = Counter(language for rule in shipped_rules() for language in rule.languages)
    for row in LANGUAGES:
        names = [f"a{ending}" for ending in row.extensions]
        ours = rules[_PACK.get(row.name, row.name.capitalize())]
        yield Support(
            row.title,
            (*row.extensions, *row.filenames),
            row.targets,
            row.claims,
            True,
            tuple(_readers(names, with_ours=ours > 0)),
            ours,
        )
    for title, names_of in _OTHER:
        files = tuple(name.replace("a.", "*.") for name in names_of[:1])
        readers = tuple(_readers(list(names_of), with_ours=False))
        yield Support(title, files, False, False, False, readers)


def _readers(names: list[str], *, with_ours: bool) -> Iterator[str]:
    for name, one in ANALYZERS.items():
        globs = one.globs if isinstance(one, CommandAnalyzer) else ()
        if (name != OUR_RULES or with_ours) and any(matches(path, globs) for path in names):
            yield name


def table() -> str:
    """The rows as a Markdown table with a final line feed."""
    rows = [
        "| language | files | targets | claims | parse check | analyzers |",
        "|---|---|:---:|:---:|:---:|---|",
    ]
    for one in support():
        marks = ("yes" if has else "-" for has in (one.targets, one.claims, one.parses))
        said = ", ".join(
            f"ast-grep ({one.rules} rules of ours)" if name == OUR_RULES else name
            for name in one.analyzers
        )
        files = " ".join(f"`{file}`" for file in one.files)
        rows.append(f"| {one.title} | {files} | {' | '.join(marks)} | {said or '-'} |")
    return "\n".join(rows) + "\n"
