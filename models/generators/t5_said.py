"""How well a revision explains a reviewer's comment: the noisy channel of CRA.

A model that writes revisions may be fluent and pass over what the comment asks for. Another one
asked the other way round, how probable the comment is given the code and the revision, is not: by
Bayes' rule p(revision | code, comment) is proportional to p(comment | code, revision) times
p(revision | code) (Brown et al. 1993; for reranking by neural models Yee et al. 2019, "Simple and
Effective Noisy Channel Modeling for Neural Machine Translation").
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch

from models.generators.base import GeneratorError, Window
from models.generators.checkpoint import checkpoint_folder, read_card
from models.generators.line_edits import SAID, LineEdit
from models.generators.t5_edits import read_weights
from models.training.batches import Encoded, cut_batches, pad

LONGEST = 360
"""Tokens of code and edits; longer ones are not asked about."""
_TOKENS = 4096
"""Padded source tokens of a batch."""


class CommentLikelihood:
    """The probability of comments given revisions, by a checkpoint trained for ``said``.

    Args:
        source: folder or Hub id (``marginalia train --mixture said``).

    Raises:
        GeneratorError: no such checkpoint, or one that was not trained for this.
    """

    def __init__(self, source: str | Path) -> None:
        self.folder = checkpoint_folder(source)
        if SAID not in read_card(self.folder, source)["tasks"]:
            raise GeneratorError(
                f"{source} was not trained to say what led to a revision: "
                f"marginalia train --mixture said --from {source} --out FOLDER"
            )
        self.codec, self._model = read_weights(self.folder, source)

    def log_likelihoods(
        self, revisions: Sequence[tuple[Window, tuple[LineEdit, ...]]]
    ) -> list[float | None]:
        """The natural logarithm of each comment's probability, given window and edits.

        Args:
            revisions: windows with their comment, and edits of their lines.

        Returns:
            One number each, 0 at most; ``None`` where there is no comment or no edit, or where
            window and edits are longer than the model reads.
        """
        asked: list[tuple[int, Encoded]] = []
        for place, (window, edits) in enumerate(revisions):
            source = self.codec.said_source(window.language, window.lines, window.changed, edits)
            reply = self.codec.text_ids([window.comment])[0]
            if edits and reply and len(source) <= LONGEST:
                asked.append((place, Encoded(source, [*reply, self.codec.end])))
        places = {id(row): place for place, row in asked}
        result: list[float | None] = [None] * len(revisions)
        for group in cut_batches([row for _, row in asked], _TOKENS):
            batch = pad(group, self.codec.pad)
            with torch.inference_mode():
                logits = self._model(
                    input_ids=batch.source, attention_mask=batch.mask, labels=batch.labels
                ).logits
            losses = torch.nn.functional.cross_entropy(
                logits.transpose(1, 2), batch.labels, reduction="none", ignore_index=-100
            )
            for row, loss in zip(group, losses.sum(1).tolist(), strict=True):
                result[places[id(row)]] = -loss
        return result
