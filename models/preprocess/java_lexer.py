"""Java tokens as the review data sets write them: one space between tokens, comments left out.

The conventions are read off ``Trans-Review``'s published text: an annotation and its name are one
token (``@Override``), ``<<`` and ``>>`` and ``->`` and ``::`` are written as two single marks, and
in a generic call on a name (``Collections.<String>emptyList()``) the name keeps its full stop.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from models.tasks import END_MARK, START_MARK

_KEYWORDS = """
abstract assert boolean break byte case catch char class const continue default do double else
enum extends final finally float for goto if implements import instanceof int interface long
native new package private protected public return short static strictfp super switch
synchronized this throw throws transient try void volatile while true false null
"""
KEYWORDS = frozenset(_KEYWORDS.split())

_TOKEN = re.compile(
    r"""
      (?P<comment>/\*.*?\*/|//(?:(?!<START>|<END>)[^\n])*)
    | (?P<mark><START>|<END>)
    | (?P<string>\"(?:\\.|[^"\\\n])*\")
    | (?P<char>'(?:\\.|[^'\\\n])+')
    | (?P<number>0[xX][0-9a-fA-F_]+[lL]?
        |(?:\d[\d_]*(?:\.[\d_]*)?|\.\d[\d_]*)(?:[eE][+-]?\d+)?[fFdDlL]?)
    | (?P<name>(?:[^\W\d]|\$)[\w$]*)
    | (?P<mark_or_operator>>>>=|<<=|>>=|\.\.\.|&&|\|\||==|!=|<=|>=|\+\+|--
        |\+=|-=|\*=|/=|&=|\|=|\^=|%=|\S)
    """,
    re.VERBOSE | re.DOTALL,
)


class TokenKind(StrEnum):
    """What a token is to the lexer; names are told apart later, by their use."""

    NAME = "name"
    KEYWORD = "keyword"
    ANNOTATION = "annotation"
    GENERIC_SCOPE = "generic-scope"
    STRING = "string"
    CHAR = "char"
    INTEGER = "integer"
    FLOAT = "float"
    OPERATOR = "operator"
    MARK = "mark"


@dataclass(frozen=True, slots=True)
class Token:
    """One token: its kind, its text without white space, and its first character's offset."""

    kind: TokenKind
    text: str
    start: int


_LITERALS = {
    "string": TokenKind.STRING,
    "char": TokenKind.CHAR,
    "mark_or_operator": TokenKind.OPERATOR,
    "mark": TokenKind.MARK,
}


def tokenize(code: str) -> list[Token]:
    """The tokens of any Java text, complete or not; nothing but comments and space is dropped.

    A quote without its partner is an operator of one character, so no input fails.
    """
    plain = [_token(match) for match in _TOKEN.finditer(code) if match.lastgroup != "comment"]
    tokens: list[Token] = []
    position = 0
    while position < len(plain):
        token = plain[position]
        follower = plain[position + 1] if position + 1 < len(plain) else None
        if token.text == "@" and follower is not None and follower.kind is TokenKind.NAME:
            tokens.append(Token(TokenKind.ANNOTATION, "@" + follower.text, token.start))
            position += 2
            continue
        if (
            token.text == "."
            and follower is not None
            and follower.text == "<"
            and tokens
            and tokens[-1].kind is TokenKind.NAME
        ):
            scope = tokens.pop()
            tokens.append(Token(TokenKind.GENERIC_SCOPE, scope.text + ".", scope.start))
        else:
            tokens.append(token)
        position += 1
    return tokens


def _token(match: re.Match[str]) -> Token:
    text, group = match.group(), str(match.lastgroup)
    if group == "name":
        kind = TokenKind.KEYWORD if text in KEYWORDS else TokenKind.NAME
    elif group == "number":
        kind = TokenKind.FLOAT if _is_float(text) else TokenKind.INTEGER
    else:
        kind = _LITERALS[group]
    return Token(kind, text, match.start())


def _is_float(text: str) -> bool:
    if text[:2].lower() == "0x":
        return False
    return any(mark in text for mark in ".eEfFdD")


def with_marks(code: str) -> str:
    """Raw marked code with its ``START`` and ``END`` words written as ``<START>`` and ``<END>``.

    The raw data write the words bare, between spaces or at a line's start; the abstracted data
    write them in angle brackets. Text that has the brackets already is left as it is.
    """
    if START_MARK not in code:
        code = re.sub(r"(?<!\S)START(?=\s)", START_MARK, code, count=1)
    if END_MARK not in code:
        head, found, tail = code.rpartition(" END ")
        if found:
            return f"{head} {END_MARK} {tail}"
        code = re.sub(r"(?<!\S)END(?=\s*$)", END_MARK, code, count=1)
    return code
