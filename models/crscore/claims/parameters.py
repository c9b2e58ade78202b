"""Claims about the parameters of a function that is on both sides."""

from __future__ import annotations

from models.crscore.claims.reading import Reading
from models.crscore.claims.units import Unit
from models.crscore.claims.wording import quote, quoted
from models.syntax.definitions import Definition


def parameter_claims(
    reading: Reading, was: Definition, now: Definition, phrase: str, unit: Unit
) -> None:
    """Parameters added, removed, renamed, reordered, with another default or type."""
    before = {p.name: p for p in was.parameters}
    after = {p.name: p for p in now.parameters}
    added = [p for p in now.parameters if p.name not in before]
    removed = [p for p in was.parameters if p.name not in after]
    called = quote(now.name) if now.name else f"the {phrase}"
    if added and len(added) == len(removed) and len(was.parameters) == len(now.parameters):
        for gone, new in zip(list(removed), list(added), strict=True):
            if was.parameters.index(gone) == now.parameters.index(new):
                verb = "renamed to" if new.name.isidentifier() else "replaced by"
                reading.say(
                    f"The parameter {quote(gone.name)} of the {phrase} was {verb} "
                    f"{quote(new.name)}.",
                    88,
                    unit,
                )
                removed.remove(gone)
                added.remove(new)
    for p in added:
        kind = f" of type {quote(p.type, 50)}" if p.type else ""
        default = f" with default {p.default}" if p.default else ""
        reading.say(
            f"The parameter {quote(p.name)}{kind}{default} was added to the {phrase}.", 91, unit
        )
        if p.default:
            reading.say(
                f"Callers of {called} that pass no {quote(p.name)} now get {quote(p.default)}.",
                55,
                unit,
            )
            reading.say(
                f"The default value of the new parameter {quote(p.name)} is {quote(p.default)}.",
                54,
                unit,
            )
        elif not p.variadic and not p.name.startswith(("*", "...", "&")):
            word = "create" if now.kind == "constructor" else "call"
            reading.say(f"Code that {word}s {called} must now also pass {quote(p.name)}.", 55, unit)
    for p in removed:
        reading.say(f"The parameter {quote(p.name)} was removed from the {phrase}.", 90, unit)
        reading.say(f"Callers of {called} that still pass {quote(p.name)} break.", 54, unit)
    for p in now.parameters:
        old = before.get(p.name)
        if old is None:
            continue
        if old.default != p.default:
            if old.default and p.default:
                text = (
                    f"The default of the parameter {quote(p.name)} of the {phrase} was changed "
                    f"from {quote(old.default)} to {quote(p.default)}."
                )
            elif p.default:
                text = (
                    f"The parameter {quote(p.name)} of the {phrase} now has the default "
                    f"{quote(p.default)}."
                )
            else:
                text = (
                    f"The parameter {quote(p.name)} of the {phrase} no longer has the default "
                    f"{quote(old.default)}."
                )
            reading.say(text, 88, unit)
            if p.default:
                reading.say(
                    f"Callers of {called} that pass no {quote(p.name)} now get {quote(p.default)}.",
                    55,
                    unit,
                )
            else:
                reading.say(f"Callers of {called} must now pass {quote(p.name)}.", 55, unit)
        if old.type != p.type:
            if old.type and p.type:
                text = (
                    f"The type of the parameter {quote(p.name)} of the {phrase} was changed from "
                    f"{quote(old.type)} to {quote(p.type)}."
                )
            elif p.type:
                text = (
                    f"The type {quote(p.type)} was added to the parameter {quote(p.name)} of the "
                    f"{phrase}."
                )
            else:
                text = f"The type of the parameter {quote(p.name)} of the {phrase} was removed."
            reading.say(text, 84, unit)
    if not added and not removed:
        order = [p.name for p in now.parameters]
        if order != [p.name for p in was.parameters] and set(before) == set(after):
            reading.say(
                f"The order of the parameters of the {phrase} was changed to {quoted(order)}.",
                83,
                unit,
            )
