"""How often a revision that a comment spells out is what the reviewer wrote.

    MARGINALIA_DATA=... python -m tests.bench.spelled_out

Over the comments of ``pr_reviews`` with one suggestion block: those whose prose spells a revision
out, the share of them that are exactly the block, and how many come nearer to it.
"""

from __future__ import annotations

import gzip
import json
import os
import sys
from pathlib import Path

from models.benchmark.suggestions import suggested_revision
from models.generators.base import Window
from models.generators.instructions import Instructions
from models.generators.line_edits import apply_edits
from models.metrics.edit_progress import edit_progress


def main() -> int:
    folder = os.environ.get("MARGINALIA_DATA")
    if not folder:
        print("set MARGINALIA_DATA to the folder of the data sets")
        return 1
    rows = []
    for path in sorted((Path(folder) / "pr_reviews").glob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as handle:
            rows += [json.loads(line) for line in handle]
    cases = [one for row in rows if (one := suggested_revision(row["diff_hunk"], row["comment"]))]
    system, asked, exact, nearer = Instructions(), 0, 0, 0
    for case in cases:
        lines = tuple(case.code.split("\n"))
        window = Window("python", lines, frozenset({len(lines) - 1}), comment=case.comment)
        for answer in system.revise([window])[0]:
            asked += 1
            made = "\n".join(apply_edits(lines, answer.edits))
            exact += made == case.revised
            progress = edit_progress(case.code, case.revised, made)
            nearer += progress is not None and progress > 0
            if "-v" in sys.argv and made != case.revised:
                print(repr(case.comment[:150]), repr(made[-80:]), repr(case.revised[-80:]))
    share = exact / asked if asked else 0.0
    print(
        f"{len(cases)} suggestion blocks; {asked} spelled out; exactly the block {exact} "
        f"(precision {share:.3f}); nearer to it {nearer}"
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
