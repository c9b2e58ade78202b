"""Following commented lines into later heads: pushes, rebases, squash merges, moves."""

from __future__ import annotations

import pytest

from bot.feedback.region import Anchor, Fate, follow
from models.change import Side

BASE = """import os


def first(names):
    for name in names:
        print(name)


def last(rows):
    return rows[-1]
"""
HEAD = """import os


def first(names):
    for name in names:
        print(name)


def load(path):
    handle = open(path)
    text = handle.read()
    return text.split(os.linesep)


def last(rows):
    return rows[-1]
"""
OPEN = ("    with open(path, encoding='utf-8') as handle:", "        text = handle.read()")


def anchor(suggestion: tuple[str, ...] | None = OPEN, text: str = HEAD) -> Anchor:
    at = text.split("\n").index("    handle = open(path)") + 1
    return Anchor("pkg/io.py", text.encode(), at, at + 1, suggestion)


def put(*lines: str, text: str = HEAD) -> bytes:
    old = "    handle = open(path)\n    text = handle.read()\n"
    return text.replace(old, "".join(line + "\n" for line in lines)).encode()


def test_a_push_elsewhere_leaves_the_region_as_it_was() -> None:
    above = HEAD.replace("import os", "import os\nimport sys\n\nFLAG = True")
    found = follow(anchor(), above.encode())
    assert (found.fate, found.start_line, found.line) == (Fate.UNCHANGED, 13, 14)


def test_the_suggestion_in_the_head_is_accepted_as_is() -> None:
    found = follow(anchor(), put(*OPEN))
    assert (found.fate, found.edit_progress) == (Fate.AS_IS, 1.0)
    assert (found.start_line, found.line) == (10, 11)


def test_it_survives_a_rebase_that_rewrites_the_neighbours() -> None:
    text = put(*OPEN).decode().replace("def load(path):", "def load(path: str) -> list[str]:")
    text = text.replace("    return text.split(os.linesep)", "    return text.splitlines()")
    text = text.replace("def first(names):", "def first(names):\n    names = sorted(names)")
    assert follow(anchor(), text.encode()).fate is Fate.AS_IS


def test_crlf_and_new_indentation() -> None:
    assert follow(anchor(), put(*OPEN).replace(b"\n", b"\r\n")).fate is Fate.AS_IS
    deeper = put(*("    " + line for line in OPEN))
    found = follow(anchor(), deeper)
    assert (found.fate, found.edit_progress) == (Fate.EDITED, 1.0)


def test_nearer_is_edited_and_farther_is_addressed_otherwise() -> None:
    found = follow(anchor(), put("    with open(path) as handle:", "        text = handle.read()"))
    assert found.fate is Fate.EDITED
    assert found.edit_progress is not None
    assert 0 < found.edit_progress < 1
    other = follow(anchor(), put("    text = Path(path).read_text()"))
    assert other.fate is Fate.CHANGED


def test_prose_has_no_progress() -> None:
    found = follow(anchor(None), put("    text = Path(path).read_text()"))
    assert (found.fate, found.edit_progress) == (Fate.CHANGED, None)


@pytest.mark.parametrize(
    ("suggestion", "now", "fate"),
    [
        # one more line, none taken; the same line follows by chance
        (
            ("    handle = open(path)", "    text = handle.read()", "    handle.close()"),
            None,
            "same",
        ),
        # a line less
        (("    handle = open(path)",), None, "same"),
        (("    handle = open(path)",), ("    handle = open(path)",), "taken"),
        ((), None, "same"),
        ((), (), "taken"),
        # layout only
        (("    handle  =  open(path)", "    text = handle.read()"), None, "same"),
        (
            ("    handle  =  open(path)", "    text = handle.read()"),
            ("    handle  =  open(path)", "    text = handle.read()"),
            "taken",
        ),
    ],
)
def test_suggestions_that_hold_or_are_held_by_the_region(
    suggestion: tuple[str, ...], now: tuple[str, ...] | None, fate: str
) -> None:
    head = HEAD.encode() if now is None else put(*now)
    found = follow(anchor(suggestion), head)
    assert found.fate is (Fate.UNCHANGED if fate == "same" else Fate.AS_IS)


def test_a_suggestion_whose_lines_follow_already_is_not_taken_for_granted() -> None:
    text = "a = first()\nb = second()\nc = third()\n"
    found = follow(
        Anchor("a.py", text.encode(), 1, 1, ("a = first()", "b = second()")), text.encode()
    )
    assert found.fate is Fate.UNCHANGED


def test_moved_within_the_file() -> None:
    start = HEAD.index("def load")
    end = HEAD.index("def last")
    moved = HEAD[:start] + HEAD[end:] + "\n\n" + HEAD[start:end]
    found = follow(anchor(), moved.encode())
    assert (found.fate, found.start_line) == (Fate.UNCHANGED, 14)


def test_moved_to_another_file_once() -> None:
    start, end = HEAD.index("def load"), HEAD.index("def last")
    left = (HEAD[:start] + HEAD[end:]).encode()
    other = ("import os\n\n\n" + HEAD[start:end]).encode()
    same = follow(anchor(), left, {"pkg/new.py": other, "pkg/x.py": b"x = 1\n"})
    assert (same.fate, same.path) == (Fate.UNCHANGED, "pkg/new.py")
    taken = follow(anchor(), left, {"pkg/new.py": put(*OPEN, text=other.decode())})
    assert (taken.fate, taken.path) == (Fate.AS_IS, "pkg/new.py")
    edited = put(
        "    with open(path) as handle:", "        text = handle.read()", text=other.decode()
    )
    nearer = follow(anchor(), left, {"pkg/new.py": edited})
    assert (nearer.fate, nearer.path) == (Fate.EDITED, "pkg/new.py")
    # twice, or there before: nobody can say that it moved
    twice = follow(anchor(), left, {"a.py": other, "b.py": other}, base=BASE.encode())
    assert twice.fate is Fate.GONE
    before = {"pkg/new.py": other}
    assert follow(anchor(), left, before, before, BASE.encode()).fate is Fate.GONE


def test_a_renamed_file_is_found_by_its_lines() -> None:
    found = follow(anchor(), None, {"pkg/files.py": put(*OPEN), "README": b"words\n"})
    assert (found.fate, found.path) == (Fate.AS_IS, "pkg/files.py")


def test_code_that_is_gone() -> None:
    assert follow(anchor(), None).fate is Fate.GONE
    assert follow(anchor(), BASE.encode(), base=BASE.encode()).fate is Fate.GONE
    rest = BASE.replace("rows[-1]", "rows[0]").encode()
    assert follow(anchor(), rest, base=BASE.encode()).fate is Fate.GONE


def test_taking_back_just_the_commented_line_is_an_answer() -> None:
    head = BASE.replace("    for name", "    debug()\n    for name")
    at = head.split("\n").index("    debug()") + 1
    found = follow(
        Anchor("a.py", head.encode(), at, at), BASE.encode() + b"x = 1\n", base=BASE.encode()
    )
    assert found.fate is Fate.CHANGED


def test_deleted_lines_that_come_back() -> None:
    side = Anchor("a.py", BASE.encode(), 9, 10, None, Side.LEFT)
    without = BASE[: BASE.index("def last")].encode()
    assert follow(side, without).fate is Fate.UNCHANGED
    assert follow(side, BASE.encode()).fate is Fate.CHANGED


def test_an_anchor_outside_its_text_is_refused() -> None:
    with pytest.raises(ValueError, match=r"a\.py: lines 4 to 5 are not in a file of 3 lines"):
        Anchor("a.py", b"a\nb\nc\n", 4, 5)
