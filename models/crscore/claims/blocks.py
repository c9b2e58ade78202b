"""Claims about conditions, loops and error handling that were put around or into code."""

from __future__ import annotations

from models.crscore.claims.align import similarity
from models.crscore.claims.conditions import condition_words
from models.crscore.claims.reading import Reading
from models.crscore.claims.texts import flat
from models.crscore.claims.units import FUNCTION, TYPE, Unit
from models.crscore.claims.values import caught, outcome
from models.crscore.claims.wording import condition_text, join, quote, quoted
from models.syntax.fragment import PLACEHOLDER
from models.syntax.language import Role

_BODY = 3
_SAME = 0.7


def where_is(reading: Reading, unit: Unit, word: str = "in") -> str:
    """The phrase " in the method `run`", or "" where the place is not known."""
    return reading.place(unit).inside(word)


def subject_of(reading: Reading, unit: Unit) -> str:
    """The phrase "The method `run`", or "The code" where no function is known."""
    nearest = reading.place(unit).function
    return f"The {nearest}" if nearest else "The code"


def when_of(reading: Reading, unit: Unit) -> str:
    """ " when `cond`" for a unit that an added condition guards."""
    for parent, branch in reversed(unit.parents):
        if parent.kind in (FUNCTION, TYPE):
            break
        if parent.kind == Role.IF.value or (parent.kind == Role.ELSE.value and is_else_if(parent)):
            condition = condition_words(parent.node, reading.row)
            if not condition or PLACEHOLDER in condition:
                break
            return f" unless {condition}" if branch == "alternative" else f" when {condition}"
        if parent.kind == Role.CATCH.value:
            name = caught(parent.node, reading.row)
            return f" when {quote(name)} is caught" if name else " when an exception is caught"
    return ""


def is_else_if(unit: Unit) -> bool:
    """Whether a branch has a condition of its own."""
    return "if" in unit.tokens[:2] or "elif" in unit.tokens[:1]


def said_of(units: list[Unit], reading: Reading) -> str:
    """What a body does, in one phrase: "calls `a` and returns `b`"."""
    phrases: list[str] = []
    for unit in units:
        phrase = outcome(unit, reading.row, brief=len(units) > 1)
        if phrase and phrase not in phrases:
            phrases.append(phrase)
    if len(phrases) > _BODY:
        phrases = [*phrases[: _BODY - 1], phrases[-1]]
    return join(phrases)


def body_of(unit: Unit, alternative: bool = False) -> list[Unit]:
    """The units that a block holds: of its first branch, or of the other one."""
    return [
        inner
        for inner in unit.inner
        if (branch_of(inner) == "alternative") is alternative
        and inner.kind not in (Role.COMMENT.value, Role.ELSE.value)
    ]


def branch_of(unit: Unit) -> str:
    """The field by which the unit around it holds a unit."""
    return unit.parents[-1][1] if unit.parents else ""


def _stays(reading: Reading, unit: Unit) -> bool:
    """Whether a unit was there before, saying much the same."""
    other = reading.alignment.counterpart(unit)
    return other is not None and (other.key == unit.key or similarity(other, unit) > _SAME)


def added_if(reading: Reading, unit: Unit) -> None:
    """A new condition: what it guards that was there before, or what happens under it."""
    shown = condition_words(unit.node, reading.row)
    if not shown:
        return
    kept = [u for u in body_of(unit) if _stays(reading, u)]
    where = where_is(reading, unit)
    subject = subject_of(reading, unit)
    if kept:
        what = said_of(kept, reading)
        reading.say(
            f"The new condition {shown} was added{where}, so that the code {what} only then."
            if what
            else f"The existing code is now guarded by the new condition {shown}{where}.",
            89,
            unit,
        )
        reading.say(
            f"Unless {shown}, that code no longer runs.",
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
        what = said_of(body_of(unit), reading)
        if what:
            reading.say(f"When {shown}, the code now {what}.", 84, unit)
        for inner in body_of(unit):
            if outcome(inner, reading.row):
                reading.finish(inner)
    other = said_of(
        [u for e in unit.inner if e.kind == Role.ELSE.value and not is_else_if(e) for u in e.inner]
        or body_of(unit, alternative=True),
        reading,
    )
    if other:
        for inner in unit.inner:
            if inner.kind == Role.ELSE.value and not is_else_if(inner):
                reading.finish(inner, inner=True)
        reading.say(f"Unless {shown}, the code {other}.", 60, unit)
    reading.finish(unit)


def added_loop(reading: Reading, unit: Unit) -> None:
    """A new loop and what it does each time."""
    node = unit.node
    over = node.child_by_field_name("right") or node.child_by_field_name("value")
    condition = node.child_by_field_name("condition")
    kept = [u for u in body_of(unit) if reading.alignment.counterpart(u) is not None]
    what = said_of(body_of(unit), reading)
    tail = f" that {what}" if what else ""
    if over is not None:
        head = f"A loop over {quote(flat(over))}"
    elif condition is not None:
        head = f"A loop that runs while {condition_words(node, reading.row)}"
        tail = f" and {what}" if what else ""
    else:
        head = f"A loop {quote(unit.text)}"
    if kept:
        reading.say(f"{head} was added around existing code{where_is(reading, unit)}.", 80, unit)
        for inner in kept:
            reading.finish(inner)
    else:
        reading.say(f"{head}{tail} was added{where_is(reading, unit, 'to')}.", 80, unit)
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
    what = said_of(kept or inside, reading)
    where = where_is(reading, unit)
    if kept and what:
        reading.say(f"A try block{catches} was added{where} around the code that {what}.", 88, unit)
        reading.say(f"The code that {what} is now wrapped in a try block.", 60, unit)
        for inner in kept:
            reading.finish(inner)
    else:
        reading.say(f"A try block{catches} was added{where_is(reading, unit, 'to')}.", 87, unit)
        if what:
            reading.say(f"The try block {what}.", 62, unit)
    for clause in clauses:
        added_catch(reading, clause)
    reading.finish(unit)


def added_catch(reading: Reading, unit: Unit) -> None:
    """What is done now when something is caught."""
    name = caught(unit.node, reading.row)
    subject = f"the exception {quote(name)}" if name else "an exception"
    what = said_of(body_of(unit), reading)
    inside_new = any(p.kind == Role.TRY.value and reading.is_new(p) for p, _ in unit.parents)
    if not inside_new:
        reading.say(
            f"{subject[0].upper()}{subject[1:]} is now caught{where_is(reading, unit)}.", 87, unit
        )
    if what:
        reading.say(f"When {subject} is caught, the code {what}.", 82, unit)
        for inner in body_of(unit):
            reading.finish(inner)
    elif not body_of(unit) or all(u.kind == Role.JUMP.value for u in body_of(unit)):
        reading.say(f"{subject[0].upper()}{subject[1:]} is caught and ignored.", 80, unit)
    reading.finish(unit)


def added_else(reading: Reading, unit: Unit) -> None:
    """A new branch of a condition that was there before, or of a new one."""
    if is_else_if(unit):
        condition = condition_words(unit.node, reading.row)
        what = said_of(body_of(unit), reading)
        reading.say(
            f"A further condition {condition} was added to the if statement"
            f"{where_is(reading, unit)}.",
            85,
            unit,
        )
        if what:
            reading.say(f"When {condition}, the code now {what}.", 83, unit)
            for inner in body_of(unit):
                reading.finish(inner)
    else:
        parent = unit.parents[-1][0] if unit.parents else None
        if parent is not None and reading.is_new(parent):
            reading.finish(unit)
            return
        what = said_of(unit.inner, reading)
        tail = f" that {what}" if what else ""
        reading.say(f"An else branch{tail} was added{where_is(reading, unit, 'to')}.", 82, unit)
        for inner in unit.inner:
            reading.finish(inner)
    reading.finish(unit)


def case_head(unit: Unit) -> str:
    """What a case of a switch is for."""
    found = unit.node.child_by_field_name("pattern") or unit.node.child_by_field_name("value")
    if found is None or "match_conditional" in unit.node.type:
        found = next((c for c in unit.node.named_children if c.type == "switch_label"), None)
    text = flat(found) if found is not None else unit.text
    return text.removeprefix("case ").rstrip(" :") or unit.text


def added_switch(reading: Reading, unit: Unit) -> None:
    """A new switch with its cases."""
    value = condition_text(unit.node, reading.row)
    inner = unit.node.named_children[0] if not value and unit.node.named_child_count else None
    value = value or (condition_text(inner, reading.row) if inner is not None else "")
    cases = [case_head(u) for u in unit.inner if u.kind == Role.CASE.value]
    tail = f" with cases for {quoted(cases, 6, 40)}" if cases else ""
    what = f" over {quote(value)}" if value else ""
    reading.say(f"A switch{what}{tail} was added{where_is(reading, unit, 'to')}.", 84, unit)
    for case in unit.inner:
        reading.finish(case)
    reading.finish(unit)


def added_case(reading: Reading, unit: Unit) -> None:
    """A new case of a switch."""
    head = case_head(unit)
    what = said_of([u for u in body_of(unit) if u.kind != Role.JUMP.value], reading)
    tail = f" that {what}" if what else ""
    reading.say(
        f"A case for {quote(head)}{tail} was added{where_is(reading, unit, 'to')}.", 84, unit
    )
    for inner in body_of(unit):
        reading.finish(inner)
    reading.finish(unit)
