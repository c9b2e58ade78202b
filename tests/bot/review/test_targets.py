from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.diff import parse_diff
from bot.review.targets import targets_of
from models.change import ChangedFile, FileStatus, Hunk, LineKind, Side
from models.hunk_text import parse_hunks
from models.review_types import Target


def git_diff(folder: Path, name: str, old: str, new: str, context: int = 3) -> ChangedFile:
    """A real git's diff of two texts of one file, read as the bot reads it."""
    for side, text in (("a", old), ("b", new)):
        (folder / side).mkdir(exist_ok=True)
        (folder / side / name).write_bytes(text.encode())
    done = subprocess.run(
        ["git", "diff", "--no-index", f"-U{context}", f"a/{name}", f"b/{name}"],
        cwd=folder,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    return next(iter(parse_diff(done.stdout)))


def assert_round_trips(target: Target, file: ChangedFile, old: str, new: str) -> None:
    """Every line of the window is the file's line at the number that the target gives it."""
    olds, news = old.split("\n"), new.split("\n")
    for i, text in enumerate(target.after):
        assert news[target.after_start + i - 1] == text
    for i, text in enumerate(target.before):
        assert olds[target.before_start + i - 1] == text
    for i in target.changed:
        line = file.line_at(Side.RIGHT, target.after_start + i)
        assert line is not None
        assert line.kind is LineKind.ADDED
        assert line.text == target.after[i]


PYTHON = '''import os


class Task:
    """A task."""

    def run(self, name):
        value = name
        print(value)
        for i in range(3):
            value += str(i)
        if value:
            return value
        return None

    def stop(self):
        return 1
'''
JAVASCRIPT = """const os = require('os');

class Task {
  run(name) {
    let value = name;
    console.log(value);
    for (let i = 0; i < 3; i++) {
      value += i;
    }
    if (value) {
      return value;
    }
    return null;
  }

  stop() {
    return 1;
  }
}
"""
TYPESCRIPT = JAVASCRIPT.replace("run(name) {", "run(name: string): string | null {")
JAVA = """package a;

import java.util.List;

public class Task {
  public String run(String name) {
    String value = name;
    System.out.println(value);
    for (int i = 0; i < 3; i++) {
      value += i;
    }
    if (value != null) {
      return value;
    }
    return null;
  }

  public int stop() {
    return 1;
  }
}
"""
GO = """package a

import "fmt"

type Task struct{}

func (t *Task) run(name string) string {
	value := name
	fmt.Println(value)
	for i := 0; i < 3; i++ {
		value += "x"
	}
	if value != "" {
		return value
	}
	return ""
}

func (t *Task) stop() int {
	return 1
}
"""
RUST = """struct Task;

impl Task {
    fn run(&self, name: &str) -> String {
        let mut value = name.to_string();
        println!("{}", value);
        value.push('x');
        value
    }

    fn stop(&self) -> i32 {
        1
    }
}
"""
SOURCES = [
    ("task.py", PYTHON, "for i", "method"),
    ("task.js", JAVASCRIPT, "for (", "method"),
    ("task.ts", TYPESCRIPT, "for (", "method"),
    ("task.tsx", TYPESCRIPT, "for (", "method"),
    ("Task.java", JAVA, "for (", "method"),
    ("task.go", GO, "for i", "method"),
    ("task.rs", RUST, "println", "method"),
]


@pytest.mark.parametrize(("name", "source", "mark", "kind"), SOURCES, ids=lambda v: str(v)[:8])
def test_a_window_is_the_enclosing_function(tmp_path, name, source, mark, kind):
    at = source.index(mark)
    start = source.rindex("\n", 0, at) + 1
    indent = source[start:at]
    new = f"{source[:start]}{indent}extra = 1;\n{source[start:]}"
    file = git_diff(tmp_path, name, source, new)
    targets, note = targets_of(file, source.encode(), new.encode())
    assert note == ""
    (target,) = targets
    assert (target.enclosing, target.enclosing_kind) == ("run", kind)
    assert target.after[target.changed[0]].strip() == "extra = 1;"
    lines = new.split("\n")
    assert "run" in lines[target.enclosing_start - 1]
    # the hunk's own context may reach beyond the function; what was put around it does not
    assert target.after_start == min(target.enclosing_start, file.hunks[0].new_start)
    assert target.after_start + len(target.after) - 1 == target.enclosing_end
    assert_round_trips(target, file, source, new)


@pytest.mark.parametrize(("name", "source", "mark", "kind"), SOURCES, ids=lambda v: str(v)[:8])
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_line_map_round_trips(tmp_path_factory, name, source, mark, kind, data):
    lines = source.split("\n")
    new: list[str] = []
    for number, line in enumerate(lines):
        what = data.draw(st.sampled_from(["keep"] * 6 + ["drop", "add", "change"]))
        if number == len(lines) - 1:
            what = "keep"
        if what == "keep":
            new.append(line)
        elif what == "add":
            new += [line, f"{line[: len(line) - len(line.lstrip())]}added_{number} = 1;"]
        elif what == "change":
            new.append(line + "  // x")
    after = "\n".join(new)
    if after == source:
        return
    context = data.draw(st.integers(0, 4))
    file = git_diff(tmp_path_factory.mktemp("diff"), name, source, after, context)
    limit = data.draw(st.integers(1, 30))
    for base, head in [
        (source.encode(), after.encode()),
        (None, after.encode()),
        (source.encode(), None),
        (None, None),
    ]:
        targets, note = targets_of(file, base, head, max_lines=limit)
        assert note == ""
        seen: list[int] = []
        gone: list[int] = []
        for target in targets:
            assert_round_trips(target, file, source, after)
            assert max(len(target.before), len(target.after)) <= limit
            seen += [target.after_start + i for i in target.changed]
            gone += [line.old_no for line in target.hunk.deleted]
        # every changed line is in exactly one target
        assert seen == [line.new_no for hunk in file.hunks for line in hunk.added]
        assert gone == [line.old_no for hunk in file.hunks for line in hunk.deleted]


def changed(path: str, text: str, status: FileStatus = FileStatus.MODIFIED) -> ChangedFile:
    return ChangedFile(path, path, status, parse_hunks(text))


def test_without_the_file_the_window_is_the_hunk():
    file = changed(
        "a.py", "@@ -10,3 +10,3 @@ def outer(x):\n     a = 1\n-    b = 2\n+    b = 3\n     c = 4\n"
    )
    (target,), note = targets_of(file, None, None)
    assert note == ""
    assert target.before == ("    a = 1", "    b = 2", "    c = 4")
    assert target.after == ("    a = 1", "    b = 3", "    c = 4")
    assert (target.before_start, target.after_start, target.changed) == (10, 10, (1,))
    # git's section names the function; its lines are not known
    assert (target.enclosing, target.enclosing_start, target.enclosing_end) == ("outer", 0, 0)


def test_bytes_of_another_commit_are_not_used():
    file = changed("a.py", "@@ -1,2 +1,2 @@\n-a = 1\n+a = 2\n b = 3\n")
    (target,), _ = targets_of(file, b"x\ny\n", b"x\ny\nz\n")
    assert target.after == ("a = 2", "b = 3")
    assert target.before == ("a = 1", "b = 3")


def test_context_holds_neighbouring_hunks_on_their_own_sides():
    old = "def f():\n    a = 1\n    b = 2\n    c = 3\n    return a\n"
    new = "def f():\n    a = 10\n    b = 2\n    c = 30\n    return a\n"
    file = changed(
        "a.py", "@@ -2 +2 @@\n-    a = 1\n+    a = 10\n@@ -4 +4 @@\n-    c = 3\n+    c = 30\n"
    )
    first, second = targets_of(file, old.encode(), new.encode())[0]
    assert first.after == second.after == tuple(new.split("\n")[:-1])
    assert first.before == second.before == tuple(old.split("\n")[:-1])
    assert (first.changed, second.changed) == ((1,), (3,))


def test_an_added_file():
    body = "".join(f"line {i}\n" for i in range(5))
    text = "@@ -0,0 +1,5 @@\n" + "".join(f"+{line}\n" for line in body.split("\n")[:-1])
    file = ChangedFile(None, "notes.txt", FileStatus.ADDED, parse_hunks(text))
    (target,), note = targets_of(file, None, body.encode())
    assert (target.language, target.before, target.after_start, note) == ("", (), 1, "")
    assert target.changed == (0, 1, 2, 3, 4)


def test_a_removed_file():
    old = "def f():\n    return 1\n"
    file = ChangedFile(
        "a.py", None, FileStatus.REMOVED, parse_hunks("@@ -1,2 +0,0 @@\n-def f():\n-    return 1\n")
    )
    (target,), note = targets_of(file, old.encode(), None)
    assert target.before == ("def f():", "    return 1")
    assert (target.after, target.changed, target.before_start, note) == ((), (), 1, "")


def functions(count: int, size: int = 6) -> str:
    return "".join(
        f"def f{i}(x):\n"
        + "".join(f"    x += {j}\n" for j in range(size - 2))
        + "    return x\n\n\n"
        for i in range(count)
    )


def as_added(path: str, source: str) -> ChangedFile:
    rows = source.split("\n")[:-1]
    text = f"@@ -0,0 +1,{len(rows)} @@\n" + "".join(f"+{row}\n" for row in rows)
    return ChangedFile(None, path, FileStatus.ADDED, parse_hunks(text))


@pytest.mark.parametrize("whole", [True, False], ids=["file", "hunk alone"])
def test_a_long_hunk_is_split_between_definitions(whole):
    source = functions(20)
    targets, note = targets_of(
        as_added("a.py", source), None, source.encode() if whole else None, max_lines=30
    )
    assert note == ""
    assert len(targets) > 1
    for target in targets:
        assert target.hunk.added[0].text.startswith("def f")
        assert len(target.hunk.added) <= 30


def test_a_long_function_is_split_between_statements():
    rows = [f"        value_{i} = call(\n            {i},\n        )\n" for i in range(40)]
    source = "class A:\n    def f(self):\n" + "".join(rows)
    targets, note = targets_of(as_added("a.py", source), None, source.encode(), max_lines=20)
    assert note == ""
    assert len(targets) > 5
    for target in targets[1:]:
        assert target.hunk.added[0].text.startswith("        value_")
        assert (target.enclosing, target.enclosing_kind) == ("f", "method")


def test_a_replacement_is_kept_together_where_it_can_be():
    rows = "".join(f" context_{i} = {i}\n" for i in range(16))
    text = (
        f"@@ -1,20 +1,20 @@\n{rows}-a = 1\n-b = 2\n-c = 3\n-d = 4\n+a = 5\n+b = 6\n+c = 7\n+d = 8\n"
    )
    targets, _ = targets_of(changed("a.py", text), None, None, max_lines=18)
    (target,) = targets
    assert [line.text for line in target.hunk.added] == ["a = 5", "b = 6", "c = 7", "d = 8"]
    assert len(target.hunk.deleted) == 4


def test_an_unknown_language_is_split_at_blank_lines():
    source = "".join(f"paragraph {i}\nmore\nand more\n\n" for i in range(30))
    targets, note = targets_of(as_added("a.unknown", source), None, source.encode(), max_lines=18)
    assert note == ""
    assert len(targets) > 3
    assert all(target.hunk.added[0].text.startswith("paragraph") for target in targets)


def test_a_line_longer_than_the_input_is_left_out_and_said():
    long = "x" * 5000
    source = f"a = 1\nb = '{long}'\nc = 3\n"
    targets, note = targets_of(as_added("a.py", source), None, source.encode())
    assert [t.hunk.added[0].text for t in targets] == ["a = 1", "c = 3"]
    assert note == "1 changed line is longer than the 3000 characters that a model reads"
    assert all(long not in line for t in targets for line in t.after)


def test_deletions_stand_in_the_function_they_were_deleted_from(tmp_path):
    new = PYTHON.replace("        print(value)\n", "")
    file = git_diff(tmp_path, "task.py", PYTHON, new)
    (target,), _ = targets_of(file, PYTHON.encode(), new.encode())
    assert (target.enclosing, target.changed) == ("run", ())
    assert "        print(value)" in target.before
    assert "        print(value)" not in target.after


def test_a_file_that_no_grammar_reads_in_time_has_targets_too():
    source = "x = [\n" + "    1,\n" * 250_000 + "]\n"
    file = changed("a.py", "@@ -3 +3 @@\n-    0,\n+    1,\n")
    (target,), note = targets_of(file, None, source.encode())
    assert note == ""
    assert target.after[target.changed[0]] == "    1,"
    assert target.enclosing == ""


@pytest.mark.parametrize("limits", [{"max_lines": 0}, {"max_chars": 0}, {"max_lines": -1}])
def test_a_window_must_hold_something(limits):
    with pytest.raises(ValueError, match="holds nothing: give at least 1 of each"):
        targets_of(changed("a.py", "@@ -1 +1 @@\n-a\n+b\n"), None, None, **limits)


def test_crlf_lines_keep_their_carriage_returns():
    head = b"a = 1\r\nb = 3\r\n"
    file = changed("a.py", "@@ -1,2 +1,2 @@\n a = 1\r\n-b = 2\r\n+b = 3\r\n")
    (target,), _ = targets_of(file, None, head)
    assert target.after == ("a = 1\r", "b = 3\r")


@settings(max_examples=60, deadline=None)
@given(
    text=st.text(alphabet="+- @@\nax(){}\"'\\:\t\r\0é", max_size=200),
    path=st.sampled_from(["a.py", "b.js", "c.java", "d", "e.go"]),
    head=st.none() | st.binary(max_size=80),
    lines=st.integers(1, 5),
    chars=st.integers(1, 40),
)
def test_any_hunks_and_bytes_are_accepted(text, path, head, lines, chars):
    hunks = parse_hunks(text)
    file = ChangedFile(path, path, FileStatus.MODIFIED, hunks)
    targets, note = targets_of(file, head, head, max_lines=lines, max_chars=chars)
    longest = max((len(line.text) + 1 for hunk in hunks for line in hunk.lines), default=0)
    assert (note == "") or longest > chars
    for target in targets:
        assert len(target.after) <= lines
        assert sum(len(line) + 1 for line in target.after) <= chars


def test_hunks_far_beyond_the_file_cost_nothing():
    hunk = Hunk(
        999_999_990, 0, 999_999_991, 1, parse_hunks("@@ -0,0 +999999991 @@\n+x = 1\n")[0].lines
    )
    file = ChangedFile("a.py", "a.py", FileStatus.MODIFIED, (hunk,))
    (target,), _ = targets_of(file, b"a\n", b"a\n")
    assert (target.after, target.after_start) == (("x = 1",), 999_999_991)
