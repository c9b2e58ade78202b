"""How long a review takes, where the time goes, how much memory, and how it grows.

``python -m tests.bench.road`` makes repositories of 1, 10, 50 and 100 changed hunks (the 50 over
20 files), reviews each by the installed command in a process of its own with the shipped models,
and prints seconds by stage, peak memory, and seconds a hunk against the 10-hunk run.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.example import commit, git

FUNCTION = '''\
def step_{n}(rows, limit={n}):
    """Return the rows of step {n} that fit."""
    kept = []
    for row in rows:
        if row.weight < limit:
            kept.append(row)
    return kept
'''
CHANGED = '''\
def step_{n}(rows, limit={n}, seen=None):
    """Return the rows of step {n} that fit."""
    kept = []
    for row in rows:
        if row.weight <= limit and row.key not in seen:
            kept.append(row)
            seen.add(row.key)
    return kept
'''
GAP = "\n\n# ---\n\n\n" + "\n".join(f"VALUE_{i} = {i}" for i in range(8)) + "\n\n\n"


def make(folder: Path, hunks: int, files: int) -> None:
    """A repository whose last commit changes ``hunks`` places in ``files`` Python files."""
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    for template in (FUNCTION, CHANGED):
        tree: dict[str, bytes] = {}
        for index in range(files):
            mine = range(index, hunks, files)
            tree[f"part/step_{index}.py"] = GAP.join(template.format(n=n) for n in mine).encode()
        commit(folder, tree, "step")


def review(folder: Path) -> tuple[dict[str, float], float, float]:
    """Stages' seconds, whole wall seconds, and the peak resident memory in MB of one review."""
    code = (
        "import resource, sys, time\n"
        "began = time.perf_counter()\n"
        "from bot.cli import main\n"
        "try:\n    main(sys.argv[1:])\nexcept SystemExit:\n    pass\n"
        "peak = max(resource.getrusage(who).ru_maxrss\n"
        "           for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))\n"
        "print(time.perf_counter() - began, peak / 1024, file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "review", "HEAD~1..HEAD", "--json", "--repo", str(folder)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
    )
    wall, peak = done.stderr.split()[-2:]
    return json.loads(done.stdout)["timings"], float(wall), float(peak)


def main() -> None:
    """Print the table."""
    rows: dict[int, float] = {}
    with tempfile.TemporaryDirectory() as top:
        for hunks, files in ((1, 1), (10, 4), (50, 20), (100, 40)):
            folder = Path(top, f"r{hunks}")
            make(folder, hunks, files)
            stages, wall, peak = review(folder)
            rows[hunks] = sum(stages.values())
            split = ", ".join(f"{stage} {seconds:.2f}" for stage, seconds in stages.items())
            print(
                f"{hunks} hunks in {files} files: {rows[hunks]:.2f} s reviewing ({split}), "
                f"{wall:.2f} s with start-up, peak {peak:.0f} MB"
            )
    slope = (rows[100] - rows[10]) / 90
    print(
        f"seconds a further hunk, 10 to 100: {slope:.3f}; 100 hunks over 10 hunks: "
        f"ratio {rows[100] / rows[10]:.2f} (linear growth gives at most 10)"
    )


if __name__ == "__main__":
    main()
