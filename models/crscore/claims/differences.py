"""Claims about the smallest differences inside a statement: arguments, elements, operators."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

import tree_sitter

from models.crscore.claims.align import similarity
from models.crscore.claims.chains import LINK, TAKES, link_text
from models.crscore.claims.edits import Edit, edits, holds
from models.crscore.claims.reading import Reading
from models.crscore.claims.texts import flat
from models.crscore.claims.units import COMPOUND_KINDS, Unit
from models.crscore.claims.values import assigned, is_assertion, main_call
from models.crscore.claims.wording import (
    argument_texts,
    callee,
    plural,
    quote,
    quoted,
    string_value,
)
from models.syntax.language import Role

NAMES = frozenset(
    {"identifier", "type_identifier", "field_identifier", "property_identifier", "name"}
    | {"shorthand_property_identifier", "simple_identifier", "constant", "variable_name"}
)
_KEYED = {
    "jsx_attribute": "attribute",
    "pair": "key",
    "keyword_argument": "keyword",
    "keyed_element": "key",
    "field_initializer": "field",
}
_COLLECTIONS = {
    "list": "the list",
    "array": "the list",
    "array_expression": "the list",
    "array_initializer": "the array",
    "tuple": "the tuple",
    "set": "the set",
    "dictionary": "the dictionary",
    "object": "the object",
    "hash": "the hash",
    "enum_body": "the enum",
}
_SETS = frozenset({Role.ASSIGNMENT, Role.DECLARATION, Role.LOOP, None})
_VALUES = frozenset({Role.STRING, Role.NUMBER, Role.LITERAL})
_NAMED = frozenset({"keyword_argument", "pair", "named_argument"})
# So many single differences of one statement are told; more would only repeat the diff.
_MOST = 5


@dataclass(slots=True)
class _Calls:
    """What happened to the arguments of one call."""

    added: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    changed: list[tuple[str, str, bool]] = field(default_factory=list)
    keyed: int = 0


class _Teller:
    def __init__(self, reading: Reading, old: Unit, new: Unit) -> None:
        self.reading = reading
        self.row = reading.row
        self.old = old
        self.unit = new
        self.where = reading.place(new).inside()
        self.keyed: dict[tuple[str, str], bool] = {}
        self.elements: dict[tuple[str, str], list[str]] = defaultdict(list)
        self.calls: dict[str, _Calls] = defaultdict(_Calls)
        self.left = _MOST
        self.names: dict[int, str] = {}
        call = main_call(new.node, reading.row)
        self.asserts = new.kind == Role.ASSERT.value or (
            call is not None and is_assertion(call, reading.row)
        )

    def say(self, text: str, weight: float) -> None:
        if self.left > 0:
            self.reading.say(text, weight, self.unit)
            self.left -= 1

    def name_set(self, node: tree_sitter.Node) -> str:
        """The first name that a statement sets, "" for none; a long table is walked only once."""
        if node.id not in self.names:
            found = assigned(node, self.row)
            self.names[node.id] = found[0][0] if found else ""
        return self.names[node.id]

    def holder(self, edit: Edit, *roles: Role) -> tree_sitter.Node | None:
        return next(
            (n for n, _, _ in reversed(edit.around) if self.row.role(n.type) in roles), None
        )

    def tell(self, edit: Edit) -> None:
        if self._takes(edit) or self._link(edit) or self._element(edit) or self._argument(edit):
            return
        if edit.old is not None and edit.new is not None:
            self._replaced(edit, edit.old, edit.new)
        else:
            self._single(edit)

    def _link(self, edit: Edit) -> bool:
        if not edit.around or edit.around[-1][1] != LINK:
            return False
        node = edit.new if edit.new is not None else edit.old
        if node is not None:
            word = "added to" if edit.new is not None else "removed from"
            text = link_text(node, self.row)
            self.say(f"The call {quote(text, 120)} was {word} the chain of calls{self.where}.", 79)
        return True

    def _takes(self, edit: Edit) -> bool:
        if not edit.around or edit.around[-1][1] != TAKES:
            return False
        call = self.holder(edit, Role.CALL)
        target = f" given to {quote(callee(call, self.row))}" if call is not None else ""
        self.say(
            f"The function{target} now takes {quote(edit.new_text)} instead of "
            f"{quote(edit.old_text)}{self.where}.",
            75,
        )
        return True

    def _collection(self, edit: Edit) -> str:
        """What a changed collection is called: its key, its variable, the call it is given to."""
        kind = _COLLECTIONS.get(edit.around[-1][0].type, "the collection")
        for node, _, _ in reversed(edit.around[:-1]):
            role = self.row.role(node.type)
            if node.type in ("composite_literal", "struct_expression"):
                type_ = node.child_by_field_name("type") or node.child_by_field_name("name")
                return f"the literal of {quote(flat(type_))}"
            if role is Role.PAIR:
                key = node.child_by_field_name("key") or node.named_children[0]
                return f"{kind} {quote(string_value(key))}"
            if role in (Role.ASSIGNMENT, Role.DECLARATION) or node.type == "variable_declarator":
                name = self.name_set(node)
                if name and not name.endswith("wrapper_"):
                    return f"{kind} {quote(name)}"
            if role is Role.CALL and not callee(node, self.row).endswith("wrapper_"):
                return f"{kind} in the call of {quote(callee(node, self.row))}"
        name = self.name_set(self.unit.node)
        if name and not name.endswith("wrapper_"):
            return f"{kind} {quote(name)}"
        section = self.reading.section
        return f"{kind} {quote(section.name)}" if section.kind == "variable" else kind

    def _element(self, edit: Edit) -> bool:
        holder = edit.around[-1][0] if edit.around else None
        if holder is None or self.row.role(holder.type) is not Role.COLLECTION:
            return False
        node = edit.new if edit.old is None else edit.old if edit.new is None else None
        if node is None or not node.is_named:
            return False
        what = "added" if edit.old is None else "removed"
        key = what, self._collection(edit)
        self.elements[key].append(flat(node))
        self.keyed[key] = self.row.role(node.type) is Role.PAIR
        return True

    def _argument(self, edit: Edit) -> bool:
        holder = edit.around[-1][0] if edit.around else None
        if holder is None or (
            self.row.role(holder.type) is not Role.ARGUMENTS and holder.type != "command"
        ):
            return False
        call = self.holder(edit, Role.CALL)
        name = callee(call, self.row) if call is not None else ""
        before = self._old_call(edit)
        if (
            call is not None
            and before is not None
            and callee(before, self.row) != name
            and not set(argument_texts(before, self.row)) & set(argument_texts(call, self.row))
        ):
            return True  # another call altogether: its arguments were not changed into these
        found = self.calls[name]
        if edit.old is None:
            found.added.append(edit.new_text)
        elif edit.new is None:
            found.removed.append(edit.old_text)
        else:
            wraps = holds(edit.new, edit.old, self.row)
            found.changed.append((edit.old_text, edit.new_text, wraps))
            found.keyed += edit.new.type in _NAMED and edit.old.type not in _NAMED
        return True

    def _replaced(self, edit: Edit, old: tree_sitter.Node, new: tree_sitter.Node) -> None:
        call = self.holder(edit, Role.CALL)
        before = self._old_call(edit)
        if call is not None and before is not None:
            below = next(i for i, (n, _, _) in enumerate(edit.around) if n == call)
            in_name = edit.around[below][1] in ("function", "name", "method", "constructor", "type")
            was, now = callee(before, self.row), callee(call, self.row)
            if in_name and was != now:
                self.say(f"{quote(now)} is now called instead of {quote(was)}{self.where}.", 82)
                return
        role = self.row.role(new.type)
        if quote(flat(old)) == quote(flat(new)):
            self.say(f"The white space in {quote(flat(old))} was changed{self.where}.", 60)
            return
        if self._key(edit) or self._assigned(edit):
            return
        if not new.is_named and not old.is_named:
            self.say(
                f"The operator {quote(flat(old))} was changed to {quote(flat(new))}{self.where}.",
                79,
            )
        elif role in _VALUES and self.row.role(old.type) in _VALUES:
            self._literal(edit, call)
        elif flat(old) == "_" and self.row.name == "go":
            self.say(f"{quote(flat(new))}, which was ignored before, is now kept{self.where}.", 79)
        elif holds(new, old, self.row):
            self.say(f"{quote(flat(old))} is now {quote(flat(new))}{self.where}.", 74)
        elif holds(old, new, self.row):
            self.say(f"{quote(flat(old))} is now only {quote(flat(new))}{self.where}.", 74)
        else:
            self.say(f"{quote(flat(old))} was replaced by {quote(flat(new))}{self.where}.", 73)

    def _old_call(self, edit: Edit) -> tree_sitter.Node | None:
        return next(
            (n for n, _, _ in reversed(edit.old_around) if self.row.role(n.type) is Role.CALL), None
        )

    def _key(self, edit: Edit) -> bool:
        """The name of an entry, attribute or keyword that became another."""
        node, _, at = edit.around[-1] if edit.around else (None, "", -1)
        if node is None or at != 0 or node.type not in _KEYED:
            return False
        word = _KEYED[node.type]
        self.say(
            f"The {word} {quote(edit.old_text)} was renamed to {quote(edit.new_text)}{self.where}.",
            79,
        )
        return True

    def _assigned(self, edit: Edit) -> bool:
        """The whole value of a variable within a longer statement."""
        node, name, _ = edit.around[-1] if edit.around else (None, "", -1)
        if node is None or name not in ("right", "value"):
            return False
        target = node.child_by_field_name("left") or node.child_by_field_name("name")
        if target is None or self.row.role(node.type) not in _SETS:
            return False
        if self.row.role(node.type) is Role.LOOP:
            self.say(
                f"The loop over {quote(edit.old_text)}{self.where} now runs over "
                f"{quote(edit.new_text)}.",
                81,
            )
            return True
        self.say(
            f"The value of {quote(flat(target))} was changed from {quote(edit.old_text)} to "
            f"{quote(edit.new_text)}{self.where}.",
            78,
        )
        return True

    def _literal(self, edit: Edit, call: tree_sitter.Node | None) -> None:
        if self.asserts:
            self.say(
                f"The assertion{self.where} now expects {quote(edit.new_text)} instead of "
                f"{quote(edit.old_text)}.",
                79,
            )
            return
        name = callee(call, self.row) if call is not None else ""
        tail = f" in the call of {quote(name)}" if name else ""
        if edit.around and self.row.role(edit.around[-1][0].type) is Role.COLLECTION:
            tail = f" in {self._collection(edit)}"
        role = self.row.role(edit.new.type) if edit.new is not None else None
        word = "string" if role is Role.STRING else "number" if role is Role.NUMBER else "value"
        key = next(
            (
                n.child_by_field_name("key")
                for n, _, _ in reversed(edit.around)
                if self.row.role(n.type) is Role.PAIR
            ),
            None,
        )
        if key is not None:
            self.say(
                f"The value of {quote(string_value(key))} was changed from "
                f"{quote(edit.old_text)} to {quote(edit.new_text)}{self.where}.",
                78,
            )
            return
        self.say(
            f"The {word} {quote(edit.old_text)} was changed to {quote(edit.new_text)}{tail}"
            f"{self.where}.",
            77,
        )

    def _single(self, edit: Edit) -> None:
        node = edit.new if edit.new is not None else edit.old
        text = flat(node)
        name = self.name_set(self.unit.node) if text == "?" else ""
        if name:
            no = "now" if edit.new is not None else "no longer"
            self.say(f"The field {quote(name)} is {no} optional{self.where}.", 80)
        if len(text) < 2 and not text.isalnum():
            return
        holder = edit.around[-1][0] if edit.around else None
        if text == "async" and holder is not None and self.row.role(holder.type) is Role.LAMBDA:
            given = self.holder(edit, Role.CALL)
            target = f" given to {quote(callee(given, self.row))}" if given is not None else ""
            no = "now" if edit.new is not None else "no longer"
            self.say(f"The function{target} is {no} async{self.where}.", 74)
            return
        call = main_call(self.unit.node, self.row)
        tail = f" in the call of {quote(callee(call, self.row))}" if call is not None else ""
        word = "added" if edit.new is not None else "removed"
        self.say(f"{quote(text)} was {word}{tail}{self.where}.", 66)

    def finish(self) -> None:
        """Say what was gathered over several differences."""
        for (what, name), items in self.elements.items():
            verb = "added to" if what == "added" else "removed from"
            word = "entry" if self.keyed.get((what, name)) else "element"
            many = {"entry": "entries", "element": "elements"}[word]
            be = "was" if len(items) == 1 else "were"
            self.reading.say(
                f"The {word if len(items) == 1 else many} {quoted(items)} {be} {verb} "
                f"{name}{self.where}.",
                83,
                self.unit,
            )
        for name, found in self.calls.items():
            self._call(f"the call of {quote(name)}" if name else "the call", found)

    def _call(self, target: str, found: _Calls) -> None:
        if target == "the call" and self.reading.section.kind in ("variable", "call"):
            name = quote(self.reading.section.name)
            target = name if self.reading.section.kind == "variable" else f"the call of {name}"
        say, unit, where = self.reading.say, self.unit, self.where
        if found.keyed >= 2:
            names = [new for _, new, _ in found.changed]
            say(
                f"The arguments of {target} are now passed by keyword: {quoted(names)}{where}.",
                79,
                unit,
            )
        else:
            for old, new, wraps in found.changed[:3]:
                if wraps:
                    text = f"The argument {quote(old)} of {target} is now {quote(new)}{where}."
                elif self.asserts:
                    text = f"The assertion{where} now expects {quote(new)} instead of {quote(old)}."
                else:
                    text = (
                        f"{target[0].upper()}{target[1:]} now gets {quote(new)} instead of "
                        f"{quote(old)}{where}."
                    )
                say(text, 79, unit)
        for items, word in ((found.added, "added to"), (found.removed, "removed from")):
            if items:
                be = "was" if len(items) == 1 else "were"
                say(
                    f"The {plural('argument', len(items))} {quoted(items)} {be} {word} {target}"
                    f"{where}.",
                    80,
                    unit,
                )


def edit_claims(
    reading: Reading,
    old: Unit,
    new: Unit,
    renamed: dict[str, str],
    least: float = 0.2,
    told: frozenset[tuple[str, str]] = frozenset(),
) -> None:
    """Say each smallest difference between two statements in terms of what holds it.

    Nothing is said where the two share less than ``least`` of their tokens: such a statement was
    written anew, and its pieces mean nothing by themselves. ``told`` are differences (old and new
    text) that were said already.
    """
    if similarity(old, new) < least or (
        old.kind != new.kind and {old.kind, new.kind} & COMPOUND_KINDS
    ):
        return
    teller = _Teller(reading, old, new)
    for edit in edits(old.node, new.node, reading.row):
        if (edit.old_text, edit.new_text) in told:
            continue
        if not edit.new_text or renamed.get(edit.old_text) != edit.new_text:
            teller.tell(edit)
    teller.finish()
