"""Reviews scored a second, against the published pipeline's way of working.

``python -m tests.bench.score_speed [--diffs N] [--repeat N]`` scores reviews of real changes in
one run with the same encoder: one review at a time in float32 as the published scorer does it
(claims and review encoded anew for each review, each text tokenized again for its stop words), and
in batches as ``CRScore`` does it, in float32, in bfloat16 where this CPU has it, and in int8, which
is only used where it is named. The ways take turns; each row is of the fastest turn. A row says the
rate, the ratio (by the clock, and by processor time, which other programs disturb less), the
largest difference of Rel and of a review's best cosine, and the share of all cosines, and of all
reviews' Rel, that changed sides at the threshold.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from models.crscore import CRScore
from models.crscore.encoder import Dtype, SentenceEncoder, fast_bfloat16
from models.crscore.score import similarity_scores
from models.crscore.sentences import split_sentences
from models.crscore.stopwords import STOP_TOKENS


def one_side(model: Any, texts: list[str]) -> np.ndarray:
    """Vectors of one side by the published steps, each text by its own mask."""
    rows = []
    outputs = model.encode(texts, output_value="token_embeddings", show_progress_bar=False)
    for text, vectors in zip(texts, outputs, strict=True):
        ids = model.tokenizer(text, truncation=True, max_length=model.max_seq_length)["input_ids"]
        tokens = model.tokenizer.batch_decode([[i] for i in ids])
        kept = [v for t, v in zip(tokens, vectors.numpy(), strict=False) if t not in STOP_TOKENS]
        mean = np.sum(kept, axis=0) / len(kept)
        rows.append(mean / np.linalg.norm(mean))
    return np.array(rows, dtype=np.float32)


def rows_of(data: Path, diffs: int) -> list[tuple[str, list[str]]]:
    """(review, claims) of some diffs of the study with all systems, in a shuffled order."""
    with gzip.open(data / "crscore/pseudo_refs.jsonl.gz", "rt", encoding="utf-8") as handle:
        claims = {row["index"]: row["auto_refs"] for row in map(json.loads, handle)}
    chosen = set(sorted(claims)[:diffs])
    with gzip.open(data / "crscore/annotations.jsonl.gz", "rt", encoding="utf-8") as handle:
        rows = [
            (row["review"], claims[row["index"]])
            for row in map(json.loads, handle)
            if row["index"] in chosen
        ]
    random.Random(0).shuffle(rows)
    return rows


@dataclass(frozen=True)
class Turn:
    """One way of working, once: seconds by the clock and of the processor, and what it found."""

    clock: float
    work: float
    rel: list[float]
    best: list[float]


def timed(score: Callable[[], list[tuple[float, float]]]) -> Turn:
    """Time a way of working that gives (Rel, best cosine) of each review."""
    clock, work = time.perf_counter(), time.process_time()
    found = score()
    clock, work = time.perf_counter() - clock, time.process_time() - work
    return Turn(clock, work, [rel for rel, _ in found], [best for _, best in found])


def one_at_a_time(rows: list[tuple[str, list[str]]], threshold: float, model: Any) -> Any:
    """The published way; claims and review are encoded anew for each review."""
    for review, claims in rows:
        left = split_sentences(review)
        if not left or not claims:
            yield 0.0, 0.0
            continue
        similarity = one_side(model, left) @ one_side(model, claims).T
        yield similarity_scores(similarity, threshold)[2], float(similarity.max())


def batched(rows: list[tuple[str, list[str]]], encoder: SentenceEncoder, threshold: float) -> Any:
    """Our way, with nothing remembered of an earlier turn."""
    encoder.forget()
    for score in CRScore(encoder, threshold=threshold).score_reference_batch(rows):
        yield score.rel, score.similarity


def cosines(encoder: SentenceEncoder, rows: list[tuple[str, list[str]]]) -> np.ndarray:
    """Every cosine of a sentence and a claim that the threshold was asked about."""
    groups = [side for review, claims in rows for side in (split_sentences(review), claims)]
    vectors = encoder.encode_groups(groups)
    return np.concatenate(
        [
            (left @ right.T).ravel()
            for left, right in zip(vectors[::2], vectors[1::2], strict=True)
            if left.size and right.size
        ]
    )


def main() -> None:
    """Time all ways and print a row of each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--diffs", type=int, default=40)
    parser.add_argument("--repeat", type=int, default=2)
    given = parser.parse_args()
    rows = rows_of(Path(os.environ["MARGINALIA_DATA"]), given.diffs)
    kinds: list[Dtype] = ["float32", "bfloat16", "int8"]
    if not fast_bfloat16():
        kinds.remove("bfloat16")
    ours = {kind: SentenceEncoder(dtype=kind) for kind in kinds}
    threshold = CRScore(ours["float32"]).threshold
    model = ours["float32"]._load()
    one_side(model, ["warm"])
    for encoder in ours.values():
        encoder.encode(["warm"])

    slow = timed(lambda: list(one_at_a_time(rows, threshold, model)))
    turns: dict[str, list[Turn]] = {kind: [] for kind in kinds}
    for _ in range(given.repeat):
        for kind in kinds:
            turns[kind].append(timed(partial(_listed, rows, ours[kind], threshold)))

    exact = cosines(ours["float32"], rows)
    count = len(rows)
    threads = torch.get_num_threads()
    print(f"{count} reviews, encoder {ours['float32'].name}, {threads} threads")
    print(f"one at a time, float32: {count / slow.clock:.1f} reviews/s")
    for kind in kinds:
        best = min(turns[kind], key=lambda turn: turn.clock)
        rel = np.abs(np.subtract(best.rel, slow.rel))
        cosine = np.abs(np.subtract(best.best, slow.best)).max()
        crossed = np.mean((cosines(ours[kind], rows) > threshold) != (exact > threshold))
        print(
            f"in batches, {kind}: {count / best.clock:.1f} reviews/s, "
            f"ratio {slow.clock / best.clock:.1f}, of processor time {slow.work / best.work:.1f}; "
            f"largest difference: Rel {rel.max():.4f}, best cosine {cosine:.6f}; "
            f"cosines across the threshold {crossed:.2%}, Rel changed in {np.mean(rel > 1e-5):.1%}"
        )


def _listed(
    rows: list[tuple[str, list[str]]], encoder: SentenceEncoder, threshold: float
) -> list[tuple[float, float]]:
    return list(batched(rows, encoder, threshold))


if __name__ == "__main__":
    main()
