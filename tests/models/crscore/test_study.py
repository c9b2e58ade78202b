"""Rows that the judge is taught to find irrelevant: whose they are, and that no fold teaches
another."""

from __future__ import annotations

import numpy as np
import pytest

from models.crscore.features import Row
from models.crscore.study import (
    SWAPS,
    Study,
    fold_of,
    is_held,
    swapped_rows,
)

DIFFS = 240


@pytest.fixture(scope="module")
def study() -> Study:
    """Two reviews of every diff: one of use, and one of none where the diff's number is even."""
    rows, diffs, systems, languages, human = [], [], [], [], []
    for diff in range(DIFFS):
        for system, score in (("a", 4), ("b", 1 if diff % 2 == 0 else 2)):
            rows.append(Row(f"@@ -1 +1 @@\n-old{diff}\n+new{diff}\n", f"{system} of {diff}"))
            diffs.append(diff)
            systems.append(system)
            languages.append(("py", "java")[diff % 3 == 0])
            human.append([score, score, score])
    rows[4] = Row(rows[4].diff, "  ")
    return Study(rows, diffs, systems, languages, np.array(human, dtype=np.float64))


def test_good_reviews_are_set_against_changes_of_their_own_part(study: Study) -> None:
    rows, diffs, systems = swapped_rows(study, 0)
    language = dict(zip(study.diffs, study.languages, strict=True))
    number = {row.diff: diff for diff, row in zip(study.diffs, study.rows, strict=True)}
    seen = set()
    for row, diff, system in zip(rows, diffs, systems, strict=True):
        target = number[row.diff]
        assert row.review == f"{system} of {diff}"
        assert target != diff
        assert language[target] == language[diff]
        assert (fold_of(target), is_held(target)) == (fold_of(diff), is_held(diff))
        seen.add((diff, system, target))
    assert len(seen) == len(rows)  # no pair stands there twice
    assert systems.count("a") > (DIFFS - 1) * (SWAPS - 1)  # nearly every diff has five others
    # neither what people found of no use nor what is empty
    assert not [d for d, s in zip(diffs, systems, strict=True) if s == "b" and d % 2 == 0]
    assert not [d for d, s in zip(diffs, systems, strict=True) if (d, s) == (2, "a")]
    assert swapped_rows(study, 0)[0] == rows
    assert swapped_rows(study, 1)[0] != rows
