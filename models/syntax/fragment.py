"""Reading a piece of a file that was cut without regard to syntax, as a hunk's side is.

Such a piece opens with closing brackets of things that began above it, stands at some depth of
indentation, or is a method without its class. Text is put before and after it (never inside) so
that it reads with the fewest errors; what was put there is kept out of everything that is said.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

import tree_sitter

from models.syntax.definitions import DefinitionNode
from models.syntax.grammar import errors, parse
from models.syntax.language import Language
from models.syntax.table import language_row

# The name given to whatever had to be made up around the piece.
PLACEHOLDER = "wrapper_"
# Beyond this size a piece is parsed as it stands: trying many frames would cost more than it gives.
_TRY_BYTES = 40_000

_CLOSERS = {")": "(", "]": "[", "}": "{"}
_OPENERS = {opener: closer for closer, opener in _CLOSERS.items()}
_C_TOKENS = re.compile(
    r"(?s://[^\n]*|/\*.*?(?:\*/|\Z)|`(?:\\.|[^`\\])*(?:`|\Z))|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|[()\[\]{}]"
)
_HASH_TOKENS = re.compile(
    r"(?s:\"\"\".*?(?:\"\"\"|\Z)|'''.*?(?:'''|\Z))|#[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|[()\[\]{}]"
)
_DEFINES = {
    "python": f"def {PLACEHOLDER}",
    "javascript": f"function {PLACEHOLDER}",
    "typescript": f"function {PLACEHOLDER}",
    "tsx": f"function {PLACEHOLDER}",
    "go": f"func {PLACEHOLDER}",
    "rust": f"fn {PLACEHOLDER}",
    "kotlin": f"fun {PLACEHOLDER}",
    "scala": f"def {PLACEHOLDER}",
    "php": f"function {PLACEHOLDER}",
    "ruby": f"def {PLACEHOLDER}",
}


@dataclass(frozen=True, slots=True)
class Fragment:
    """A parsed piece: row ``r`` of the tree is line ``r - offset`` (0-based) of the piece.

    ``lines`` is how many lines the piece has, ``errors`` how many parse errors are left in it,
    ``definitions`` what it defines, where that was read already.
    """

    row: Language
    tree: tree_sitter.Tree
    offset: int
    lines: int
    errors: int
    definitions: tuple[DefinitionNode, ...] | None = None


@dataclass(frozen=True, slots=True)
class _Frame:
    """One way of standing around a piece; empty texts leave it as it is."""

    before: str = ""
    after: str = ""

    def around(self, text: str) -> str:
        before = self.before
        if before and not before.endswith("\n"):
            before += "\n"
        return f"{before}{text}\n{self.after}" if self.after else before + text


def _unmatched(text: str, row: Language) -> tuple[list[tuple[str, str]], list[str]]:
    """Closing brackets opened above (with the word that follows each), and those left open."""
    pattern = _HASH_TOKENS if row.line_comment == "#" else _C_TOKENS
    open_: list[str] = []
    waiting = dict.fromkeys(_OPENERS, 0)
    closed: list[tuple[str, str]] = []
    for match in pattern.finditer(text):
        token = match[0]
        if token in _OPENERS:
            open_.append(token)
            waiting[token] += 1
        elif token in _CLOSERS:
            if not open_:
                following = text[match.end() : match.end() + 40].split()
                closed.append((token, following[0] if following else ""))
            elif waiting[_CLOSERS[token]]:
                # What was opened inside and not closed is given up.
                while True:
                    inner = open_.pop()
                    waiting[inner] -= 1
                    if inner == _CLOSERS[token]:
                        break
    return closed[-40:], open_[-40:]


_LAMBDAS = {
    "java": "() -> {",
    "go": "func() {",
    "rust": "|| {",
    "php": "function() {",
    "cpp": "[]() {",
    "kotlin": "{",
    "scala": "{",
}


def _brace(following: str, row: Language, style: str, inside: str) -> str:
    """An opening brace: of a function value inside brackets, else in the style asked for."""
    if style == "object":
        return "{" if inside else f"{PLACEHOLDER} = {{"
    if row.indented:
        return "{"
    if inside in {"(", "["}:
        return _LAMBDAS.get(row.name, "() => {")
    if following.startswith(("catch", "finally")):
        return "try {"
    if style == "switch":
        return f"switch ({PLACEHOLDER}) {{"
    if style == "define":
        return f"{_DEFINES.get(row.name, f'void {PLACEHOLDER}')}() {{"
    if style == "method":
        return f"{PLACEHOLDER}() {{"
    return f"if {PLACEHOLDER} {{" if row.name in {"go", "rust"} else f"if ({PLACEHOLDER}) {{"


def _openers(closed: list[tuple[str, str]], row: Language, paren: str, brace: str) -> str:
    """The brackets that the unmatched ones want, the outermost first.

    The style of a brace is that of the innermost one (an object within a call, say); those
    around it are blocks.
    """
    text: list[str] = []
    inside = ""
    innermost = next((at for at, (closer, _) in enumerate(closed) if closer == "}"), -1)
    for at in range(len(closed) - 1, -1, -1):
        closer, following = closed[at]
        if closer == "}":
            text.append(_brace(following, row, brace if at == innermost else "block", inside))
        elif closer == "]":
            text.append("[")
        elif paren == "define":
            text.append(f"{_DEFINES.get(row.name, f'void {PLACEHOLDER}')}(")
        elif paren == "if":
            text.append("if (")
        else:
            text.append(f"{PLACEHOLDER}(")
        inside = _CLOSERS[closer]
    return " ".join(text)


def _quotes(text: str, row: Language) -> Iterator[tuple[_Frame, str]]:
    """Frames for a piece that begins or ends inside a block comment or a triple-quoted text.

    Each comes with what of the piece is code then, for the frames of brackets.
    """
    yield _Frame(), text
    if row.indented:
        for mark in ('"""', "'''"):
            if text.count(mark) % 2:
                head, _, rest = text.partition(mark)
                # The closing quotes stand where the opening ones did.
                margin = re.match(r"[ \t]*", head.rsplit("\n", 1)[-1])
                indent = margin[0] if margin else ""
                yield _Frame(before=indent + mark), f"{indent}{PLACEHOLDER}{rest}"
                yield _Frame(after=mark), text.rpartition(mark)[0]
        return
    if row.line_comment == "#":
        return
    first_close, first_open = text.find("*/"), text.find("/*")
    last_close, last_open = text.rfind("*/"), text.rfind("/*")
    opens = first_close >= 0 and (first_open < 0 or first_close < first_open)
    closes = last_open >= 0 and last_open > last_close
    starred = all(line.lstrip().startswith("*") for line in text.split("\n") if line.strip())
    if starred and text.strip() and first_open < 0:
        yield _Frame("/*", "" if first_close >= 0 else "*/"), ""
    elif opens or closes:
        code = text[first_close + 2 if opens else 0 : last_open if closes else len(text)]
        yield _Frame("/*" if opens else "", "*/" if closes else ""), code


_DEDENTED_WORDS = {"else": "if", "elif": "if", "except": "try", "finally": "try"}


def _scaffold(text: str) -> str:
    """Openers that give an indented piece of Python the blocks that it stands in."""
    levels: list[tuple[int, str]] = []
    for line in text.split("\n"):
        body = line.lstrip(" \t")
        if not body or body.startswith("#"):
            continue
        indent = len(line[: len(line) - len(body)].expandtabs(8))
        if not levels or indent < levels[-1][0]:
            levels.append((indent, re.split(r"\W", body, maxsplit=1)[0]))
        if indent == 0 or len(levels) > 30:
            break
    if not levels or (levels[0][0] == 0 and levels[0][1] not in _DEDENTED_WORDS):
        return ""
    rows: list[str] = []
    first_indent, first_word = levels[0]
    if levels[-1][0] > 0:
        rows.append(f"if {PLACEHOLDER}:")
    for indent, word in reversed(levels[1:]):
        opener = _DEDENTED_WORDS.get(word, "if")
        rows.append(" " * indent + ("try:" if opener == "try" else f"if {PLACEHOLDER}:"))
    if first_word in _DEDENTED_WORDS:
        opener = _DEDENTED_WORDS[first_word]
        head = "try:" if opener == "try" else f"if {PLACEHOLDER}:"
        rows += [" " * first_indent + head, " " * (first_indent + 4) + "pass"]
    return "".join(row + "\n" for row in rows)


_DANGLING = re.compile(r"(?:[-+*/%=&|^<,.?]|\b(?:and|or|not|in|is|return|new|extends|implements))$")


_CONTINUES = re.compile(r"\s*(?:\.\w|&&|\|\||[?+|]\s)")
_MARKUP = frozenset({"javascript", "tsx"})
_ATTRIBUTES = re.compile(r"\s*[\w-]+=[\"\'{]")


_RUBY_TOKENS = re.compile(
    r"(?:^|;)[ \t]*(def|class|module|if|unless|case|while|until|for|begin|end)\b"
    r"|(?<==)[ \t]*(?:if|case|begin)\b|\b(do)\b[ \t]*(?:\|[^|\n]*\|)?[ \t]*$",
    re.MULTILINE,
)


def _ruby_balance(text: str) -> tuple[int, int]:
    """How many ``end`` close what began above, and how many blocks are left open."""
    open_ = closed = 0
    for match in _RUBY_TOKENS.finditer(text):
        if match[1] != "end":
            open_ += 1
        elif open_:
            open_ -= 1
        else:
            closed += 1
    return closed, open_


def _ending(text: str, row: Language, open_: list[str]) -> str:
    """What closes a piece that breaks off in the middle of something."""
    tail = text.rstrip()
    last = tail.rsplit("\n", 1)[-1]
    closers = "".join(_OPENERS[token] for token in reversed(open_))
    indent = last[: len(last) - len(last.lstrip())]
    if last.lstrip().startswith("@"):
        stub = f"def {PLACEHOLDER}(): pass" if row.indented else f"void {PLACEHOLDER}() {{}}"
        return f"{indent}{stub} {closers}"
    if row.name == "ruby":
        return closers + "\nend" * min(_ruby_balance(text)[1], 40)
    if row.indented:
        if closers and re.search(
            r"^[ \t]*(?:async )?(?:def|class) [^\n]*\([^)]*$", tail, re.MULTILINE
        ):
            return closers + ": pass"
        if tail.endswith(":"):
            return f"{indent}    pass"
    if _DANGLING.search(tail) and not tail.endswith(","):
        return PLACEHOLDER + closers
    return closers


_GO_IMPORTS = re.compile(r"(?:[ \t]*(?:[\w.]+[ \t]+)?\"[^\"\n]+\"[ \t]*(?:\n|\Z)|[ \t]*\n)+")


def _listed(text: str) -> bool:
    """Whether all lines are items of a list, as their commas tell."""
    lines = [line.split("  #")[0].rstrip() for line in text.split("\n")]
    lines = [line for line in lines if line and not line.lstrip().startswith("#")]
    return len(lines) > 1 and all(line.endswith(",") for line in lines[:-1])


def _frames(text: str, row: Language) -> Iterator[_Frame]:
    """Ways to stand around this piece, the plainest first."""
    opening = row.opening if row.opening.strip() and row.opening.strip() not in text else ""
    for frame in _plain_frames(text, row):
        yield _Frame(opening + frame.before, frame.after)


def _plain_frames(text: str, row: Language) -> Iterator[_Frame]:
    if row.name == "go" and _GO_IMPORTS.fullmatch(text):
        yield _Frame("import (", ")")
    if row.indented and _listed(text):
        # Lines of a call or collection whose brackets are both out of sight.
        yield _Frame(f"{PLACEHOLDER}(", ")")
        yield _Frame(f"{PLACEHOLDER} = {{", "}")
    for quote, code in _quotes(text, row):
        yield quote
        closed, open_ = _unmatched(code, row)
        after = "" if quote.after else _ending(text, row, open_)
        kinds = {closer for closer, _ in closed}
        parens: tuple[str, ...] = ("call", "if", "define") if ")" in kinds else ("call",)
        braces: tuple[str, ...] = (
            ("block", "object", "define", "method") if "}" in kinds else ("block",)
        )
        wrappers: tuple[tuple[str, str], ...] = (("", ""), *row.wrappers)
        if row.indented:
            braces = ("object", "block") if "}" in kinds else ("block",)
            scaffold = _scaffold(code)
            wrappers = (("", ""), (scaffold, "")) if scaffold and not closed else (("", ""),)
        elif row.name == "ruby":
            above = min(_ruby_balance(code)[0], 40)
            wrappers = ((f"if {PLACEHOLDER}\n" * above, ""), (f"def {PLACEHOLDER}\n" * above, ""))
        elif code.lstrip().startswith(("case ", "default:", "default ")):
            braces = ("switch",) if "}" in kinds else braces
            wrappers = ((f"switch ({PLACEHOLDER}) {{\n", "\n}"), *wrappers)
            wrappers = wrappers[1:] if "}" in kinds else wrappers
        lead = PLACEHOLDER if _CONTINUES.match(code) else ""
        for paren, brace, wrapper in itertools.product(parens, braces, wrappers):
            before = wrapper[0] + _openers(closed, row, paren, brace) + lead
            if quote.before and before and not before.endswith("\n"):
                before += "\n"
            yield _Frame(before + quote.before, quote.after + after + wrapper[1])
        if row.name in _MARKUP and _ATTRIBUTES.match(code):
            yield _Frame(f"<{PLACEHOLDER}", after + (">" if "/>" not in code else ""))
            yield _Frame(f"<{PLACEHOLDER}", f"{after}/>")
            yield _Frame(f"<{PLACEHOLDER}><{PLACEHOLDER}", f"{after}</{PLACEHOLDER}>")


def read_fragments(texts: tuple[str, ...], language: str) -> tuple[Fragment, ...] | None:
    """Parse pieces that were cut alike (the two sides of a hunk), each in its best frame.

    ``None`` where the table has no such language. Whole files read without a frame.
    """
    row = language_row(language)
    if row is None:
        return None
    return tuple(_read(text, row) for text in texts)


def _read(text: str, row: Language) -> Fragment:
    best: tuple[int, int] | None = None
    chosen: tuple[_Frame, tree_sitter.Tree] | None = None
    for at, frame in enumerate(_frames(text, row) if len(text) <= _TRY_BYTES else [_Frame()]):
        tree = parse(frame.around(text).encode("utf-8", "replace"), row.name)
        score = (errors(tree), at)
        if best is None or score < best:
            best, chosen = score, (frame, tree)
        if score[0] == 0:
            break
    if best is None or chosen is None:
        raise AssertionError("the empty frame is always tried")
    frame, tree = chosen
    offset = frame.around("\0").split("\0")[0].count("\n")
    return Fragment(row, tree, offset, text.count("\n") + 1, best[0])
