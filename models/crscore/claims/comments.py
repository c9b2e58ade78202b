"""Claims about comments and documentation: added, removed, worded differently."""

from __future__ import annotations

import re

from models.crscore.claims.reading import Reading
from models.crscore.claims.units import DOCSTRING, FUNCTION, TYPE, Unit, comment_words
from models.crscore.claims.wording import prose, quote
from models.syntax.grammar import text_of

_TAGS = frozenset({"@func", "@function", "@method", "@name", "@class"})
_DOCUMENTS = ("/**", "///", "//!", '"""', "'''")


def first_sentence(words: list[str]) -> str:
    """The first sentence of documentation, up to its first tag or parameter section."""
    out: list[str] = []
    for word in words:
        if word.startswith(("@", ":param", ":return")) or word in _SECTIONS:
            break
        out.append(word)
        if word.endswith(".") and len(word) > 2:
            break
    return " ".join(out).rstrip(".")


_SECTIONS = frozenset({"Args:", "Arguments:", "Parameters", "Parameters:", "Returns:", "Returns"})


def doc_words(unit: Unit) -> list[str]:
    """The words of a comment or docstring."""
    return comment_words(text_of(unit.node)) if unit.kind == DOCSTRING else list(unit.tokens)


def _documented(reading: Reading, unit: Unit) -> str:
    """What a piece of documentation is about, as a phrase; "" for a plain comment."""
    if unit.kind == DOCSTRING:
        return reading.place(unit).nearest
    if not text_of(unit.node).startswith(_DOCUMENTS):
        return ""
    units = reading.new if reading.is_on_new_side(unit) else reading.old
    following = units[unit.index + 1] if unit.index + 1 < len(units) else None
    if following is not None and following.kind in (FUNCTION, TYPE):
        phrase = reading.phrase(following)
        if following.definition is not None and following.definition.name:
            return phrase
    words = list(unit.tokens)
    for at, word in enumerate(words[:-1]):
        if word in _TAGS:
            return f"function {quote(words[at + 1])}"
    return ""


def name_of_comment(reading: Reading, unit: Unit) -> str:
    """ "documentation of the method `run`", or "comment in the class `Task`"."""
    about = _documented(reading, unit)
    if about:
        return f"documentation of the {about}"
    word = "docstring" if unit.kind == DOCSTRING else "comment"
    return f"{word}{reading.place(unit).inside()}"


def _parameter_at(words: list[str], at: int) -> str:
    """The parameter whose description holds the word at this place."""
    for back in range(at, max(at - 60, -1), -1):
        if back >= len(words):
            continue
        word = words[back]
        if word == "@param":
            rest = [w for w in words[back + 1 : back + 4] if not w.startswith("{")]
            return rest[0].strip("[]") if rest and back + 1 <= at else ""
        if word.startswith("@") or word in _SECTIONS:
            return ""
        if word == ":param" and back + 1 < len(words):
            return words[back + 1].rstrip(":")
        if re.fullmatch(r"\(.+\):", word) and back:
            return words[back - 1]
    return ""


def changed(reading: Reading, old: Unit, new: Unit) -> None:
    """A comment or docstring whose words changed."""
    before, after = doc_words(old), doc_words(new)
    what = name_of_comment(reading, new)
    start, added, removed = words_between(before, after)
    parameter = _parameter_at(after, start)
    if parameter:
        reading.say(
            f"The description of the parameter {quote(parameter)} in the {what} was changed.",
            57,
            new,
        )
    if added and removed:
        reading.say(f"The {what} was changed from {prose(removed)} to {prose(added)}.", 60, new)
    elif added:
        reading.say(f"The {what} now also says {prose(added)}.", 60, new)
    elif removed:
        reading.say(f"{prose(removed)} was removed from the {what}.", 58, new)
    else:
        reading.say(f"The layout of the {what} was changed.", 30, new)
        return
    if not parameter and what != "comment":
        reading.say(f"The {what} was updated.", 41, new)
    if len(" ".join(after)) > len(added) and len(after) <= 40:
        reading.say(f"The {what} now reads {prose(' '.join(after))}.", 42, new)


def words_between(before: list[str], after: list[str]) -> tuple[int, str, str]:
    """Where two texts part, the words that came and those that went.

    Where both are given they carry two words from before and one from after as a handle.
    """
    start = 0
    while start < min(len(before), len(after)) and before[start] == after[start]:
        start += 1
    end = 0
    while end < min(len(before), len(after)) - start and before[-1 - end] == after[-1 - end]:
        end += 1
    first = max(start - 2, 0)
    new_last, old_last = len(after) - end, len(before) - end
    came, went = after[start:new_last], before[start:old_last]
    if came and went:
        return (
            start,
            " ".join(after[first : new_last + 1]),
            " ".join(before[first : old_last + 1]),
        )
    return start, " ".join(came), " ".join(went)


def added(reading: Reading, unit: Unit) -> None:
    """A new comment or docstring."""
    words = doc_words(unit)
    if not words:
        return
    about = _documented(reading, unit)
    if about:
        reading.say(f"Documentation was added to the {about}: {prose(' '.join(words))}.", 62, unit)
    else:
        where = reading.place(unit).inside("to")
        reading.say(f"A comment was added{where}: {prose(' '.join(words))}.", 50, unit)


def removed(reading: Reading, unit: Unit) -> None:
    """A comment or docstring that is gone."""
    words = doc_words(unit)
    if not words:
        return
    about = _documented(reading, unit)
    if about:
        reading.say(
            f"The documentation of the {about} was removed: {prose(' '.join(words))}.", 55, unit
        )
    else:
        where = reading.place(unit).inside("from")
        reading.say(f"The comment {prose(' '.join(words))} was removed{where}.", 49, unit)
