"""A side of a hunk as a flat list of units: heads of statements and definitions, and comments.

A unit is what one claim speaks about. An ``if`` is its condition, its body are units of their
own; so code that is only indented further, under a new condition, keeps its own units.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import tree_sitter

from models.syntax.definitions import Definition, DefinitionNode, definition_nodes
from models.syntax.fragment import PLACEHOLDER, Fragment
from models.syntax.grammar import fields_of, text_of
from models.syntax.language import Language, Role

FUNCTION, TYPE, EXPRESSION, DOCSTRING = "function", "type", "expression", "docstring"


def words(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(text.split())


# Nodes without a meaning of their own here: what stands in them stands in their place.
_TRANSPARENT = words(
    "ERROR program module source_file translation_unit compilation_unit "
    "decorated_definition export_statement type_declaration import_declaration "
    "import_spec_list var_declaration const_declaration var_spec_list "
    "template_declaration switch_block switch_body labeled_statement "
    "linkage_specification statement_list match_block class_body declaration_list "
    "case_block enum_class_body enum_body then do preproc_if preproc_ifdef preproc_else "
    "parenthesized_statement body_statement block_body function_body catch_block "
    "value_declaration enumerators program_body component_statement "
    "namespace_definition text document import_list decorator_list"
)
_COMPOUND = frozenset(
    {Role.IF, Role.ELSE, Role.LOOP, Role.SWITCH, Role.CASE, Role.TRY, Role.CATCH, Role.FINALLY}
    | {Role.WITH}
)
COMPOUND_KINDS = frozenset(role.value for role in _COMPOUND)
_NESTED_FIELDS = frozenset({"body", "consequence", "alternative", "handler", "finalizer"})
_NESTED_ROLES = frozenset({Role.ELSE, Role.CATCH, Role.FINALLY, Role.CASE})
_STATEMENTS = frozenset(
    {Role.STATEMENT, Role.DECLARATION, Role.RETURN, Role.THROW, Role.JUMP, Role.ASSERT} | _COMPOUND
)
# A unit with more tokens is compared as it stands; none is looked into.
MAX_TOKENS = 4000
_BAG = 600
_WORD = re.compile(r"\w+|[^\w\s]")


@dataclass(eq=False, slots=True)
class Unit:
    """One unit; ``rows`` are the first and last 0-based line of the piece that its own tokens
    stand on, (-1, -1) where they are out of sight, and ``on`` all of them.

    ``parents`` are the units around it, outermost first, each with the field by which it holds
    this one ("alternative" for the other branch of a condition).
    """

    index: int
    kind: str
    node: tree_sitter.Node
    tokens: tuple[str, ...]
    rows: tuple[int, int]
    on: frozenset[int] = frozenset()
    parents: tuple[tuple[Unit, str], ...] = ()
    definition: Definition | None = None
    definition_node: tree_sitter.Node | None = None
    inner: list[Unit] = field(default_factory=list)
    _words: Counter[str] | None = None
    _whole: Counter[str] | None = None

    @property
    def key(self) -> tuple[str, tuple[str, ...]]:
        """Equal for units that say the same, whatever their layout."""
        return self.kind, self.tokens

    @property
    def words(self) -> Counter[str]:
        """Its words and signs, strings and all, by which likeness is judged."""
        if self._words is None:
            self._words = Counter(_WORD.findall(self.text[:8_000])[:_BAG])
        return self._words

    @property
    def whole(self) -> Counter[str]:
        """The words of all that the unit holds, its body too."""
        if self._whole is None:
            self._whole = Counter(_WORD.findall(text_of(self.node)[:8_000])[:_BAG])
        return self._whole

    @property
    def text(self) -> str:
        """The unit's own tokens on one line."""
        return " ".join(self.tokens)

    def around(self, *kinds: str) -> Unit | None:
        """The innermost unit of one of these kinds that holds this one."""
        for parent, _ in reversed(self.parents):
            if parent.kind in kinds:
                return parent
        return None


def comment_words(text: str) -> list[str]:
    """The words of a comment without its marks."""
    words: list[str] = []
    for line in text.split("\n"):
        body = line.strip().lstrip("/*#!-<;").strip()
        for end in ("*/", "-->", '"""', "'''"):
            body = body.removesuffix(end).strip()
        for start in ('"""', "'''"):
            body = body.removeprefix(start).strip()
        words += body.split()
    return words


def _is_nested(child: tree_sitter.Node, name: str, inside: Role | None, row: Language) -> bool:
    if not child.is_named:
        return False
    role = row.role(child.type)
    if role is Role.BLOCK or role in _NESTED_ROLES:
        return True
    if row.name == "bash" and inside in _COMPOUND and not name:
        return role in (Role.CALL, Role.ASSIGNMENT, Role.DECLARATION, Role.STATEMENT) or (
            role in _COMPOUND
        )
    if inside is Role.CASE and name not in ("value", "pattern") and role in _STATEMENTS:
        return True
    if child.type in row.functions or child.type in row.types:
        return True
    return inside in _COMPOUND and (name in _NESTED_FIELDS or child.type in _TRANSPARENT)


class _Reader:
    """Reads the units of one tree that stand on some rows."""

    def __init__(self, fragment: Fragment, first: int, last: int, name: str) -> None:
        self.name = name
        self.row = fragment.row
        self.offset = fragment.offset
        self.first = first + fragment.offset
        self.last = last + fragment.offset
        self.units: list[Unit] = []
        self.outer: dict[int, DefinitionNode] = {}
        found = fragment.definitions
        for entry in definition_nodes(fragment.tree, fragment.row) if found is None else found:
            self.outer.setdefault(entry.outer.id, entry)
        self.root = fragment.tree.root_node

    def read(self) -> list[Unit]:
        stack: list[tuple[tree_sitter.Node, tuple[tuple[Unit, str], ...]]] = [(self.root, ())]
        while stack:
            node, parents = stack.pop()
            if node.end_point.row < self.first or node.start_point.row > self.last:
                continue
            nested = list(self._visit(node, parents))
            nested.reverse()
            stack.extend(nested)
        return self.units

    def _visit(
        self, node: tree_sitter.Node, parents: tuple[tuple[Unit, str], ...]
    ) -> Iterator[tuple[tree_sitter.Node, tuple[tuple[Unit, str], ...]]]:
        if (
            self.row.role(node.type) is Role.STATEMENT
            and node.named_child_count == 1
            and self.row.role(node.named_children[0].type) in _COMPOUND
        ):
            # Rust and others wrap what is a statement elsewhere.
            node = node.named_children[0]
        entry = self.outer.get(node.id)
        role = self.row.role(node.type)
        if role is Role.PARAMETERS:
            return
        if entry is None and (
            (node.type in _TRANSPARENT and role is None)
            or role in (Role.BLOCK, Role.EXPORT)
            or node == self.root
        ):
            stray = node.is_error
            for child, name in fields_of(node):
                if not child.is_named or name in ("condition", "name"):
                    continue
                if not (stray and child.child_count == 0 and self.row.role(child.type) is None):
                    yield child, parents
            return
        unit, nested = self._unit(node, role, entry, parents)
        if unit is None:
            return
        for child, name in nested:
            yield child, (*parents, (unit, name))

    def _unit(
        self,
        node: tree_sitter.Node,
        role: Role | None,
        entry: DefinitionNode | None,
        parents: tuple[tuple[Unit, str], ...],
    ) -> tuple[Unit | None, list[tuple[tree_sitter.Node, str]]]:
        if role is Role.COMMENT:
            return self._comment(node, parents), []
        tokens: list[str] = []
        nested: list[tuple[tree_sitter.Node, str]] = []
        top, bottom = -1, -1
        on: set[int] = set()
        stack: list[tuple[tree_sitter.Node, str, tree_sitter.Node | None]] = [(node, "", None)]
        body = entry.node.child_by_field_name("body") if entry is not None else None
        while stack:
            here, name, parent = stack.pop()
            if parent is not None and (
                (body is not None and here == body)
                or (
                    not (entry is not None and here == entry.node)
                    and not (here.type == "object_type" and "alias" not in parent.type)
                    and _is_nested(here, name, self.row.role(parent.type), self.row)
                )
            ):
                nested.append((here, name))
                continue
            if here.child_count == 0 or self.row.role(here.type) is Role.STRING:
                if self.row.role(here.type) is Role.COMMENT:
                    nested.append((here, ""))
                    continue
                text = text_of(here)
                if text == "else" and parent is not None and parent.type.startswith("if"):
                    continue
                if text == "end" and not here.is_named and self.row.name == "ruby":
                    continue
                if text.strip():
                    exact = self.row.role(here.type) is Role.STRING
                    tokens.append(text if exact else " ".join(text.split()))
                    on.update(range(here.start_point.row, here.end_point.row + 1))
                    top = here.start_point.row if top < 0 else top
                    bottom = max(bottom, here.end_point.row)
                continue
            stack.extend((child, name, here) for child, name in reversed(fields_of(here)))
        if not tokens or top > self.last or bottom < self.first:
            # The head is out of sight; it still stands around what is in sight.
            top = bottom = -1
        definition = entry.definition if entry is not None else None
        if definition is not None:
            if definition.name.endswith(PLACEHOLDER):
                # Made up around the piece; what it is called stands above the piece, if anywhere.
                definition = replace(definition, name=self.name)
            if definition.parent.lower().endswith(PLACEHOLDER):
                definition = replace(definition, parent="", parent_kind="")
            if definition.name.lower().endswith(PLACEHOLDER):
                definition = None
        kind = self._kind(node, role, definition, parents)
        unit = Unit(
            index=len(self.units),
            kind=kind,
            node=node,
            tokens=tuple(tokens[:MAX_TOKENS]),
            rows=(max(top - self.offset, 0), bottom - self.offset) if top >= 0 else (-1, -1),
            on=frozenset(row - self.offset for row in on if self.first <= row <= self.last)
            if top >= 0
            else frozenset(),
            parents=parents,
            definition=definition,
            definition_node=entry.node if entry is not None else None,
        )
        if tokens and tokens[-1] == ";":
            unit.tokens = unit.tokens[:-1]
        self._add(unit)
        return unit, nested

    def _kind(
        self,
        node: tree_sitter.Node,
        role: Role | None,
        definition: Definition | None,
        parents: tuple[tuple[Unit, str], ...],
    ) -> str:
        if definition is not None:
            return TYPE if definition.is_type else FUNCTION
        if (
            self.row.indented
            and node.type == "expression_statement"
            and node.named_child_count == 1
            and node.named_children[0].type == "string"
            and self._is_first(parents)
        ):
            return DOCSTRING
        if role is None or role is Role.STATEMENT:
            inner = node.named_children[0] if node.named_child_count == 1 else None
            inner_role = self.row.role(inner.type) if inner is not None else None
            if inner_role in (Role.ASSIGNMENT, Role.CALL, Role.THROW, Role.RETURN) or (
                inner_role in _COMPOUND
            ):
                return inner_role.value
            return EXPRESSION
        return role.value

    def _is_first(self, parents: tuple[tuple[Unit, str], ...]) -> bool:
        """Whether nothing but comments stands before in the same body."""
        if parents:
            return parents[-1][0].kind in (FUNCTION, TYPE, EXPRESSION) and all(
                unit.kind == Role.COMMENT.value for unit in parents[-1][0].inner
            )
        return all(unit.kind == Role.COMMENT.value for unit in self.units[:10])

    def _comment(
        self, node: tree_sitter.Node, parents: tuple[tuple[Unit, str], ...]
    ) -> Unit | None:
        words = comment_words(text_of(node))
        start, end = node.start_point.row, node.end_point.row
        if node.end_point.column == 0 and end > start:
            end -= 1
        previous = self.units[-1] if self.units else None
        if (
            previous is not None
            and previous.kind == Role.COMMENT.value
            and previous.rows[1] + 1 == start - self.offset
            and previous.node.start_point.column == node.start_point.column
            and previous.parents == parents
        ):
            # Lines of one remark are one unit.
            previous.tokens = (*previous.tokens, *words)[:MAX_TOKENS]
            previous.rows = (previous.rows[0], end - self.offset)
            previous.on |= set(range(start - self.offset, end - self.offset + 1))
            return None
        unit = Unit(
            len(self.units),
            Role.COMMENT.value,
            node,
            tuple(words[:MAX_TOKENS]),
            (max(start - self.offset, 0), end - self.offset),
            frozenset(range(max(start - self.offset, 0), end - self.offset + 1)),
            parents,
        )
        self._add(unit)
        return unit

    def _add(self, unit: Unit) -> None:
        self.units.append(unit)
        if unit.parents:
            unit.parents[-1][0].inner.append(unit)


def read_units(fragment: Fragment, first: int, last: int, name: str = "") -> list[Unit]:
    """The units that stand on rows ``first``..``last`` (0-based lines of the piece), in order.

    Units around them come first even where their own heads stand above (their rows are -1).
    ``name`` is what the function is called whose head the piece begins in the middle of.
    """
    return _Reader(fragment, first, last, name).read()
