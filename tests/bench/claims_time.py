"""Does the time to read claims grow with the change, and not with its square?

    python -m tests.bench.claims_time

Prints, for hunks of 250, 500, 1,000 and 2,000 changed lines of three kinds, the milliseconds of
processor time a line and the ratio to the hunk of half the size (2 is linear).
"""

from __future__ import annotations

import time

from models.crscore.claims import claims_of_diff

KINDS = {
    "added functions": lambda n: "".join(
        f"+def f{i}(a, b={i}):\n+    if a > b:\n+        return g(a, {i})\n+    return b\n"
        for i in range(n // 4)
    ),
    "changed statements": lambda n: "".join(
        f" def f{i}(a):\n-    return g(a, {i})\n+    return g(a, {i}, key=b)\n"
        for i in range(n // 2)
    ),
    "a changed table": lambda n: (
        "TABLE = [\n"
        + "".join(f"-    ({i}, 'a'),\n+    ({i}, 'b'),\n" for i in range(n // 2))
        + " ]\n"
    ),
}
SIZES = (250, 500, 1_000, 2_000)


def seconds(diff: str) -> float:
    start = time.process_time()
    claims_of_diff(diff, "python")
    return time.process_time() - start


def main() -> None:
    claims_of_diff("-a = 1\n+a = 2\n", "python")
    for name, make in KINDS.items():
        before = 0.0
        for size in SIZES:
            took = min(seconds(make(size)) for _ in range(2))
            ratio = f"  ratio {took / before:.2f}" if before else ""
            print(f"{name:<20} {size:>5} lines {took * 1e3 / size:7.3f} ms a line{ratio}")
            before = took


if __name__ == "__main__":
    main()
