"""How claims are put: quoting, lists, names of calls and places. Plain, short, with the names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import tree_sitter

from models.crscore.claims.texts import flat
from models.crscore.claims.units import FUNCTION, TYPE, Unit
from models.syntax.grammar import walk
from models.syntax.language import Language, Role
from models.syntax.section import Section

_QUOTED = 90
_NUMBERS = ("No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten")
_RECEIVERS = frozenset({"self", "cls", "this", "&self", "&mut self", "mut self"})


@dataclass(frozen=True, slots=True)
class Said:
    """One sentence with its weight (higher is more important) and its lines on the head side."""

    text: str
    weight: float
    lines: tuple[int, ...] = ()


def quote(text: str, limit: int = _QUOTED) -> str:
    """Code in backticks, on one line, cut at ``limit`` characters."""
    short = " ".join(text.split()).replace("`", "'")
    return f"`{short if len(short) <= limit else short[: limit - 3].rstrip() + '...'}`"


def prose(text: str, limit: int = 160) -> str:
    """Words in double quotes (a comment, a message), cut at ``limit`` characters."""
    short = " ".join(text.split()).replace('"', "'")
    return f'"{short if len(short) <= limit else short[: limit - 3].rstrip() + "..."}"'


def join(parts: Sequence[str]) -> str:
    """ "a", "a and b", "a, b and c"."""
    if len(parts) < 2:
        return "".join(parts)
    return ", ".join(parts[:-1]) + " and " + parts[-1]


def quoted(names: Iterable[str], most: int = 5, limit: int = _QUOTED) -> str:
    """Names in backticks, joined; what is beyond ``most`` is only counted."""
    items = list(names)
    shown = [quote(name, limit) for name in items[:most]]
    if len(items) > most:
        shown.append(f"{len(items) - most} more")
    return join(shown)


def number(count: int) -> str:
    """A count at the beginning of a sentence."""
    return _NUMBERS[count] if count < len(_NUMBERS) else str(count)


def article(word: str) -> str:
    """ "a" or "an" before a word."""
    return "an" if word[:1].lower() in "aeiou" else "a"


def plural(word: str, count: int) -> str:
    """The word, with an s unless it is one."""
    return word if count == 1 else word + ("es" if word.endswith("s") else "s")


def callee(call: tree_sitter.Node, row: Language) -> str:
    """What a call calls, as written, without its arguments; a long chain is its last name."""
    if call.type == "command":
        return flat(call.child_by_field_name("name"))
    arguments = arguments_node(call, row)
    text = flat(call)
    if arguments is not None and call.text is not None:
        size = arguments.start_byte - call.start_byte
        text = " ".join(call.text[:size].decode("utf-8", "replace").split())
    block = call.child_by_field_name("block")
    if arguments is None and block is not None and call.text is not None:
        raw = call.text[: block.start_byte - call.start_byte]
        text = " ".join(raw.decode("utf-8", "replace").split())
    for word in ("new ", "await "):
        text = text.removeprefix(word)
    text = re.sub(r"\s*([.?:>-]+)\s*", r"\1", text).rstrip("!(")
    if len(text) > 50 or "(" in text:
        text = re.split(r"\.|->|::", text)[-1].strip() or text[-50:]
    return text.removesuffix("?")


def arguments_node(call: tree_sitter.Node, row: Language) -> tree_sitter.Node | None:
    """The node that holds a call's arguments."""
    found = call.child_by_field_name("arguments")
    if found is not None:
        return found
    return next((c for c in call.named_children if row.role(c.type) is Role.ARGUMENTS), None)


def argument_texts(call: tree_sitter.Node, row: Language) -> list[str]:
    """The arguments of a call as written, function values shortened to their heads."""
    holder = arguments_node(call, row)
    if call.type == "command":
        children = call.children_by_field_name("argument")
    elif holder is None:
        return []
    else:
        children = holder.named_children
    texts: list[str] = []
    for child in children[:30]:
        role = row.role(child.type)
        if role is Role.COMMENT:
            continue
        texts.append("a function" if role is Role.LAMBDA else flat(child))
    return texts


def calls_in(node: tree_sitter.Node, row: Language, most: int = 6) -> list[tree_sitter.Node]:
    """The calls below a node, outermost first; those inside nested blocks too."""
    found: list[tree_sitter.Node] = []
    for here in walk(node):
        if row.role(here.type) is Role.CALL:
            found.append(here)
            if len(found) >= most:
                break
    return found


def call_phrase(call: tree_sitter.Node, row: Language) -> str:
    """ "`fetch` with `url` and `timeout`" for a call."""
    name = quote(callee(call, row))
    texts = argument_texts(call, row)
    if not texts:
        return name
    shown = [text if text == "a function" else quote(text, 60) for text in texts[:4]]
    if len(texts) > 4:
        shown.append(f"{len(texts) - 4} more")
    word = "argument" if len(texts) == 1 else "arguments"
    return f"{name} with the {word} {join(shown)}"


def string_value(node: tree_sitter.Node | None) -> str:
    """The words in a string literal, its quotes left out."""
    text = flat(node)
    return re.sub(r"^[A-Za-z@$]{0,3}(\"\"\"|'''|[\"'`])|(\"\"\"|'''|[\"'`])$", "", text)


def first_string(node: tree_sitter.Node, row: Language) -> str:
    """The words of the first string literal below a node, "" where there is none."""
    for here in walk(node):
        if row.role(here.type) is Role.STRING:
            return string_value(here)
    return ""


def parameter_names(names: Iterable[str]) -> list[str]:
    """Parameters without the receiver."""
    return [name for name in names if name.lstrip("*&") not in _RECEIVERS and name]


def definition_phrase(unit: Unit) -> str:
    """ "method `run`" for a unit that defines something."""
    if unit.definition is None or not unit.definition.name:
        return ""
    return f"{unit.definition.kind} {quote(unit.definition.name)}"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a unit stands: the function and the type around it, as phrases ("" if unknown)."""

    function: str = ""
    type: str = ""

    @property
    def nearest(self) -> str:
        """The function, else the type, else ""."""
        return self.function or self.type

    @property
    def full(self) -> str:
        """ "method `run` of the class `Task`", or whichever half is known."""
        if self.function and self.type:
            return f"{self.function} of the {self.type}"
        return self.nearest

    def inside(self, word: str = "in", full: bool = False) -> str:
        """ " in the method `run`", or "" where the place is not known."""
        phrase = self.full if full else self.nearest
        return f" {word} the {phrase}" if phrase else ""


def _section_phrase(section: Section) -> str:
    return f"{section.kind} {quote(section.name)}" if section.name else ""


def place_of(unit: Unit, section: Section, in_section: bool) -> Place:
    """The place of a unit by the units around it, then by the hunk's section."""
    function = unit.around(FUNCTION)
    type_ = unit.around(TYPE)
    function_phrase = definition_phrase(function) if function is not None else ""
    type_phrase = definition_phrase(type_) if type_ is not None else ""
    if type_ is not None and function is not None and function in [p for p, _ in type_.parents]:
        type_phrase = ""  # a type inside the function does not hold it
    holder = function.definition if function is not None else unit.definition
    if not type_phrase and holder is not None and holder.parent and holder.parent_kind == "type":
        type_phrase = f"type {quote(holder.parent)}"
    if in_section:
        if section.kind == "function" and not function_phrase and not type_phrase:
            function_phrase = _section_phrase(section)
        elif section.kind not in ("function", "variable", "call", "") and not type_phrase:
            type_phrase = _section_phrase(section)
    if type_phrase and function_phrase.startswith("function "):
        function_phrase = "method " + function_phrase.removeprefix("function ")
    return Place(function_phrase, type_phrase)


def condition_text(node: tree_sitter.Node, row: Language) -> str:
    """The condition of a conditional, loop or switch as written, outer brackets left out."""
    found = node.child_by_field_name("condition") or node.child_by_field_name("value")
    if found is None and row.role(node.type) is Role.ELSE:
        inner = next((c for c in node.named_children if row.role(c.type) is Role.IF), None)
        return condition_text(inner, row) if inner is not None else ""
    text = flat(found)
    while text.startswith("(") and text.endswith(")") and _closes(text):
        text = text[1:-1].strip()
    return text


def _closes(text: str) -> bool:
    """Whether the first bracket is closed by the last one."""
    depth = 0
    for at, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if depth == 0:
            return at == len(text) - 1
    return False
