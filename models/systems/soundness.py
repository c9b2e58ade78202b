"""Whether a revised text still parses: one that does not is no answer, however probable.

Nor is one in which nothing is left of the code.
"""

from __future__ import annotations

from collections.abc import Callable

from models.preprocess.dataflow import JAVA_MEMBER
from models.syntax.grammar import UnknownLanguage, error_count
from models.tasks import Example


def parses_like(example: Example) -> Callable[[str], bool]:
    """A test of texts: something is left, with no more parse errors than the example's code has.

    Code that is cut out of a file has errors of its own, so they are compared, not forbidden. In a
    language without a grammar every text that is not blank passes.
    """
    language = "java" if example.abstracted else example.language
    source = example.unmarked()
    frames = [("", ""), JAVA_MEMBER] if language == "java" else [("", "")]

    def errors(text: str, frame: tuple[str, str]) -> int:
        return error_count((frame[0] + text + frame[1]).encode("utf-8", "replace"), language)

    try:
        counted = [(errors(source, frame), frame) for frame in frames]
    except UnknownLanguage:
        return lambda text: bool(text.strip())
    allowed, frame = min(counted, key=lambda one: one[0])
    return lambda text: bool(text.strip()) and errors(text, frame) <= allowed
