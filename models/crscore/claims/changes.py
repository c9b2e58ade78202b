"""Claims about statements that stand on both sides with a difference inside."""

from __future__ import annotations

from collections import Counter

import tree_sitter

from models.crscore.claims.declared import first_sentence
from models.crscore.claims.edits import Edit, edits, flat, holds
from models.crscore.claims.reading import Reading
from models.crscore.claims.units import DOCSTRING, FUNCTION, TYPE, Unit, comment_words
from models.crscore.claims.values import (
    assigned,
    caught,
    is_assertion,
    log_level,
    main_call,
    outcome,
    returned,
    thrown,
    value_phrase,
)
from models.crscore.claims.wording import (
    argument_texts,
    callee,
    condition_text,
    first_string,
    prose,
    quote,
    quoted,
    string_value,
)
from models.syntax.grammar import text_of
from models.syntax.language import Role

_NAMES = frozenset(
    {"identifier", "type_identifier", "field_identifier", "property_identifier", "name"}
    | {"shorthand_property_identifier", "simple_identifier", "constant", "variable_name"}
)
_VALUES = frozenset({Role.STRING, Role.NUMBER, Role.LITERAL})
_HEADS = frozenset({Role.IF.value, Role.ELSE.value, Role.LOOP.value, Role.SWITCH.value})


def _where(reading: Reading, unit: Unit, word: str = "in") -> str:
    return reading.place(unit).inside(word)


def renames(reading: Reading, pairs: list[tuple[Unit, Unit]]) -> dict[str, str]:
    """Names that became another name throughout, told apart from single replaced words."""
    seen: Counter[tuple[str, str]] = Counter()
    gone: set[str] = set()
    kept: set[str] = set()
    for old, new in pairs:
        for edit in edits(old.node, new.node, reading.row):
            if (
                edit.old is not None
                and edit.new is not None
                and edit.old.type in _NAMES
                and edit.new.type in _NAMES
            ):
                seen[(edit.old_text, edit.new_text)] += 1
    for unit in reading.old:
        gone.update(unit.tokens)
    for unit in reading.new:
        kept.update(unit.tokens)
    found: dict[str, str] = {}
    for (was, now), count in seen.most_common():
        declared = any(
            was in names and now in others
            for old, new in pairs
            for names, others in [
                (
                    {n for n, _, _ in assigned(old.node, reading.row)},
                    {n for n, _, _ in assigned(new.node, reading.row)},
                )
            ]
        )
        if (count > 1 or declared) and was not in kept and now not in gone and was not in found:
            found[was] = now
    return found


def comment_change(reading: Reading, old: Unit, new: Unit) -> None:
    """A comment or docstring whose words changed."""
    row = reading.row
    if new.kind == DOCSTRING:
        before, after = comment_words(text_of(old.node)), comment_words(text_of(new.node))
        what = f"docstring{_where(reading, new, 'of')}"
    else:
        before, after = list(old.tokens), list(new.tokens)
        what = f"comment{_where(reading, new)}"
    added, removed = _words_between(before, after)
    if added and removed:
        reading.say(f"The {what} was changed from {prose(removed)} to {prose(added)}.", 60, new)
    elif added:
        reading.say(f"The {what} now also says {prose(added)}.", 60, new)
    elif removed:
        reading.say(f"{prose(removed)} was removed from the {what}.", 58, new)
    else:
        reading.say(f"The layout of the {what} was changed.", 30, new)
        return
    del row
    opening = first_sentence(after)
    if opening and len(" ".join(after)) > len(added):
        reading.say(f"The {what} now reads {prose(' '.join(after))}.", 42, new)


def _words_between(before: list[str], after: list[str]) -> tuple[str, str]:
    """The words that came and those that went, with two words around them as a handle."""
    start = 0
    while start < min(len(before), len(after)) and before[start] == after[start]:
        start += 1
    end = 0
    while end < min(len(before), len(after)) - start and before[-1 - end] == after[-1 - end]:
        end += 1
    first = max(start - 2, 0)
    new_last, old_last = len(after) - end, len(before) - end
    came, went = after[start:new_last], before[start:old_last]
    if came and went:
        return " ".join(after[first : new_last + 1]), " ".join(before[first : old_last + 1])
    return " ".join(came), " ".join(went)


def log_change(reading: Reading, old: Unit, new: Unit) -> bool:
    """A log statement whose level or message changed; ``False`` where it is none."""
    row = reading.row
    was, now = main_call(old.node, row), main_call(new.node, row)
    if was is None or now is None or not (log_level(was, row) and log_level(now, row)):
        return False
    message, before = first_string(now, row), first_string(was, row)
    if log_level(was, row) != log_level(now, row):
        reading.say(
            f"The logging level of the message {prose(message or flat(now))} was changed from "
            f"{quote(log_level(was, row))} to {quote(log_level(now, row))}.",
            80,
            new,
        )
    if message != before and message and before:
        reading.say(
            f"The log message{_where(reading, new)} was changed from {prose(before)} to "
            f"{prose(message)}.",
            72,
            new,
        )
    elif argument_texts(was, row) != argument_texts(now, row):
        reading.say(
            f"The log message{_where(reading, new)} now contains "
            f"{quoted(argument_texts(now, row))}.",
            70,
            new,
        )
    return True


def condition_change(reading: Reading, old: Unit, new: Unit) -> None:
    """A condition that was extended, narrowed, or replaced."""
    row = reading.row
    was, now = condition_text(old.node, row), condition_text(new.node, row)
    if was == now or not was or not now:
        return
    word = {"loop": "condition of the loop", "switch": "switch"}.get(new.kind, "condition")
    reading.say(
        f"The {word} was changed from {quote(was)} to {quote(now)}{_where(reading, new)}.", 87, new
    )
    before = old.node.child_by_field_name("condition")
    after = new.node.child_by_field_name("condition")
    if before is None or after is None:
        return
    extra = _operands(after, row_operands(reading, before), reading)
    if extra and holds(after, _inside(before), row):
        verb = "also requires" if _joins_and(flat(after)) else "also holds when"
        reading.say(f"The condition now {verb} {quoted(extra)}.", 80, new)
    lost = _operands(before, row_operands(reading, after), reading)
    if lost and holds(before, _inside(after), row):
        reading.say(f"The condition no longer checks {quoted(lost)}.", 80, new)


def _joins_and(text: str) -> bool:
    return "&&" in text or " and " in text


def _inside(node: tree_sitter.Node) -> tree_sitter.Node:
    here = node
    while (
        here.type in ("parenthesized_expression", "condition_clause")
        and here.named_child_count == 1
    ):
        here = here.named_children[0]
    return here


def row_operands(reading: Reading, node: tree_sitter.Node) -> list[str]:
    """What a condition joins by and/or, as written."""
    found: list[str] = []
    stack = [node]
    while stack:
        here = stack.pop()
        if here.type in ("parenthesized_expression", "condition_clause"):
            stack.extend(reversed(here.named_children))
            continue
        operator = next(
            (flat(c) for c in here.children if flat(c) in ("&&", "||", "and", "or")), ""
        )
        if operator and here.named_child_count >= 2:
            stack.extend(reversed([c for c in here.named_children if flat(c) != operator]))
        else:
            found.append(flat(here))
    return found


def _operands(node: tree_sitter.Node, known: list[str], reading: Reading) -> list[str]:
    return [text for text in row_operands(reading, node) if text not in known]


def return_change(reading: Reading, old: Unit, new: Unit) -> None:
    """Another value is returned."""
    was, now = returned(old), returned(new)
    place = reading.place(new)
    subject = f"The {place.function}" if place.function else "The code"
    if was and now:
        reading.say(f"{subject} now returns {quote(now)} instead of {quote(was)}.", 85, new)
    elif now:
        reading.say(f"{subject} now returns {quote(now)}.", 85, new)
    else:
        reading.say(f"{subject} no longer returns {quote(was)}.", 85, new)


def throw_change(reading: Reading, old: Unit, new: Unit) -> None:
    """Another exception is thrown, or the same with another message."""
    row = reading.row
    (was, before), (now, message) = thrown(old, row), thrown(new, row)
    verb = "raised" if row.name in ("python", "ruby") else "thrown"
    if was != now:
        reading.say(
            f"{quote(now)} is now {verb} instead of {quote(was)}{_where(reading, new)}.", 86, new
        )
        reading.say(f"Callers that catch {quote(was)} no longer catch it.", 45, new)
    if before != message and message:
        if before:
            reading.say(
                f"The message of {quote(now)} was changed from {prose(before)} to "
                f"{prose(message)}.",
                84,
                new,
            )
        else:
            reading.say(f"{quote(now)} is now {verb} with the message {prose(message)}.", 84, new)


def value_change(reading: Reading, old: Unit, new: Unit) -> bool:
    """A variable or constant set to another value; ``False`` where there is more to it."""
    row = reading.row
    was, now = assigned(old.node, row), assigned(new.node, row)
    if not was or not now:
        return False
    before = {name: (kind, flat(value)) for name, kind, value in was}
    said = False
    for name, kind, value in now:
        if name not in before:
            continue
        old_kind, old_value = before[name]
        if flat(value) != old_value and value is not None:
            collection = row.role(value.type) is Role.COLLECTION
            if not old_value:
                reading.say(
                    f"{quote(name)} is now set to {value_phrase(value, row)}"
                    f"{_where(reading, new)}.",
                    76,
                    new,
                )
            elif (
                not collection and len(old_value) <= 100 and row.role(value.type) is not Role.LAMBDA
            ):
                reading.say(
                    f"The value of {quote(name)} was changed from {quote(old_value)} to "
                    f"{quote(flat(value))}{_where(reading, new)}.",
                    80,
                    new,
                )
            else:
                continue
            said = True
        if kind != old_kind and kind and old_kind:
            reading.say(
                f"The type of {quote(name)} was changed from {quote(old_kind)} to {quote(kind)}"
                f"{_where(reading, new)}.",
                79,
                new,
            )
            said = True
        elif kind and not old_kind:
            reading.say(f"{quote(name)} now has the type {quote(kind)}.", 70, new)
            said = True
    return said


def _holder(edit: Edit, reading: Reading, *roles: Role) -> tree_sitter.Node | None:
    for node, _, _ in reversed(edit.around):
        if reading.row.role(node.type) in roles:
            return node
    return None


def _collection_name(edit: Edit, reading: Reading, unit: Unit) -> str:
    """What a changed collection is called: its key, its variable, or only what it is."""
    for node, _, _ in reversed(edit.around[:-1]):
        role = reading.row.role(node.type)
        if role is Role.PAIR:
            key = node.child_by_field_name("key") or node.named_children[0]
            return quote(string_value(key))
        if role in (Role.ASSIGNMENT, Role.DECLARATION) or node.type == "variable_declarator":
            names = assigned(node, reading.row)
            if names and "wrapper_" not in names[0][0]:
                return quote(names[0][0])
        if role is Role.CALL:
            name = callee(node, reading.row)
            if "wrapper_" not in name:
                return f"the call of {quote(name)}"
    names = assigned(unit.node, reading.row)
    if names and "wrapper_" not in names[0][0]:
        return quote(names[0][0])
    section = reading.section
    return quote(section.name) if section.kind == "variable" else ""


def edit_claims(reading: Reading, old: Unit, new: Unit, renamed: dict[str, str]) -> None:
    """Say each smallest difference between two statements in terms of what holds it."""
    row = reading.row
    found = [
        e
        for e in edits(old.node, new.node, row)
        if renamed.get(e.old_text) != e.new_text or not e.new_text
    ]
    elements: dict[tuple[str, str], list[str]] = {}
    budget = 6
    for edit in found:
        if budget <= 0:
            break
        if _element(reading, edit, new, elements) or _argument(reading, edit, new):
            budget -= 1
            continue
        budget -= _plain(reading, edit, new)
    for (what, name), items in elements.items():
        verb = "added to" if what == "added" else "removed from"
        target = name or "the list"
        keyed = all(":" in item or "=" in item for item in items)
        word = (
            ("entry" if len(items) == 1 else "entries")
            if keyed
            else ("element" if len(items) == 1 else "elements")
        )
        be = "was" if len(items) == 1 else "were"
        reading.say(
            f"The {word} {quoted(items)} {be} {verb} {target}{_where(reading, new)}.", 83, new
        )


def _element(
    reading: Reading, edit: Edit, unit: Unit, elements: dict[tuple[str, str], list[str]]
) -> bool:
    holder = edit.around[-1][0] if edit.around else None
    if holder is None or reading.row.role(holder.type) is not Role.COLLECTION:
        return False
    if (edit.old is None) == (edit.new is None):
        return False
    if edit.new is not None and not edit.new.is_named:
        return False
    what = "added" if edit.old is None else "removed"
    text = edit.new_text if edit.old is None else edit.old_text
    elements.setdefault((what, _collection_name(edit, reading, unit)), []).append(text)
    return True


def _argument(reading: Reading, edit: Edit, unit: Unit) -> bool:
    """A difference in the arguments of a call."""
    row = reading.row
    holder = edit.around[-1][0] if edit.around else None
    call = _holder(edit, reading, Role.CALL)
    if holder is None or call is None or row.role(holder.type) is not Role.ARGUMENTS:
        if call is not None and edit.new is not None and row.role(edit.new.type) in _VALUES:
            return _literal_argument(reading, edit, unit, call)
        return False
    name = callee(call, row)
    target = f"the call of {quote(name)}" if "wrapper_" not in name else "a call"
    where = _where(reading, unit)
    if edit.old is None:
        reading.say(f"The argument {quote(edit.new_text)} was added to {target}{where}.", 79, unit)
    elif edit.new is None:
        reading.say(
            f"The argument {quote(edit.old_text)} was removed from {target}{where}.", 79, unit
        )
    elif (
        row.role(edit.new.type) is Role.STRING
        and row.role(edit.old.type) is Role.STRING
        and edit.new_text != edit.old_text
    ):
        return _literal_argument(reading, edit, unit, call)
    elif holds(edit.new, edit.old, row):
        reading.say(
            f"The argument {quote(edit.old_text)} of {target} is now {quote(edit.new_text)}{where}.",
            78,
            unit,
        )
    else:
        reading.say(
            f"{target[0].upper()}{target[1:]} now gets {quote(edit.new_text)} instead of "
            f"{quote(edit.old_text)}{where}.",
            78,
            unit,
        )
    return True


def _literal_argument(reading: Reading, edit: Edit, unit: Unit, call: tree_sitter.Node) -> bool:
    if edit.old is None or edit.new is None:
        return False
    name = callee(call, reading.row)
    tail = f" in the call of {quote(name)}" if "wrapper_" not in name else ""
    word = "string" if reading.row.role(edit.new.type) is Role.STRING else "value"
    if is_assertion(call, reading.row):
        reading.say(
            f"The assertion{_where(reading, unit)} now expects {quote(edit.new_text)} instead of "
            f"{quote(edit.old_text)}.",
            79,
            unit,
        )
        return True
    reading.say(
        f"The {word} {quote(edit.old_text)} was changed to {quote(edit.new_text)}{tail}"
        f"{_where(reading, unit) if not tail else ''}.",
        77,
        unit,
    )
    return True


def _plain(reading: Reading, edit: Edit, unit: Unit) -> int:
    """Any other difference; gives how much of the budget it took."""
    row = reading.row
    where = _where(reading, unit)
    call = _holder(edit, reading, Role.CALL)
    if edit.old is not None and edit.new is not None:
        in_function = call is not None and any(
            node == call and name in ("function", "name", "method", "object", "constructor", "type")
            for node, name, _ in edit.around
        )
        old_call = next(
            (n for n, _, _ in reversed(edit.old_around) if row.role(n.type) is Role.CALL), None
        )
        if in_function and call is not None and old_call is not None:
            was, now = callee(old_call, row), callee(call, row)
            if was != now:
                reading.say(f"{quote(now)} is now called instead of {quote(was)}{where}.", 82, unit)
                return 1
        if not edit.new.is_named and not edit.old.is_named:
            reading.say(
                f"The operator {quote(edit.old_text)} was changed to {quote(edit.new_text)}{where}.",
                79,
                unit,
            )
            return 1
        if holds(edit.new, edit.old, row):
            reading.say(f"{quote(edit.old_text)} is now {quote(edit.new_text)}{where}.", 74, unit)
            return 1
        role = row.role(edit.new.type)
        word = (
            {Role.STRING: "The string ", Role.NUMBER: "The number "}.get(role, "") if role else ""
        )
        reading.say(
            f"{word}{quote(edit.old_text)} was changed to {quote(edit.new_text)}{where}.", 73, unit
        )
        return 1
    node = edit.new if edit.new is not None else edit.old
    if node is None:
        return 0
    text = flat(node)
    if len(text) < 2 and not text.isalnum():
        return 0
    if edit.old is None:
        reading.say(f"{quote(text)} was added{_in_what(reading, unit)}{where}.", 68, unit)
    else:
        reading.say(f"{quote(text)} was removed{_in_what(reading, unit)}{where}.", 68, unit)
    return 1


def _in_what(reading: Reading, unit: Unit) -> str:
    call = main_call(unit.node, reading.row)
    if call is not None:
        name = callee(call, reading.row)
        return f" in the call of {quote(name)}" if "wrapper_" not in name else ""
    return ""


def claims(reading: Reading) -> None:
    """Say how statements changed that stand on both sides."""
    pairs = [(old, new) for old, new in reading.alignment.changed if not reading.is_done(new)]
    code = [p for p in pairs if p[1].kind not in (Role.COMMENT.value, DOCSTRING)]
    renamed = renames(reading, code)
    for was, now in renamed.items():
        unit = next(new for _, new in code if now in new.tokens)
        place = reading.place(unit)
        where = place.inside()
        reading.say(f"{quote(was)} was renamed to {quote(now)}{where}.", 81, unit)
    for old, new in pairs:
        if new.kind in (Role.COMMENT.value, DOCSTRING):
            comment_change(reading, old, new)
        elif new.kind in (FUNCTION, TYPE):
            edit_claims(reading, old, new, renamed)
        elif log_change(reading, old, new):
            pass
        elif new.kind in _HEADS and old.kind in _HEADS:
            condition_change(reading, old, new)
            if condition_text(old.node, reading.row) == condition_text(new.node, reading.row):
                edit_claims(reading, old, new, renamed)
        elif new.kind == old.kind == Role.THROW.value:
            throw_change(reading, old, new)
        elif new.kind == old.kind == Role.CATCH.value:
            was, now = caught(old.node, reading.row), caught(new.node, reading.row)
            if was != now:
                reading.say(
                    f"{quote(now) if now else 'Every exception'} is now caught instead of "
                    f"{quote(was) if was else 'every exception'}{_where(reading, new)}.",
                    84,
                    new,
                )
        elif new.kind == old.kind == Role.RETURN.value:
            return_change(reading, old, new)
            if len(returned(new)) > 60:
                edit_claims(reading, old, new, renamed)
        else:
            if old.kind != new.kind:
                phrase = outcome(new, reading.row)
                before = outcome(old, reading.row)
                if phrase:
                    tail = f"; before, it {before}" if before else ""
                    place = reading.place(new)
                    subject = f"The {place.function}" if place.function else "The code"
                    reading.say(f"{subject} now {phrase}{tail}.", 76, new)
            short = value_change(reading, old, new)
            if not short or len(new.text) > 80:
                edit_claims(reading, old, new, renamed)
        reading.finish(old)
        reading.finish(new)
