"""Claims about statements that were added, removed, or put under something new."""

from __future__ import annotations

from models.crscore.claims import blocks, comments
from models.crscore.claims.blocks import body_of, said_of, subject_of, when_of, where_is
from models.crscore.claims.conditions import condition_words
from models.crscore.claims.reading import MOST_UNITS, Reading
from models.crscore.claims.texts import flat
from models.crscore.claims.units import DOCSTRING, EXPRESSION, FUNCTION, TYPE, Unit
from models.crscore.claims.values import (
    FIELD_WORDS,
    PRINTS,
    assigned,
    caught,
    is_assertion,
    is_field,
    log_level,
    log_message,
    main_call,
    outcome,
    returned,
    thrown,
    value_phrase,
)
from models.crscore.claims.wording import (
    call_phrase,
    callee,
    condition_text,
    number,
    quote,
)
from models.syntax.language import Role


def added_call(reading: Reading, unit: Unit) -> None:
    """A new call as a statement: a log, a check of a test, or work."""
    row = reading.row
    call = main_call(unit.node, row)
    if call is None:
        return added_other(reading, unit)
    level = log_level(call, row)
    when = when_of(reading, unit)
    if level:
        message = log_message(call, row)
        if level in PRINTS:
            reading.say(f"{subject_of(reading, unit)} now prints {message}{when}.", 72, unit)
            return None
        reading.say(
            f"A log message {message} at the level {quote(level)} was added"
            f"{where_is(reading, unit, 'to')}{when}.",
            72,
            unit,
        )
    elif is_assertion(call, row):
        reading.say(
            f"A new assertion {quote(flat(call), 120)} was added{where_is(reading, unit, 'to')}.",
            78,
            unit,
        )
    else:
        reading.say(
            f"{subject_of(reading, unit)} now calls {call_phrase(call, row)}{when}.", 76, unit
        )
    return None


def added_value(reading: Reading, unit: Unit) -> None:
    """A new variable, field or assignment."""
    row = reading.row
    found = assigned(unit.node, row)
    if not found:
        return added_other(reading, unit)
    when = when_of(reading, unit)
    place = reading.place(unit)
    for name, kind, value in found[:4]:
        typed = f" of type {quote(kind, 50)}" if kind and kind not in ("var", "auto") else ""
        shown = value_phrase(value, row)
        in_type = is_field(unit) or unit.around(FUNCTION, TYPE) is unit.around(TYPE) is not None
        words = [t for t in unit.tokens[:6] if t in FIELD_WORDS]
        plain = name.isidentifier() or name.startswith("$")
        if plain and (unit.kind == Role.DECLARATION.value or in_type or not place.function):
            fixed = _constant(name, words) or unit.node.type.startswith("const")
            word = "field" if in_type else "constant" if fixed else "variable"
            adjectives = " ".join([*words, word]) if in_type else word
            holder = place.type if in_type else place.nearest
            where = f" to the {holder}" if holder else ""
            reading.say(
                f"A new {adjectives} {quote(name)}{typed} was added{where}{when}.", 78, unit
            )
            if shown:
                reading.say(f"The new {word} {quote(name)} is set to {shown}.", 77, unit)
        else:
            text = (
                f"{quote(name)} is now set to {shown}{where_is(reading, unit)}{when}."
                if shown
                else f"The code {quote(flat(unit.node))} was added{where_is(reading, unit, 'to')}."
            )
            reading.say(text, 75, unit)
    return None


def _constant(name: str, words: list[str]) -> bool:
    return (name.isupper() and len(name) > 1) or "const" in words


def added_return(reading: Reading, unit: Unit) -> None:
    """A new return or throw."""
    reading.say(
        f"{subject_of(reading, unit)} now {outcome(unit, reading.row)}{when_of(reading, unit)}.",
        82,
        unit,
    )
    if unit.kind == Role.THROW.value:
        name = thrown(unit, reading.row)[0]
        function = unit.around(FUNCTION)
        if name and function is not None and function.definition is not None:
            reading.say(
                f"Callers of {quote(function.definition.name)} must now expect {quote(name)}.",
                44,
                unit,
            )


def added_assert(reading: Reading, unit: Unit) -> None:
    """A new assert statement."""
    where = where_is(reading, unit, "to")
    reading.say(
        f"An assertion was added{where} that checks {quote(_asserted(unit), 120)}.", 79, unit
    )


def _asserted(unit: Unit) -> str:
    inner = unit.node.named_children
    return flat(inner[0]) if inner else unit.text


def added_other(reading: Reading, unit: Unit) -> None:
    """Anything else that is new."""
    phrase = outcome(unit, reading.row)
    if phrase:
        reading.say(f"{subject_of(reading, unit)} now {phrase}{when_of(reading, unit)}.", 64, unit)
        return
    text = flat(unit.node) if unit.kind == EXPRESSION else unit.text
    if len(text) > 2:
        reading.say(
            f"The code {quote(text, 120)} was added{where_is(reading, unit, 'to')}.", 52, unit
        )


def removed(reading: Reading, unit: Unit) -> None:
    """A statement that is gone."""
    row = reading.row
    if unit.tokens == ("pass",):
        return
    where = where_is(reading, unit, "from")
    subject = subject_of(reading, unit)
    if unit.kind in (Role.COMMENT.value, DOCSTRING):
        comments.removed(reading, unit)
    elif unit.kind in (Role.IF.value, Role.ELSE.value) and condition_text(unit.node, row):
        condition = condition_words(unit.node, row)
        reading.say(f"The check for the condition {condition} was removed{where}.", 84, unit)
        kept = [u for u in body_of(unit) if reading.alignment.counterpart(u) is not None]
        what = said_of(kept, reading)
        if what:
            reading.say(f"The code now {what} whether or not {condition}.", 58, unit)
    elif unit.kind == Role.ASSERT.value:
        condition = _asserted(unit)
        reading.say(
            f"The assertion that checks {quote(condition, 120)} was removed{where}.", 80, unit
        )
        reading.say(f"It is no longer checked that {quote(condition, 120)}.", 52, unit)
    elif unit.kind == Role.TRY.value:
        reading.say(f"The try block was removed{where}.", 84, unit)
    elif unit.kind == Role.CATCH.value:
        name = caught(unit.node, row)
        shown = f"The exception {quote(name)}" if name else "An exception"
        reading.say(f"{shown} is no longer caught{where_is(reading, unit)}.", 83, unit)
    elif unit.kind == Role.LOOP.value:
        reading.say(f"The loop {quote(unit.text)} was removed{where}.", 78, unit)
    elif unit.kind == Role.RETURN.value:
        value = returned(unit)
        shown = f" {quote(value)}" if value else " there"
        reading.say(f"{subject} no longer returns{shown}.", 79, unit)
    elif unit.kind == Role.THROW.value:
        name = thrown(unit, row)[0]
        verb = "raises" if row.name in ("python", "ruby") else "throws"
        reading.say(
            f"{subject} no longer {verb} {quote(name) if name else 'the exception'}.", 79, unit
        )
    elif unit.kind in (Role.ASSIGNMENT.value, Role.DECLARATION.value) and assigned(unit.node, row):
        name = assigned(unit.node, row)[0][0]
        word = "field" if is_field(unit) else "variable"
        if unit.kind == Role.DECLARATION.value:
            reading.say(f"The {word} {quote(name)} was removed{where}.", 76, unit)
        else:
            reading.say(f"The assignment to {quote(name)} was removed{where}.", 74, unit)
    elif (call := main_call(unit.node, row)) is not None:
        if log_level(call, row):
            message = log_message(call, row) or quote(flat(call))
            reading.say(f"The log message {message} was removed{where}.", 70, unit)
        elif is_assertion(call, row):
            reading.say(f"The assertion {quote(flat(call), 120)} was removed{where}.", 76, unit)
        else:
            reading.say(f"The call to {call_phrase(call, row)} was removed{where}.", 74, unit)
            reading.say(f"{subject} no longer calls {quote(callee(call, row))}.", 46, unit)
    elif len(unit.text) > 2:
        reading.say(f"The code {quote(flat(unit.node), 120)} was removed{where}.", 50, unit)


_ADDED = {
    Role.IF.value: blocks.added_if,
    Role.LOOP.value: blocks.added_loop,
    Role.TRY.value: blocks.added_try,
    Role.CATCH.value: blocks.added_catch,
    Role.ELSE.value: blocks.added_else,
    Role.SWITCH.value: blocks.added_switch,
    Role.CASE.value: blocks.added_case,
    Role.CALL.value: added_call,
    Role.ASSIGNMENT.value: added_value,
    Role.DECLARATION.value: added_value,
    Role.RETURN.value: added_return,
    Role.THROW.value: added_return,
    Role.ASSERT.value: added_assert,
    Role.COMMENT.value: comments.added,
    DOCSTRING: comments.added,
}


def _count_fields(reading: Reading) -> None:
    """How many fields came to one type, where there are several."""
    fields = [
        unit
        for unit in reading.alignment.added
        if unit.kind in (Role.DECLARATION.value, Role.ASSIGNMENT.value)
        and not reading.is_done(unit)
        and not reading.place(unit).function
        and assigned(unit.node, reading.row)
    ]
    places = {reading.place(unit).type for unit in fields}
    if len(fields) > 1 and len(places) == 1 and all(places):
        reading.say(
            f"{number(len(fields))} new fields were added to the {places.pop()}.", 70, fields[0]
        )


def claims(reading: Reading) -> None:
    """Say what the hunk adds and removes below the level of definitions."""
    _count_fields(reading)
    for unit in reading.alignment.added[:MOST_UNITS]:
        if not reading.is_done(unit) and unit.kind not in (FUNCTION, TYPE):
            _ADDED.get(unit.kind, added_other)(reading, unit)
            reading.finish(unit)
    for unit in reading.alignment.removed[:MOST_UNITS]:
        if not reading.is_done(unit) and unit.kind not in (FUNCTION, TYPE):
            removed(reading, unit)
            reading.finish(unit)
