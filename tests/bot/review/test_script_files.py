"""Scripts without an ending, through the whole review."""

from __future__ import annotations

from bot.diff import parse_diff
from bot.review.gate import Draft, Gate
from bot.review.pipeline import ReviewPipeline
from bot.review.types import Reason, ReviewOptions
from models.change import Coverage, Side
from models.review_types import Candidate, CandidateKind, Replacement, Score

BASE = b"#!/usr/bin/env python3\nimport sys\n\nname = sys.argv[1]\n"
HEAD = (
    b"#!/usr/bin/env python3\nimport sys\n\nname = sys.argv[1]\nif name == None:\n    print(name)\n"
)
DIFF = b"""\
--- a/bin/greet
+++ b/bin/greet
@@ -2,3 +2,5 @@
 import sys
\x20
 name = sys.argv[1]
+if name == None:
+    print(name)
"""


class Files:
    """The script of ``DIFF``."""

    def base(self, path: str) -> bytes | None:
        return BASE if path == "bin/greet" else None

    def head(self, path: str) -> bytes | None:
        return HEAD if path == "bin/greet" else None


def review(**options):
    return ReviewPipeline().review(parse_diff(DIFF), Files(), ReviewOptions(**options))


def test_a_script_is_reviewed_in_its_language():
    result = review()
    said = {(one.candidate.origin, one.candidate.line) for one in result.candidates}
    assert ("ruff:E711", 5) in said
    posted = [one.candidate for one in result.candidates if one.verdict.posted]
    assert [one.origin for one in posted] == ["ruff:E711"]


def test_a_script_counts_among_the_languages_that_a_repository_names():
    assert review(languages=frozenset({"python"})).candidates
    other = review(languages=frozenset({"go"}))
    assert [file.status for file in other.coverage] == [Coverage.IGNORED]


def test_a_replacement_in_a_script_must_parse():
    file = parse_diff(DIFF).files[0]
    gate = Gate({"bin/greet": file}, {"bin/greet": HEAD}, {}, None, ReviewOptions(sure=0))

    def verdict(line: str) -> Reason:
        one = Candidate(
            CandidateKind.REVISION, "t5-x:crb", "bin/greet", Side.RIGHT, 5, 5, "It changes.",
            Replacement(5, 5, (line,)),
        )  # fmt: skip
        (judged,) = gate.judge([Draft(one, Score(0, 0, 0, ""), (), "f")])
        return judged.verdict.reason

    assert verdict("if name is None:") is Reason.POSTED
    assert verdict("if (name is None:") is Reason.BREAKS_SYNTAX
