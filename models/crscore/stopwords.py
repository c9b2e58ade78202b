"""The function words whose tokens CRScore leaves out of a sentence's mean.

The published scorer drops every token that is an English stop word, "." or ",". It compares
whole word pieces, so of the usual list only words without an apostrophe can ever match; the
pieces that contractions leave ("don", "t", "ll") are words of the list themselves.
"""

from __future__ import annotations

import re
from typing import Any

_PRONOUNS = """
i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her
hers herself it its itself they them their theirs themselves what which who whom this that these
those
"""
_VERBS = """
am is are was were be been being have has had having do does did doing can will should just now
"""
_LINKS = """
a an the and but if or because as until while of at by for with about against between into through
during before after above below to from up down in out on off over under again further then once
here there when where why how all any both each few more most other some such no nor not only own
same so than too very
"""
_CONTRACTIONS = """
s t d ll m o re ve y don ain aren couldn didn doesn hadn hasn haven isn ma mightn mustn needn shan
shouldn wasn weren won wouldn
"""

STOP_WORDS: frozenset[str] = frozenset(f"{_PRONOUNS} {_VERBS} {_LINKS} {_CONTRACTIONS}".split())
"""English function words, lower case."""

STOP_TOKENS: frozenset[str] = STOP_WORDS | {".", ","}
"""What is dropped after encoding: the function words and two marks of punctuation."""

_NO_LETTERS = re.compile(r"[^A-Za-z.,]+")
"""What a tokenizer marks pieces with, and all else that no stop token has."""
_BYTE = "<0x"
"""So begins the name of a piece that is one byte, whatever it decodes to."""


def stop_ids(tokenizer: Any) -> list[int]:
    """The ids of a vocabulary that are stop tokens when decoded by themselves.

    Only what could be one by its letters is decoded: all of MiniLM's would take a fifth of a second
    of every start.
    """
    names: list[str] = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
    return [
        index
        for index, name in enumerate(names)
        if (_NO_LETTERS.sub("", name) in STOP_TOKENS or name.startswith(_BYTE))
        and tokenizer.decode([index]) in STOP_TOKENS
    ]
