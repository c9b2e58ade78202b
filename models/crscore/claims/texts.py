"""The text of nodes, on one line."""

from __future__ import annotations

import tree_sitter

from models.syntax.grammar import text_of


def flat(node: tree_sitter.Node | None) -> str:
    """A node's text on one line."""
    return " ".join(text_of(node).split())


def flat_head(node: tree_sitter.Node) -> str:
    """A block's head on one line, without its body."""
    body = node.child_by_field_name("body") or node.child_by_field_name("consequence")
    if body is None or node.text is None:
        return flat(node)
    raw = node.text[: body.start_byte - node.start_byte]
    return " ".join(raw.decode("utf-8", "replace").split()).rstrip("{: ")
