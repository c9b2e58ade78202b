"""Claims about variables on both sides: renamed, set to another value, of another type."""

from __future__ import annotations

from collections import Counter

from models.crscore.claims.blocks import where_is
from models.crscore.claims.differences import NAMES
from models.crscore.claims.edits import edits
from models.crscore.claims.reading import Reading
from models.crscore.claims.texts import flat
from models.crscore.claims.units import Unit
from models.crscore.claims.values import FIELD_WORDS, assigned, is_field, value_phrase
from models.crscore.claims.wording import quote
from models.syntax.language import Role

# Texts longer than this are told by their differences and not as a whole.
LONG = 90


def renames(reading: Reading, pairs: list[tuple[Unit, Unit]]) -> dict[str, str]:
    """Names that became another name throughout, told apart from single replaced words."""
    seen: Counter[tuple[str, str]] = Counter()
    declared: set[tuple[str, str]] = set()
    for old, new in pairs:
        for edit in edits(old.node, new.node, reading.row):
            if (
                edit.old is not None
                and edit.new is not None
                and edit.old.type in NAMES
                and edit.new.type in NAMES
            ):
                seen[(edit.old_text, edit.new_text)] += 1
        was, now = assigned(old.node, reading.row), assigned(new.node, reading.row)
        declared.update(
            (before[0], after[0])
            for before, after in zip(was, now, strict=False)
            if flat(before[2]) == flat(after[2])
        )
    kept = {token for unit in reading.new for token in unit.tokens}
    gone = {token for unit in reading.old for token in unit.tokens}
    found: dict[str, str] = {}
    for pair, count in seen.most_common():
        was_name, now_name = pair
        if (
            (count > 1 or pair in declared)
            and was_name not in kept
            and now_name not in gone
            and was_name not in found
        ):
            found[was_name] = now_name
    return found


def value_change(reading: Reading, old: Unit, new: Unit) -> frozenset[tuple[str, str]]:
    """A variable or constant set to another value, of another type, or more of them.

    Gives the differences (old and new text) that are told in full.
    """
    told: set[tuple[str, str]] = set()
    row = reading.row
    was, now = assigned(old.node, row), assigned(new.node, row)
    before = {name: (kind, flat(value)) for name, kind, value in was}
    _modifiers(reading, old, new, told)
    earlier = {name: value for name, _, value in was}
    where = where_is(reading, new)
    for name, kind, value in now:
        if name not in before:
            if len(now) > len(was) and name.isidentifier():
                reading.say(f"A new variable {quote(name)} was added{where}.", 76, new)
            continue
        old_kind, old_value = before[name]
        text = flat(value)
        if value is not None and text != old_value:
            plain = row.role(value.type) not in (Role.COLLECTION, Role.LAMBDA)
            if not old_value:
                reading.say(
                    f"{quote(name)} is now set to {value_phrase(value, row)}{where}.", 76, new
                )
            elif plain and quote(old_value) == quote(text):
                reading.say(f"The white space in the value of {quote(name)} was changed.", 60, new)
                told.add((old_value, text))
            elif plain and max(len(old_value), len(text)) <= LONG:
                reading.say(
                    f"The value of {quote(name)} was changed from {quote(old_value)} to "
                    f"{quote(text)}{where}.",
                    80,
                    new,
                )
                told.add((old_value, text))
                reading.say(f"{quote(name)} is now set to {value_phrase(value, row)}.", 44, new)
                if (before_value := earlier.get(name)) is not None:
                    reading.say(
                        f"Previously, {quote(name)} was set to {value_phrase(before_value, row)}.",
                        38,
                        new,
                    )
            elif plain:
                reading.say(f"The value of {quote(name)} was changed{where}.", 55, new)
        if kind != old_kind:
            told.add((old_kind, kind))
            if kind and old_kind:
                reading.say(
                    f"The type of {quote(name)} was changed from {quote(old_kind)} to "
                    f"{quote(kind)}{where}.",
                    81,
                    new,
                )
            elif kind:
                reading.say(f"{quote(name)} now has the type {quote(kind)}.", 70, new)
    return frozenset(told)


def _before_name(unit: Unit, reading: Reading) -> tuple[str, ...]:
    names = assigned(unit.node, reading.row)
    name = names[0][0] if names else ""
    at = unit.tokens.index(name) if name in unit.tokens else len(unit.tokens)
    return unit.tokens[:at]


def _modifiers(reading: Reading, old: Unit, new: Unit, told: set[tuple[str, str]]) -> None:
    """Words like ``final`` that came to a declaration or left it."""
    names = assigned(new.node, reading.row)
    if new.kind != Role.DECLARATION.value or not names:
        return
    word = "field" if is_field(new) else "variable"
    was = [t for t in _before_name(old, reading) if t in FIELD_WORDS]
    now = [t for t in _before_name(new, reading) if t in FIELD_WORDS]
    for text in now:
        if text not in was:
            reading.say(f"The {word} {quote(names[0][0])} is now {text}.", 80, new)
            told.add(("", text))
    for text in was:
        if text not in now:
            reading.say(f"The {word} {quote(names[0][0])} is no longer {text}.", 80, new)
            told.add((text, ""))
    told.update((a, b) for a in was for b in now if a != b)
