"""Which language a text is in: by its path, its first line, or by what it looks like."""

from __future__ import annotations

import re
from functools import cache
from pathlib import PurePosixPath

from models.syntax.grammar import errors, parse
from models.syntax.table import LANGUAGES

_SHEBANG = re.compile(r"^#!\s*(?:\S*/)?(?:env\s+(?:-\S+\s+)*)?(?:\S*/)?([A-Za-z+_-]+)[0-9.]*")

# Words that few other languages have, by language; each match is a vote.
_SIGNS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(pattern, re.MULTILINE))
    for name, pattern in (
        (
            "python",
            r"^[ \t]*(?:async )?def \w+\(.*|^[ \t]*(?:elif|except|from [\w.]+ import|with .+:$)"
            r"|\bself\.|\bNone\b|\bTrue\b|\bFalse\b|\b(?:not|is not) in\b|^[ \t]*if .*:$"
            r"|^[ \t]*class \w+(?:\(.*\))?:|\"\"\"|^[ \t]*import \w+(?:\.\w+)*$",
        ),
        (
            "javascript",
            r"\b(?:const|let) [\w{\[]|=>|\bfunction\b|===|!==|\brequire\(|\bmodule\.exports\b"
            r"|\bundefined\b|^[ \t]*export |^[ \t]*import .* from ['\"]|\bthis\.\w+ = |`\$\{",
        ),
        (
            "java",
            r"\b(?:public|private|protected) (?:static |final |abstract |synchronized )*[\w<>\[\]]+"
            r"|^[ \t]*import [\w.]+;|@Override\b|\bnew \w+(?:<.*>)?\(|\bthrows \w+|\bfinal [A-Z]\w*"
            r"|^[ \t]*package [\w.]+;|\b(?:String|List|Map)<?\w*>? \w+"
            r"|^[ \t]*[\w<>\[\].]+ \w+ = .*;$|\bSystem\.out\b",
        ),
        (
            "go",
            r"^[ \t]*func (?:\(\w+ \*?\w+\) )?\w+\(|:=|\bnil\b|\berr != nil\b|^[ \t]*package \w+$"
            r"|\bfmt\.|\bstruct \{|\bdefer ",
        ),
        ("rust", r"\bfn \w+|\blet mut\b|\bimpl\b|\bpub (?:fn|struct|enum)\b|&mut |::<|#\["),
        (
            "csharp",
            r"^[ \t]*using [\w.]+;|\bnamespace [\w.]+|\{ get; |\bpublic override\b|\[assembly: "
            r"|\bvar \w+ = new|^[ \t]*\[\w+\(?.*\]\s*$",
        ),
        ("cpp", r"^[ \t]*#include|\bstd::|->\w+|\bconst \w+&|\bnullptr\b|::\w+\("),
        (
            "ruby",
            r"^[ \t]*end$|\bdo \|\w+\||^[ \t]*require ['\"]|\battr_\w+|\.nil\?"
            r"|^[ \t]*def \w+[^:(]*$",
        ),
        ("php", r"<\?php|\$\w+->|\$this\b|^[ \t]*\$\w+ = |\bfunction \w*\(.*\$"),
        ("kotlin", r"\bfun \w+|\bval \w+|\boverride fun\b|\?\.let\b"),
        ("bash", r"^#!.*sh$|\bfi$|^[ \t]*then$|\bdone$|\$\{\w+|\becho "),
    )
)


@cache
def _by_extension() -> dict[str, str]:
    return {extension: row.name for row in LANGUAGES for extension in row.extensions}


def language_of(path: str, first_line: str = "") -> str:
    """The language of a file by its name, else by the ``#!`` of its first line; "" if unknown."""
    name = PurePosixPath(path.replace("\\", "/")).name
    extension = PurePosixPath(name).suffix
    found = _by_extension().get(extension.lower())
    # .C and .H by old custom are C++
    if extension in {".C", ".H"}:
        return "cpp"
    if found:
        return found
    for row in LANGUAGES:
        if name in row.filenames:
            return row.name
    match = _SHEBANG.match(first_line)
    if match:
        for row in LANGUAGES:
            if match[1] in row.interpreters:
                return row.name
    return ""


def language_of_file(path: str, content: bytes | None) -> str:
    """``language_of`` with the first line of the file's content, where that is at hand."""
    first = (content or b"")[:1000].split(b"\n", 1)[0]
    return language_of(path, first.decode("utf-8", "replace"))


def guess_language(text: str, hint: str = "") -> str:
    """The language that ``text`` looks like, or ``hint`` where nothing speaks against it.

    For text without a path. Telltale words vote first; among the languages that come close to
    the most votes, the one whose grammar reads the text with the fewest errors is taken. Returns
    ``hint`` (or "") where no language has a vote.
    """
    sample = text[:20_000]
    votes = {name: len(pattern.findall(sample)) for name, pattern in _SIGNS}
    if hint:
        votes[hint] = votes.get(hint, 0) + 2
    top = max(votes.values())
    if top == 0:
        return hint
    close = [name for name, count in votes.items() if count * 2 >= top]
    if len(close) == 1:
        return close[0]
    source = sample.encode("utf-8", "replace")
    return min(
        close, key=lambda name: (errors(parse(source, name)) - votes[name], name != hint, name)
    )
