"""Sentences as CRScore counts them (section 3.2).

A review is cut at line breaks, then at ". " and "? " (the marks themselves go). "!" does not end
a sentence, and a last full stop stays on its sentence: this is how the published scorer does it,
so conciseness has the same denominator here.
"""

from __future__ import annotations

import re

_END = re.compile(r"\. |\? ")


def split_sentences(text: str) -> list[str]:
    """The sentences of ``text`` in order; blank lines give none, so "" gives an empty list.

    A line's own pieces are kept even where they are empty ("Why? " gives "Why" and ""), as the
    published scorer keeps them.
    """
    return [piece for line in text.split("\n") if line.strip() for piece in _END.split(line)]
