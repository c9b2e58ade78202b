"""What single statements say, in pieces that sentences are made of: names, values, outcomes."""

from __future__ import annotations

import re

import tree_sitter

from models.crscore.claims.texts import flat
from models.crscore.claims.units import Unit, words
from models.crscore.claims.wording import (
    argument_texts,
    arguments_node,
    call_phrase,
    callee,
    calls_in,
    first_string,
    prose,
    quote,
    quoted,
    string_value,
)
from models.syntax.definitions import name_of
from models.syntax.grammar import walk
from models.syntax.language import Language, Role

_LOG_OBJECT = re.compile(r"(?:^|[._])(?:log|logger|logging|console|_log|slog|glog|klog)s?$", re.I)
_LOG_METHODS = words(
    """trace debug info warn warning error fatal critical exception finest finer fine severe log
    infof warnf errorf debugf print println printf"""
)
_PRINTS = frozenset(
    {"print", "println", "printf", "puts", "echo", "error_log", "NSLog"}
    | {f"System.{out}.{word}" for out in ("out", "err") for word in ("println", "print", "printf")}
    | {f"fmt.{word}" for word in ("Print", "Println", "Printf")}
)
PRINTS = _PRINTS
_ASSERTS = re.compile(
    r"^(?:self\.|this\.|t\.|Assert\.|assert\.)?(?:assert\w*|expect|should\w*|verify|require\.)",
    re.I,
)
FIELD_WORDS = frozenset(
    {"private", "public", "protected", "static", "final", "readonly", "volatile", "const"}
)
_FIELD_NODES = frozenset(
    {"field_declaration", "field_definition", "public_field_definition", "property_declaration"}
    | {"property_signature", "constant_declaration", "const_declaration"}
)


def log_level(call: tree_sitter.Node, row: Language) -> str:
    """The level (or printing function) of a call that writes a log, "" for any other call."""
    name = callee(call, row)
    parts = re.split(r"\.|::|->", name)
    if len(parts) == 1 or name in _PRINTS:
        return name if name in _PRINTS else ""
    if parts[-1] in _LOG_METHODS and _LOG_OBJECT.search(parts[-2].lower().rstrip("()")):
        return parts[-1]
    return ""


def log_message(call: tree_sitter.Node, row: Language) -> str:
    """What a log call says: its text in double quotes, or its arguments as code."""
    holder = arguments_node(call, row)
    first = (
        next((c for c in holder.named_children if row.role(c.type) is Role.STRING), None)
        if holder is not None
        else None
    )
    if first is not None:
        return prose(string_value(first))
    message = first_string(call, row)
    texts = argument_texts(call, row)
    if message and len(message) > 12:
        return prose(message)
    return quoted(texts, 3) if texts else ""


def is_assertion(call: tree_sitter.Node, row: Language) -> bool:
    """Whether a call checks something in a test."""
    return bool(_ASSERTS.match(flat(call)))


def main_call(node: tree_sitter.Node, row: Language) -> tree_sitter.Node | None:
    """The outermost call of an expression statement, through await and the like."""
    here: tree_sitter.Node | None = node
    for _ in range(5):
        if here is None:
            return None
        if row.role(here.type) is Role.CALL:
            return here
        here = here.named_children[0] if here.named_child_count == 1 else None
    return None


def thrown(unit: Unit, row: Language) -> tuple[str, str]:
    """What a throw statement throws and its message ("" where none)."""
    calls = calls_in(unit.node, row, 1)
    if calls:
        return callee(calls[0], row), first_string(calls[0], row)
    text = flat(unit.node)
    return re.sub(r"^(?:throw|raise)\s*(?:new\s+)?", "", text).rstrip(";"), ""


def returned(unit: Unit) -> str:
    """What a return statement returns, "" for a bare return."""
    return re.sub(r"^(?:return|yield)\b\s*", "", flat(unit.node)).rstrip(";").strip()


def caught(node: tree_sitter.Node, row: Language) -> str:
    """What a catch clause catches, without the variable's name; "" for everything."""
    for here in walk(node):
        if row.role(here.type) is Role.BLOCK:
            break
        if here.type in ("catch_type", "exceptions", "type_list"):
            return flat(here)
        if here.type in ("catch_declaration", "parameter_declaration", "catch_block"):
            kind = here.child_by_field_name("type")
            if kind is not None:
                return flat(kind)
            found = next((c for c in here.named_children if c.type == "user_type"), None)
            if found is not None:
                return flat(found)
        if here.type == "as_pattern":
            return flat(here.named_children[0])
    value = node.child_by_field_name("value") or node.child_by_field_name("type")
    return flat(value)


def assigned(
    node: tree_sitter.Node, row: Language
) -> list[tuple[str, str, tree_sitter.Node | None]]:
    """(name, type, value node) for each variable that a declaration or assignment sets."""
    found: list[tuple[str, str, tree_sitter.Node | None]] = []
    kind = node.child_by_field_name("type")
    beyond = -1  # what stands in arguments, bodies and function values sets nothing here
    for here in walk(node):
        if here.start_byte < beyond:
            continue
        role = row.role(here.type)
        if role in (Role.BLOCK, Role.LAMBDA, Role.ARGUMENTS, Role.PARAMETERS):
            beyond = here.end_byte
            continue
        left = here.child_by_field_name("left")
        if role is Role.ASSIGNMENT and left is not None:
            right = here.child_by_field_name("right")
            found.append((flat(left), flat(here.child_by_field_name("type")), right))
            break
        if here.type in _DECLARATORS or _declares_itself(here):
            value = (
                here.child_by_field_name("value")
                or here.child_by_field_name("default_value")
                or here.child_by_field_name("right")
            )
            if value is None and here.type == "variable_declarator" and here.named_child_count > 1:
                value = here.named_children[-1]
            type_ = here.child_by_field_name("type") or kind
            name = flat(left) if left is not None else name_of(here)
            if name and len(found) < 12:
                found.append((name, flat(type_).lstrip(": "), value))
    return found


_DECLARATORS = words(
    """variable_declarator init_declarator field_definition public_field_definition var_spec
    const_spec short_var_declaration let_declaration const_item static_item property_element
    const_element variable_assignment val_definition var_definition property_signature
    variable_declaration enum_variant"""
)


def _declares_itself(node: tree_sitter.Node) -> bool:
    """Whether a field or property has its name itself and not in a declarator below."""
    if node.type == "property_declaration":
        return node.child_by_field_name("name") is not None
    return node.type == "field_declaration" and not any(
        child.type in ("variable_declarator", "variable_declaration")
        for child in node.named_children
    )


def is_field(unit: Unit) -> bool:
    """Whether a declaration stands in a type and not in a function."""
    return unit.node.type in _FIELD_NODES


def value_phrase(node: tree_sitter.Node | None, row: Language, brief: bool = False) -> str:
    """A value in words: "the result of calling `f` with ..." for a call, else as written."""
    if node is None:
        return ""
    role = row.role(node.type)
    if role is Role.CALL:
        called = quote(callee(node, row)) if brief else call_phrase(node, row)
        return f"the result of calling {called}"
    if role is Role.LAMBDA:
        return "a function"
    text = flat(node)
    if text in ("{}", "[]", "dict()", "list()", "''", '""'):
        return (
            {"{}": "an empty object", "dict()": "an empty dictionary"}.get(
                text, "an empty string" if text in ("''", '""') else "an empty list"
            )
            if not (text == "{}" and row.indented)
            else "an empty dictionary"
        )
    return quote(text)


def outcome(unit: Unit, row: Language, brief: bool = False) -> str:
    """What the code does at this unit, as a verb phrase: "returns `x`"; "" where not known.

    ``brief`` leaves out the arguments of calls.
    """
    kind = unit.kind
    if kind == Role.RETURN.value:
        value = returned(unit)
        verb = "yields" if flat(unit.node).startswith("yield") else "returns"
        call = main_call(unit.node, row) if value else None
        if call is not None and flat(call) == value:
            called = quote(callee(call, row)) if brief else call_phrase(call, row)
            return f"{verb} the result of calling {called}"
        return f"{verb} {quote(value)}" if value else "returns early"
    if kind == Role.THROW.value:
        name, message = thrown(unit, row)
        verb = "raises" if row.name in ("python", "ruby") else "throws"
        if not name:
            return f"{verb} the exception again"
        tail = f" with the message {prose(message)}" if message else ""
        return f"{verb} {quote(name)}{tail}"
    if kind == Role.JUMP.value:
        word = flat(unit.node).rstrip(";").split(" ")[0]
        return {
            "break": "leaves the loop",
            "continue": "skips to the next iteration",
            "pass": "does nothing",
            "next": "skips to the next iteration",
        }.get(word, "")
    call = main_call(unit.node, row)
    if call is not None:
        level = log_level(call, row)
        if level:
            message = log_message(call, row)
            verb = "prints" if level in _PRINTS else "logs"
            return f"{verb} {message}" if message else "writes a log message"
        return f"calls {quote(callee(call, row)) if brief else call_phrase(call, row)}"
    if kind in (Role.ASSIGNMENT.value, Role.DECLARATION.value):
        for name, _, right in assigned(unit.node, row):
            if right is not None:
                return f"sets {quote(name)} to {value_phrase(right, row, brief)}"
    if kind in ("expression", Role.ASSIGNMENT.value) and 2 < len(flat(unit.node)) <= 80:
        return f"runs {quote(flat(unit.node).rstrip(';'))}"
    return ""


_PAST = {
    "returns": "returned",
    "yields": "yielded",
    "calls": "called",
    "sets": "set",
    "logs": "logged",
    "prints": "printed",
    "writes": "wrote",
    "raises": "raised",
    "throws": "threw",
    "runs": "ran",
    "leaves": "left",
    "skips": "skipped",
    "does": "did",
}


def past(phrase: str) -> str:
    """A verb phrase of ``outcome`` in the past tense."""
    verb, space, rest = phrase.partition(" ")
    return _PAST.get(verb, verb) + space + rest
