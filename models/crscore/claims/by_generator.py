"""Claims written by a small generator of our own training (``marginalia train --mixture claims``).

It reads hunks, several in a batch, and answers each by one claim a line. A model of this size is
fluent before it is right, so a claim that names what the change does not have is dropped
(``checkable``).

The shipped one covers fewer of the claims that people verified than those that are read off the
change, and is right less often; beside them it adds coverage (its card has the numbers, by
``tests.bench.claims_generated`` and ``claims_agreement``). So it is asked only where it is named.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from models.crscore.claims.by_model import LIMIT, ClaimsError, ModelClaims
from models.crscore.claims.window import checkable, claim_windows
from models.generators.base import GeneratorError, Window
from models.generators.checkpoint import weights_hash
from models.generators.line_edits import CLAIMS

if TYPE_CHECKING:
    from models.generators.t5_edits import T5EditGenerator

SHIPPED = Path(__file__).resolve().parents[2] / "weights" / "claims"
"""Where the shipped generator lies."""


class ClaimGenerator:
    """A ``BatchWriter`` whose prompt is the diff itself.

    Raises ``ClaimsError`` where the checkpoint is missing or was not trained to write claims.
    """

    def __init__(self, source: str | Path, batch: int = 16) -> None:
        from models.generators.t5_edits import T5EditGenerator

        self.lot = batch
        try:
            self._model: T5EditGenerator = T5EditGenerator(source, batch=batch)
        except GeneratorError as error:
            raise ClaimsError(str(error)) from error
        if CLAIMS not in self._model.tasks:
            raise ClaimsError(
                f"{source} was not trained to write claims: "
                f"marginalia train --mixture claims --from {source} --out FOLDER"
            )

    @functools.cached_property
    def key(self) -> str:
        """The weights' hash; answers of equal weights are equal."""
        return f"claims-generator@{weights_hash(self._model.folder)}"

    def answer(self, prompt: str) -> str:
        """See ``Writer.answer``."""
        return self.answers([prompt])[0]

    def write(self, windows: Sequence[Window]) -> list[list[str]]:
        """The model's claims about each window as they are, checkable or not."""
        return self._model.claims(windows)

    def answers(self, diffs: Sequence[str]) -> list[str]:
        """Claims of each diff, one a line; windows of all diffs are decoded together."""
        windows = [claim_windows(diff) for diff in diffs]
        said = iter(self.write([window for group in windows for window in group]))
        return [
            "\n".join(
                [
                    claim
                    for window in group
                    for claim in checkable(next(said), window.lines)
                ][:LIMIT]
            )
            for group in windows
        ]  # fmt: skip


def generated_claims(source: str = "", cache: Path | None = None) -> ModelClaims:
    """Claims of changes by a checkpoint (folder or Hub id), or by the shipped one.

    Raises ``ClaimsError``.
    """
    return ModelClaims(ClaimGenerator(source or SHIPPED), cache, prompt="{diff}")
