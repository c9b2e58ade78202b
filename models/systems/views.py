"""One abstracted method under several numberings of its placeholders."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, replace

from models.preprocess.abstraction import PLACEHOLDER
from models.tasks import Example
from models.training.methods import reshuffled


@dataclass(frozen=True, slots=True)
class View:
    """An example under other numbers, and what each of its tokens is in the example's own.

    No ``names``: the example as it is.
    """

    example: Example
    names: Mapping[str, str]

    def restored(self, text: str) -> str | None:
        """A text in the example's own numbers; ``None`` where it names what the code does not."""
        if not self.names:
            return text
        tokens = text.split(" ")
        if any(PLACEHOLDER.fullmatch(token) and token not in self.names for token in tokens):
            return None
        return " ".join(self.names.get(token, token) for token in tokens)


def views_of(example: Example, count: int) -> list[View]:
    """An abstracted example as it is and under other numbers, ``count`` in all; others alone.

    The numbers say nothing, so that the answers to all views are answers to the example: what
    most of them agree on is right more often than what one of them says.
    """
    code = example.unmarked()
    if not example.abstracted or code != " ".join(code.split()):
        return [View(example, {})]
    texts = {"code": code, "marked_code": example.marked_code, "comment": example.comment}
    rng = random.Random(code)  # noqa: S311 - the same views each time, no secret
    # a name that the comment alone has keeps its number
    said = {word: word for word in (example.comment or "").split() if PLACEHOLDER.fullmatch(word)}
    views = [View(example, {**said, **{token: token for token in code.split()}})]
    while len(views) < count:
        row = reshuffled(texts, rng)
        names = {**said, **dict(zip(row["code"].split(), code.split(), strict=True))}
        views.append(View(replace(example, **row), names))
    return views
