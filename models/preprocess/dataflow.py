"""The data-flow graph of a piece of code, as GraphCodeBERT reads it (Guo et al., 2021, section 3).

A node is one occurrence of a variable. Edges say where its value comes from: a use comes from the
definitions that reach it, a defined variable is computed from the variables on the right. Branches
are followed apart and their definitions joined; loop bodies are followed twice, so that a use can
come from the round before.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import tree_sitter_java
import tree_sitter_python
from tree_sitter import Language, Node, Parser

from models.preprocess.flow_rules import RULES, Flow

LANGUAGES = tuple(RULES)
"""The languages that a graph can be made of."""

JAVA_MEMBER = ("class A {\n", "\n}")


@dataclass(frozen=True, slots=True)
class CodeToken:
    """A leaf of the syntax tree: its text and its first and last-plus-one character."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class FlowNode:
    """An occurrence of a variable.

    ``token`` is the index of its token; ``parents`` are those of the occurrences that its value
    comes from; ``relation`` is ``comesFrom`` (a use) or ``computedFrom`` (a definition).
    """

    token: int
    name: str
    relation: str
    parents: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class DataFlow:
    """The code's tokens, and the variables that an edge joins to another, in token order."""

    tokens: tuple[CodeToken, ...]
    nodes: tuple[FlowNode, ...]


@lru_cache(maxsize=4)
def _parser(language: str) -> Parser:
    grammar = {"java": tree_sitter_java, "python": tree_sitter_python}[language]
    return Parser(Language(grammar.language()))


def data_flow(code: str, language: str) -> DataFlow:
    """The graph of any text in one of ``LANGUAGES``; text that does not parse gives what it can.

    Raises ValueError for another language.
    """
    if language not in RULES:
        raise ValueError(f"no data flow for {language!r}; choose {' or '.join(LANGUAGES)}")
    before, after = "", ""
    root = _parser(language).parse(code.encode("utf-8", "surrogatepass")).root_node
    if language == "java" and root.has_error:
        before, after = JAVA_MEMBER
        wrapped = (before + code + after).encode("utf-8", "surrogatepass")
        root = _parser(language).parse(wrapped).root_node
    leaves = [leaf for leaf in _leaves(root, RULES[language]) if leaf.end_byte > leaf.start_byte]
    inside = [
        leaf
        for leaf in leaves
        if len(before) <= leaf.start_byte
        and leaf.end_byte <= len(before) + len(code.encode("utf-8", "surrogatepass"))
    ]
    places = _characters(code)
    tokens = tuple(
        CodeToken(
            code[places[leaf.start_byte - len(before)] : places[leaf.end_byte - len(before)]],
            places[leaf.start_byte - len(before)],
            places[leaf.end_byte - len(before)],
        )
        for leaf in inside
    )
    index = {leaf.start_byte: number for number, leaf in enumerate(inside)}
    walk = _Walk(RULES[language], index)
    try:
        walk.visit(root, {})
    except RecursionError:
        # Code nested this deeply is generated or hostile: it keeps its tokens, without a graph.
        return DataFlow(tokens, ())
    return DataFlow(tokens, walk.joined())


def _leaves(root: Node, rules: Flow) -> list[Node]:
    """Leaves in order; comments left out, strings whole."""
    found: list[Node] = []
    pending = [root]
    while pending:
        node = pending.pop()
        if node.type in rules.comments:
            continue
        if not node.children or node.type in rules.strings:
            found.append(node)
        else:
            pending.extend(reversed(node.children))
    return found


def _characters(text: str) -> list[int]:
    """For each byte offset of the UTF-8 text (and its end), the character offset."""
    places: list[int] = []
    for position, character in enumerate(text):
        places += [position] * len(character.encode("utf-8", "surrogatepass"))
    return [*places, len(text)]


State = dict[str, tuple[int, ...]]
"""For each variable the tokens that may have defined it last."""


def _join(states: Iterable[State]) -> State:
    joined: dict[str, set[int]] = {}
    for state in states:
        for name, tokens in state.items():
            joined.setdefault(name, set()).update(tokens)
    return {name: tuple(sorted(tokens)) for name, tokens in joined.items()}


class _Walk:
    """Follows a tree in the order in which it runs, gathering nodes."""

    def __init__(self, rules: Flow, index: dict[int, int]) -> None:
        self.rules = rules
        self.index = index
        self.found: dict[int, tuple[str, str, set[int]]] = {}

    def joined(self) -> tuple[FlowNode, ...]:
        """The nodes with at least one edge on either side."""
        used = {parent for _, _, parents in self.found.values() for parent in parents}
        return tuple(
            FlowNode(token, name, relation, tuple(sorted(parents)))
            for token, (name, relation, parents) in sorted(self.found.items())
            if parents or token in used
        )

    def visit(self, node: Node, state: State) -> State:
        """The state after the node has run."""
        rules = self.rules
        if node.type in rules.comments or node.type in rules.strings_without_code:
            return state
        if node.type == "identifier":
            return self._use(node, state)
        if node.type in rules.assignments:
            return self._assign(node, state, *rules.assignments[node.type])
        if node.type in rules.loops_over:
            return self._loop_over(node, state, *rules.loops_over[node.type])
        if node.type in rules.branches:
            return self._branch(node, state)
        if node.type in rules.loops:
            once = self._children(node, state)
            return _join([state, self._children(node, _join([state, once]))])
        if node.type in rules.parameters:
            return self._define(self._parameter_names(node), (), self._children(node, state))
        return self._children(node, state)

    def _children(self, node: Node, state: State) -> State:
        skipped = self.rules.names_only.get(node.type)
        for child in self.rules.in_order(node):
            if skipped and child == node.child_by_field_name(skipped):
                continue
            state = self.visit(child, state)
        return state

    def _token(self, node: Node) -> int | None:
        return self.index.get(node.start_byte)

    def _use(self, node: Node, state: State) -> State:
        token, name = self._token(node), (node.text or b"").decode("utf-8", "replace")
        if token is None:
            return state
        reaching = set(state.get(name, ())) - {token}
        known = self.found.setdefault(token, (name, "comesFrom", set()))
        known[2].update(reaching)
        return state if name in state else {**state, name: (token,)}

    def _assign(self, node: Node, state: State, left: str, right: str, both: bool) -> State:
        target, value = node.child_by_field_name(left), node.child_by_field_name(right)
        if value is not None:
            state = self.visit(value, state)
        if target is None:
            return state
        operator = node.child_by_field_name("operator")
        updates = both or (operator is not None and operator.type not in ("=", ":="))
        if updates or target.type != "identifier":
            state = self.visit(target, state)
        sources = self._identifiers(value) if value is not None else []
        return self._define(self._targets(target), sources, state)

    def _loop_over(self, node: Node, state: State, left: str, right: str) -> State:
        target, value = node.child_by_field_name(left), node.child_by_field_name(right)
        rest = [child for child in node.children if child != target and child != value]
        for _ in range(2):
            before = state
            if value is not None:
                state = self.visit(value, state)
            if target is not None:
                sources = self._identifiers(value) if value is not None else []
                state = self._define(self._targets(target), sources, state)
            for child in rest:
                state = self.visit(child, state)
            state = _join([before, state])
        return state

    def _branch(self, node: Node, state: State) -> State:
        """Conditions run in turn; each body starts from the conditions alone."""
        ends: list[State] = []
        has_else = False
        for child in node.children:
            if child.type in self.rules.bodies:
                ends.append(self.visit(child, state))
            elif child.type in self.rules.arms:
                has_else = has_else or child.type in self.rules.elses
                ends.append(self.visit(child, state))
            else:
                state = self.visit(child, state)
        alternative = node.child_by_field_name("alternative")
        if not has_else and alternative is None:
            ends.append(state)
        return _join(ends) if ends else state

    def _define(self, targets: list[Node], sources: Iterable[Node], state: State) -> State:
        parents = {token for node in sources if (token := self._token(node)) is not None}
        for target in targets:
            token = self._token(target)
            if token is None:
                continue
            name = (target.text or b"").decode("utf-8", "replace")
            known = self.found.get(token)
            edges = (known[2] if known else set()) | (parents - {token})
            self.found[token] = (name, "computedFrom", edges)
            state = {**state, name: (token,)}
        return state

    def _targets(self, node: Node) -> list[Node]:
        """The variables that an assignment to this node defines (not ``a`` in ``a.b = ...``)."""
        if node.type == "identifier":
            return [node]
        if node.type in self.rules.patterns:
            return [found for child in node.children for found in self._targets(child)]
        return []

    def _parameter_names(self, node: Node) -> list[Node]:
        name = node.child_by_field_name("name")
        if name is not None:
            return [name] if name.type == "identifier" else []
        return [child for child in node.children if child.type == "identifier"]

    def _identifiers(self, node: Node) -> list[Node]:
        """The variables read below a node; names of methods and fields are none."""
        found: list[Node] = []
        pending = [node]
        while pending:
            here = pending.pop()
            if here.type == "identifier":
                found.append(here)
                continue
            skipped = self.rules.names_only.get(here.type)
            name = here.child_by_field_name(skipped) if skipped else None
            pending.extend(child for child in here.children if child != name)
        return found
