"""Past remarks as candidates: which can be said again, on which line, of which code."""

from __future__ import annotations

import pytest

from bot.learn.remarks import Remark
from bot.learn.store import ORIGIN
from bot.review.history import ANSWERS, LEAST_ALIKE, PastRemarks, sayable
from bot.review.targets import targets_of
from models.change import Side
from models.hunk_text import parse_hunks
from models.review_types import CandidateKind
from tests.bot.diff.repos import Repo, change

ASKED = "Please close the handle: use a with block, so that an error does not leave it open."
OPENED = """\
@@ -0,0 +1,4 @@
+def read_{name}(path):
+    handle = open(path, encoding="utf-8")
+    data = json.load(handle)
+    return data["{name}"]"""


def past(*comments: str, path: str = "shop/old.py", rows: int = 4) -> PastRemarks:
    hunk = "\n".join(OPENED.format(name="orders").split("\n")[: rows + 1])
    remarks = [
        Remark(f"k{at}", "acme/shop", path, rows, "RIGHT", hunk, text)
        for at, text in enumerate(comments)
    ]
    return PastRemarks(remarks)


@pytest.mark.parametrize(
    ("comment", "said"),
    [
        (ASKED, ASKED),
        ("> why so?\n\nName it after\nwhat it holds.", "Name it after what it holds."),
        ("Use the helper:\n```suggestion\nx = 1\n```", "Use the helper:"),
        ("```suggestion\nx = 1\n```", ""),
        ("@someone could you look at this again?", ""),
        ("As someone said, this is slow and should be cached.", ""),
        ("Same fault as in #1234, please mend it there too.", ""),
        ("This was broken by 4f1d0c9a22, revert it please.", ""),
        ("Thanks!", ""),
    ],
)
def test_what_can_be_said_again(comment: str, said: str) -> None:
    assert sayable(comment) == said


def test_a_remark_comes_back_on_the_line_that_is_like_its_own(tmp_path) -> None:
    repo = Repo(tmp_path / "r")
    repo.commit({"shop/new.py": "import json\n"})
    text = OPENED.format(name="users").replace("+", "").split("\n")[1:]
    head = "import json\n\n\n" + "\n".join(text) + "\n"
    repo.commit({"shop/new.py": head})
    (file,) = change(repo, "HEAD~1..HEAD")
    targets, _ = targets_of(file, b"import json\n", head.encode())
    (found,) = past(ASKED, rows=2).candidates(targets)
    assert (found.kind, found.origin, found.text) == (CandidateKind.COMMENT, ORIGIN, ASKED)
    assert (found.path, found.side, found.line) == ("shop/new.py", Side.RIGHT, 5)
    assert LEAST_ALIKE < found.confidence < 1.0
    assert past(ASKED, path="shop/old.go").candidates(targets) == []
    assert past("Thanks!").candidates(targets) == []


def test_code_that_is_not_alike_brings_nothing_back() -> None:
    (hunk,) = parse_hunks("@@ -1 +1 @@\n-margin = 3\n+margin = compute(left, right, top)\n")
    found = past(ASKED).nearest(hunk, "python")
    assert all(one.alike < LEAST_ALIKE for one in found)
    (same,) = parse_hunks(OPENED.format(name="orders"))
    (nearest,) = past(ASKED, ASKED).nearest(same, "python")
    assert (nearest.words, nearest.alike) == (ASKED, 1.0)
    several = past(ASKED, "Say which encoding it has.", "Why is this read twice?", "Cache this.")
    assert len(several.nearest(same, "python")) == ANSWERS
    assert PastRemarks([]).nearest(same, "python") == []
