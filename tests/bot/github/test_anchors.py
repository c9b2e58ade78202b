"""Where a comment may stand."""

from __future__ import annotations

import pytest

from bot.diff.parse import parse_diff
from bot.github.anchors import anchor_problem
from models.change import Side

DIFF = b"""\
diff --git a/a.py b/a.py
index 1111111..2222222 100644
--- a/a.py
+++ b/a.py
@@ -1 +1 @@
-one
+ONE
@@ -10,3 +10,4 @@ def f():
 ten
-eleven
+ELEVEN
+more
 twelve
diff --git a/gone.py b/gone.py
deleted file mode 100644
index 1111111..0000000
--- a/gone.py
+++ /dev/null
@@ -1,3 +0,0 @@
-a
-b
-c
diff --git a/logo.png b/logo.png
index 1111111..2222222 100644
Binary files a/logo.png and b/logo.png differ
"""
LEFT, RIGHT = Side.LEFT, Side.RIGHT


@pytest.mark.parametrize(
    ("path", "side", "start", "line", "problem"),
    [
        ("a.py", RIGHT, None, 1, None),  # trouble 2: an omitted count is 1
        ("a.py", LEFT, None, 1, None),
        ("a.py", RIGHT, None, 2, "line 2 of the head's a.py is not in the change"),
        ("a.py", RIGHT, 10, 13, None),
        ("a.py", RIGHT, None, 13, None),
        ("a.py", LEFT, None, 13, "line 13 of the base's a.py is not in the change"),
        ("a.py", RIGHT, 1, 10, "lines 1 to 10 of a.py reach out of their hunk"),  # trouble 1
        ("a.py", RIGHT, 12, 12, "first line 12 is not before last line 12"),  # trouble 19
        ("a.py", RIGHT, 13, 12, "first line 13 is not before last line 12"),
        ("gone.py", LEFT, 1, 3, None),  # trouble 3: a hunk of deletions alone
        ("gone.py", RIGHT, None, 1, "line 1 of the head's gone.py is not in the change"),
        ("gone.py", RIGHT, None, 0, "line 0 of the head's gone.py is not in the change"),
        ("logo.png", RIGHT, None, 1, "logo.png has no lines to comment on"),
        ("b.py", RIGHT, None, 1, "b.py is not in the change"),
    ],
)
def test_anchor(path, side, start, line, problem):
    assert anchor_problem(parse_diff(DIFF), path, side, start, line) == problem
