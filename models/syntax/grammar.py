"""Parsing by tree-sitter: grammars loaded when first used, trees, and their errors counted."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
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


def walk(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    """``node`` and all below it, parents first; a cursor, so that deep nesting is no danger."""
    cursor = node.walk()
    while True:
        here = cursor.node
        if here is not None:
            yield here
        if cursor.goto_first_child() or cursor.goto_next_sibling():
            continue
        while cursor.goto_parent():
            if cursor.goto_next_sibling():
                break
        else:
            return


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
