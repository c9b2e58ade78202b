"""What git writes after the second ``@@``: the last line above the hunk that opens something."""

from __future__ import annotations

import re
from dataclasses import dataclass

_SECTION_TYPE = re.compile(
    r"\b(class|interface|struct|enum|trait|impl|module|object|namespace|record)\s+(\w[\w.:]*)"
)
_SECTION_FUNCTION = re.compile(
    r"\b(?:def|func(?:tion)?\*?|fn|fun)\s+(?:\([^)]*\)\s*)?([A-Za-z_$][\w$.]*)"
    r"|^(?:export\s+)?(?:const|let|var)\s+([\w$]+)\s*=\s*(?:async\s*)?(?:\(|function|\w+\s*=>)"
    r"|\b([A-Za-z_$][\w$]*)\s*\([^;]*$"
)
_SECTION_VALUE = re.compile(
    r"^(?:export\s+|static\s+|const\s+|let\s+|var\s+|final\s+|public\s+|private\s+)*"
    r"(?:[\w<>\[\]]+\s+)?([A-Za-z_$][\w$.]*)\s*(?::=|=|:)\s*[\[{(]"
)
_NOT_FUNCTIONS = frozenset({"if", "for", "while", "switch", "catch", "return", "describe", "it"})


@dataclass(frozen=True, slots=True)
class Section:
    """What the text after ``@@ ... @@`` says about where the hunk stands.

    ``kind`` is the word of the language for a type (class, struct, ...), ``function`` or
    ``variable``; both are "" where the text names nothing. git only looks upwards: whether the
    hunk is still inside is for the caller to judge.
    """

    kind: str = ""
    name: str = ""

    @classmethod
    def read(cls, text: str) -> Section:
        """Read git's section text; a text that names nothing gives an empty section."""
        text = text.strip()
        match = _SECTION_TYPE.search(text)
        if match and "(" not in text[: match.start()]:
            return cls(match[1], match[2].rstrip(":"))
        match = _SECTION_VALUE.match(text)
        if match and "=>" not in text:
            return cls("variable", match[1])
        match = _SECTION_FUNCTION.search(text)
        if match:
            name = next(group for group in match.groups() if group)
            head = text[: match.start(3)] if match[3] else ""
            if match[3] and not re.search(r"[\w>\]&*]\s+[&*]*(?:\w+(?:::|\.))*$", head):
                # Nothing stands before the name: a call that goes on below, or a method of
                # JavaScript, which its brace tells.
                kind = "function" if text.rstrip().endswith("{") and "." not in head else "call"
                return cls() if name in _NOT_FUNCTIONS else cls(kind, (head + name).split()[-1])
            if name not in _NOT_FUNCTIONS:
                return cls("function", name)
        return cls()
