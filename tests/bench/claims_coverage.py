"""How many human-verified claims do the claims read off a change cover?

    python -m tests.bench.claims_coverage [--pooling mean|crscore] [--worst N]

Reads ``crscore/pseudo_refs`` of the data (``MARGINALIA_DATA``). For each diff, the claims that
people verified are compared with ours by the shipped encoder: a verified claim is covered where
the best cosine with any of ours is above the bar. Recall is over verified claims, precision over
ours (a proxy: what nobody wrote down may still be true). The diffs whose index is divisible by 5
were not looked at while the wording was made; they are reported apart. ``verified`` lines that
speak of the whole change in general are kept: they count against us.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from models.crscore.claims import claims_of_diff

Vectors = npt.NDArray[np.float32]
BARS = (0.6, 0.7)


@dataclass(frozen=True)
class Compared:
    """One diff: best cosine of each verified claim, and of each of ours."""

    index: int
    lang: str
    recall: Vectors
    precision: Vectors


def read_rows(data: Path) -> list[dict[str, Any]]:
    path = data / "crscore" / "pseudo_refs.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as handle:
        return [json.loads(line) for line in handle]


def compare(
    rows: Sequence[dict[str, Any]], encode: Callable[[Sequence[str]], Vectors]
) -> list[Compared]:
    ours = [[claim.text for claim in claims_of_diff(r["diff"], r["lang"])] for r in rows]
    theirs = [[text for text in r["verified"] if text.strip()] for r in rows]
    texts = sorted({text for group in (*ours, *theirs) for text in group})
    place = {text: at for at, text in enumerate(texts)}
    vectors = encode(texts)
    vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    compared = []
    for row, mine, people in zip(rows, ours, theirs, strict=True):
        if not people:
            continue
        left = vectors[[place[text] for text in people]]
        right = vectors[[place[text] for text in mine]]
        cosine = left @ right.T if mine else np.zeros((len(people), 1), np.float32)
        compared.append(
            Compared(
                row["index"],
                row["lang"],
                cosine.max(axis=1),
                cosine.max(axis=0) if mine else np.zeros(0, np.float32),
            )
        )
    return compared


def report(name: str, group: Sequence[Compared]) -> str:
    recall = np.concatenate([one.recall for one in group])
    precision = np.concatenate([one.precision for one in group])
    parts = [
        f"{name:<10} diffs {len(group):>3}  verified {len(recall):>4}  ours {len(precision):>4}"
    ]
    for bar in BARS:
        parts.append(f"covered>{bar} {np.mean(recall > bar):.3f}")
        parts.append(f"ours>{bar} {np.mean(precision > bar):.3f}")
    parts.append(f"mean best: recall {recall.mean():.3f} precision {precision.mean():.3f}")
    return "  ".join(parts)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pooling", choices=("mean", "crscore"), default="mean")
    parser.add_argument("--all", action="store_true", help="the held-out diffs too")
    options = parser.parse_args()
    folder = os.environ.get("MARGINALIA_DATA")
    if not folder:
        print("MARGINALIA_DATA is not set: give the folder of the data sets", file=sys.stderr)
        return 2
    from models.crscore.encoder import SentenceEncoder

    encoder = SentenceEncoder()
    rows = [r for r in read_rows(Path(folder)) if options.all or r["index"] % 5]
    compared = compare(
        rows, lambda texts: encoder.encode(texts, drop_stop_words=options.pooling == "crscore")
    )
    print(f"encoder {encoder.name}, pooling {options.pooling}")
    seen = [one for one in compared if one.index % 5]
    held = [one for one in compared if one.index % 5 == 0]
    for lang in ("py", "java", "js"):
        print(report(lang, [one for one in seen if one.lang == lang]))
    print(report("seen", seen))
    if held:
        print(report("held out", held))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
