"""How well Rel agrees with people, by where its claims come from.

    MARGINALIA_DATA=... python -m tests.bench.claims_agreement [--generator FOLDER]

Spearman of CRScore's Rel with people's relevance (``crscore/annotations``, without the diffs kept
for a last look), with 95 % intervals by diff: claims read off the change, those of the claim
generator (with only what can be checked, and as it writes), both, and the authors' own with and
without the generator's. Smells are among the first and the authors', not among the generator's.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np

from models.crscore import CRScore
from models.crscore.agreement import Numbers, bootstrap, bootstrap_gain, spearman
from models.crscore.claims.by_generator import SHIPPED, ClaimGenerator
from models.crscore.claims.window import checkable, claim_windows
from models.crscore.study import Study, is_held, read_study


def generated(study: Study, generator: ClaimGenerator) -> dict[str, tuple[list[str], list[str]]]:
    """Of each diff all that the generator writes, and what of it can be checked."""
    found: dict[str, tuple[list[str], list[str]]] = {}
    for diff in dict.fromkeys(row.diff for row in study.rows):
        windows = claim_windows(diff)
        said = generator.write(windows)
        kept = [checkable(claims, w.lines) for claims, w in zip(said, windows, strict=True)]
        found[diff] = [x for part in said for x in part], [x for part in kept for x in part]
    return found


def main() -> None:
    """Print a row a source."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--generator", type=Path, default=SHIPPED)
    options = parser.parse_args()
    study = read_study(Path(os.environ["MARGINALIA_DATA"]))
    study = study.take(np.array([not is_held(diff) for diff in study.diffs]))
    people = study.human[:, 0]
    scorer = CRScore()
    said = generated(study, ClaimGenerator(options.generator))
    sources = {
        "read off the change": [row.own for row in study.rows],
        "generator": [said[row.diff][1] for row in study.rows],
        "generator, unchecked": [said[row.diff][0] for row in study.rows],
        "read off + generator": [(*row.own, *said[row.diff][1]) for row in study.rows],
        "the authors'": [row.references for row in study.rows],
        "the authors' + generator": [(*row.references, *said[row.diff][1]) for row in study.rows],
    }
    found: dict[str, Numbers] = {}
    for name, claims in sources.items():
        pairs = [(row.review, given) for row, given in zip(study.rows, claims, strict=True)]
        found[name] = np.array([score.rel for score in scorer.score_reference_batch(pairs)])
        print(f"{name}: {bootstrap(spearman, found[name], people, study.diffs)}", flush=True)
    gain = bootstrap_gain(
        found["read off + generator"], found["read off the change"], people, study.diffs
    )
    print(f"gain of the generator beside what is read off: {gain}")


if __name__ == "__main__":
    main()
