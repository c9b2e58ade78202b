"""Claims about statements that were added, removed, or put under something new."""

from __future__ import annotations

from models.crscore.claims.conditions import condition_words
from models.crscore.claims.edits import flat
from models.crscore.claims.reading import Reading
from models.crscore.claims.units import DOCSTRING, EXPRESSION, FUNCTION, TYPE, Unit
from models.crscore.claims.values import (
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
    join,
    prose,
    quote,
    string_value,
)
from models.syntax.fragment import PLACEHOLDER
from models.syntax.language import Role

_BODY = 3


def _where(reading: Reading, unit: Unit, word: str = "in") -> str:
    return reading.place(unit).inside(word)


def _subject(reading: Reading, unit: Unit) -> str:
    nearest = reading.place(unit).function
    return f"The {nearest}" if nearest else "The code"


def _when(reading: Reading, unit: Unit) -> str:
    """ " when `cond`" for a unit that an added condition guards."""
    for parent, branch in reversed(unit.parents):
        if parent.kind in (FUNCTION, TYPE):
            break
        if parent.kind == Role.IF.value or (parent.kind == Role.ELSE.value and _if_of(parent)):
            condition = condition_words(parent.node, reading.row)
            if not condition or PLACEHOLDER in condition:
                break
            return f" unless {condition}" if branch == "alternative" else f" when {condition}"
        if parent.kind == Role.CATCH.value:
            name = caught(parent.node, reading.row)
            return f" when {quote(name)} is caught" if name else " when an exception is caught"
    return ""


def _if_of(unit: Unit) -> bool:
    return "if" in unit.tokens[:2] or "elif" in unit.tokens[:1]


def _said_of(units: list[Unit], reading: Reading) -> str:
    """What a body does, in one phrase: "calls `a` and returns `b`"."""
    phrases: list[str] = []
    for unit in units:
        phrase = outcome(unit, reading.row, brief=len(units) > 1)
        if phrase and phrase not in phrases:
            phrases.append(phrase)
    if len(phrases) > _BODY:
        phrases = [*phrases[: _BODY - 1], phrases[-1]]
    return join(phrases)


def _body(unit: Unit, alternative: bool = False) -> list[Unit]:
    return [
        inner
        for inner in unit.inner
        if (_branch(inner) == "alternative") is alternative
        and inner.kind not in (Role.COMMENT.value, Role.ELSE.value)
    ]


def _branch(unit: Unit) -> str:
    return unit.parents[-1][1] if unit.parents else ""


def added_if(reading: Reading, unit: Unit) -> None:
    """A new condition: what it guards that was there before, or what happens under it."""
    shown = condition_words(unit.node, reading.row)
    if not shown:
        return
    kept = [u for u in _body(unit) if reading.alignment.counterpart(u) is not None]
    where = _where(reading, unit)
    subject = _subject(reading, unit)
    if kept:
        what = _said_of(kept, reading)
        reading.say(
            f"The new condition {shown} was added{where}, so that the code {what} only then."
            if what
            else f"The existing code is now guarded by the new condition {shown}{where}.",
            89,
            unit,
        )
        reading.say(
            f"When {shown} does not hold, that code no longer runs.",
            48,
            unit,
        )
        for inner in kept:
            reading.finish(inner)
    else:
        reading.say(
            f"{subject} now checks whether {shown}."
            if where
            else f"A check was added whether {shown}.",
            86,
            unit,
        )
        what = _said_of(_body(unit), reading)
        if what:
            reading.say(f"When {shown}, the code now {what}.", 84, unit)
        for inner in _body(unit):
            if outcome(inner, reading.row):
                reading.finish(inner)
    other = _said_of(
        [u for e in unit.inner if e.kind == Role.ELSE.value and not _if_of(e) for u in e.inner]
        or _body(unit, alternative=True),
        reading,
    )
    if other:
        reading.say(f"Otherwise, when {shown} does not hold, the code {other}.", 60, unit)
    reading.finish(unit)


def added_loop(reading: Reading, unit: Unit) -> None:
    """A new loop and what it does each time."""
    node = unit.node
    over = node.child_by_field_name("right") or node.child_by_field_name("value")
    condition = node.child_by_field_name("condition")
    kept = [u for u in _body(unit) if reading.alignment.counterpart(u) is not None]
    what = _said_of(_body(unit), reading)
    tail = f" that {what}" if what else ""
    if over is not None:
        head = f"A loop over {quote(flat(over))}"
    elif condition is not None:
        head = f"A loop that runs while {condition_words(node, reading.row)}"
        tail = f" and {what}" if what else ""
    else:
        head = f"A loop {quote(unit.text)}"
    if kept:
        reading.say(f"{head} was added around existing code{_where(reading, unit)}.", 80, unit)
        for inner in kept:
            reading.finish(inner)
    else:
        reading.say(f"{head}{tail} was added{_where(reading, unit, 'to')}.", 80, unit)
    reading.finish(unit)


def added_try(reading: Reading, unit: Unit) -> None:
    """New error handling around code, or a new clause of it."""
    row = reading.row
    clauses = [u for u in unit.inner if u.kind == Role.CATCH.value]
    names = [caught(c.node, row) for c in clauses]
    shown = join([quote(name) for name in names if name]) or "exceptions"
    catches = f" that catches {shown}" if clauses else ""
    inside = [u for u in unit.inner if u.kind not in (Role.CATCH.value, Role.FINALLY.value)]
    kept = [u for u in inside if reading.alignment.counterpart(u) is not None]
    what = _said_of(kept or inside, reading)
    where = _where(reading, unit)
    if kept and what:
        reading.say(f"A try block{catches} was added{where} around the code that {what}.", 88, unit)
        reading.say(f"The code that {what} is now wrapped in a try block.", 60, unit)
        for inner in kept:
            reading.finish(inner)
    else:
        reading.say(f"A try block{catches} was added{_where(reading, unit, 'to')}.", 87, unit)
        if what:
            reading.say(f"The try block {what}.", 62, unit)
    for clause in clauses:
        added_catch(reading, clause)
    reading.finish(unit)


def added_catch(reading: Reading, unit: Unit) -> None:
    """What is done now when something is caught."""
    name = caught(unit.node, reading.row)
    subject = f"the exception {quote(name)}" if name else "an exception"
    what = _said_of(_body(unit), reading)
    inside_new = any(p.kind == Role.TRY.value and reading.is_new(p) for p, _ in unit.parents)
    if not inside_new:
        reading.say(
            f"{subject[0].upper()}{subject[1:]} is now caught{_where(reading, unit)}.", 87, unit
        )
    if what:
        reading.say(f"When {subject} is caught, the code {what}.", 82, unit)
        for inner in _body(unit):
            reading.finish(inner)
    elif not _body(unit) or all(u.kind == Role.JUMP.value for u in _body(unit)):
        reading.say(f"{subject[0].upper()}{subject[1:]} is caught and ignored.", 80, unit)
    reading.finish(unit)


def added_else(reading: Reading, unit: Unit) -> None:
    """A new branch of a condition that was there before, or of a new one."""
    if _if_of(unit):
        condition = condition_words(unit.node, reading.row)
        what = _said_of(_body(unit), reading)
        reading.say(
            f"A further condition {condition} was added to the if statement"
            f"{_where(reading, unit)}.",
            85,
            unit,
        )
        if what:
            reading.say(f"When {condition}, the code now {what}.", 83, unit)
            for inner in _body(unit):
                reading.finish(inner)
    else:
        parent = unit.parents[-1][0] if unit.parents else None
        if parent is not None and reading.is_new(parent):
            reading.finish(unit)
            return
        what = _said_of(unit.inner, reading)
        tail = f" that {what}" if what else ""
        reading.say(f"An else branch{tail} was added{_where(reading, unit, 'to')}.", 82, unit)
        for inner in unit.inner:
            reading.finish(inner)
    reading.finish(unit)


def added_case(reading: Reading, unit: Unit) -> None:
    """A new case of a switch."""
    head = unit.text.removeprefix("case ").rstrip(" :")
    what = _said_of(_body(unit), reading)
    tail = f" that {what}" if what else ""
    reading.say(f"A case for {quote(head)}{tail} was added{_where(reading, unit, 'to')}.", 84, unit)
    for inner in _body(unit):
        reading.finish(inner)
    reading.finish(unit)


def added_call(reading: Reading, unit: Unit) -> None:
    """A new call as a statement: a log, a check of a test, or work."""
    row = reading.row
    call = main_call(unit.node, row)
    if call is None:
        return added_other(reading, unit)
    level = log_level(call, row)
    when = _when(reading, unit)
    if level:
        message = log_message(call, row)
        if level in PRINTS:
            reading.say(f"{_subject(reading, unit)} now prints {message}{when}.", 72, unit)
            return None
        reading.say(
            f"A log message {message} at the level {quote(level)} was added"
            f"{_where(reading, unit, 'to')}{when}.",
            72,
            unit,
        )
    elif is_assertion(call, row):
        reading.say(
            f"A new assertion {quote(flat(call), 120)} was added{_where(reading, unit, 'to')}.",
            78,
            unit,
        )
    else:
        reading.say(
            f"{_subject(reading, unit)} now calls {call_phrase(call, row)}{when}.", 76, unit
        )
    return None


def added_value(reading: Reading, unit: Unit) -> None:
    """A new variable, field or assignment."""
    row = reading.row
    found = assigned(unit.node, row)
    if not found:
        return added_other(reading, unit)
    when = _when(reading, unit)
    place = reading.place(unit)
    for name, kind, value in found[:4]:
        typed = f" of type {quote(kind, 50)}" if kind and kind not in ("var", "auto") else ""
        shown = value_phrase(value, row)
        in_type = is_field(unit) or unit.around(FUNCTION, TYPE) is unit.around(TYPE) is not None
        words = [t for t in unit.tokens[:6] if t in _FIELD_WORDS]
        plain = name.isidentifier() or name.startswith("$")
        if plain and (unit.kind == Role.DECLARATION.value or in_type or not place.function):
            word = "field" if in_type else "constant" if _constant(name, words) else "variable"
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
                f"{quote(name)} is now set to {shown}{_where(reading, unit)}{when}."
                if shown
                else f"The code {quote(flat(unit.node))} was added{_where(reading, unit, 'to')}."
            )
            reading.say(text, 75, unit)
    return None


_FIELD_WORDS = frozenset(
    {"private", "public", "protected", "static", "final", "readonly", "volatile", "const"}
)


def _constant(name: str, words: list[str]) -> bool:
    return (name.isupper() and len(name) > 1) or "const" in words


def added_return(reading: Reading, unit: Unit) -> None:
    """A new return or throw."""
    reading.say(
        f"{_subject(reading, unit)} now {outcome(unit, reading.row)}{_when(reading, unit)}.",
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
    condition = _asserted(unit)
    reading.say(
        f"An assertion was added{_where(reading, unit, 'to')} that checks {quote(condition, 120)}.",
        79,
        unit,
    )


def _asserted(unit: Unit) -> str:
    inner = unit.node.named_children
    return flat(inner[0]) if inner else unit.text


def added_comment(reading: Reading, unit: Unit) -> None:
    """A new comment or docstring."""
    if unit.kind == DOCSTRING:
        words = string_value(unit.node)
        reading.say(
            f"A docstring was added{_where(reading, unit, 'to')}: {prose(words)}.", 62, unit
        )
    elif unit.tokens:
        reading.say(
            f"A comment was added{_where(reading, unit, 'to')}: {prose(' '.join(unit.tokens))}.",
            50,
            unit,
        )


def added_other(reading: Reading, unit: Unit) -> None:
    """Anything else that is new."""
    phrase = outcome(unit, reading.row)
    if phrase:
        reading.say(f"{_subject(reading, unit)} now {phrase}{_when(reading, unit)}.", 64, unit)
        return
    text = flat(unit.node) if unit.kind == EXPRESSION else unit.text
    if len(text) > 2:
        reading.say(
            f"The code {quote(text, 120)} was added{_where(reading, unit, 'to')}.", 52, unit
        )


def removed(reading: Reading, unit: Unit) -> None:
    """A statement that is gone."""
    row = reading.row
    where = _where(reading, unit, "from")
    subject = _subject(reading, unit)
    if unit.kind == Role.COMMENT.value:
        reading.say(f"The comment {prose(' '.join(unit.tokens))} was removed{where}.", 49, unit)
    elif unit.kind == DOCSTRING:
        reading.say(f"The docstring {prose(string_value(unit.node))} was removed{where}.", 55, unit)
    elif unit.kind in (Role.IF.value, Role.ELSE.value) and condition_text(unit.node, row):
        condition = condition_words(unit.node, row)
        reading.say(f"The check for the condition {condition} was removed{where}.", 84, unit)
        kept = [u for u in _body(unit) if reading.alignment.counterpart(u) is not None]
        what = _said_of(kept, reading)
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
        reading.say(f"{shown} is no longer caught{_where(reading, unit)}.", 83, unit)
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
    Role.IF.value: added_if,
    Role.LOOP.value: added_loop,
    Role.TRY.value: added_try,
    Role.CATCH.value: added_catch,
    Role.ELSE.value: added_else,
    Role.CASE.value: added_case,
    Role.CALL.value: added_call,
    Role.ASSIGNMENT.value: added_value,
    Role.DECLARATION.value: added_value,
    Role.RETURN.value: added_return,
    Role.THROW.value: added_return,
    Role.ASSERT.value: added_assert,
    Role.COMMENT.value: added_comment,
    DOCSTRING: added_comment,
}


def claims(reading: Reading) -> None:
    """Say what the hunk adds and removes below the level of definitions."""
    for unit in reading.alignment.added:
        if not reading.is_done(unit) and unit.kind not in (FUNCTION, TYPE):
            _ADDED.get(unit.kind, added_other)(reading, unit)
            reading.finish(unit)
    for unit in reading.alignment.removed:
        if not reading.is_done(unit) and unit.kind not in (FUNCTION, TYPE):
            removed(reading, unit)
            reading.finish(unit)
