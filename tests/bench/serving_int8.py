"""int8 against float32: CTranslate2's decoding of the shipped model, its speed and agreement.

    pip install ctranslate2
    MARGINALIA_DATA=... python -m tests.bench.serving_int8 [--count N] [--repeat N] [--model FOLDER]

The windows, the free decoding and the timing are those of ``tests.bench.serving``. Agreement is the
share of windows whose answer is that of the serving path in float32. CTranslate2 is no dependency:
it cannot hold an answer to the format of edits step by step, which serving does.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from models.generators.t5_edits import MAX_ANSWER
from tests.bench.serving import BATCHES, Answers, Ours, asked, in_turns, windows


class CTranslate2:
    """The checkpoint, converted."""

    def __init__(self, folder: Path, kind: str, ours: Ours) -> None:
        import ctranslate2
        from ctranslate2.converters import TransformersConverter

        self.ours = ours
        self.tokenizer = ours.generator.codec.tokenizer
        with tempfile.TemporaryDirectory() as made:
            TransformersConverter(str(folder)).convert(made, quantization=kind, force=True)
            self.model: Any = ctranslate2.Translator(
                made, device="cpu", compute_type=kind, inter_threads=1, intra_threads=1
            )

    def answers(self, rows: Sequence[Sequence[int]], batch: int, beams: int) -> Answers:
        """As ``Ours.answers``."""
        name, number = self.tokenizer.id_to_token, self.tokenizer.token_to_id
        result: Answers = []
        for start in range(0, len(rows), batch):
            found = self.model.translate_batch(
                [[name(token) for token in row] for row in rows[start : start + batch]],
                beam_size=beams, length_penalty=0, max_decoding_length=MAX_ANSWER,
                suppress_sequences=[["<none>"]], return_end_token=True,
            )  # fmt: skip
            result += [tuple(number(token) for token in one.hypotheses[0]) for one in found]
        return result


def main() -> None:
    """Print a row for each kind of weights, way of decoding and batch."""
    options = asked(__doc__)
    torch.set_num_threads(1)
    examples = windows(Path(os.environ["MARGINALIA_DATA"]), options.count)
    ours = Ours(options.model)
    rows = sorted((ours.source(example) for example in examples), key=len)
    theirs = {kind: CTranslate2(options.model, kind, ours) for kind in ("float32", "int8")}
    print(f"{ours.generator.name}, {len(rows)} windows, one thread")
    for beams in (1, 5):
        for batch in BATCHES:
            ways = [lambda b=batch, k=beams: ours.answers(rows, b, k)]
            for one in theirs.values():
                ways.append(lambda b=batch, k=beams, o=one: o.answers(rows, b, k))
            (mine, *others), (own, *seconds) = in_turns(ways, options.repeat)
            tokens = sum(map(len, mine))
            print(
                f"{'greedy' if beams == 1 else f'beam {beams}'}, batch {batch}: ours float32 "
                f"{tokens / own:.0f} tokens/s; CTranslate2 "
                + "; ".join(
                    f"{kind} {tokens / spent:.0f}, same answers "
                    f"{100 * sum(map(_same, mine, other)) / len(rows):.1f} %"
                    for kind, spent, other in zip(theirs, seconds, others, strict=True)
                )
            )


def _same(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    return one == other


if __name__ == "__main__":
    main()
