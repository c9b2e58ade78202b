"""Claims about the hunk as a whole: where it is, of what kind, and whether behaviour changes."""

from __future__ import annotations

from collections import Counter

from models.crscore.claims.reading import Reading
from models.crscore.claims.units import DOCSTRING, EXPRESSION, FUNCTION, TYPE, Unit
from models.crscore.claims.values import is_assertion, is_field, log_level, main_call
from models.crscore.claims.wording import number, plural
from models.syntax.language import Role

_QUIET = frozenset({Role.COMMENT.value, DOCSTRING})
_KINDS = {
    Role.IMPORT.value: "the import statements",
    Role.IF.value: "the condition of an if statement",
    Role.ELSE.value: "a branch of an if statement",
    Role.LOOP.value: "a loop",
    Role.SWITCH.value: "a switch statement",
    Role.CASE.value: "the cases of a switch statement",
    Role.TRY.value: "the error handling",
    Role.CATCH.value: "the error handling",
    Role.FINALLY.value: "the error handling",
    Role.RETURN.value: "the return value",
    Role.THROW.value: "the exception that is thrown",
    Role.ASSERT.value: "an assertion",
    Role.COMMENT.value: "a comment",
    DOCSTRING: "the docstring",
    FUNCTION: "the signature",
    TYPE: "the declaration",
    Role.ASSIGNMENT.value: "the assignment of a variable",
    Role.DECLARATION.value: "the declaration of a variable",
    Role.WITH.value: "a block",
}


_MANY = frozenset({"the import statements", "the cases of a switch statement", "the fields"})


def _kind(reading: Reading, unit: Unit) -> str:
    call = main_call(unit.node, reading.row) if unit.kind == Role.CALL.value else None
    if call is not None:
        if log_level(call, reading.row):
            return "a log statement"
        if is_assertion(call, reading.row):
            return "an assertion of a test"
        return "a function call"
    if is_field(unit) and unit.kind != FUNCTION:
        return "the fields"
    return _KINDS.get(unit.kind, "")


def _touched(reading: Reading) -> list[Unit]:
    alignment = reading.alignment
    units = [new for _, new in alignment.changed]
    units += alignment.added
    units += alignment.removed
    return [unit for unit in units if unit.kind != EXPRESSION or len(unit.tokens) > 1]


def _lines(reading: Reading) -> None:
    """How many lines a hunk of only additions or only removals has."""
    hunk = reading.hunk
    added = [line for line in hunk.added if line.text.strip()]
    deleted = [line for line in hunk.deleted if line.text.strip()]
    if bool(added) == bool(deleted) or not reading.said:
        return
    lines, word = (added, "added to") if added else (deleted, "removed from")
    units = _touched(reading)
    place = reading.place(units[0]).nearest if units else ""
    if not place:
        return
    be = "was" if len(lines) == 1 else "were"
    reading.say(
        f"{number(len(lines))} {plural('line', len(lines))} of code {be} {word} the {place}.", 24
    )


def _location(reading: Reading) -> None:
    """Where the change is, and what kinds of statement it touches."""
    units = [new for _, new in reading.alignment.changed]
    if not units:
        return
    code = [unit for unit in units if unit.kind not in _QUIET] or units
    kinds = [
        kind for kind, _ in Counter(filter(None, (_kind(reading, u) for u in code))).most_common(2)
    ]
    places = Counter(reading.place(unit).full for unit in code)
    place, count = places.most_common(1)[0]
    if len(kinds) != 1:
        return
    if code[0].kind in (FUNCTION, TYPE):
        phrase = reading.phrase(code[0])
        if phrase and code[0].definition is not None and code[0].definition.name:
            reading.say(f"{kinds[0][0].upper()}{kinds[0][1:]} of the {phrase} was changed.", 27)
    elif place and count * 2 > len(code):
        be = "were" if kinds[0] in _MANY else "was"
        reading.say(f"{kinds[0][0].upper()}{kinds[0][1:]} in the {place} {be} changed.", 27)


def claims(reading: Reading) -> None:
    """Say what the hunk is about as a whole."""
    _location(reading)
    _lines(reading)
