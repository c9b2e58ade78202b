"""Where a source may be split into parts without cutting a statement in two."""

from __future__ import annotations

import tree_sitter

from models.syntax.grammar import parse, walk_with_parents
from models.syntax.language import Language, Role
from models.syntax.table import language_row

# What may stand at the beginning of a part, besides definitions.
_UNITS = frozenset(
    {
        Role.IMPORT,
        Role.DECLARATION,
        Role.IF,
        Role.LOOP,
        Role.SWITCH,
        Role.CASE,
        Role.TRY,
        Role.WITH,
        Role.RETURN,
        Role.THROW,
        Role.ASSERT,
        Role.STATEMENT,
        Role.EXPORT,
        Role.JUMP,
    }
)


def statement_boundaries(source: bytes, language: str) -> dict[int, int]:
    """The lines (1-based) at which a definition or statement begins, with its depth of nesting.

    A cut before such a line cuts no statement in two other than those that hold it; the smaller
    the depth, the better the cut. For a language that is not in the table the starts of
    paragraphs (after blank lines) are given, at their indentation.
    """
    row = language_row(language)
    found: dict[int, int] = {}
    if row is None:
        blank = True
        for number, text in enumerate(source.split(b"\n"), 1):
            if text.strip() and blank:
                found[number] = len(text) - len(text.lstrip())
            blank = not text.strip()
        return found
    return tree_boundaries(parse(source, language), row)


def tree_boundaries(tree: tree_sitter.Tree, row: Language) -> dict[int, int]:
    """The same for a tree; the lines are those of the tree."""
    found: dict[int, int] = {}
    # The depth is counted in enclosing blocks and definitions, kept as a stack of their ends.
    ends: list[int] = []
    previous_end_row = -1
    for node, above in walk_with_parents(tree.root_node):
        if not node.is_named:
            continue
        while ends and ends[-1] <= node.start_byte:
            ends.pop()
        defines = node.type in row.functions or node.type in row.types
        role = row.role(node.type)
        in_block = len(above) == 1 or (
            bool(above) and row.role(above[-1].type) in (Role.BLOCK, Role.CASE)
        )
        if (defines or role in _UNITS or in_block) and role is not Role.BLOCK:
            line = node.start_point.row + 1
            if node.start_point.row != previous_end_row and line not in found:
                found[line] = len(ends)
        if defines or role is Role.BLOCK:
            ends.append(node.end_byte)
        if node.child_count == 0:
            previous_end_row = node.end_point.row
    return found
