"""Chains of calls, joined operands and function values, taken apart for comparison."""

from __future__ import annotations

import tree_sitter

from models.crscore.claims.texts import flat
from models.syntax.language import Language, Role

LINK = "link"
TAKES = "takes"


def takes(node: tree_sitter.Node, row: Language) -> tree_sitter.Node | None:
    """What a function value takes: its list of parameters, or the only one."""
    found = node.child_by_field_name("parameters") or node.child_by_field_name("parameter")
    if found is not None:
        return found
    return next((c for c in node.named_children if row.role(c.type) is Role.PARAMETERS), None)


_JOINS = frozenset({"&&", "||", "and", "or"})


def is_join(node: tree_sitter.Node) -> bool:
    """Whether an expression joins conditions by and/or."""
    return any(not c.is_named and c.type in _JOINS for c in node.children)


def operands(node: tree_sitter.Node, row: Language) -> tuple[str, list[tree_sitter.Node]]:
    """The operator of ``a + b + c`` and its operands in order (at most 400)."""
    signs = [flat(c) for c in node.children if not c.is_named]
    sign = signs[0] if len(signs) == 1 else ""
    if not sign or node.named_child_count != 2:
        return "", [node]
    found: list[tree_sitter.Node] = []
    here: tree_sitter.Node | None = node
    while here is not None and len(found) < 400:
        inner = [flat(c) for c in here.children if not c.is_named]
        if row.role(here.type) is not Role.BINARY or inner != [sign] or here.named_child_count != 2:
            found.append(here)
            break
        found.append(here.named_children[1])
        here = here.named_children[0]
    found.reverse()
    return sign, found


def head_word(tokens: tuple[str, ...]) -> str:
    """The first word of an expression that is not a keyword of creation."""
    return next((t for t in tokens if t[:1].isalpha() and t not in ("new", "await", "not")), "")


_MEMBERS = ("function", "object", "receiver")


def chain(call: tree_sitter.Node, row: Language) -> list[tree_sitter.Node]:
    """The calls of a chain ``a.b().c()``, the first one first (at most 200)."""
    links: list[tree_sitter.Node] = []
    here: tree_sitter.Node | None = call
    while here is not None and len(links) < 200:
        if row.role(here.type) is Role.CALL:
            links.append(here)
        inner = None
        for name in (*_MEMBERS, "value", "argument", "expression"):
            inner = here.child_by_field_name(name)
            if inner is not None:
                break
        if inner is None and here.named_child_count and here.type.startswith("navigation"):
            inner = here.named_children[0]
        here = inner
    links.reverse()
    return links


def link_text(call: tree_sitter.Node, row: Language) -> str:
    """A link of a chain without what stands before it: ``c()`` of ``a.b().c()``."""
    function = next(
        (f for n in ("function", "method", "name") if (f := call.child_by_field_name(n))), None
    )
    start = call.start_byte
    if function is not None:
        name = next(
            (
                f
                for n in ("property", "attribute", "field", "name", "suffix")
                if (f := function.child_by_field_name(n))
            ),
            None,
        )
        if name is not None:
            start = name.start_byte
        elif call.child_by_field_name("function") is None:
            start = function.start_byte
    elif call.named_child_count and call.named_children[0].type.startswith("navigation"):
        start = call.named_children[0].named_children[-1].start_byte
    raw = (call.text or b"")[start - call.start_byte :]
    return " ".join(raw.decode("utf-8", "replace").split()).lstrip(".?>-: ")
