"""Claims about statements that stand on both sides with a difference inside."""

from __future__ import annotations

import tree_sitter

from models.crscore.claims import comments
from models.crscore.claims.assignments import LONG, renames, value_change
from models.crscore.claims.blocks import subject_of, where_is
from models.crscore.claims.conditions import condition_node, in_words
from models.crscore.claims.differences import edit_claims
from models.crscore.claims.edits import holds
from models.crscore.claims.reading import MOST_UNITS, Reading
from models.crscore.claims.texts import flat, flat_head
from models.crscore.claims.units import DOCSTRING, FUNCTION, TYPE, Unit
from models.crscore.claims.values import (
    PRINTS,
    caught,
    is_assertion,
    log_level,
    main_call,
    outcome,
    past,
    returned,
    thrown,
)
from models.crscore.claims.wording import (
    argument_texts,
    callee,
    condition_text,
    first_string,
    join,
    prose,
    quote,
    quoted,
)
from models.syntax.language import Role

_HEADS = frozenset({Role.IF.value, Role.ELSE.value, Role.LOOP.value, Role.SWITCH.value})


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


def log_change(reading: Reading, old: Unit, new: Unit) -> bool:
    """A log statement whose level or message changed; ``False`` where it is none."""
    row = reading.row
    was, now = main_call(old.node, row), main_call(new.node, row)
    if was is None or now is None or not (log_level(was, row) and log_level(now, row)):
        return False
    message, before = first_string(now, row), first_string(was, row)
    if (log_level(was, row) in PRINTS) != (log_level(now, row) in PRINTS):
        reading.say(
            f"{quote(callee(now, row))} is now called instead of {quote(callee(was, row))}"
            f"{where_is(reading, new)}.",
            80,
            new,
        )
    elif log_level(was, row) != log_level(now, row):
        reading.say(
            f"The logging level of the message {prose(message or flat(now))} was changed from "
            f"{quote(log_level(was, row))} to {quote(log_level(now, row))}.",
            80,
            new,
        )
        reading.say(
            f"The message is now logged only where the level {quote(log_level(now, row))} is on.",
            40,
            new,
        )
    if message != before and message and before:
        reading.say(
            f"The log message{where_is(reading, new)} was changed from {prose(before)} to "
            f"{prose(message)}.",
            72,
            new,
        )
    elif log_level(now, row) in PRINTS and argument_texts(was, row) != argument_texts(now, row):
        reading.say(
            f"{subject_of(reading, new)} now prints {quoted(argument_texts(now, row))}; before, it "
            f"printed {quoted(argument_texts(was, row)) or 'nothing'}.",
            72,
            new,
        )
    elif argument_texts(was, row) != argument_texts(now, row):
        reading.say(
            f"The log message{where_is(reading, new)} now contains "
            f"{quoted(argument_texts(now, row))}.",
            70,
            new,
        )
    return True


def condition_change(reading: Reading, old: Unit, new: Unit, renamed: dict[str, str]) -> None:
    """A condition that was extended, narrowed, or replaced."""
    row = reading.row
    was, now = condition_text(old.node, row), condition_text(new.node, row)
    if new.kind == old.kind == Role.LOOP.value and not now and len(new.text) <= LONG:
        heads = quote(flat_head(old.node)), quote(flat_head(new.node))
        where = where_is(reading, new)
        reading.say(f"The loop{where} was changed from {heads[0]} to {heads[1]}.", 81, new)
        return
    if was == now or not was or not now:
        edit_claims(reading, old, new, renamed)
        return
    word = {"loop": "condition of the loop", "switch": "value of the switch"}.get(
        new.kind, "condition of the if statement"
    )
    where = where_is(reading, new)
    if max(len(was), len(now)) <= LONG:
        reading.say(f"The {word} was changed from {quote(was)} to {quote(now)}{where}.", 87, new)
        words = in_words(condition_node(new.node, row), row)
        before_words = in_words(condition_node(old.node, row), row)
        if (
            new.kind in (Role.IF.value, Role.ELSE.value)
            and words.count("`") > 2
            and words != before_words
        ):
            reading.say(f"The code now checks whether {words}.", 44, new)
            reading.say(f"Previously, the code checked whether {before_words}.", 38, new)
    else:
        reading.say(f"The {word} was changed{where}.", 60, new)
    before = old.node.child_by_field_name("condition")
    after = new.node.child_by_field_name("condition")
    told = False
    if before is not None and after is not None:
        olds, news = operands(before), operands(after)
        known = {flat(node) for node in olds}
        kept = {flat(node) for node in news}
        extra = [in_words(node, row) for node in news if flat(node) not in known]
        lost = [in_words(node, row) for node in olds if flat(node) not in kept]
        if extra and holds(after, _inside(before), row):
            both = "&&" in flat(after) or " and " in flat(after)
            verb = "also requires that" if both else "also holds when"
            reading.say(f"The condition now {verb} {join(extra[:4])}.", 86, new)
            told = True
        elif lost and holds(before, _inside(after), row):
            reading.say(f"The condition no longer checks whether {join(lost[:4])}.", 86, new)
            told = True
    if not told:
        edit_claims(reading, old, new, renamed, least=0.45, told=frozenset({(was, now)}))


def _inside(node: tree_sitter.Node) -> tree_sitter.Node:
    here = node
    while (
        here.type in ("parenthesized_expression", "condition_clause")
        and here.named_child_count == 1
    ):
        here = here.named_children[0]
    return here


def operands(node: tree_sitter.Node) -> list[tree_sitter.Node]:
    """What a condition joins by and/or."""
    found: list[tree_sitter.Node] = []
    stack = [node]
    while stack:
        here = stack.pop()
        if here.type in ("parenthesized_expression", "condition_clause"):
            stack.extend(reversed(here.named_children))
            continue
        joins = any(not c.is_named and c.type in ("&&", "||", "and", "or") for c in here.children)
        if joins and here.named_child_count >= 2:
            stack.extend(reversed(here.named_children))
        else:
            found.append(here)
    return found


def return_change(reading: Reading, old: Unit, new: Unit, renamed: dict[str, str]) -> None:
    """Another value is returned."""
    was, now = returned(old), returned(new)
    subject = subject_of(reading, new)
    if renamed.get(was) == now:
        return
    if not now:
        reading.say(f"{subject} no longer returns {quote(was)}.", 85, new)
        return
    if not was:
        reading.say(f"{subject} now returns {quote(now)}.", 85, new)
        return
    if max(len(was), len(now)) <= 140:
        reading.say(
            f"{subject} now returns {quote(now, 140)} instead of {quote(was, 140)}.", 85, new
        )
        reading.say(
            f"Previously, {_lower(subject)} {past(outcome(old, reading.row, True))}.", 38, new
        )
    else:
        reading.say(f"The value that {_lower(subject)} returns was changed.", 60, new)
    edit_claims(reading, old, new, renamed, least=0.45, told=frozenset({(was, now)}))


def throw_change(reading: Reading, old: Unit, new: Unit, renamed: dict[str, str]) -> None:
    """Another exception is thrown, or the same with another message."""
    row = reading.row
    (was, before), (now, message) = thrown(old, row), thrown(new, row)
    verb = "raised" if row.name in ("python", "ruby") else "thrown"
    if was != now:
        reading.say(
            f"{quote(now)} is now {verb} instead of {quote(was)}{where_is(reading, new)}.", 86, new
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
            reading.say(
                f"{quote(now)} is now {verb} with the message {prose(message)}"
                f"{where_is(reading, new)}; before, it was {verb} without a message.",
                84,
                new,
            )
    elif was == now:
        edit_claims(reading, old, new, renamed)


def catch_change(reading: Reading, old: Unit, new: Unit) -> None:
    """Another exception is caught."""
    was, now = caught(old.node, reading.row), caught(new.node, reading.row)
    if was != now:
        reading.say(
            f"{quote(now) if now else 'Every exception'} is now caught instead of "
            f"{quote(was) if was else 'every exception'}{where_is(reading, new)}.",
            84,
            new,
        )


def other_change(reading: Reading, old: Unit, new: Unit, renamed: dict[str, str]) -> None:
    """Any other statement, or one that became a statement of another kind."""
    row = reading.row
    if old.kind != new.kind:
        phrase, before = outcome(new, row), outcome(old, row)
        if phrase and phrase != before:
            tail = f"; before, it {past(before)}" if before else ""
            reading.say(f"{subject_of(reading, new)} now {phrase}{tail}.", 76, new)
    told = value_change(reading, old, new)
    was, now = main_call(old.node, row), main_call(new.node, row)
    if was is not None and now is not None and is_assertion(now, row):
        texts = flat(was), flat(now)
        if callee(was, row) == callee(now, row) and max(map(len, texts)) <= 160:
            reading.say(
                f"The assertion{where_is(reading, new)} was changed from {quote(texts[0], 160)} to "
                f"{quote(texts[1], 160)}.",
                74,
                new,
            )
    edit_claims(reading, old, new, renamed, told=told)


def claims(reading: Reading) -> None:
    """Say how statements changed that stand on both sides."""
    pairs = [(old, new) for old, new in reading.alignment.changed if not reading.is_done(new)]
    pairs = pairs[:MOST_UNITS]
    code = [p for p in pairs if p[1].kind not in (Role.COMMENT.value, DOCSTRING)]
    renamed = renames(reading, code)
    for was, now in renamed.items():
        unit = next((new for _, new in code if now in new.text), None)
        where = where_is(reading, unit) if unit is not None else ""
        reading.say(f"{quote(was)} was renamed to {quote(now)}{where}.", 83, unit)
    for old, new in pairs:
        same = old.kind == new.kind
        if new.kind in (Role.COMMENT.value, DOCSTRING):
            comments.changed(reading, old, new)
        elif new.kind in (FUNCTION, TYPE):
            edit_claims(reading, old, new, renamed)
        elif log_change(reading, old, new):
            pass
        elif new.kind in _HEADS and old.kind in _HEADS:
            condition_change(reading, old, new, renamed)
        elif same and new.kind == Role.THROW.value:
            throw_change(reading, old, new, renamed)
        elif same and new.kind == Role.CATCH.value:
            catch_change(reading, old, new)
        elif same and new.kind == Role.RETURN.value:
            return_change(reading, old, new, renamed)
        else:
            other_change(reading, old, new, renamed)
        reading.finish(old)
        reading.finish(new)
