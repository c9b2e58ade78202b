"""What a row of the table of languages says: how one is recognised, which node types do what.

The rows themselves are in ``rows_core`` and ``rows_more``, the table in ``table``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Role(StrEnum):
    """What a node is in any language, as far as reading a change needs to know."""

    IMPORT = "import"
    CALL = "call"
    ARGUMENTS = "arguments"
    PARAMETERS = "parameters"
    ASSIGNMENT = "assignment"
    DECLARATION = "declaration"
    IF = "if"
    ELSE = "else"
    LOOP = "loop"
    SWITCH = "switch"
    CASE = "case"
    TRY = "try"
    CATCH = "catch"
    FINALLY = "finally"
    WITH = "with"
    RETURN = "return"
    THROW = "throw"
    JUMP = "jump"
    ASSERT = "assert"
    COMMENT = "comment"
    STRING = "string"
    NUMBER = "number"
    LITERAL = "literal"
    COLLECTION = "collection"
    PAIR = "pair"
    DECORATOR = "decorator"
    MODIFIER = "modifier"
    BLOCK = "block"
    LAMBDA = "lambda"
    TERNARY = "ternary"
    BINARY = "binary"
    UNARY = "unary"
    STATEMENT = "statement"
    EXPORT = "export"


@dataclass(frozen=True, slots=True)
class Language:
    """One row of the table.

    ``wheel`` is the import name of the grammar's package and ``entry`` its function that gives
    the grammar. ``functions`` and ``types`` map a definition's node type to the word that people
    use for it. ``roles`` maps the other node types. ``wrappers`` are texts put around a fragment
    that is not a whole file (before, after) to see whether it then reads with fewer errors: a
    method without its class, a body without its function. ``opening`` is what a file
    must begin with to be code at all. ``targets`` and ``claims`` say which
    of the two the language has.
    """

    name: str
    title: str
    wheel: str
    extensions: tuple[str, ...]
    functions: Mapping[str, str]
    types: Mapping[str, str]
    roles: Mapping[str, Role]
    entry: str = "language"
    filenames: tuple[str, ...] = ()
    interpreters: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    wrappers: tuple[tuple[str, str], ...] = ()
    opening: str = ""
    indented: bool = False
    line_comment: str = "//"
    targets: bool = True
    claims: bool = True
    containers: frozenset[str] = field(default=frozenset())

    def role(self, node_type: str) -> Role | None:
        """The role of a node of this type, if it has one."""
        return self.roles.get(node_type)


def roles(**types: str) -> dict[str, Role]:
    """Roles by node type, from role=space-separated node types."""
    return {name: Role(role.rstrip("_")) for role, names in types.items() for name in names.split()}
