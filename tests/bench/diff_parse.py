"""Reading a diff of 20,000 changed lines against plain unidiff, in one run.

Run with ``python -m tests.bench.diff_parse``. Both read the same bytes, turn about, in one
process; times are CPU time, so that what else the machine does counts little, and the ratio is
that of the medians.
"""

from __future__ import annotations

import platform
import random
import statistics
import time
from collections.abc import Callable
from importlib.metadata import version

from unidiff import PatchSet

from bot.diff.parse import parse_diff

CHANGED = 20_000
FILES = 200
ROUNDS = 15


def make_diff(changed: int, files: int, seed: int = 1) -> bytes:
    """A diff as git writes it: hunks of 2 to 20 changed lines with six lines of context."""
    rng = random.Random(seed)
    parts: list[str] = []
    left = changed
    for number in range(files):
        path = f"src/package_{number % 9}/module_{number}.py"
        parts.append(f"diff --git a/{path} b/{path}\nindex 1111111..2222222 100644")
        parts.append(f"--- a/{path}\n+++ b/{path}")
        quota = left // (files - number)
        left -= quota
        old = new = 1
        while quota > 0:
            size = min(rng.randint(2, 20), quota)
            gone = rng.randint(0, size)
            quota -= size
            rows = ["-" + _line(rng) for _ in range(gone)]
            rows += ["+" + _line(rng) for _ in range(size - gone)]
            rows = (
                [" " + _line(rng) for _ in range(3)] + rows + [" " + _line(rng) for _ in range(3)]
            )
            parts.append(f"@@ -{old},{gone + 6} +{new},{size - gone + 6} @@ def function_{new}():")
            parts += rows
            old += gone + 40
            new += size - gone + 40
    return ("\n".join(parts) + "\n").encode()


def _line(rng: random.Random) -> str:
    indent = " " * rng.choice((0, 4, 4, 8, 12))
    return f"{indent}value_{rng.randint(0, 999)} = compute(argument_{rng.randint(0, 99)}, other)"


def seconds(work: Callable[[], object]) -> float:
    """CPU seconds of one call."""
    start = time.process_time()
    work()
    return time.process_time() - start


def main() -> None:
    """Prints both medians and their ratio."""
    data = make_diff(CHANGED, FILES)
    text = data.decode()
    change = parse_diff(data)
    plain = PatchSet(text)
    ours = [(len(hunk.added), len(hunk.deleted)) for file in change for hunk in file.hunks]
    theirs = [(hunk.added, hunk.removed) for file in plain for hunk in file]
    if ours != theirs:
        raise SystemExit("the two readers disagree: the times mean nothing")
    times_plain, times_ours = [], []
    for _ in range(ROUNDS):
        times_plain.append(seconds(lambda: PatchSet(data.decode())))
        times_ours.append(seconds(lambda: parse_diff(data)))
    mid_plain, mid_ours = statistics.median(times_plain), statistics.median(times_ours)
    lines = sum(added + deleted for added, deleted in ours)
    print(f"{lines} changed lines in {len(change.files)} files, {len(data)} bytes, {ROUNDS} rounds")
    print(f"unidiff {version('unidiff')} on Python {platform.python_version()}")
    print(f"plain PatchSet  {mid_plain * 1000:8.1f} ms (median)")
    print(f"parse_diff      {mid_ours * 1000:8.1f} ms (median)")
    print(f"ratio           {mid_ours / mid_plain:8.2f} (at most 1.30 is the aim)")


if __name__ == "__main__":
    main()
