"""Claims about what only moved: code put elsewhere, re-indented, or laid out anew."""

from __future__ import annotations

from models.change import Line
from models.crscore.claims.reading import Reading
from models.crscore.claims.texts import flat, flat_head
from models.crscore.claims.units import FUNCTION, TYPE, Unit
from models.crscore.claims.wording import definition_phrase, quote, quoted
from models.syntax.language import Role

# Beyond this many comparisons what moved is not told.
_COMPARED = 250_000


def _moved(reading: Reading) -> list[tuple[Unit, Unit]]:
    """Kept pairs that changed places with other kept ones."""
    kept = [
        (old, new)
        for old, new in reading.alignment.kept
        if not reading.is_done(new) and new.kind != Role.IMPORT.value
    ]
    order = sorted(kept, key=lambda pair: pair[1].index)
    moved: list[tuple[Unit, Unit]] = []
    others = [
        (old.index, new.index)
        for old in reading.old
        if (new := reading.alignment.counterpart(old)) is not None and new.rows[0] >= 0
    ]
    if len(order) * len(others) > _COMPARED:
        return []
    for old, new in order:
        crossed = sum((o < old.index) != (n < new.index) for o, n in others)
        if crossed and not any(parent is up for _, up in moved for parent, _ in new.parents):
            moved.append((old, new))
    return moved


def say_blank(reading: Reading) -> None:
    """Only blank lines came or went."""
    count = max(len(reading.hunk.added), len(reading.hunk.deleted))
    word = "added to" if reading.hunk.added else "removed from"
    changed = reading.rows.new_changed or reading.rows.old_changed
    side = reading.new if reading.rows.new_changed else reading.old
    above = [u for u in side if 0 <= u.rows[0] < min(changed, default=0)]
    place = reading.place(above[-1]).nearest or reading.phrase(above[-1]) if above else ""
    target = f"the {place}" if place else "the code"
    what = "A blank line was" if count == 1 else "Blank lines were"
    reading.say(f"{what} {word} {target}.", 40)
    reading.say("Only the formatting was changed; this does not affect what the code does.", 39)


def _text(lines: tuple[Line, ...]) -> list[str]:
    """The lines without any white space, blank ones left out."""
    return [text for line in lines if (text := "".join(line.text.split()))]


def _regrouped(reading: Reading) -> bool:
    """Say which code went into or out of a block that was there before."""
    told = False
    for old, new in reading.alignment.kept:
        if reading.is_done(new) or not new.tokens:
            continue
        above = old.parents[-1][0] if old.parents else None
        below = new.parents[-1][0] if new.parents else None
        if above is not None and reading.alignment.counterpart(above) is None:
            continue  # the block itself went; that is said of the block
        if below is not None and reading.alignment.counterpart(below) is None:
            continue
        if above is None and below is None:
            continue
        if above is not None and reading.alignment.counterpart(above) is below:
            continue
        code = quote(flat(new.node).rstrip(";"))
        if below is not None and (above is None or len(new.parents) > len(old.parents)):
            reading.say(f"The code {code} was moved into {_block(below)}.", 79, new)
        elif above is not None:
            reading.say(f"The code {code} was moved out of {_block(above)}.", 79, new)
        reading.finish(new)
        told = True
    return told


def _block(unit: Unit) -> str:
    phrase = definition_phrase(unit)
    return f"the {phrase}" if phrase else f"the block {quote(flat_head(unit.node), 60)}"


def claims(reading: Reading) -> None:
    """Say what only moved, and where nothing but the layout changed."""
    regrouped = _regrouped(reading)
    moved = _moved(reading)
    if len(moved) == 2 and moved[0][0].index > moved[1][0].index:
        first, second = (flat(new.node) for _, new in moved)
        where = reading.place(moved[0][1]).inside()
        reading.say(
            f"The order of {quote(second)} and {quote(first)} was swapped{where}.", 45, moved[0][1]
        )
        moved = []
    for _, new in moved[:3]:
        phrase = definition_phrase(new)
        where = reading.place(new).inside()
        what = (
            f"The {phrase}"
            if phrase and new.kind in (FUNCTION, TYPE)
            else f"The code {quote(flat(new.node).rstrip(';'))}"
        )
        reading.say(f"{what} was moved{where}.", 45, new)
    if regrouped or reading.said:
        return
    alignment = reading.alignment
    if alignment.added or alignment.removed or alignment.changed:
        return
    olds, news = _text(reading.hunk.deleted), _text(reading.hunk.added)
    if "".join(olds) != "".join(news):
        return  # something was changed that the units do not show
    names = [new.definition.name for _, new in alignment.kept if new.definition is not None]
    tail = f" of {quoted(names, 3)}" if names else ""
    same = olds == news
    if not any(line.text.strip() for line in (*reading.hunk.added, *reading.hunk.deleted)):
        say_blank(reading)
    elif same:
        reading.say(
            f"Only the white space{tail} was changed; this does not affect what the code does.", 40
        )
    else:
        reading.say(
            f"Only the layout{tail} was changed; this does not affect what the code does.", 40
        )
