from __future__ import annotations

import random

import pytest

from models.generators.line_edits import LineEdit, apply_edits
from models.training.abstracted import (
    abstracted_example,
    marked_pieces,
)
from models.training.corrupt import corrupt
from models.training.examples import (
    clean_message,
    cut,
    diff_edits,
    hunk_tail,
    is_boring,
    join,
    pieces,
    plain_reply,
    suggestion_edit,
    suggestion_of,
)
from models.training.splits import TEST, VALIDATION, part_of
from models.training.trainer import rate_at
from models.training.validation import auc

WINDOW = [
    "def total(items, discount):",
    "    amount = 0",
    "    for item in items:",
    "        amount += item.price",
    "    if discount is not None and amount > 10:",
    "        amount = amount - discount",
    "    return amount",
]


def test_a_window_holds_its_edit_wherever_it_is_cut():
    lines = [f"line {i}" for i in range(40)]
    after = [*lines[:20], "new", *lines[21:]]
    edits = diff_edits(lines, after)
    for seed in range(50):
        example = cut("crb", "python", lines, edits, random.Random(seed))
        assert example is not None
        wanted = apply_edits(example.lines, example.edits)
        assert "new" in wanted
        assert "line 20" not in wanted
        low = lines.index(example.lines[0])
        assert list(example.lines) == lines[low : low + len(example.lines)]
        assert all(0 <= i < len(example.lines) for i in example.changed)


def test_marks_do_not_tell_whether_there_is_an_edit():
    lines = [f"line {i}" for i in range(60)]
    sizes = {}
    for name, edits in (("revised", (LineEdit(30, 31, ("x",)),)), ("unrevised", ())):
        rng = random.Random(3)
        made = [cut("crb", "c", lines, edits, rng, focus=(30, 31)) for _ in range(2000)]
        sizes[name] = sum(len(example.changed) for example in made) / len(made)
    assert sizes["revised"] == pytest.approx(sizes["unrevised"], rel=0.05)


def test_a_spoiled_line_is_mended_by_its_edit():
    made = 0
    for seed in range(300):
        spoiled = corrupt(WINDOW, range(len(WINDOW)), random.Random(seed))
        if spoiled is None:
            continue
        window, first, end = spoiled
        assert window != WINDOW
        right = () if len(window) > len(WINDOW) else (WINDOW[first],)
        assert apply_edits(window, [LineEdit(first, end, right)]) == WINDOW
        made += 1
    assert made > 250


def test_versions_and_licences_are_nothing_to_learn():
    assert is_boring(["__version__ = '1.2.3'"], ["__version__ = '1.2.4'"])
    assert is_boring(["# Copyright 2019 X"], ["# Copyright 2020 X"])
    assert not is_boring(["return a"], ["return b"])


@pytest.mark.parametrize(
    ("message", "subject"),
    [
        ("Fix the off by one (#123)\n\nbody", "Fix the off by one"),
        ("Merge branch 'x' into y", ""),
        ("typo", ""),
        ("Bump foo from 1 to 2", ""),
    ],
)
def test_messages_are_reduced_to_what_they_say(message, subject):
    assert clean_message(message) == subject


def test_pseudo_lines_of_one_line_java_join_again():
    code = "public int f ( ) { if ( a ) { return 1 ; } return 2 ; }"
    assert join(pieces(code)) == code
    assert pieces(code)[0] == "public int f ( ) {"


def test_marked_pieces_are_those_between_the_marks():
    code = "void f ( ) { a ( ) ; b ( ) ; c ( ) ; }"
    marked = "void f ( ) { a ( ) ; <START> b ( ) ; <END> c ( ) ; }"
    lines = pieces(code)
    assert [lines[i] for i in sorted(marked_pieces(marked))] == ["b ( ) ;"]


def test_a_trans_review_record_becomes_line_edits():
    row = {
        "comment": "remove b",
        "code": "void f ( ) { a ( ) ; b ( ) ; }",
        "marked_code": "void f ( ) { a ( ) ; <START> b ( ) ; <END> }",
        "revised": "void f ( ) { a ( ) ; }",
    }
    example = abstracted_example(row, "cra")
    assert example is not None
    assert join(apply_edits(example.lines, example.edits)) == row["revised"]
    assert example.comment == "remove b"


HUNK = "@@ -1,3 +1,4 @@\n def f():\n-    return 1\n+    x = 1\n+    return  x"


def test_the_tail_of_a_hunk_keeps_the_marks():
    tail = hunk_tail(HUNK, 3)
    assert tail.lines == ("    return 1", "    x = 1", "    return  x")
    assert tail.removed == {0}
    assert tail.changed == {1, 2}


def test_a_suggestion_block_replaces_the_hunks_last_line():
    found = suggestion_of("Two spaces.\n```suggestion\n    return x\n```\nthanks")
    assert found == ("Two spaces. thanks", ("    return x",))
    example = suggestion_edit(HUNK, found[1])
    assert example is not None
    assert example.lines == ("def f():", "    x = 1", "    return  x")
    assert example.changed == {1, 2}
    assert apply_edits(example.lines, example.edits)[-1] == "    return x"


def test_two_suggestion_blocks_say_nothing_sure():
    block = "```suggestion\nx\n```\n"
    assert suggestion_of(block * 2) is None


def test_only_plain_prose_is_a_reply():
    assert plain_reply("Could this be  a set?") == "Could this be a set?"
    assert plain_reply("see https://example.org") is None
    assert plain_reply("nit") is None
    assert plain_reply("@someone please close this file") == "please close this file"


def test_a_repository_is_in_one_part():
    assert not VALIDATION & TEST
    assert part_of("psf/requests") == "test"
    assert part_of("someone/else") == "train"


def test_auc_counts_ties_half():
    assert auc([3, 4], [1, 2]) == 1.0
    assert auc([1, 1], [1, 1]) == 0.5
    assert auc([1, 3], [2, 4]) == 0.25


def test_the_rate_rises_holds_and_falls_to_zero():
    assert rate_at(0.0, 1.0) == pytest.approx(0.02)
    assert rate_at(0.5, 1.0) == 1.0
    assert rate_at(0.85, 1.0) == pytest.approx(0.5)
    assert rate_at(1.0, 1.0) == 0.0


def test_the_size_of_a_window_does_not_tell_whether_it_was_revised(tmp_path):
    """Edits that insert ten lines: the after side must not be known by its longer marks."""
    import gzip
    import json
    import statistics

    from models.training.mixture import Edits

    before = [f"line {i}" for i in range(30)]
    new = [f"new {i}" for i in range(6)]
    row = {
        "repo": "a/b",
        "before": "\n".join(before),
        "after": "\n".join([*before[:15], *new, *before[16:]]),
        "message": "",
        "first_changed": 15,
        "last_changed": 15,
        "new_lines": new,
    }
    (tmp_path / "edits").mkdir()
    with gzip.open(tmp_path / "edits" / "python.jsonl.gz", "wt") as handle:
        handle.write(json.dumps(row) + "\n")
    edits = Edits(tmp_path, "train")
    rng = random.Random(1)
    sizes = {
        maker.__name__: statistics.mean(
            len(example.lines)
            for example in (maker(rng) for _ in range(1500))
            if example is not None
        )
        for maker in (edits.revision, edits.unrevised, edits.spoiled)
    }
    assert max(sizes.values()) - min(sizes.values()) < 0.5, sizes
