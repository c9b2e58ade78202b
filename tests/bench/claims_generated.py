"""What a trained claim generator adds to claims that are read off a change.

    MARGINALIA_DATA=... python -m tests.bench.claims_generated [--generator FOLDER] [--all]

Claims of each source are compared with two sets of reference claims by the shipped encoder (plain
mean): those by a large model about changes held out of training (``crscore/claims_silver``), and
those that people verified (``crscore/pseudo_refs``, without the diffs kept for a last look unless
``--all``). A reference is covered where the best cosine with any of a source's claims is above
the bar; a claim counts as precise where its best cosine with any reference is. ``right`` is of the
claims near (above .7) to one of the authors' raw claims that people judged, the share near to one
judged correct rather than wrong, incomplete or unverifiable. Sources: the generator (as it writes,
and with only what can be checked), the syntax, both, and two trivial ones: the changed lines as
they are, and the claims of the nearest change (by rare words) of the training part. The first k
claims of each change are rows of their own, so that coverages can be compared at equal precision.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from models.crscore.claims import claims_of_diff
from models.crscore.claims.by_generator import SHIPPED, ClaimGenerator
from models.crscore.claims.window import checkable, claim_windows
from models.crscore.encoder import SentenceEncoder, Vectors
from models.crscore.words import sub_words
from models.training.claims import Silver
from tests.bench.claims_coverage import BARS, read_rows

NEAR = 0.7
FIRST = (1, 2, 4, 99)


@dataclass(frozen=True)
class Reference:
    """A change with the claims it is measured by; ``judged`` are raw claims and people's marks."""

    diff: str
    claims: list[str]
    judged: list[tuple[str, int]]


def judged(row: Mapping[str, Any]) -> list[tuple[str, int]]:
    """The authors' raw claims of a change with people's marks (1 is right)."""
    return list(zip(row["claims_raw"], row["claim_correct"], strict=True))


def changed_lines(diff: str) -> list[str]:
    """The changed lines, said as they are."""
    found = []
    for window in claim_windows(diff):
        for i in sorted(window.changed | window.removed):
            if window.lines[i].strip():
                verb = "added" if i in window.changed else "removed"
                found.append(f"The line {window.lines[i].strip()} was {verb}.")
    return found[:12]


def lines_of(diff: str) -> list[str]:
    """All lines that the generator may see."""
    return [line for window in claim_windows(diff) for line in window.lines]


class Measured:
    """Numbers of one source over one set."""

    def __init__(self, encoder: SentenceEncoder) -> None:
        self._encoder = encoder
        self._known: dict[str, Vectors] = {}

    def _vectors(self, texts: Sequence[str]) -> Vectors:
        missing = [text for text in dict.fromkeys(texts) if text not in self._known]
        if missing:
            fresh = self._encoder.encode(missing, drop_stop_words=False)
            self._known.update(zip(missing, fresh, strict=True))
        return np.stack([self._known[text] for text in texts])

    def row(self, references: Sequence[Reference], said: Sequence[Sequence[str]]) -> str:
        """Claims a change, then coverage and precision at each bar, then ``right``."""
        recall: list[float] = []
        precision: list[float] = []
        right: list[bool] = []
        for one, ours in zip(references, said, strict=True):
            if not ours:
                recall += [0.0] * len(one.claims)
                continue
            mine = self._vectors(ours)
            cosine = self._vectors(one.claims) @ mine.T
            recall += cosine.max(axis=1).tolist()
            precision += cosine.max(axis=0).tolist()
            if one.judged:
                near = self._vectors([text for text, _ in one.judged]) @ mine.T
                marks = np.array([mark for _, mark in one.judged])
                best = near.argmax(axis=0)
                right += (marks[best] == 1)[near.max(axis=0) > NEAR].tolist()
        parts = [f"{len(precision) / len(references):5.2f} a change"]
        for bar in BARS:
            parts.append(
                f"covers>{bar} {np.mean(np.array(recall) > bar):.3f} "
                f"precise>{bar} {np.mean(np.array(precision) > bar):.3f}"
            )
        parts.append(f"mean best {np.mean(recall):.3f}/{np.mean(precision):.3f}")
        if right:
            parts.append(f"right {np.mean(right):.3f} of {len(right)}")
        return "  ".join(parts)


def sources(
    references: Sequence[Reference],
    train: Silver,
    generator: ClaimGenerator | None,
) -> dict[str, list[list[str]]]:
    """The claims of every source about every change."""
    diffs = [one.diff for one in references]
    syntax = [[claim.text for claim in claims_of_diff(diff)] for diff in diffs]
    weigh = TfidfVectorizer(analyzer=sub_words, sublinear_tf=True)
    there = weigh.fit_transform(["\n".join(lines_of(diff)) for diff in train.diffs])
    here = weigh.transform(["\n".join(lines_of(diff)) for diff in diffs])
    nearest = [train.claims[int(at)] for at in (here @ there.T).toarray().argmax(axis=1)]
    found = {
        "changed lines": [changed_lines(diff) for diff in diffs],
        "nearest change's claims": nearest,
        "  of those checkable": [
            checkable(claims, lines_of(diff)) for claims, diff in zip(nearest, diffs, strict=True)
        ],
        "syntax": syntax,
    }
    if generator is not None:
        windows = [claim_windows(diff) for diff in diffs]
        said = iter(generator.write([window for group in windows for window in group]))
        raw = [[claim for _ in group for claim in next(said)] for group in windows]
        kept = [checkable(claims, lines_of(d)) for claims, d in zip(raw, diffs, strict=True)]
        found["generator, unchecked"] = raw
        found["generator"] = kept
        found["syntax + generator"] = [a + b for a, b in zip(syntax, kept, strict=True)]
    return found


def main() -> int:
    """Print a row of each source, set and number of claims."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--generator", default="")
    parser.add_argument("--all", action="store_true", help="the diffs of the last look too")
    parser.add_argument("--show", type=int, default=0, help="print so many changes' claims")
    parser.add_argument("--count", type=int, default=None, help="changes of a set, for a trial")
    parser.add_argument("--silver-only", action="store_true", help="to choose a checkpoint by")
    options = parser.parse_args()
    folder = os.environ.get("MARGINALIA_DATA")
    if not folder:
        print("MARGINALIA_DATA is not set: give the folder of the data sets", file=sys.stderr)
        return 2
    data = Path(folder)
    named = options.generator or (str(SHIPPED) if SHIPPED.is_dir() else "")
    generator = ClaimGenerator(named) if named else None
    encoder = SentenceEncoder(dtype="float32")
    train, held = Silver(data, "train"), Silver(data, "held")
    sets = {
        "silver, held": [
            Reference(diff, claims, [])
            for diff, claims in zip(held.diffs, held.claims, strict=True)
        ]
    }
    if not options.silver_only:
        sets["verified by people"] = [
            Reference(row["diff"], verified, judged(row))
            for row in read_rows(data)
            if (options.all or row["index"] % 5)
            and (verified := [text for text in row["verified"] if text.strip()])
        ]
    measured = Measured(encoder)
    for name, whole in sets.items():
        references = whole[: options.count]
        print(f"== {name}: {len(references)} changes")
        said = sources(references, train, generator)
        for source, claims in said.items():
            for first in FIRST:
                which = "all" if first == FIRST[-1] else f"first {first}"
                row = measured.row(references, [group[:first] for group in claims])
                print(f"{source:<24} {which:<8} {row}", flush=True)
        for i in range(min(options.show, len(references))):
            print(f"\n{references[i].diff}")
            for source in ("syntax", "generator, unchecked", "generator"):
                for claim in said.get(source, [[]] * len(references))[i]:
                    print(f"  {source}: {claim}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
