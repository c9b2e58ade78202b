"""Which findings a change brought in, on real analyses of both sides."""

import difflib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.analyzers.base import introduced, run_analyzers
from models.change import ChangedFile, FileStatus, Hunk, Line, LineKind
from models.review_types import Finding


def changed(old: str, new: str, context: int = 3, old_path="a.py", new_path="a.py") -> ChangedFile:
    """The change from one text to the other with hunks as a diff with this context has them."""
    before, after = old.splitlines(), new.splitlines()
    hunks = []
    matcher = difflib.SequenceMatcher(None, before, after, False)
    for group in matcher.get_grouped_opcodes(context):
        lines = []
        for tag, a, b, c, d in group:
            if tag == "equal":
                for i, j in zip(range(a, b), range(c, d), strict=True):
                    lines.append(Line(LineKind.CONTEXT, i + 1, j + 1, before[i]))
            else:
                lines += [Line(LineKind.DELETED, i + 1, None, before[i]) for i in range(a, b)]
                lines += [Line(LineKind.ADDED, None, j + 1, after[j]) for j in range(c, d)]
        (_, a, _, c, _), (_, _, b, _, d) = group[0], group[-1]
        hunks.append(Hunk(a + 1 if b > a else a, b - a, c + 1 if d > c else c, d - c, tuple(lines)))
    status = FileStatus.MODIFIED if old else FileStatus.ADDED
    return ChangedFile(old_path if old else None, new_path, status, tuple(hunks))


def brought_in(old: str, new: str, names=("ruff",), context: int = 3, path="a.py"):
    file = changed(old, new, context, path, path)
    base = run_analyzers({path: old.encode()}, names=names).findings if old else ()
    head = run_analyzers({path: new.encode()}, names=names).findings
    return [(one.rule, one.line, one.end_line) for one in introduced(file, base, head)]


SMELLY = "def f(x=[]):\n    return x\n"
PLAIN = "def g(x):\n    return x\n"


def test_a_new_file_is_all_new():
    assert brought_in("", SMELLY) == [("B006", 1, 1)]


def test_an_old_smell_that_only_moved_down_is_not_new():
    assert brought_in(SMELLY, "import os\n\nprint(os)\n" + SMELLY) == []


def test_a_smell_moved_to_another_place_is_not_new():
    old = SMELLY + "\n\n" + PLAIN
    new = PLAIN + "\n\n" + SMELLY
    assert brought_in(old, new) == []


def test_a_copied_smell_is_new_once():
    assert brought_in(SMELLY, SMELLY + "\n\n" + SMELLY.replace("f(", "h(")) == [("B006", 5, 5)]


def test_an_edited_line_keeps_its_old_smell():
    assert brought_in(SMELLY, "def f(x=[], y=1):\n    return x, y\n") == []


def test_a_second_smell_on_an_edited_line_is_new():
    assert brought_in(SMELLY, "def f(x=[], y={}):\n    return x, y\n") == [("B006", 1, 1)]


def test_another_rule_on_an_edited_line_is_new():
    old = "def f(x):\n    return x == 1\n"
    new = "def f(x):\n    return x == None\n"
    assert brought_in(old, new) == [("E711", 2, 2)]


def test_a_finding_on_an_unchanged_line_is_not_the_authors():
    # Removing the use makes the import above unused, on a line that the change doesn't touch.
    assert brought_in("import os\n\n\nx = os\ny = 1\n", "import os\n\n\ny = 1\n") == []


def test_the_same_smell_at_both_ends_of_a_file():
    filler = "\n".join(f"a{number} = {number}" for number in range(40)) + "\n"
    old = SMELLY + filler
    new = "import os\n" + SMELLY + filler + "print(os)\n" + SMELLY.replace("f(", "h(")
    assert brought_in(old, new) == [("B006", 45, 45)]


@pytest.mark.parametrize("context", [0, 1, 3])
def test_with_any_amount_of_context(context):
    filler = "\n".join(f"a{number} = {number}" for number in range(20)) + "\n"
    old = filler + SMELLY + filler.replace("a", "b")
    new = filler.replace("a3 = 3\n", "") + SMELLY + "c = a1 == None\n" + filler.replace("a", "b")
    assert [rule for rule, _, _ in brought_in(old, new, context=context)] == ["E711"]


def test_a_syntax_error_counts_unless_the_base_had_one():
    assert brought_in("x = 1\n", "x = = 1\n") == [("syntax", 1, 1)]
    assert brought_in("print 'a'\nx = 1\n", "print 'a'\nx = = 1\n") == []


def test_a_finding_that_starts_above_its_hunk_is_clipped_to_it():
    body = "".join(f"    a{number} = {number}\n" for number in range(20))
    old = f"def f():\n{body}"
    new = old + "    b = 1\n"
    finding = Finding("other", "long", "a.py", 1, 22, "Too long.")
    (one,) = introduced(changed(old, new), [], [finding])
    assert (one.line, one.end_line) == (22, 22)


def test_a_long_finding_is_cut():
    new = "".join(f"a{number} = {number}\n" for number in range(30))
    finding = Finding("other", "long", "a.py", 5, 28, "Too long.")
    (one,) = introduced(changed("", new), [], [finding])
    assert (one.line, one.end_line) == (5, 14)


def test_a_renamed_file_is_compared_with_its_old_path():
    new = SMELLY + "y = 1\n"
    file = changed(SMELLY, new, old_path="a.py", new_path="b.py")
    base = run_analyzers({"a.py": SMELLY.encode()}, names=["ruff"]).findings
    head = run_analyzers({"b.py": new.encode()}, names=["ruff"]).findings
    assert head
    assert introduced(file, base, head) == ()


def test_a_removed_file_brings_nothing_in():
    file = ChangedFile("a.py", None, FileStatus.REMOVED)
    assert introduced(file, [Finding("ruff", "B006", "a.py", 1, 1, "x")], []) == ()


LINES = st.lists(st.sampled_from(["a", "b", "smell 1", "smell 2", "", "  smell 1"]), max_size=25)


def smells(text: str) -> list[Finding]:
    return [
        Finding("other", line.split()[0], "a.py", number, number, f"{line}.")
        for number, line in enumerate(text.splitlines(), 1)
        if "smell" in line
    ]


def joined(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


@settings(deadline=None)
@given(LINES, LINES, st.integers(0, 3))
def test_each_new_smell_is_on_an_added_line_and_none_is_counted_twice(old, new, context):
    before, after = joined(old), joined(new)
    file = changed(before, after, context)
    base, head = smells(before), smells(after)
    found = introduced(file, base, head)
    added = {line.new_no for hunk in file.hunks for line in hunk.added}
    assert all(one.line in added for one in found)
    assert len(set(found)) == len(found)
    # Whatever moved, there are at least as many new smells as the count rose by.
    assert len(found) >= len(head) - len(base)


@settings(deadline=None)
@given(LINES, st.integers(0, 25), st.lists(st.sampled_from(["a", "b"]), min_size=1, max_size=4))
def test_clean_lines_put_anywhere_bring_no_smell_in(old, place, clean):
    new = old[:place] + clean + old[place:]
    before, after = joined(old), joined(new)
    assert introduced(changed(before, after), smells(before), smells(after)) == ()


@settings(deadline=None)
@given(LINES)
def test_no_change_brings_nothing_in(lines):
    text = joined(lines)
    assert introduced(changed(text, text), smells(text), smells(text)) == ()
