"""Slips in a revised Java method that only one thing can have been meant by.

Line edits rewrite a part of a method. What they forget lies mostly outside of it: the closing
braces at the method's end that should have gone with an opening one, or the other uses of a
variable whose declaration they renamed. Mended, such an answer counts for what it meant; unmended
it would be passed over, or compile to nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tree_sitter import Node

from models.preprocess.dataflow import JAVA_MEMBER
from models.syntax.grammar import parse, text_of, walk_with_parents
from models.systems.soundness import parses_like
from models.tasks import Example

_DECLARE = frozenset(
    {
        "variable_declarator",
        "formal_parameter",
        "catch_formal_parameter",
        "enhanced_for_statement",
        "resource",
    }
)
_MEMBER = {
    "field_access": "field",
    "method_invocation": "name",
    "method_declaration": "name",
    "constructor_declaration": "name",
}
"""Nodes whose field of that name names a member, never a variable."""


@dataclass(frozen=True, slots=True)
class _Names:
    """The variables that a method declares, and where each of its variables is used (bytes)."""

    declared: frozenset[str]
    uses: tuple[tuple[str, int, int], ...]


def mended(example: Example) -> Callable[[str], str]:
    """A function that gives a revised text of this abstracted method without its slips.

    A text without one, or with one that cannot be mended so that it parses as well as the method
    did, comes back as it is.
    """
    source = example.unmarked()
    sound = parses_like(example)
    before = _names(source).declared

    def mend(text: str) -> str:
        if not sound(text):
            closed = with_matching_braces(text)
            if closed is None or not sound(closed):
                return text
            text = closed
        renamed = with_every_use_renamed(before, text)
        return renamed if renamed is not None and sound(renamed) else text

    return mend


def with_matching_braces(text: str) -> str | None:
    """The text with braces put to its end or taken from there until as many close as open.

    ``text`` has its tokens one space apart. ``None``: they match already, or too many close before
    the end.
    """
    tokens = text.split()
    missing = tokens.count("{") - tokens.count("}")
    if missing == 0 or set(tokens[len(tokens) + min(missing, 0) :]) - {"}"}:
        return None
    return " ".join([*tokens, *["}"] * missing] if missing > 0 else tokens[:missing])


def with_every_use_renamed(declared: frozenset[str], text: str) -> str | None:
    """The text with a renamed variable's other uses renamed as its declaration was.

    ``declared`` are the variables that the method declared before. ``None`` where the text is not
    such a case: it declares one new variable and still uses one whose declaration is gone.
    """
    names = _names(text)
    lost = {name for name, _, _ in names.uses if name in declared - names.declared}
    new = names.declared - declared
    if len(lost) != 1 or len(new) != 1:
        return None
    (old,), (name,) = lost, new
    raw = text.encode()
    for used, start, end in sorted(names.uses, key=lambda use: -use[1]):
        if used == old:
            raw = raw[:start] + name.encode() + raw[end:]
    return raw.decode()


def _names(text: str) -> _Names:
    before, after = JAVA_MEMBER
    root = parse((before + text + after).encode(), "java").root_node
    declared: set[str] = set()
    uses: list[tuple[str, int, int]] = []
    for node, above in walk_with_parents(root):
        if node.type != "identifier" or not above:
            continue
        parent = above[-1]
        if any(node == one for one in _declared_by(parent)):
            declared.add(text_of(node))
        elif node != parent.child_by_field_name(_MEMBER.get(parent.type, "")):
            start, end = node.start_byte - len(before), node.end_byte - len(before)
            uses.append((text_of(node), start, end))
    return _Names(frozenset(declared), tuple(uses))


def _declared_by(node: Node) -> Iterator[Node]:
    """The names that a node declares as variables."""
    if node.type in _DECLARE:
        name = node.child_by_field_name("name")
        if name is not None:
            yield name
    elif node.type == "inferred_parameters":
        yield from node.named_children
    elif node.type == "lambda_expression":
        parameters = node.child_by_field_name("parameters")
        if parameters is not None and parameters.type == "identifier":
            yield parameters
