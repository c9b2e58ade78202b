"""Java8G's test cases: places in Java files where a person would want a completion.

A case is cut at a trigger (a space, ``.``, ``(`` or ``@``): what stands before it is the context,
the rest of its line is expected. Files are sorted by what they are in a Spring Boot project.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

TRIGGERS = " .(@"
_SHORT = re.compile(r"[^\W\d_]+")
_SKIPPED = re.compile(r"\s*(?://|\*|/\*|import\b|package\b)")


class Category(StrEnum):
    """What a file is: by its name, and by its place for tests."""

    CONTROLLER = "controller"
    SERVICE = "service"
    TEST = "test"
    GENERIC = "generic"


@dataclass(frozen=True, slots=True)
class Case:
    """``context`` ends with the trigger; ``expected`` is the rest of the line, never blank."""

    path: str
    line: int
    category: Category
    trigger: str
    context: str
    expected: str


def category_of(path: str) -> Category:
    """The category of a file's path."""
    name = Path(path).stem.lower()
    if "/test/" in f"/{path}" or name.endswith(("test", "tests", "it")):
        return Category.TEST
    for category in (Category.CONTROLLER, Category.SERVICE):
        if category in name:
            return category
    return Category.GENERIC


def cases_of(path: str, text: str) -> list[Case]:
    """Every case of one file, in order; comments, imports and packages have none."""
    cases: list[Case] = []
    offset = 0
    for number, line in enumerate(text.split("\n"), 1):
        if not _SKIPPED.match(line):
            lead = len(line) - len(line.lstrip())
            for place in range(lead, len(line) - 1):
                expected = line[place + 1 :]
                if line[place] in TRIGGERS and expected.strip():
                    context = text[: offset + place + 1]
                    cases.append(
                        Case(path, number, category_of(path), line[place], context, expected)
                    )
        offset += len(line) + 1
    return cases


def sample_cases(files: Iterable[tuple[str, str]], size: int, seed: int = 1) -> list[Case]:
    """At most ``size`` cases of (path, text) files, drawn evenly over all, in a fixed order."""
    every = [case for path, text in files for case in cases_of(path, text)]
    if len(every) <= size:
        return every
    rng = random.Random(seed)  # noqa: S311 - a sample, not a secret
    return [every[place] for place in sorted(rng.sample(range(len(every)), size))]


def long_suggestion(generated: str) -> str:
    """What was generated, up to the end of its first line."""
    return generated.split("\n", 1)[0]


def short_suggestion(generated: str) -> str:
    """The first alphabetic part of the long suggestion, with what stands before it."""
    line = long_suggestion(generated)
    found = _SHORT.search(line)
    return line[: found.end()] if found else line


def java_files(folder: Path) -> Sequence[tuple[str, str]]:
    """The (path, text) of every Java file below a folder that is UTF-8, in order."""
    files: list[tuple[str, str]] = []
    for path in sorted(folder.rglob("*.java")):
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        files.append((path.relative_to(folder).as_posix(), text))
    return files
