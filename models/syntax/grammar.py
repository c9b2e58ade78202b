"""Parsing by tree-sitter: grammars loaded when first used, trees, and their errors counted."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from functools import cache

import tree_sitter

from models.syntax.table import language_row, supported


class UnknownLanguage(ValueError):
    """The table of languages has no row of this name."""

    def __init__(self, language: str) -> None:
        super().__init__(
            f"no syntax for language {language!r}: give one of {', '.join(supported())}"
        )


@cache
def _grammar(name: str) -> tree_sitter.Language:
    row = language_row(name)
    if row is None:
        raise UnknownLanguage(name)
    return tree_sitter.Language(getattr(importlib.import_module(row.wheel), row.entry)())


def parse(source: bytes, language: str) -> tree_sitter.Tree:
    """The syntax tree of ``source``; any bytes are accepted, errors are nodes of the tree.

    Raises ``UnknownLanguage`` where the table has no row of this name or alias.
    """
    row = language_row(language)
    if row is None:
        raise UnknownLanguage(language)
    return tree_sitter.Parser(_grammar(row.name)).parse(source)


# Nesting beyond this is no code that a person wrote; what is below is passed over.
MAX_DEPTH = 400


def walk(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    """``node`` and all below it down to ``MAX_DEPTH``, parents first."""
    for here, _ in walk_with_parents(node):
        yield here


def walk_with_parents(
    node: tree_sitter.Node,
) -> Iterator[tuple[tree_sitter.Node, Sequence[tree_sitter.Node]]]:
    """The same with the nodes above each, outermost first (the sequence changes as it goes).

    ``Node.parent`` searches from the root each time; a stack makes deep trees linear.
    """
    cursor = node.walk()
    above: list[tree_sitter.Node] = []
    while True:
        here = cursor.node
        if here is None:
            return
        yield here, above
        if len(above) < MAX_DEPTH and cursor.goto_first_child():
            above.append(here)
            continue
        while not cursor.goto_next_sibling():
            if not above or not cursor.goto_parent():
                return
            above.pop()


def fields_of(node: tree_sitter.Node) -> list[tuple[tree_sitter.Node, str]]:
    """The children of a node, each with the name of its field ("" where it has none)."""
    cursor = node.walk()
    found: list[tuple[tree_sitter.Node, str]] = []
    more = cursor.goto_first_child()
    while more:
        if cursor.node is not None:
            found.append((cursor.node, cursor.field_name or ""))
        more = cursor.goto_next_sibling()
    return found


def errors(tree: tree_sitter.Tree) -> int:
    """How many ERROR and MISSING nodes the tree has."""
    root = tree.root_node
    if not root.has_error:
        return 0
    count = 0
    cursor = root.walk()
    while True:
        here = cursor.node
        broken = here is not None and here.has_error
        if here is not None and (here.is_error or here.is_missing):
            count += 1
        # A subtree without errors is passed over whole.
        if (broken and cursor.goto_first_child()) or cursor.goto_next_sibling():
            continue
        while cursor.goto_parent():
            if cursor.goto_next_sibling():
                break
        else:
            return count


def error_count(source: bytes, language: str) -> int:
    """How many parse errors (ERROR and MISSING nodes) ``source`` has in ``language``.

    A suggestion may be posted only where this is no larger after it than before. Raises
    ``UnknownLanguage``.
    """
    return errors(parse(source, language))


def text_of(node: tree_sitter.Node | None) -> str:
    """The source text of a node; bytes that are not UTF-8 are shown as the replacement sign."""
    if node is None or node.text is None:
        return ""
    return node.text.decode("utf-8", "replace")
