"""How much of the published abstraction src2abs reproduces.

``python -m tests.bench.abstraction_share``, on the validation set of Trans-Review: methods (pairs
of versions) abstracted as published, up to a consistent renumbering; marked code likewise; pairs
restored exactly; comments turned into the data's dialect word for word; and revisions laid out
with the white space that people gave them.
"""

from __future__ import annotations

import gzip
import json
import os
import sys
from pathlib import Path

from models.preprocess.abstraction import abstract, renumbered
from models.preprocess.comments import dialect_comment
from models.preprocess.java_lexer import tokenize, with_marks
from models.preprocess.layout import lay_out


def main() -> int:
    """Print the shares; 2 where the data are not there."""
    named = os.environ.get("MARGINALIA_DATA")
    if not named:
        sys.stderr.write("set MARGINALIA_DATA to the data sets' folder\n")
        return 2
    published, raw = (_read(Path(named), name) for name in ("valid", "raw_valid"))
    counts = dict.fromkeys(
        ("pairs abstracted", "marked code", "pairs restored", "comments", "layout by tokens"), 0
    )
    for want, given in zip(published, raw, strict=True):
        sides = (given["code"], given["revised"])
        got = abstract(*sides)
        joined = f"{want['code']} {want['revised']}"
        counts["pairs abstracted"] += renumbered(joined) == renumbered(" ".join(got.texts))
        marked = abstract(with_marks(given["marked_code"])).texts[0]
        counts["marked code"] += renumbered(marked) == renumbered(want["marked_code"])
        words = [[token.text for token in tokenize(side)] for side in sides]
        counts["pairs restored"] += all(
            got.restore(text) == " ".join(side) for text, side in zip(got.texts, words, strict=True)
        )
        comment = renumbered(dialect_comment(given["comment"], got))
        counts["comments"] += comment == renumbered(want["comment"])
        laid = lay_out(sides[0], tokenize(sides[0]), words[1])
        counts["layout by tokens"] += laid.split() == sides[1].split()
    for name, count in counts.items():
        sys.stdout.write(f"{name:<18} {count / len(raw):.4f} ({count} of {len(raw)})\n")
    return 0


def _read(folder: Path, name: str) -> list[dict[str, str]]:
    path = folder / "trans_review" / f"{name}.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as rows:
        return [json.loads(row) for row in rows]


if __name__ == "__main__":
    sys.exit(main())
