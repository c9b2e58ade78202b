"""Reviews scored a second, against the published pipeline's way of working.

``python -m tests.bench.score_speed [--diffs N]`` scores reviews of real changes twice in one run
with the same encoder: one review at a time in float32 as the published scorer does it (claims and
review encoded anew for each review, each text tokenized again for its stop words), and in batches
as ``CRScore`` does it. It prints both rates, their ratio (by the clock and by processor time,
which other programs disturb less) and the scores' largest difference.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import time
from pathlib import Path
from typing import Any

import numpy as np

from models.crscore import CRScore
from models.crscore.encoder import SentenceEncoder
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


def main() -> None:
    """Time both ways and print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--diffs", type=int, default=40)
    given = parser.parse_args()
    rows = rows_of(Path(os.environ["MARGINALIA_DATA"]), given.diffs)
    plain = SentenceEncoder(dtype="float32")
    ours = SentenceEncoder()
    scorer = CRScore(ours)
    model = plain._load()
    ours.encode(["warm"])
    one_side(model, ["warm"])

    start, worked = time.perf_counter(), time.process_time()
    slow = []
    for review, claims in rows:
        left, right = split_sentences(review), claims
        if not left or not right:
            slow.append((0.0, 0.0))
            continue
        similarity = one_side(model, left) @ one_side(model, right).T
        slow.append((similarity_scores(similarity, scorer.threshold)[2], float(similarity.max())))
    slow_time, slow_work = time.perf_counter() - start, time.process_time() - worked

    start, worked = time.perf_counter(), time.process_time()
    fast = scorer.score_reference_batch(rows)
    fast_time, fast_work = time.perf_counter() - start, time.process_time() - worked

    rel = max(abs(score.rel - old[0]) for score, old in zip(fast, slow, strict=True))
    cosine = max(abs(score.similarity - old[1]) for score, old in zip(fast, slow, strict=True))
    print(f"reviews {len(rows)}, encoder {ours.name}, ours in {ours.dtype}")
    print(f"one at a time, float32: {len(rows) / slow_time:.1f} reviews/s")
    print(f"in batches:             {len(rows) / fast_time:.1f} reviews/s")
    print(f"ratio {slow_time / fast_time:.1f}, of processor time {slow_work / fast_work:.1f}")
    print(f"largest difference: Rel {rel:.4f}, best cosine {cosine:.6f}")


if __name__ == "__main__":
    main()
