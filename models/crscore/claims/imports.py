"""Claims about imports: what is now imported from where, and what no longer is."""

from __future__ import annotations

import re
from dataclasses import dataclass

from models.crscore.claims.reading import Reading
from models.crscore.claims.texts import flat
from models.crscore.claims.units import Unit
from models.crscore.claims.values import assigned
from models.crscore.claims.wording import (
    argument_texts,
    callee,
    calls_in,
    number,
    quote,
    quoted,
)
from models.syntax.language import Language, Role

_REQUIRES = frozenset({"require", "require_relative", "require_once", "include", "source", "."})


@dataclass(frozen=True, slots=True)
class Imported:
    """One import: names (empty: the module itself) and the module they come from."""

    names: tuple[str, ...]
    module: str


def imported(unit: Unit, row: Language) -> Imported | None:
    """What a unit imports; ``None`` where it imports nothing."""
    text = flat(unit.node).rstrip(";").strip()
    if unit.kind != Role.IMPORT.value:
        calls = calls_in(unit.node, row, 1)
        if calls and callee(calls[0], row) in _REQUIRES:
            module = ", ".join(argument_texts(calls[0], row)).strip("'\"")
            names = assigned(unit.node, row)
            if not module or len(module) > 120 or "(" in module:
                return None
            bound = tuple(re.findall(r"[\w$]+", names[0][0])) if names else ()
            return Imported(bound, module)
        return None
    match = re.match(r"from\s+(\S+)\s+import\s+(.*)$", text)
    if match:
        return Imported(_names(match[2]), match[1])
    match = re.match(r"import\s+(?:type\s+)?(.*?)\s+from\s+['\"](.+)['\"]$", text)
    if match:
        return Imported(_names(match[1]), match[2])
    match = re.match(r"(?:(?:pub\s+)?use|import|using|#\s*include)\s+(?:static\s+)?(.*)$", text)
    body = match[1] if match else text
    parts = body.split(" ")
    if row.name == "go" and len(parts) == 2:
        return Imported((parts[0],), parts[1].strip('"'))
    if row.name in ("rust", "scala"):
        match = re.match(r"(.*?)(?:::|\.)(\{.*\}|\w+)$", body)
        if match:
            return Imported(_names(match[2]), match[1])
    return Imported((), body.strip("'\"<> "))


def _names(text: str) -> tuple[str, ...]:
    return tuple(
        name for part in re.sub(r"[(){}]", " ", text).split(",") if (name := " ".join(part.split()))
    )


def _sentence(item: Imported, verb: str, row: Language) -> str:
    if row.name in ("c", "cpp"):
        return f"{quote(item.module)} is {verb} included."
    if item.names:
        be = "is" if len(item.names) == 1 else "are"
        return f"{quoted(item.names)} {be} {verb} imported from {quote(item.module)}."
    return f"{quote(item.module)} is {verb} imported."


def _short(item: Imported) -> list[str]:
    """The names by which the code speaks of what is imported; none for a wildcard."""
    if item.names:
        return [name.split(" as ")[-1] for name in item.names if "*" not in name]
    last = re.split(r"[./\\:]+", item.module)[-1]
    return [last] if re.search(r"\w", last) else []


def _wildcard(item: Imported) -> str:
    """The package of which all is imported, "" where only some is."""
    if item.names == ("*",):
        return item.module
    return item.module[:-2].rstrip(".:") if item.module.endswith(("*", "._")) else ""


def claims(reading: Reading) -> None:
    """Say what the hunk does to imports."""
    row = reading.row
    added = [(u, i) for u in reading.alignment.added if (i := imported(u, row)) is not None]
    removed = [(u, i) for u in reading.alignment.removed if (i := imported(u, row)) is not None]
    changed: list[tuple[Unit, Imported, Imported]] = []
    for old, new in list(reading.alignment.changed):
        was, now = imported(old, row), imported(new, row)
        if was is not None and now is not None:
            if was.module == now.module or set(was.names) & set(now.names):
                changed.append((new, was, now))
            else:
                added.append((new, now))
                removed.append((old, was))
            reading.finish(old)
            reading.finish(new)
    for unit, was, now in changed:
        more = [name for name in now.names if name not in was.names]
        less = [name for name in was.names if name not in now.names]
        if was.module != now.module:
            reading.say(
                f"{quoted(now.names) if now.names else quote(now.module)} is now imported from "
                f"{quote(now.module)} instead of {quote(was.module)}.",
                68,
                unit,
            )
        if more and not was.names:
            reading.say(
                f"{quoted(more)} {'is' if len(more) == 1 else 'are'} now imported from "
                f"{quote(now.module)} instead of the whole module.",
                68,
                unit,
            )
        elif more:
            reading.say(
                f"The import from {quote(now.module)} now also imports {quoted(more)}.", 68, unit
            )
        if less and was.module == now.module:
            reading.say(
                f"{quoted(less)} {'is' if len(less) == 1 else 'are'} no longer imported from "
                f"{quote(now.module)}.",
                66,
                unit,
            )
    if len(added) > 1:
        reading.say(f"{number(len(added))} new import statements were added.", 66, added[0][0])
    elif added and len(added[0][1].names) > 1:
        count = len(added[0][1].names)
        reading.say(f"{number(count)} new names are imported.", 40, added[0][0])
    for unit, item in added:
        package = _wildcard(item)
        inside = [i for _, i in removed if package and i.module.startswith(package)]
        if package:
            tail = " instead of single names of it" if inside else ""
            reading.say(
                f"Everything in {quote(package)} is now imported by a wildcard{tail}.", 70, unit
            )
        reading.say(_sentence(item, "now", row), 67 if len(added) == 1 else 64, unit)
        reading.finish(unit)
    if len(removed) > 1:
        reading.say(f"{number(len(removed))} import statements were removed.", 66, removed[0][0])
    if len(removed) > 3:
        modules = [item.module for _, item in removed]
        reading.say(f"The imports of {quoted(modules, 8)} were removed.", 65, removed[0][0])
    for unit, item in removed:
        name = quoted(item.names) if item.names else quote(item.module)
        source = f" from {quote(item.module)}" if item.names else ""
        if len(removed) <= 3:
            reading.say(
                f"The import of {name}{source} was removed.", 65 if len(removed) == 1 else 63, unit
            )
        reading.finish(unit)
    came = [name for _, item in added for name in _short(item)]
    gone = [name for _, item in removed for name in _short(item) if name not in came]
    if row.name in ("c", "cpp"):
        return
    if came:
        reading.say(f"The code can now use {quoted(came, 4)}.", 30, added[0][0])
    if gone:
        word = "it" if len(gone) == 1 else "them"
        reading.say(
            f"The code no longer imports {quoted(gone, 4)}, so it can no longer use {word}.",
            28,
            removed[0][0],
        )
