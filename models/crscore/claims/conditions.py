"""Conditions in words: "`a` is greater than 1 and `b` is not null"."""

from __future__ import annotations

import tree_sitter

from models.crscore.claims.texts import flat
from models.crscore.claims.wording import condition_text, quote
from models.syntax.language import Language, Role

_COMPARED = {
    "==": "equals",
    "===": "equals",
    "!=": "is not equal to",
    "!==": "is not equal to",
    "<>": "is not equal to",
    "<": "is less than",
    "<=": "is less than or equal to",
    ">": "is greater than",
    ">=": "is greater than or equal to",
    "is": "is",
    "is not": "is not",
    "in": "is in",
    "not in": "is not in",
    "instanceof": "is an instance of",
    "-eq": "equals",
    "-ne": "is not equal to",
    "-lt": "is less than",
    "-gt": "is greater than",
    "-le": "is less than or equal to",
    "-ge": "is greater than or equal to",
}
_JOINED = {"&&": "and", "||": "or", "and": "and", "or": "or", "-a": "and", "-o": "or"}
_BRACKETS = frozenset({"parenthesized_expression", "condition_clause", "test_command"})
_DEPTH = 12
# Longer conditions are clearer as they are written.
_LONG = 160


def condition_node(node: tree_sitter.Node, row: Language) -> tree_sitter.Node | None:
    """The node of a conditional's or loop's condition."""
    found = node.child_by_field_name("condition") or node.child_by_field_name("value")
    if found is None and row.role(node.type) is Role.ELSE:
        inner = next((c for c in node.named_children if row.role(c.type) is Role.IF), None)
        return condition_node(inner, row) if inner is not None else None
    return found


def in_words(node: tree_sitter.Node | None, row: Language) -> str:
    """An expression that is a condition, its comparisons and joins spelled out.

    Operands stay as written, in backticks; an expression that is no comparison is one operand.
    """
    if node is None:
        return ""
    if len(flat(node)) > _LONG:
        return quote(flat(node), 120)
    return _words(node, row, 0)


def _words(node: tree_sitter.Node, row: Language, depth: int) -> str:
    here = node
    while here.type in _BRACKETS and here.named_child_count == 1:
        here = here.named_children[0]
    if depth > _DEPTH:
        return quote(flat(here))
    role = row.role(here.type)
    named = here.named_children
    signs = [flat(c) for c in here.children if not c.is_named] or [
        flat(c) for c in here.children if c.type in ("operator_identifier", "test_operator")
    ]
    if role is Role.UNARY and signs[:1] in (["!"], ["not"]) and named:
        inner = _words(named[-1], row, depth + 1)
        return (
            f"not {inner}"
            if " " not in inner.strip("`") or inner.count("`") == 2
            else f"not ({inner})"
        )
    if role is Role.BINARY and len(named) >= 2 and signs:
        sign = signs[0] if len(signs) == 1 else " ".join(signs)
        left, right = named[0], named[-1]
        if sign in _JOINED:
            joined = _JOINED[sign]
            return f"{_words(left, row, depth + 1)} {joined} {_words(right, row, depth + 1)}"
        if sign in _COMPARED and len(named) == 2:
            return f"{quote(flat(left))} {_COMPARED[sign]} {quote(flat(right))}"
    return quote(flat(here))


def condition_words(node: tree_sitter.Node, row: Language) -> str:
    """The condition of a conditional or loop in words, "" where it has none."""
    if not condition_text(node, row):
        return ""
    return in_words(condition_node(node, row), row)
