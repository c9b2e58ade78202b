"""Revisions weighed by how well they explain the reviewer's comment.

The models that write revisions give p(revision | code, comment); another one gives
p(comment | code, revision) (``models.generators.t5_said``). Both say something that the other does
not, so they are put together log-linearly (Yee et al. 2019, section 3): a candidate's probability
is multiplied by its comment's to some power, and the candidates together keep what they had.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from models.generators.base import Window
from models.tasks import Example
from models.training.abstracted import abstracted_example

if TYPE_CHECKING:
    from models.generators.line_edits import LineEdit
    from models.generators.t5_said import CommentLikelihood

Choices = list[tuple[float, str]]
"""Revised texts with their probabilities, best first."""
MOST = 8
"""Candidates of an example that are weighed; later ones hold hardly any of the probability."""


def comment_logs(
    model: CommentLikelihood, examples: Sequence[Example], choices: Sequence[Choices]
) -> list[list[float | None]]:
    """The logarithm of the comment's probability given each of the first ``MOST`` choices.

    Args:
        model: of the comment given the revision.
        examples: abstracted methods.
        choices: the distinct revised texts of each.

    Returns:
        One number a choice; ``None`` where the model cannot be asked (no comment, too long).
    """
    asked = [
        _question(example, text)
        for example, found in zip(examples, choices, strict=True)
        for _, text in found[:MOST]
    ]
    said = iter(model.log_likelihoods(asked))
    return [[next(said) for _ in found[:MOST]] for found in choices]


def weighed(found: Choices, logs: Sequence[float | None], power: float) -> Choices:
    """One example's choices with their comment's probability counted in, best first.

    Args:
        found: the choices.
        logs: of ``comment_logs``. A choice without one counts as the one that explains the
            comment least.
        power: of the comment's probability; 0 changes nothing.

    Returns:
        The same texts. Those with a place in ``logs`` have together what they had before.
    """
    known = [log for log in logs if log is not None]
    if not known:
        return list(found)
    least, most = min(known), max(known)
    asked, rest = found[: len(logs)], found[len(logs) :]
    masses = [
        probability * math.exp(power * ((least if log is None else log) - most))
        for (probability, _), log in zip(asked, logs, strict=True)
    ]
    total = sum(masses)
    scale = sum(probability for probability, _ in asked) / total if total > 0 else 0.0
    anew = [(mass * scale, text) for mass, (_, text) in zip(masses, asked, strict=True)]
    return sorted([*anew, *rest], key=lambda choice: -choice[0])


def _question(example: Example, text: str) -> tuple[Window, tuple[LineEdit, ...]]:
    row = {
        "code": example.unmarked(),
        "marked_code": example.marked_code or example.unmarked(),
        "comment": example.comment or "",
        "revised": text,
    }
    shown = abstracted_example(row, "cra")
    if shown is None:  # more lines than a window has
        return Window("abstracted", ()), ()
    return Window("abstracted", shown.lines, shown.changed, comment=shown.comment), shown.edits
