"""Claims: what a change does, read off its two sides and said in plain sentences.

CRScore (section 3.1) lets a large model write claims about a change. Here they are read off the
syntax trees of the two sides, so that each is a true restatement of the change.
"""

from __future__ import annotations

import difflib

from models.change import Hunk
from models.hunk_text import parse_hunks
from models.review_types import PseudoReference, ReferenceKind
from models.syntax import Definition, definitions, guess_language, language_row

LIMIT = 12


def _quote(text: str) -> str:
    flat = " ".join(text.split())
    return f"`{flat[:77] + '...' if len(flat) > 80 else flat}`"


def _join(names: list[str]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


def _where(item: Definition) -> str:
    return f" in the {item.parent_kind} {_quote(item.parent)}" if item.parent else ""


def _definition_claims(before: list[Definition], after: list[Definition]) -> list[str]:
    old = {(d.parent, d.name): d for d in before}
    new = {(d.parent, d.name): d for d in after}
    said: list[str] = []
    for key, item in new.items():
        if key not in old:
            said.append(f"A new {item.kind} {_quote(item.name)} was added{_where(item)}.")
            names = [p.name for p in item.parameters if p.name not in {"self", "cls", "this"}]
            if names:
                word = "parameter" if len(names) == 1 else "parameters"
                said.append(
                    f"The {item.kind} {_quote(item.name)} takes the {word} "
                    f"{_join([_quote(n) for n in names])}."
                )
            continue
        was = {p.name: p for p in old[key].parameters}
        now = {p.name: p for p in item.parameters}
        for name, parameter in now.items():
            if name not in was:
                value = f" with default {parameter.default}" if parameter.default else ""
                said.append(
                    f"The parameter {_quote(name)}{value} was added to the {item.kind} "
                    f"{_quote(item.name)}."
                )
        said += [
            f"The parameter {_quote(name)} was removed from the {item.kind} {_quote(item.name)}."
            for name in was
            if name not in now
        ]
    said += [
        f"The {d.kind} {_quote(d.name)} was removed{_where(d)}."
        for key, d in old.items()
        if key not in new
    ]
    return said


def _line_claims(hunk: Hunk) -> list[str]:
    before = [line.text for line in hunk.before]
    after = [line.text for line in hunk.after]
    said: list[str] = []
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for tag, i, j, k, m in matcher.get_opcodes():
        if tag == "equal":
            continue
        old = [t for t in before[i:j] if t.strip()]
        new = [t for t in after[k:m] if t.strip()]
        for was, now in zip(old, new, strict=False):
            said.append(f"The line {_quote(was)} was changed to {_quote(now)}.")
        said += [f"The line {_quote(t)} was added." for t in new[len(old) :]]
        said += [f"The line {_quote(t)} was removed." for t in old[len(new) :]]
    return said


def claims_of_hunk(
    hunk: Hunk,
    language: str,
    path: str = "",
    before: bytes | None = None,
    after: bytes | None = None,
) -> tuple[PseudoReference, ...]:
    """Claims about one hunk, most important first, at most ``LIMIT``."""
    said: list[str] = []
    if language_row(language) is not None:
        old = "\n".join(line.text for line in hunk.before).encode("utf-8", "replace")
        new = "\n".join(line.text for line in hunk.after).encode("utf-8", "replace")
        said += _definition_claims(definitions(old, language), definitions(new, language))
    said += _line_claims(hunk)
    lines = tuple(line.new_no for line in hunk.added if line.new_no is not None)
    return tuple(
        PseudoReference(ReferenceKind.CLAIM, text, lines, "syntax", path)
        for text in list(dict.fromkeys(said))[:LIMIT]
    )


def claims_of_diff(diff: str, language: str = "") -> tuple[PseudoReference, ...]:
    """Claims about bare hunk text; ``language`` is a hint, guessed by content where empty."""
    row = language_row(language) if language else None
    name = guess_language(diff, row.name if row else "")
    found: dict[str, PseudoReference] = {}
    for hunk in parse_hunks(diff):
        for claim in claims_of_hunk(hunk, name):
            found.setdefault(claim.text, claim)
    return tuple(found.values())[:LIMIT]
