"""The functions and types that a source defines, and which of them stands around some lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import tree_sitter

from models.syntax.grammar import parse, text_of, walk, walk_with_parents
from models.syntax.language import Language, Role
from models.syntax.table import language_row

_IDENTIFIERS = frozenset(
    {"identifier", "type_identifier", "field_identifier", "name", "word", "constant"}
    | {"property_identifier", "simple_identifier", "namespace_identifier", "variable_name"}
)
_DECLARATORS = frozenset({"variable_declaration", "variable_declarator"})
_SIGNATURE_CHARS = 300


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a definition: its name, and its type and default as written ("" if none).

    ``variadic`` ones take any number of arguments, none too.
    """

    name: str
    type: str = ""
    default: str = ""
    variadic: bool = False


@dataclass(frozen=True, slots=True)
class Definition:
    """A function or type with its lines (1-based, inclusive, decorators and modifiers included).

    ``kind`` is the word that people use (function, method, class, struct, ...). ``parent`` is the
    name of the innermost definition around it, "" at the top. ``signature`` is its head on one
    line, without the body.
    """

    name: str
    kind: str
    start_line: int
    end_line: int
    signature: str = ""
    parameters: tuple[Parameter, ...] = ()
    returns: str = ""
    parent: str = ""
    parent_kind: str = ""

    @property
    def is_type(self) -> bool:
        """Whether it defines a type (or module) and not a function."""
        return self.kind not in _FUNCTION_KINDS


_FUNCTION_KINDS = frozenset({"function", "method", "constructor", "destructor", "operator"})


def _first(node: tree_sitter.Node, types: frozenset[str]) -> tree_sitter.Node | None:
    return next((child for child in node.named_children if child.type in types), None)


def name_of(node: tree_sitter.Node) -> str:
    """The name that a definition, declaration or parameter node gives, "" where it has none."""
    here: tree_sitter.Node | None = node
    for _ in range(12):
        if here is None:
            return ""
        if here.type in {"qualified_identifier", "destructor_name", "operator_name"}:
            return text_of(here)
        inner = (
            here.child_by_field_name("name")
            or here.child_by_field_name("declarator")
            or here.child_by_field_name("pattern")
        )
        if inner is None and here.type == "impl_item":
            inner = here.child_by_field_name("type")
        if inner is None and here.named_child_count and here.type not in _IDENTIFIERS:
            inner = _first(here, _DECLARATORS) or _first(here, _IDENTIFIERS)
            if inner is None and (
                here.type.endswith(("_pattern", "_declarator")) or here.type == "self_parameter"
            ):
                inner = here.named_children[-1]
        if inner is None:
            break
        here = inner
    text = text_of(here)
    return text if len(text) <= 120 and "\n" not in text else ""


def _body(node: tree_sitter.Node, row: Language) -> tree_sitter.Node | None:
    body = node.child_by_field_name("body")
    if body is not None:
        return body
    return next(
        (child for child in node.named_children if row.role(child.type) is Role.BLOCK), None
    )


def _parameters_node(node: tree_sitter.Node, row: Language) -> tree_sitter.Node | None:
    here: tree_sitter.Node | None = node
    for _ in range(8):
        if here is None:
            return None
        found = here.child_by_field_name("parameters")
        if found is not None:
            return found
        for child in here.named_children:
            if row.role(child.type) is Role.PARAMETERS:
                return child
        here = here.child_by_field_name("declarator") or next(
            (child for child in here.named_children if child.type == "primary_constructor"), None
        )
    return None


def _one_line(text: str, limit: int = _SIGNATURE_CHARS) -> str:
    flat = " ".join(text[: limit * 4].split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


def parameters_of(node: tree_sitter.Node, row: Language) -> tuple[Parameter, ...]:
    """The parameters that a function's node takes, in order (at most 100)."""
    holder = _parameters_node(node, row)
    if holder is None:
        single = node.child_by_field_name("parameter")
        return (Parameter(text_of(single)),) if single is not None else ()
    found: list[Parameter] = []
    default_next = False
    for child in holder.children[:400]:
        if not child.is_named or child.is_error:
            default_next = child.type == "="
            continue
        if default_next and found:
            # Kotlin writes the default beside the parameter and not in it.
            found[-1] = replace(found[-1], default=_one_line(text_of(child)))
            default_next = False
            continue
        default_next = False
        if row.role(child.type) in (Role.COMMENT, Role.DECORATOR) or child.type in _SEPARATORS:
            continue
        names = child.children_by_field_name("name")
        if len(names) > 1:  # Go: a, b int
            kind = _one_line(text_of(child.child_by_field_name("type")))
            found.extend(Parameter(text_of(name), kind) for name in names)
            continue
        found.append(_parameter(child))
    return tuple(found[:100])


_SEPARATORS = frozenset({"keyword_separator", "positional_separator", "parameter_modifiers"})
_VARIADIC = ("splat", "spread", "rest", "variadic")


def _parameter(node: tree_sitter.Node) -> Parameter:
    kind = node.child_by_field_name("type") or next(
        (c for c in node.named_children[1:] if c.type.endswith("_type")), None
    )
    value = node.child_by_field_name("value") or node.child_by_field_name("default_value")
    target = node
    left = node.child_by_field_name("left")
    if left is not None:
        target, value = left, node.child_by_field_name("right")
    elif value is None and any(c.type == "=" for c in node.children) and node.named_children:
        value = node.named_children[-1]
    text = _one_line(text_of(target), 80)
    name = name_of(target) if not target.type.endswith("object_pattern") else text
    variadic = any(word in node.type for word in _VARIADIC) or text.startswith(("*", "..."))
    if variadic and not name.startswith(("*", ".")):
        stars = len(text) - len(text.lstrip("*"))
        name = "*" * stars + name if stars else name
    return Parameter(
        name or text,
        _one_line(text_of(kind).lstrip(": ")) if kind is not None else "",
        _one_line(text_of(value)) if value is not None else "",
        variadic,
    )


def _returns(node: tree_sitter.Node) -> str:
    for name in ("return_type", "result", "returns", "type"):
        found = node.child_by_field_name(name)
        if found is not None:
            return _one_line(text_of(found).lstrip(":-> "))
    return ""


def _signature(node: tree_sitter.Node, outer: tree_sitter.Node, row: Language) -> str:
    body = _body(node, row)
    source = text_of(outer)
    if body is not None:
        size = body.start_byte - outer.start_byte
        source = (outer.text or b"")[:size].decode("utf-8", "replace")
    return _one_line(source.rstrip().rstrip("{").rstrip())


def _bound_name(
    node: tree_sitter.Node, above: Sequence[tree_sitter.Node]
) -> tuple[str, tree_sitter.Node]:
    """The name that a function value is bound to, and the statement that binds it."""
    if not above:
        return "", node
    parent = above[-1]
    beyond = above[-2] if len(above) > 1 else None
    target = (
        parent.child_by_field_name("name")
        or parent.child_by_field_name("left")
        or parent.child_by_field_name("key")
        or parent.child_by_field_name("property")
    )
    if target is None or target == node or parent.type in {"parameter", "default_parameter"}:
        return "", node
    holder = parent
    if parent.type == "variable_declarator" or (
        parent.type == "assignment_expression"
        and beyond is not None
        and beyond.type == "expression_statement"
    ):
        holder = beyond or parent
    return _one_line(text_of(target), 120), holder


@dataclass(frozen=True, slots=True)
class DefinitionNode:
    """A definition with the node that defines it and the outermost node that belongs to it."""

    definition: Definition
    node: tree_sitter.Node
    outer: tree_sitter.Node


def _lines(node: tree_sitter.Node) -> tuple[int, int]:
    start, end = node.start_point, node.end_point
    last = end.row + 1 if end.column > 0 or end.row == start.row else end.row
    return start.row + 1, last


def definition_nodes(tree: tree_sitter.Tree, row: Language) -> list[DefinitionNode]:
    """All definitions of a tree in source order, with their nodes."""
    found: list[DefinitionNode] = []
    stack: list[DefinitionNode] = []
    for node, above in walk_with_parents(tree.root_node):
        if not node.is_named:
            continue
        kind = row.functions.get(node.type) or row.types.get(node.type)
        name, outer = "", node
        if kind is None and row.name in _NEEDS_BODY and _declares_function(node):
            kind = "function"
        if kind is not None:
            name = name_of(node)
        elif row.role(node.type) is Role.LAMBDA and row.name in _BINDING:
            name, outer = _bound_name(node, above)
            kind = "function" if name else None
        if kind is None or not name:
            continue
        while stack and stack[-1].outer.end_byte <= node.start_byte:
            stack.pop()
        if row.name in _NEEDS_BODY and kind in _TYPE_WORDS and _body(node, row) is None:
            continue
        at = next((i for i, up in enumerate(above[-4:], -min(len(above), 4)) if up == outer), 0)
        while at > -len(above) and above[at - 1].type in row.containers:
            at -= 1
            outer = above[at]
        around = stack[-1].definition if stack else None
        if node.type == "type_spec":
            kind = _GO_KINDS.get(getattr(node.child_by_field_name("type"), "type", ""), kind)
        if kind == "function" and around is not None and around.is_type:
            kind = "constructor" if name in _CONSTRUCTORS or name == around.name else "method"
        elif kind == "method" and name == "constructor":
            kind = "constructor"
        start, end = _lines(outer)
        entry = DefinitionNode(
            Definition(
                name=name,
                kind=kind,
                start_line=start,
                end_line=end,
                signature=_signature(node, outer, row),
                parameters=parameters_of(node, row) if kind in _FUNCTION_KINDS else (),
                returns=_returns(node) if kind in _FUNCTION_KINDS else "",
                parent=around.name if around else _receiver(node),
                parent_kind=around.kind if around else "type" if _receiver(node) else "",
            ),
            node,
            outer,
        )
        found.append(entry)
        stack.append(entry)
    return found


def _declares_function(node: tree_sitter.Node) -> bool:
    """Whether a declaration of C or C++ is that of a function (a prototype)."""
    here = node if node.type in ("declaration", "field_declaration") else None
    for _ in range(4):
        here = here.child_by_field_name("declarator") if here is not None else None
        if here is None:
            return False
        if here.type == "function_declarator":
            return True
    return False


_GO_KINDS = {"struct_type": "struct", "interface_type": "interface"}


def _receiver(node: tree_sitter.Node) -> str:
    """The type that a method of Go belongs to, "" for any other node."""
    found = node.child_by_field_name("receiver") if node.type == "method_declaration" else None
    if found is None:
        return ""
    return next((text_of(n) for n in walk(found) if n.type == "type_identifier"), "")


_BINDING = frozenset({"javascript", "typescript", "tsx"})
# In C a struct's name without a body is a use of the type, not its definition.
_NEEDS_BODY = frozenset({"c", "cpp"})
_TYPE_WORDS = frozenset({"struct", "union", "enum", "class"})
_CONSTRUCTORS = frozenset({"__init__", "constructor", "initialize", "__construct"})


def definitions(source: bytes, language: str) -> list[Definition]:
    """The functions and types that ``source`` defines, in source order.

    Raises ``UnknownLanguage``; a broken source gives those that can still be read.
    """
    tree = parse(source, language)
    row = language_row(language)
    return [entry.definition for entry in definition_nodes(tree, row)] if row else []


def enclosing(source: bytes, language: str, start_line: int, end_line: int) -> Definition | None:
    """The innermost definition that holds all of lines ``start_line``..``end_line`` (1-based).

    ``None`` where no definition does. Raises ``UnknownLanguage``.
    """
    best: Definition | None = None
    for item in definitions(source, language):
        if (
            item.start_line <= start_line
            and end_line <= item.end_line
            and (best is None or item.start_line >= best.start_line)
        ):
            best = item
    return best
