"""Claims about definitions: functions, types, parameters, modifiers, decorators, bases."""

from __future__ import annotations

import re

import tree_sitter

from models.crscore.claims.comments import doc_words, first_sentence
from models.crscore.claims.conditions import condition_words
from models.crscore.claims.parameters import parameter_claims
from models.crscore.claims.reading import Reading
from models.crscore.claims.texts import flat
from models.crscore.claims.units import DOCSTRING, FUNCTION, TYPE, Unit
from models.crscore.claims.values import assigned, log_level, outcome, returned, thrown
from models.crscore.claims.wording import (
    call_phrase,
    callee,
    calls_in,
    join,
    number,
    parameter_names,
    prose,
    quote,
    quoted,
)
from models.syntax.definitions import Definition, Parameter
from models.syntax.language import Role

_TEST = re.compile(r"^(?:test|Test|should|it_)|(?:Test|_test)$")
_EMPTY_TYPES = frozenset({"", "void", "None", "Unit", "unit"})


def is_test(definition: Definition) -> bool:
    """Whether a function is a test by its name."""
    return not definition.is_type and bool(_TEST.search(definition.name))


def summary(unit: Unit, reading: Reading, units: list[Unit]) -> str:
    """The first sentence of a definition's documentation, "" where it has none."""
    for inner in unit.inner:
        if inner.kind == DOCSTRING:
            return first_sentence(doc_words(inner))
    at = unit.index - 1
    if at >= 0 and units[at].kind == Role.COMMENT.value:
        reading.finish(units[at])
    if at >= 0 and units[at].kind == Role.COMMENT.value and unit.rows[0] - units[at].rows[1] <= 1:
        return first_sentence(list(units[at].tokens))
    return ""


def _inner_units(unit: Unit) -> list[Unit]:
    found: list[Unit] = []
    stack = list(reversed(unit.inner))
    while stack:
        here = stack.pop()
        found.append(here)
        if here.kind not in (FUNCTION, TYPE):
            stack.extend(reversed(here.inner))
    return found


def _parameter(parameter: Parameter) -> str:
    default = f" with default {quote(parameter.default, 50)}" if parameter.default else ""
    return f"{quote(parameter.name)}{default}"


def added_function(reading: Reading, unit: Unit, definition: Definition) -> None:
    """A function that is new: that it is, what it takes, returns, raises and calls."""
    phrase = reading.phrase(unit)
    word = "test" if is_test(definition) else reading.kind(unit)
    place = reading.place(unit)
    holder = place.type or place.function
    where = f" to the {holder}" if holder else ""
    reading.say(f"A new {word} {quote(definition.name)} was added{where}.", 95, unit)
    names = parameter_names(p.name for p in definition.parameters)
    if names:
        parameters = [p for p in definition.parameters if p.name in names]
        count = "the parameter" if len(names) == 1 else f"{number(len(names)).lower()} parameters:"
        reading.say(
            f"The {phrase} takes {count} {join([_parameter(p) for p in parameters[:6]])}.", 84, unit
        )
    about = summary(unit, reading, reading.new)
    if about:
        reading.say(f"The {phrase} is documented: {prose(about)}.", 79, unit)
    _behaviour(reading, unit, definition, phrase)
    reading.finish(unit, inner=True)


def _behaviour(reading: Reading, unit: Unit, definition: Definition, phrase: str) -> None:
    row = reading.row
    inner = _inner_units(unit)
    called: list[str] = []
    said = 0
    for here in inner:
        guard = reading.guard(here)
        when = f" when {guard}" if guard else ""
        if here.kind == Role.RETURN.value and returned(here):
            reading.say(f"The {phrase} {outcome(here, row)}{when}.", 82 - said, here)
            said += 1
        elif here.kind == Role.THROW.value and thrown(here, row)[0]:
            reading.say(f"The {phrase} {outcome(here, row)}{when}.", 81, here)
        elif here.kind in (Role.CALL.value, Role.ASSIGNMENT.value, Role.DECLARATION.value):
            for call in calls_in(here.node, row, 3):
                name = callee(call, row)
                if name not in called and not log_level(call, row):
                    called.append(name)
    if len(called) == 1:
        call = next(
            c for u in inner for c in calls_in(u.node, row, 3) if callee(c, row) == called[0]
        )
        reading.say(f"The {phrase} calls {call_phrase(call, row)}.", 78, unit)
    elif called:
        reading.say(f"The {phrase} calls {quoted(called)}.", 76, unit)
    if not said and definition.returns not in _EMPTY_TYPES and definition.kind != "constructor":
        reading.say(f"The {phrase} returns a value of type {quote(definition.returns)}.", 70, unit)
    checks = [u for u in inner if u.kind == Role.IF.value]
    for here in checks[:2]:
        condition = condition_words(here.node, row)
        if condition:
            reading.say(f"The {phrase} checks whether {condition}.", 72, here)


def added_type(reading: Reading, unit: Unit, definition: Definition) -> None:
    """A type that is new: that it is, what it extends, its members."""
    phrase = f"{definition.kind} {quote(definition.name)}"
    base = _bases(unit)
    tail = f" that extends {quote(base)}" if base else ""
    where = reading.place(unit).inside("to")
    reading.say(f"A new {phrase}{tail} was added{where}.", 96, unit)
    about = summary(unit, reading, reading.new)
    if about:
        reading.say(f"The {phrase} is documented: {prose(about)}.", 80, unit)
    methods = [
        u.definition.name
        for u in unit.inner
        if u.kind == FUNCTION and u.definition and u.definition.kind != "constructor"
    ]
    fields = [
        name
        for u in unit.inner
        if u.kind in (Role.DECLARATION.value, Role.ASSIGNMENT.value)
        for name in [_declared_name(u, reading)]
        if name
    ]
    if methods:
        word = "method" if len(methods) == 1 else "methods"
        reading.say(f"The {phrase} has the {word} {quoted(methods, 6)}.", 82, unit)
    if fields:
        word = "field" if len(fields) == 1 else "fields"
        reading.say(f"The {phrase} has the {word} {quoted(fields, 6)}.", 81, unit)
    for inner in unit.inner:
        if inner.definition is not None and inner.kind == FUNCTION and len(methods) <= 2:
            added_function(reading, inner, inner.definition)
    reading.finish(unit, inner=True)


def _declared_name(unit: Unit, reading: Reading) -> str:
    found = assigned(unit.node, reading.row)
    return found[0][0] if found else ""


def _bases(unit: Unit) -> str:
    node = unit.definition_node
    if node is None:
        return ""
    for name in ("superclasses", "superclass", "extend", "bases"):
        found = node.child_by_field_name(name)
        if found is not None:
            return re.sub(r"^(?:extends|<|:)\s*", "", flat(found)).strip("()")
    for child in node.named_children:
        if child.type in ("class_heritage", "base_list", "base_class_clause", "base_clause"):
            return re.sub(r"^(?:extends|:|public)\s*", "", flat(child)).strip()
    return ""


def removed_definition(reading: Reading, unit: Unit, definition: Definition) -> None:
    """A definition that is gone, and what that means for those who used it."""
    word = "test" if is_test(definition) else reading.kind(unit)
    where = reading.place(unit).inside("from")
    reading.say(f"The {word} {quote(definition.name)} was removed{where}.", 94, unit)
    if not is_test(definition):
        reading.say(f"Code that still uses {quote(definition.name)} breaks.", 50, unit)
    reading.finish(unit, inner=True)


def changed_definition(reading: Reading, old: Unit, new: Unit) -> None:
    """A definition on both sides: its name, parameters, result, bases, modifiers, decorators."""
    was, now = old.definition, new.definition
    if was is None or now is None:
        return
    if bool(was.name) != bool(now.name):
        return  # one side's head is made up around the piece: it is not the other's
    phrase = reading.phrase(new)
    before = len(reading.said)
    if was.name != now.name:
        reading.say(
            f"The {reading.kind(new)} {quote(was.name)} was renamed to {quote(now.name)}"
            f"{reading.place(new).inside()}.",
            93,
            new,
        )
        reading.say(
            f"Callers that use the old name {quote(was.name)} must be updated to {quote(now.name)}."
            if not now.is_type
            else f"Code that uses the old name {quote(was.name)} breaks.",
            56,
            new,
        )
    if not now.is_type:
        parameter_claims(reading, was, now, phrase, new)
        if was.returns != now.returns and now.kind != "constructor":
            _returns(reading, was, now, phrase, new)
    elif _bases(old) != _bases(new):
        gone, came = _bases(old), _bases(new)
        if gone and came:
            reading.say(
                f"The {phrase} now extends {quote(came)} instead of {quote(gone)}.", 86, new
            )
        elif came:
            reading.say(f"The {phrase} now extends {quote(came)}.", 86, new)
        else:
            reading.say(f"The {phrase} no longer extends {quote(gone)}.", 86, new)
    _throws_claims(reading, old, new, phrase)
    _modifier_claims(reading, old, new, phrase)
    if len(reading.said) == before and was.signature != now.signature:
        reading.say(
            f"The signature of the {phrase} was changed from {quote(was.signature, 120)} to "
            f"{quote(now.signature, 120)}.",
            84,
            new,
        )
    reading.finish(old)
    reading.finish(new)


def _throws_claims(reading: Reading, old: Unit, new: Unit, phrase: str) -> None:
    """What a method declares to throw."""
    was, now = _throws(old), _throws(new)
    for name in now:
        if name not in was:
            reading.say(f"The {phrase} now declares that it throws {quote(name)}.", 85, new)
            reading.say(f"Callers must now handle {quote(name)}.", 43, new)
    for name in was:
        if name not in now:
            reading.say(f"The {phrase} no longer declares that it throws {quote(name)}.", 85, new)


def _throws(unit: Unit) -> list[str]:
    node = unit.definition_node
    found = next((c for c in node.named_children if c.type == "throws"), None) if node else None
    return [flat(child) for child in found.named_children] if found is not None else []


def _returns(reading: Reading, was: Definition, now: Definition, phrase: str, unit: Unit) -> None:
    if was.returns and now.returns:
        reading.say(
            f"The return type of the {phrase} was changed from {quote(was.returns)} to "
            f"{quote(now.returns)}.",
            85,
            unit,
        )
        called = quote(now.name) if now.name else f"the {phrase}"
        reading.say(f"Callers of {called} now receive {quote(now.returns)}.", 45, unit)
    elif now.returns:
        reading.say(f"The {phrase} now has the return type {quote(now.returns)}.", 80, unit)
    else:
        reading.say(f"The return type {quote(was.returns)} of the {phrase} was removed.", 80, unit)


def _heads(unit: Unit, reading: Reading) -> tuple[list[str], list[str]]:
    """Decorators and modifiers of a definition, as written."""
    decorators: list[str] = []
    modifiers: list[str] = []
    stack: list[tree_sitter.Node] = [unit.node]
    while stack:
        node = stack.pop()
        role = reading.role(node)
        if role is Role.DECORATOR:
            decorators.append(flat(node))
        elif role in (Role.BLOCK, Role.PARAMETERS, Role.STRING, Role.CALL):
            continue
        elif role is Role.MODIFIER and node.named_child_count == 0:
            modifiers += flat(node).split()
        elif not node.is_named and node.type in _WORDS:
            modifiers.append(node.type)
        else:
            stack.extend(reversed(node.children))
    return decorators, modifiers


_WORDS = frozenset(
    {"async", "static", "public", "private", "protected", "final", "abstract", "export"}
    | {"default", "synchronized", "pub", "unsafe", "const", "override", "volatile", "readonly"}
    | {"virtual", "inline", "constexpr", "explicit", "noexcept"}
)


def _modifier_claims(reading: Reading, old: Unit, new: Unit, phrase: str) -> None:
    decorated, modified = _heads(new, reading)
    was_decorated, was_modified = _heads(old, reading)
    word = "decorator" if reading.row.indented else "annotation"
    arrived = [text for text in decorated if text not in was_decorated]
    departed = [text for text in was_decorated if text not in decorated]
    for text in list(arrived):
        head = text.split("(")[0]
        same = next((other for other in departed if other.split("(")[0] == head), None)
        if same is not None:
            reading.say(
                f"The {word} {quote(same)} of the {phrase} was changed to {quote(text)}.", 86, new
            )
            arrived.remove(text)
            departed.remove(same)
    for text in arrived:
        reading.say(f"The {word} {quote(text)} was added to the {phrase}.", 86, new)
    for text in departed:
        reading.say(f"The {word} {quote(text)} was removed from the {phrase}.", 86, new)
    access = {"public", "private", "protected"}
    less = [m for m in was_modified if m not in modified]
    more = [m for m in modified if m not in was_modified]
    if set(less) & access and set(more) & access:
        gone, came = next(m for m in less if m in access), next(m for m in more if m in access)
        reading.say(f"The {phrase} was changed from {gone} to {came}.", 85, new)
        less.remove(gone)
        more.remove(came)
    for text in more:
        reading.say(f"The {phrase} is now {text}.", 84, new)
        if text == "async":
            reading.say("Callers must now await its result.", 40, new)
    for text in less:
        reading.say(f"The {phrase} is no longer {text}.", 84, new)


def claims(reading: Reading) -> None:
    """Say what the hunk does to definitions."""
    # A head made up around a piece has no name: it came and went with the piece, not with an edit.
    for unit in reading.alignment.added:
        if unit.definition is None or not unit.definition.name or reading.is_done(unit):
            continue
        if unit.kind == TYPE:
            added_type(reading, unit, unit.definition)
        elif unit.kind == FUNCTION:
            added_function(reading, unit, unit.definition)
    for unit in reading.alignment.removed:
        if unit.definition is not None and unit.definition.name and not reading.is_done(unit):
            removed_definition(reading, unit, unit.definition)
    for old, new in reading.alignment.changed:
        if old.kind in (FUNCTION, TYPE) and new.kind in (FUNCTION, TYPE):
            changed_definition(reading, old, new)
