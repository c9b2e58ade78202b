"""Golden diffs, made by git, beside the change that they must give; one a trap."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.diff.errors import DiffError
from bot.diff.parse import parse_diff
from models.change import Change, Coverage, FileStatus, Side

from .golden import FIXTURES, as_json

TRAPS = {
    "binary": "binary files have no hunks",
    "binary_patch": "a GIT binary patch's lines are no hunk",
    "combined_c": "diff --combined has several bases",
    "combined_cc": "diff --cc has several bases and lost its hunks silently",
    "copies": "a copy is no rename",
    "crlf_content": "carriage returns are content",
    "crlf_diff": "a diff turned to CRLF as a whole has no name ending in CR",
    "deletion_only": "hunks that only delete have a new side of count 0",
    "emptied_and_filled": "an emptied file is not removed, a filled one not added",
    "headers_inside_hunks": "content that looks like headers",
    "latin1": "bytes that are no UTF-8 cost their own file only",
    "mail": "a mail around the diff, with lines that look like names, and its signature",
    "mnemonic_prefixes": "diff.mnemonicPrefix",
    "mode_only": "a change of mode has no hunks",
    "name_not_utf8": "a name that is no UTF-8",
    "newline_in_name": "a line feed in a name",
    "no_newline": "no newline at end of file, on either side, on both, in context",
    "no_newline_translated": "GNU diff says it in the user's language",
    "no_prefix": "diff.noprefix, with a folder named a",
    "odd_line_breaks": "lone CR, form feed, U+2028 and NEL do not end a line",
    "omitted_counts": "an omitted count is 1, a count of 0 starts at the line before",
    "other_prefixes": "--src-prefix of another length than --dst-prefix",
    "plain": "diff -ruN without git: times tell added and removed files",
    "quoted_names": "C-style quoted names are decoded, spaces need no quotes",
    "renames_with_spaces": "a rename without a change, with spaces in the folder",
    "section_cut_in_character": "git cuts the section text in the middle of a character",
    "show": "git show's message before the diff",
    "stripped_blanks": "trailing blanks stripped: an empty context line has no sign",
    "submodule_diff": "--submodule=diff shows files that are not in this repository",
    "submodule_gitlink": "a gitlink's one line is no code",
    "submodule_log": "--submodule=log writes no diff header, and others' messages",
    "submodule_log_dirty": "--submodule=log of a dirty submodule",
    "submodule_log_removed": "--submodule=log of a removed submodule",
    "symlink": "a symbolic link's target is no code",
    "type_change": "one path, two file headers: file to link and link to file",
    "unmerged_cached": "an unmerged path has one line and no diff",
    "unmerged_head": "the diff against HEAD of an unmerged file",
    "unmerged_worktree": "git diff of an unmerged file is combined",
}


def read(name: str) -> Change:
    return parse_diff((FIXTURES / f"{name}.diff").read_bytes())


@pytest.mark.parametrize("name", TRAPS, ids=lambda name: f"{name}: {TRAPS[name]}")
def test_golden(name: str) -> None:
    expected = json.loads((FIXTURES / f"{name}.json").read_text("utf-8"))
    assert as_json(read(name)) == expected


def test_every_golden_diff_names_its_trap() -> None:
    assert {path.stem for path in FIXTURES.glob("*.diff")} == set(TRAPS)
    assert {path.stem for path in FIXTURES.glob("*.json")} == set(TRAPS)


def test_nothing_is_a_change_of_no_files() -> None:
    assert parse_diff(b"") == Change("", "", "", ())
    assert parse_diff(b"\n \n") == Change("", "", "", ())


def test_the_change_is_named() -> None:
    change = parse_diff(b"", repo="owner/name", base="aa", head="bb")
    assert (change.repo, change.base, change.head) == ("owner/name", "aa", "bb")


def test_a_byte_order_mark_before_the_diff_is_no_part_of_it() -> None:
    plain = (FIXTURES / "omitted_counts.diff").read_bytes()
    assert parse_diff(b"\xef\xbb\xbf" + plain) == parse_diff(plain)


def test_two_diffs_may_be_one_behind_the_other() -> None:
    both = (FIXTURES / "omitted_counts.diff").read_bytes() + (FIXTURES / "plain.diff").read_bytes()
    with pytest.raises(DiffError, match=r"f\.py is shown twice"):
        parse_diff(both)
    both = (FIXTURES / "headers_inside_hunks.diff").read_bytes()
    both += (FIXTURES / "plain.diff").read_bytes()
    assert [file.path for file in parse_diff(both)] == [
        "f.sql",
        "added one.py",
        "f.py",
        "gone.py",
    ]


def test_a_line_is_found_by_its_number() -> None:
    file = read("omitted_counts").files[0]
    right, left = file.line_at(Side.RIGHT, 6), file.line_at(Side.LEFT, 5)
    assert right is not None
    assert right.text == "five"
    assert left is not None
    assert left.text == "5"


def test_a_submodule_between_two_others_takes_no_file_of_theirs() -> None:
    data = (
        b"Submodule lib 1234567..89abcde:\n  > moved\n"
        b"diff --git a/library.py b/library.py\nnew file mode 100644\n"
        b"--- /dev/null\n+++ b/library.py\n@@ -0,0 +1 @@\n+x\n"
    )
    coverage = {file.path: file.coverage for file in parse_diff(data)}
    assert coverage == {"lib": Coverage.SUBMODULE, "library.py": Coverage.REVIEWED}


def test_a_submodule_that_moved_and_is_dirty_is_one_entry() -> None:
    data = (
        b"Submodule lib contains untracked content\nSubmodule lib 1234567...89abcde (rewind):\n"
        b"  < one\n"
    )
    (file,) = parse_diff(data).files
    assert file.note == (
        "its own folder has untracked content; submodule moved from 1234567 to 89abcde (rewound)"
    )


def test_a_file_that_becomes_a_submodule_is_a_submodule() -> None:
    data = (
        b"diff --git a/lib b/lib\ndeleted file mode 100644\nindex 7898192..0000000\n"
        b"--- a/lib\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"
        b"diff --git a/lib b/lib\nnew file mode 160000\nindex 0000000..1111111\n"
        b"--- /dev/null\n+++ b/lib\n@@ -0,0 +1 @@\n"
        b"+Subproject commit 1111111111111111111111111111111111111111\n"
    )
    (file,) = parse_diff(data).files
    assert (file.status, file.coverage) == (FileStatus.TYPE_CHANGED, Coverage.SUBMODULE)
    assert file.hunks == ()


def test_code_that_speaks_of_a_subproject_is_code() -> None:
    line = b"Subproject commit 1111111111111111111111111111111111111111"
    data = b"--- a/f\n+++ b/f\n@@ -1 +1,2 @@\n-" + line + b"\n+" + line + b"\n+more\n"
    assert parse_diff(data).files[0].coverage is Coverage.REVIEWED


HEAD = b"diff --git a/f b/f\n--- a/f\n+++ b/f\n"


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"hello\nworld\n", "line 1 of the diff: this is no diff; make it with git diff"),
        (b"\n\n{}\n", "line 3 of the diff: this is no diff"),
        (b"@@ -1 +1 @@\n-a\n+b\n", "line 1 of the diff: a hunk without a file header"),
        (b"\x1b[1mdiff --git a/f b/f\x1b[m\n", "colour codes; use git diff --no-color"),
        (b"\xff\xfed\x00i\x00", "line 1 of the diff: the diff is UTF-16"),
        (HEAD + b"@@ -1,3 +1,3 @@\n a\n-b\n", "line 6 of the diff: hunk is shorter"),
        (HEAD + b"@@ -1 +1 @@\n-a\n+b\n+c\n", "line 7 of the diff: the hunk is longer"),
        (HEAD + b"@@ -1 +1 @@\n-a\n+b\n c\n", "line 7 of the diff: the hunk is longer"),
        (HEAD + b"@@ -1,2 +1,2 @@\n-a\nb\n", "line 6 of the diff: hunk diff line expected"),
        (HEAD + b"@@ -1 +1\n-a\n+b\n", "line 4 of the diff: the hunk header is malformed"),
        (HEAD + b" a\n-b\n", "line 1 of the diff: no hunk follows the --- and +++ lines"),
        (2 * (HEAD + b"@@ -1 +1 @@\n-a\n+b\n"), "f is shown twice"),
        (b"diff --git f\n", "line 1 of the diff: cannot tell the two file names apart"),
        (b"--- /dev/null\n+++ /dev/null\n@@ -0,0 +1 @@\n+a\n", "both names of a file"),
    ],
)
def test_what_is_no_diff_is_one_clear_line(data: bytes, says: str) -> None:
    with pytest.raises(DiffError) as caught:
        parse_diff(data)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_error_knows_its_line() -> None:
    with pytest.raises(DiffError) as caught:
        parse_diff(HEAD + b"@@ -1,3 +1,3 @@\n a\n-b\n" + HEAD.replace(b"/f", b"/g"))
    assert caught.value.line == 6


ALL = [path.read_bytes() for path in sorted(FIXTURES.glob("*.diff"))]
ALL_LINES = sorted({line for data in ALL for line in data.split(b"\n")})


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A golden diff with lines lost, doubled, or taken from elsewhere."""
    lines = draw(st.sampled_from(ALL)).split(b"\n")
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(lines)))
        gone = draw(st.integers(0, 2))
        lines[at : at + gone] = draw(st.lists(st.sampled_from(ALL_LINES), max_size=2))
    return b"\n".join(lines)


def read_or_refusal(data: bytes) -> Change | str:
    try:
        return parse_diff(data)
    except DiffError as error:
        return str(error)


@settings(max_examples=400, deadline=None)
@given(damaged())
def test_a_damaged_diff_is_read_or_refused_in_one_line(data: bytes) -> None:
    result = read_or_refusal(data)
    if isinstance(result, str):
        assert "\n" not in result
        return
    assert len({file.path for file in result}) == len(result.files)
    for file in result:
        for hunk in file.hunks:
            assert (len(hunk.before), len(hunk.after)) == (hunk.old_count, hunk.new_count)


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    result = read_or_refusal(data)
    if isinstance(result, str):
        assert "\n" not in result
    else:
        assert result.files or not data.decode("utf-8", "replace").strip("\ufeff").strip()
