"""Reviews for the formats' tests: a real diff, judged candidates, the project's own rendering."""

from __future__ import annotations

from bot.diff import parse_diff
from bot.review.render import render_review
from bot.review.types import FileCoverage, JudgedCandidate, Reason, ReviewResult, Verdict
from models.change import Coverage, Side
from models.review_types import Candidate, CandidateKind, Replacement, Score, Severity

BAD_NAME = "src/caf\udce9, 100%:\n.py"
"""A name with a Latin-1 byte, a comma, a percent sign, a colon and a line feed."""

DIFF = b"""\
diff --git a/src/app.py b/src/app.py
--- a/src/app.py
+++ b/src/app.py
@@ -1,4 +1,4 @@
 import os
-x = 1
-y = 2
+x = []
+y = x
 z = 3
diff --git a/win.py b/win.py
--- a/win.py
+++ b/win.py
@@ -1,2 +1,3 @@
 a = 1\r
+b = 2\r
+c = 3\r
 d = 4\r
diff --git "a/src/caf\\351, 100%:\\n.py" "b/src/caf\\351, 100%:\\n.py"
--- "a/src/caf\\351, 100%:\\n.py"
+++ "b/src/caf\\351, 100%:\\n.py"
@@ -1 +1 @@
-old
+new
diff --git a/logo.png b/logo.png
Binary files a/logo.png and b/logo.png differ
""".replace(b"@@ -1,2 +1,3 @@", b"@@ -1,2 +1,4 @@")


def candidate(
    path: str = "src/app.py",
    line: int = 2,
    text: str = "A mutable default is shared by every call.",
    *,
    start: int | None = None,
    side: Side = Side.RIGHT,
    origin: str = "ruff:B006",
    kind: CandidateKind = CandidateKind.FINDING,
    new: tuple[str, ...] | None = None,
    severity: Severity = Severity.WARNING,
    url: str = "",
) -> Candidate:
    first = line if start is None else start
    replacement = None if new is None else Replacement(first, line, new)
    return Candidate(
        kind,
        origin,
        path,
        side,
        first,
        line,
        text,
        replacement,
        severity=severity,
        url=url,
    )


def result(*candidates: Candidate, notes: tuple[str, ...] = ()) -> ReviewResult:
    """All candidates posted, and one more held back that no format may show."""
    change = parse_diff(DIFF, repo="o/r", base="b" * 40, head="h" * 40)
    score = Score(0.5, 0.25, 1 / 3, "crscore:test", judge=0.75)
    judged = [
        JudgedCandidate(one, score, Verdict(Reason.POSTED), rank, f"{rank:024x}")
        for rank, one in enumerate(candidates, 1)
    ]
    held = candidate(text="HELD BACK", severity=Severity.ERROR)
    judged.append(JudgedCandidate(held, score, Verdict(Reason.NOT_RELEVANT), len(judged) + 1, "f"))
    coverage = tuple(FileCoverage(file.path, file.coverage, file.note) for file in change)
    review = render_review(change, judged, coverage, notes, "crscore:test")
    return ReviewResult(change, review, tuple(judged), coverage, (), notes, {"gate": 0.5})


def awkward() -> ReviewResult:
    """Every kind of remark, place, severity and text that a format must bear."""
    return result(
        candidate(severity=Severity.ERROR, url="https://example.org/B006"),
        candidate(
            start=2,
            line=3,
            origin="t5-edits:0a1b",
            kind=CandidateKind.REVISION,
            new=("x: list[int] = []", "y = list(x)\t# \u2713"),
            text="Copy it.",
        ),
        candidate(line=3, side=Side.LEFT, text="Still used?", severity=Severity.INFO),
        candidate(path="win.py", start=2, line=3, new=("b = 3", "c = 4"), origin="a:fix"),
        candidate(
            path=BAD_NAME,
            line=1,
            new=("caf\udce9",),
            text="50% of: a, b\r\n::error::injected\x1b[31m \ud800 <&]]>\x00",
        ),
        candidate(path=BAD_NAME, line=1, origin="plain", url="javascript:alert(1)"),
        notes=("shellcheck is not installed: \x07 100%", "second\nline"),
    )


assert Coverage.BINARY in {one.status for one in awkward().coverage}
