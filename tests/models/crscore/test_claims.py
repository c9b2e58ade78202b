from __future__ import annotations

import gzip
import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from models.crscore.claims import LIMIT, claims_of_diff, claims_of_hunk
from models.hunk_text import parse_hunks
from models.review_types import ReferenceKind
from models.syntax import supported


def texts(diff: str, language: str = "") -> list[str]:
    return [claim.text for claim in claims_of_diff(diff, language)]


DIFF = (
    "@@ -10,3 +10,4 @@\n def fetch(url):\n-    return get(url)\n+    data = get(url)\n"
    "+    return data\n x = 1\n"
)


def test_claims_are_references_with_the_lines_they_are_about():
    claims = claims_of_hunk(parse_hunks(DIFF)[0], "python", "a/fetch.py")
    assert claims
    for claim in claims:
        assert claim.kind is ReferenceKind.CLAIM
        assert claim.origin == "syntax"
        assert claim.path == "a/fetch.py"
        assert set(claim.lines) <= {11, 12}
    returned = next(c for c in claims if "now returns" in c.text)
    assert returned.lines == (12,)


def test_what_was_removed_is_about_base_lines():
    (claim, *_) = claims_of_diff("@@ -5,3 +5,1 @@\n-def gone():\n-    pass\n x = 1\n", "py")
    assert claim.text == "The function `gone` was removed."
    assert claim.lines == (5,)


def test_the_whole_file_tells_where_a_hunk_stands():
    head = "class Loader(Base):\n    def load(self, path):\n" + "        a = 1\n" * 20
    before = (head + "        return path\n").encode()
    after = (head + "        return self.open(path)\n").encode()
    hunk = parse_hunks("@@ -23 +23 @@\n-        return path\n+        return self.open(path)\n")[0]
    alone = [c.text for c in claims_of_hunk(hunk, "python")]
    whole = [c.text for c in claims_of_hunk(hunk, "python", "a.py", before, after)]
    assert alone[0] == "The code now returns `self.open(path)` instead of `path`."
    assert whole[0] == "The method `load` now returns `self.open(path)` instead of `path`."
    assert "The return value in the method `load` of the class `Loader` was changed." in whole


def test_a_file_that_is_not_the_hunks_own_is_not_used():
    hunk = parse_hunks("@@ -1 +1 @@\n-a = 1\n+a = 2\n")[0]
    expected = claims_of_hunk(hunk, "python")
    assert claims_of_hunk(hunk, "python", "", b"other\n", b"file\n") == expected


def test_an_added_and_a_removed_file():
    source = b"def f(a):\n    return a\n"
    added = parse_hunks("@@ -0,0 +1,2 @@\n+def f(a):\n+    return a\n")[0]
    said = [c.text for c in claims_of_hunk(added, "python", "f.py", None, source)]
    assert said[0] == "A new function `f` was added."
    removed = parse_hunks("@@ -1,2 +0,0 @@\n-def f(a):\n-    return a\n")[0]
    said = [c.text for c in claims_of_hunk(removed, "python", "f.py", source, None)]
    assert said[0] == "The function `f` was removed."


def test_the_section_names_the_place_of_a_bare_hunk():
    diff = "@@ -9,2 +9,3 @@ class Task(Base):\n     x = 1\n+    def run(self):\n+        return 2\n"
    assert texts(diff)[0] == "A new method `run` was added to the class `Task`."
    diff = "@@ -9,3 +9,4 @@ ROLES = [\n     'a',\n     'b',\n+    'c',\n ]\n"
    assert texts(diff, "py")[0] == "The element `'c'` was added to the list `ROLES`."
    diff = "@@ -9,3 +9,4 @@ def f(a,\n       b=1,\n+      c=2,\n       d=3):\n     pass\n"
    assert texts(diff, "py")[0] == "The parameter `c` with default 2 was added to the function `f`."


def test_a_section_that_the_hunk_has_left_is_not_named():
    diff = "@@ -9,3 +9,4 @@ def before():\n     x = 1\n \n+y = 2\n z = 3\n"
    assert texts(diff, "py")[0] == "A new variable `y` was added."


def test_a_wrong_language_is_put_right_by_content():
    diff = (
        "@@ -1,3 +1,3 @@ class A(object):\n     def f(self):\n-        return None\n"
        "+        return self.a\n"
    )
    assert texts(diff, "js") == texts(diff, "py")
    assert texts(diff, "js")[0] == "The method `f` now returns `self.a` instead of `None`."


@pytest.mark.parametrize("alias", ["py", "python", "Python", ""])
def test_languages_by_any_name(alias):
    assert texts(DIFF, alias) == texts(DIFF, "python")


def test_several_hunks_share_one_cap_and_say_nothing_twice():
    body = "".join(f"+def f{i}(a, b):\n+    return a + b\n+\n" for i in range(10))
    diff = f"@@ -0,0 +1,30 @@\n{body}@@ -40 +70 @@\n-x = 1\n+x = 2\n@@ -50 +80 @@\n-x = 1\n+x = 2\n"
    said = texts(diff, "py")
    assert len(said) == LIMIT
    assert len(set(said)) == LIMIT
    # the most important first
    assert said[0] == "A new function `f0` was added."


def test_no_change_no_claims():
    assert claims_of_diff("") == ()
    assert claims_of_diff("just words") == ()
    assert claims_of_diff("@@ -1,2 +1,2 @@\n a\n b\n", "py") == ()


def test_prose_and_broken_code_are_told_by_lines():
    said = texts("@@ -1,2 +1,2 @@\n Some words.\n-An old sentence.\n+A new sentence.\n")
    assert said == ["The line `An old sentence.` was changed to `A new sentence.`."]


def test_quotes_and_backticks_in_code_do_not_break_a_sentence():
    said = texts("-const a = `x`;\n+const a = `y ${b}`;\n", "js")
    assert said[0] == "The value of `a` was changed from `'x'` to `'y ${b}'`."


def test_long_code_is_cut():
    said = texts(f"-a = 1\n+a = {'x' * 500}\n", "py")
    assert all(len(text) < 400 for text in said)


def test_the_same_text_gives_the_same_claims():
    assert claims_of_diff(DIFF, "py") == claims_of_diff(DIFF, "py")


CODE = "def class if else: return (){}[]=+-*/<>!&|.,;'\"`#@\\ \n\tfoo bar const let => import from"


@settings(max_examples=120, deadline=None)
@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from("+- "),
            st.lists(st.sampled_from(CODE.split(" ")), max_size=8).map(" ".join),
        ),
        max_size=14,
    ),
    language=st.sampled_from(["", "py", "js", "java", *supported()]),
    cut=st.integers(0, 400),
)
def test_any_hunk_has_well_formed_claims(rows, language, cut):
    diff = "@@ -1,9 +1,9 @@\n" + "".join(f"{sign}{text}\n" for sign, text in rows)
    said = claims_of_diff(diff[:cut] if cut % 3 == 0 else diff, language)
    assert len(said) <= LIMIT
    for claim in said:
        assert claim.text.strip()
        assert "\n" not in claim.text
        assert "wrapper_" not in claim.text.lower()


@settings(max_examples=80, deadline=None)
@given(text=st.text(max_size=300), language=st.sampled_from(["", "python", "typescript", "go"]))
@example(text="@@ -1 +1 @@\n-\0\n+\0\0\n", language="python")
@example(text="+" + "\ud800", language="python")
@example(text="-a\r\n+b\r\n", language="go")
def test_any_text_is_accepted(text, language):
    claims_of_diff(text, language)


@settings(max_examples=40, deadline=None)
@given(
    before=st.binary(max_size=120),
    after=st.binary(max_size=120),
    language=st.sampled_from(supported()),
)
def test_any_files_are_accepted(before, after, language):
    old = before.decode("utf-8", "surrogateescape").split("\n")
    new = after.decode("utf-8", "surrogateescape").split("\n")
    rows = [f"-{line}" for line in old] + [f"+{line}" for line in new]
    for hunk in parse_hunks(f"@@ -1,{len(old)} +1,{len(new)} @@\n" + "\n".join(rows)):
        claims_of_hunk(hunk, language, "a", before, after)


HOSTILE = {
    "one line of a megabyte": "-a\n+" + "x = 1; " * 150_000 + "\n",
    "deep nesting": "-a\n+" + "(" * 19_000 + "\n",
    "deep blocks": "".join("+" + " " * i + "if a:\n" for i in range(400)),
    "nested closers": "".join("+}\n" for _ in range(2_500)),
    "many small statements": "".join(f"-a{i} = {i}\n" for i in range(1_000))
    + "".join(f"+b{i} = {i} + 1\n" for i in range(1_000)),
    "a long list": "-x = [" + "1, " * 6_000 + "]\n+x = [" + "2, " * 6_000 + "]\n",
    "a long sum": "-x = " + "a + " * 4_000 + "b\n+x = " + "a + " * 4_000 + "c + d\n",
    "a long chain": "-x = a" + ".b(1)" * 3_000 + "\n+x = a" + ".b(1)" * 2_999 + ".c(2)\n",
    "nothing but NULs": "-\0\0\0\n+" + "\0" * 19_000 + "\n",
    "ten thousand lines": "".join(f"+line{i}(a, {i})\n" for i in range(10_000)),
    "comments": "".join(f"-# {i} words of a comment\n+# {i} other words\n" for i in range(700)),
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("language", ["python", "java"])
def test_hostile_text_is_read_in_time(name, language):
    assert len(claims_of_diff(HOSTILE[name], language)) <= LIMIT


@pytest.mark.data
def test_every_diff_of_the_data_has_claims(data_folder):
    path = data_folder / "crscore" / "pseudo_refs.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as handle:
        rows = [json.loads(line) for line in handle]
    assert rows
    for row in rows:
        said = claims_of_diff(row["diff"], row["lang"])
        assert 1 <= len(said) <= LIMIT, row["index"]
        assert len({claim.text for claim in said}) == len(said)


def test_a_head_that_is_made_up_around_a_piece_has_no_name_to_be_renamed_to() -> None:
    # One line of Java, and on the other side an annotation alone: what it stands on is not seen.
    diff = "--- a/T.java\n+++ b/T.java\n@@ -208 +208 @@\n-  public void totals() {\n+  @Test\n"
    said = [claim.text for claim in claims_of_diff(diff)]
    assert said
    assert not [text for text in said if "``" in text or "renamed" in text]


def test_callers_of_a_head_without_a_name_are_those_of_the_method() -> None:
    diff = (
        "@@ -5,4 +5,4 @@ class Steps:\n                  bootstrap=None,\n"
        "-                 hadoop='0.20'):\n+                 hadoop='0.20', ami='1.0'):\n"
        '         """Start a job flow."""\n         return 1\n'
    )
    said = texts(diff, "py")
    assert "The parameter `ami` with default '1.0' was added to the method." in said
    assert "Callers of the method that pass no `ami` now get `'1.0'`." in said


@pytest.mark.parametrize(("line", "language"), [("  @Ignore", "java"), ("@cached()", "py")])
@pytest.mark.parametrize("sign", "+-")
def test_an_annotation_alone_is_no_method_that_came_or_went(line, language, sign) -> None:
    place = "@@ -6,0 +7 @@" if sign == "+" else "@@ -7 +6,0 @@"
    said = texts(f"{place}\n{sign}{line}\n", language)
    assert not [text for text in said if "``" in text]
