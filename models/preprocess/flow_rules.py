"""What the nodes of a grammar mean for data flow: one table a language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tree_sitter import Node

_NO_NAMES: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Flow:
    """The node types of one grammar, by their part in data flow.

    ``assignments`` name the fields of target and value, and whether the target is read as well;
    ``loops_over`` the fields of the loop's variable and of what it runs over. ``names_only`` is
    the field whose identifier is a name, not a variable (a method, an attribute).
    ``patterns`` are targets of several variables, ``bodies`` and ``arms`` the parts of a branch.
    """

    assignments: Mapping[str, tuple[str, str, bool]]
    loops_over: Mapping[str, tuple[str, str]]
    loops: frozenset[str]
    branches: frozenset[str]
    bodies: frozenset[str]
    arms: frozenset[str]
    elses: frozenset[str]
    parameters: frozenset[str]
    patterns: frozenset[str]
    names_only: Mapping[str, str]
    comments: frozenset[str]
    strings: frozenset[str]
    strings_without_code: frozenset[str] = _NO_NAMES

    @staticmethod
    def in_order(node: Node) -> list[Node]:
        """The children in the order in which they run: a comprehension's clauses come first."""
        if node.type in _CLAUSES_FIRST:
            clauses = [child for child in node.children if child.type in _CLAUSES]
            return clauses + [child for child in node.children if child.type not in _CLAUSES]
        return node.children


_CLAUSES = frozenset({"for_in_clause", "if_clause"})
_CLAUSES_FIRST = frozenset(
    {
        "list_comprehension",
        "set_comprehension",
        "dictionary_comprehension",
        "generator_expression",
    }
)

RULES: Mapping[str, Flow] = {
    "java": Flow(
        assignments={
            "variable_declarator": ("name", "value", False),
            "assignment_expression": ("left", "right", False),
            "resource": ("name", "value", False),
        },
        loops_over={"enhanced_for_statement": ("name", "value")},
        loops=frozenset({"while_statement", "do_statement", "for_statement"}),
        branches=frozenset({"if_statement"}),
        bodies=frozenset(
            {
                "block",
                "expression_statement",
                "return_statement",
                "throw_statement",
                "if_statement",
                "for_statement",
                "enhanced_for_statement",
                "while_statement",
                "break_statement",
                "continue_statement",
            }
        ),
        arms=frozenset(),
        elses=frozenset(),
        parameters=frozenset({"formal_parameter", "spread_parameter", "catch_formal_parameter"}),
        patterns=frozenset(),
        names_only={
            "method_invocation": "name",
            "field_access": "field",
            "method_declaration": "name",
            "constructor_declaration": "name",
            "class_declaration": "name",
            "labeled_statement": "label",
        },
        comments=frozenset({"line_comment", "block_comment"}),
        strings=frozenset({"string_literal", "character_literal"}),
        strings_without_code=frozenset({"string_literal", "marker_annotation", "annotation"}),
    ),
    "python": Flow(
        assignments={
            "assignment": ("left", "right", False),
            "augmented_assignment": ("left", "right", True),
            "named_expression": ("name", "value", False),
        },
        loops_over={
            "for_statement": ("left", "right"),
            "for_in_clause": ("left", "right"),
        },
        loops=frozenset({"while_statement"}),
        branches=frozenset({"if_statement"}),
        bodies=frozenset({"block"}),
        arms=frozenset({"elif_clause", "else_clause"}),
        elses=frozenset({"else_clause"}),
        parameters=frozenset(
            {
                "parameters",
                "lambda_parameters",
                "typed_parameter",
                "default_parameter",
                "typed_default_parameter",
                "list_splat_pattern",
                "dictionary_splat_pattern",
                "as_pattern_target",
            }
        ),
        patterns=frozenset({"pattern_list", "tuple_pattern", "list_pattern", "list_splat_pattern"}),
        names_only={
            "attribute": "attribute",
            "keyword_argument": "name",
            "function_definition": "name",
            "class_definition": "name",
        },
        comments=frozenset({"comment"}),
        strings=frozenset({"string"}),
    ),
}
