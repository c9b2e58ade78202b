"""Faults made on purpose: a right window, one line of it spoiled, and the edit that mends it.

Small histories teach a small model little about what is wrong with code; spoiling right code
teaches it exactly that, and to copy the rest of the line. The faults are those that reviewers
find: a misspelled name, a wrong variable, an operator turned round, a negation lost, arguments
swapped, a constant off by one, an await or a self lost, a line doubled.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{2,}")
_KEYWORDS = frozenset(
    word
    for row in (
        "and as assert async await break case catch class const continue def default del delete",
        "do else elif enum except export extends false final finally float for from func function",
        "global if impl implements import in instanceof int interface is lambda let long match mut",
        "new nil none not null or package pass private protected public pub raise return self",
        "static str string struct super switch this throw throws true try type typeof use val var",
        "void while with yield boolean bool char double None True False String fun fn then end",
        "require unsigned size_t",
    )
    for word in row.split()
)
_SWAPS: tuple[tuple[str, str], ...] = (
    (" == ", " != "),
    (" === ", " !== "),
    (" < ", " <= "),
    (" > ", " >= "),
    (" < ", " > "),
    (" <= ", " >= "),
    (" && ", " || "),
    (" and ", " or "),
    (" + ", " - "),
    (" += ", " -= "),
    (" is not None", " is None"),
    (" != null", " == null"),
    (" != nil", " == nil"),
    ("True", "False"),
    ("true", "false"),
    (" in ", " not in "),
    ("min(", "max("),
    (".lower(", ".upper("),
    ("startswith(", "endswith("),
    ("startsWith(", "endsWith("),
    (".append(", ".extend("),
    (".first", ".last"),
)
_DROPS = ("not ", "!", "await ", "self.", "this.", "return ", "async ", "new ", "static ", "final ")
_ARGUMENTS = re.compile(r"\(([A-Za-z_][\w.]*), ([A-Za-z_][\w.]*)(?=[,)])")
_NUMBER = re.compile(r"(?<![\w.])\d{1,3}(?![\w.])")

Corruption = Callable[[str, Sequence[str], random.Random], str | None]


def _pick(rng: random.Random, matches: list[re.Match[str]]) -> re.Match[str] | None:
    return rng.choice(matches) if matches else None


def _splice(line: str, match: re.Match[str], text: str) -> str:
    return line[: match.start()] + text + line[match.end() :]


def _names(line: str) -> list[re.Match[str]]:
    return [m for m in _NAME.finditer(line) if m.group() not in _KEYWORDS]


def _misspell(line: str, window: Sequence[str], rng: random.Random) -> str | None:
    # only a name that stands elsewhere too: else nothing in the window tells the right spelling
    text = "\n".join(window)
    names = [m for m in _names(line) if len(m.group()) > 4 and text.count(m.group()) > 1]
    match = _pick(rng, names)
    if match is None:
        return None
    name = match.group()
    at = rng.randrange(1, len(name) - 1)
    wrong = rng.choice(
        (
            name[:at] + name[at + 1 :],
            name[:at] + name[at] + name[at:],
            name[:at] + name[at + 1] + name[at] + name[at + 2 :],
        )
    )
    return _splice(line, match, wrong) if wrong != name else None


def _misuse(line: str, window: Sequence[str], rng: random.Random) -> str | None:
    match = _pick(rng, _names(line))
    others = {m.group() for row in window for m in _names(row)}
    if match is None:
        return None
    choices = sorted(others - {match.group()})
    return _splice(line, match, rng.choice(choices)) if choices else None


def _swap(line: str, _window: Sequence[str], rng: random.Random) -> str | None:
    pairs = [(a, b) for one, two in _SWAPS for a, b in ((one, two), (two, one)) if a in line]
    # " is None" stands inside " is not None" the other way round only as text, not as a fault
    pairs = [(a, b) for a, b in pairs if not (a == " in " and " not in " in line)]
    if not pairs:
        return None
    old, new = rng.choice(pairs)
    starts = [m.start() for m in re.finditer(re.escape(old), line)]
    at = rng.choice(starts)
    return line[:at] + new + line[at + len(old) :]


def _drop(line: str, _window: Sequence[str], rng: random.Random) -> str | None:
    found = [word for word in _DROPS if word in line and f"{word}=" not in line]
    if not found:
        return None
    return line.replace(rng.choice(found), "", 1)


def _arguments(line: str, _window: Sequence[str], rng: random.Random) -> str | None:
    match = _pick(rng, list(_ARGUMENTS.finditer(line)))
    if match is None or match.group(1) == match.group(2):
        return None
    return _splice(line, match, f"({match.group(2)}, {match.group(1)}")


def _number(line: str, _window: Sequence[str], rng: random.Random) -> str | None:
    match = _pick(rng, list(_NUMBER.finditer(line)))
    if match is None:
        return None
    return _splice(line, match, str(max(0, int(match.group()) + rng.choice((-1, 1)))))


CORRUPTIONS: tuple[tuple[Corruption, float], ...] = (
    (_misspell, 3.0),
    (_misuse, 2.0),
    (_swap, 3.0),
    (_drop, 2.0),
    (_arguments, 1.0),
    (_number, 0.5),
)
_DOUBLED = 0.06


def corrupt(
    window: Sequence[str], candidates: Sequence[int], rng: random.Random
) -> tuple[list[str], int, int] | None:
    """Spoil one of the candidate lines of a window.

    Returns:
        The spoiled window and the range ``first..end`` of its lines that the mending edit
        replaces by the right line (for a doubled line: by nothing), or ``None`` where no fault
        fits.
    """
    order = list(candidates)
    rng.shuffle(order)
    for index in order[:4]:
        line = window[index]
        if not line.strip() or line.lstrip().startswith(("#", "//", "*", "/*", "<!--")):
            continue
        if rng.random() < _DOUBLED and len(line.strip()) > 8:
            return [*window[: index + 1], line, *window[index + 1 :]], index + 1, index + 2
        kinds, weights = zip(*CORRUPTIONS, strict=True)
        for kind in rng.choices(kinds, weights, k=3):
            wrong = kind(line, window, rng)
            if wrong is not None and wrong != line and wrong.strip():
                return [*window[:index], wrong, *window[index + 1 :]], index, index + 1
    return None
