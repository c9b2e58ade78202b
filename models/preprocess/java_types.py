"""Where types stand in a Java member, by tree-sitter."""

from __future__ import annotations

from functools import lru_cache

import tree_sitter_java
from tree_sitter import Language, Node, Parser

_PREFIX = "class A {\n"
_SUFFIX = "\n}"


@lru_cache(maxsize=1)
def _parser() -> Parser:
    return Parser(Language(tree_sitter_java.language()))


def type_positions(member: str, idioms: frozenset[str]) -> dict[int, bool] | None:
    """Character offsets of the names in type positions, or ``None`` if the text does not parse.

    ``member`` is the text of one member of a class. The value is False for the packages of a
    qualified type; src2abs reads the first two parts of one as types unless the first is an
    idiom, so those are True.
    """
    source = (_PREFIX + member + _SUFFIX).encode("utf-8", "surrogatepass")
    root = _parser().parse(source).root_node
    if root.has_error:
        return None
    shift = len(_PREFIX)
    found: dict[int, bool] = {}
    pending = [root]
    while pending:
        node = pending.pop()
        if node.type == "type_identifier":
            found[node.start_byte - shift] = _is_type(node, idioms)
        pending.extend(node.children)
    return _in_characters(found, member)


def _is_type(node: Node, idioms: frozenset[str]) -> bool:
    parent = node.parent
    if parent is None or parent.type != "scoped_type_identifier":
        return True
    outermost = parent
    while outermost.parent is not None and outermost.parent.type == "scoped_type_identifier":
        outermost = outermost.parent
    if parent is outermost and node == parent.children[-1]:
        return True
    parts = (outermost.text or b"").decode("utf-8", "replace").split(".")
    name = (node.text or b"").decode("utf-8", "replace")
    return parts[0].strip() not in idioms and name in [part.strip() for part in parts[:2]]


def _in_characters(found: dict[int, bool], text: str) -> dict[int, bool]:
    if text.isascii():
        return found
    converted: dict[int, bool] = {}
    offset = 0
    for position, character in enumerate(text):
        if offset in found:
            converted[position] = found[offset]
        offset += len(character.encode("utf-8", "surrogatepass"))
    return converted
