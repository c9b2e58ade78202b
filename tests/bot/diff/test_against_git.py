"""For random trees and edits the change must be git's: content byte for byte, and numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.diff.apply import apply_change, apply_file
from bot.diff.git import GitRepository
from bot.diff.names import encode
from models.change import Change, ChangedFile, Coverage, FileStatus, LineKind

from .repos import Repo

# path -> (mode, content)
Tree = dict[bytes, tuple[str, bytes]]

NAMES = st.sampled_from(
    [
        b"a.py",
        b"b c.py",
        b"a/b/c d.txt",
        b"a/ lead.py",
        b"trail .py",
        b'quo"te.js',
        b"back\\slash.go",
        b"tab\there.py",
        b"new\nline.py",
        b"carriage\r.py",
        b"b/a/x.py",
        "naïve.py".encode(),
        "\u2028 separator.py".encode(),
        b"latin\xe9.py",
        b"x b/x",
        b"x",
        b"--- a/x",
        b"Submodule a 1234567..89abcde",
        b":(top)magic.py",
        b"*glob?.py",
        b"-dash.py",
        b"\x01control",
    ]
)
LINES = st.sampled_from(
    [
        b"",
        b" ",
        b"x = 1",
        b"def f(a):",
        b"    return a",
        b"}",
        b"\tindented",
        b"-- a/x",
        b"++ b/x",
        b"@@ -1 +1 @@",
        b"diff --git a/x b/x",
        b"Submodule x 1234567..89abcde:",
        b"\\ No newline at end of file",
        b"lone\rreturn",
        b"form\ffeed",
        "sep\u2028arator".encode(),
        b"next\xc2\x85line",
        b"caf\xe9",
        "é".encode() * 60,
        b"\xef\xbb\xbfmark",
    ]
)
ENDINGS = st.sampled_from([b"\n", b"\n", b"\n", b"\r\n"])


@st.composite
def contents(draw: st.DrawFn) -> bytes:
    lines = draw(st.lists(st.tuples(LINES, ENDINGS), max_size=25))
    text = b"".join(line + ending for line, ending in lines)
    if text and draw(st.integers(0, 3)) == 0:
        text = text.rstrip(b"\n")
    return text


MODES = st.sampled_from(["100644", "100644", "100644", "100755"])
FILES = st.tuples(MODES, contents())


@st.composite
def edits(draw: st.DrawFn, text: bytes) -> bytes:
    """The text with a few lines replaced, inserted or deleted, or another end."""
    lines = text.split(b"\n")
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(lines)))
        gone = draw(st.integers(0, 3))
        lines[at : at + gone] = draw(st.lists(LINES, max_size=3))
    return b"\n".join(lines)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Tree, Tree]:
    """An old tree and the new one made of it."""
    old: Tree = draw(st.dictionaries(NAMES, FILES, max_size=5))
    old = without_clashes(old)
    new = dict(old)
    for path in list(old):
        mode, text = old[path]
        what = draw(
            st.sampled_from(["edit", "edit", "edit", "keep", "gone", "move", "mode", "empty"])
        )
        if what == "edit":
            new[path] = (mode, draw(edits(text)))
        elif what == "mode":
            new[path] = ("100755" if mode == "100644" else "100644", text)
        elif what == "empty":
            new[path] = (mode, b"")
        elif what in {"gone", "move"}:
            del new[path]
        if what == "move":
            changed = draw(st.booleans())
            new[draw(NAMES)] = (mode, draw(edits(text)) if changed else text)
    new.update(draw(st.dictionaries(NAMES, FILES, max_size=2)))
    return old, without_clashes(new)


def without_clashes(tree: Tree) -> Tree:
    """A path cannot be a file and a folder at once."""
    folders = {
        b"/".join(path.split(b"/")[:at]) for path in tree for at in range(1, path.count(b"/") + 1)
    }
    return {path: file for path, file in tree.items() if path not in folders}


class Store:
    """One repository that takes many unrelated pairs of commits."""

    def __init__(self, path: Path) -> None:
        self.repo = Repo(path)
        self.repository = GitRepository(path)

    def commit(self, old: Tree, new: Tree) -> tuple[str, str]:
        """The ids of a root commit with the old tree and a child with the new one."""
        stream = _commit(1, b"", old) + b"\n" + _commit(2, b"from :1\n", new)
        self.repo.git("fast-import", "--quiet", "--force", data=b"reset refs/heads/pair\n" + stream)
        return self.repo.id("refs/heads/pair~1"), self.repo.id("refs/heads/pair")


def _commit(mark: int, parent: bytes, tree: Tree) -> bytes:
    rows = [b"commit refs/heads/pair\nmark :%d\n" % mark]
    rows.append(b"committer A <a@example.org> 0 +0000\ndata 0\n" + parent)
    rows.append(b"deleteall\n")
    for path, (mode, text) in tree.items():
        name = b'"' + b"".join(b"\\%03o" % byte for byte in path) + b'"'
        rows.append(b"M %s inline %s\ndata %d\n%s\n" % (mode.encode(), name, len(text), text))
    return b"".join(rows)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    made = Store(tmp_path_factory.mktemp("pairs"))
    yield made
    made.repository.close()


@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(pair=pairs())
def test_the_change_is_gits(store: Store, pair: tuple[Tree, Tree]) -> None:
    old, new = pair
    base, head = store.commit(old, new)
    change = store.repository.change(f"{base}..{head}")

    assert (change.base, change.head) == (base, head)
    assert_applies(change, old, new)
    for file in change:
        assert_numbers(file, old, new)
        assert_coverage(file)
    assert added_numbers(change) == gits_added_numbers(store.repo, base, head)
    assert_blobs(store.repository, change, old, new)


def assert_applies(change: Change, old: Tree, new: Tree) -> None:
    before = {path.decode("utf-8", "surrogateescape"): file[1] for path, file in old.items()}
    after = {path.decode("utf-8", "surrogateescape"): file[1] for path, file in new.items()}
    assert apply_change(change, before) == after
    for file in change:
        if file.new_path is not None and file.old_path is not None:
            assert apply_file(file, before[file.old_path]) == after[file.new_path]


def assert_numbers(file: ChangedFile, old: Tree, new: Tree) -> None:
    """Every line stands at its number in the file that git stores."""
    left = lines_of(old[encode(file.old_path)][1]) if file.old_path is not None else []
    right = lines_of(new[encode(file.new_path)][1]) if file.new_path is not None else []
    for hunk in file.hunks:
        assert len(hunk.before) == hunk.old_count
        assert len(hunk.after) == hunk.new_count
        for line in hunk.lines:
            assert (line.old_no is None) == (line.kind is LineKind.ADDED)
            assert (line.new_no is None) == (line.kind is LineKind.DELETED)
            text = encode(line.text) + (b"" if line.no_newline else b"\n")
            assert line.old_no is None or left[line.old_no - 1] == text
            assert line.new_no is None or right[line.new_no - 1] == text


def lines_of(text: bytes) -> list[bytes]:
    return re.findall(rb"[^\n]*\n|[^\n]+\Z", text)


def assert_coverage(file: ChangedFile) -> None:
    texts = "".join(line.text for hunk in file.hunks for line in hunk.lines)
    if re.search("[\udc80-\udcff]", texts + file.path):
        assert file.coverage is Coverage.UNDECODABLE
        assert file.note
    elif not file.hunks and file.status is FileStatus.MODIFIED:
        assert file.coverage is Coverage.MODE_ONLY
    else:
        assert file.coverage is Coverage.REVIEWED


def added_numbers(change: Change) -> list[list[int]]:
    return [[line.new_no or 0 for hunk in file.hunks for line in hunk.added] for file in change]


def gits_added_numbers(repo: Repo, base: str, head: str) -> list[list[int]]:
    """The same from git's own diff without context, whose headers alone say it."""
    diff = repo.git("diff", "-U0", "--find-renames", base, head)
    files: list[list[int]] = []
    for section in re.split(rb"^diff --git ", diff, flags=re.MULTILINE)[1:]:
        numbers: list[int] = []
        for match in re.finditer(rb"^@@ -\S+ \+(\d+)(?:,(\d+))? @@", section, re.MULTILINE):
            begin, count = int(match[1]), int(match[2] or 1)
            numbers += range(begin, begin + count)
        files.append(numbers)
    return files


def assert_blobs(repository: GitRepository, change: Change, old: Tree, new: Tree) -> None:
    sources = repository.sources(change)
    for path in old.keys() | new.keys():
        name = path.decode("utf-8", "surrogateescape")
        assert sources.base(name) == (old[path][1] if path in old else None)
        assert sources.head(name) == (new[path][1] if path in new else None)
