"""Answering a comment: the revision it asks for, only where it is safe and sure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from bot.diff import parse_diff
from bot.review.answer import Question, answer, asked
from bot.review.types import ReviewOptions
from models.generators.base import Answer, Window
from models.generators.instructions import Instructions, spelled_out
from models.generators.line_edits import LineEdit
from models.review_types import Replacement

HEAD = b"""\
def fetch(url, timeout):
    for attempt in range(3):
        page = get(url, timeout)
        if page is not None:
            return page
    return None
"""
CHANGE = parse_diff(
    b"diff --git a/fetch.py b/fetch.py\nnew file mode 100644\n--- /dev/null\n+++ b/fetch.py\n"
    b"@@ -0,0 +1,6 @@\n" + b"".join(b"+" + line + b"\n" for line in HEAD.splitlines())
)


class Texts:
    def base(self, path: str) -> bytes | None:
        return None

    def head(self, path: str) -> bytes | None:
        return HEAD if path == "fetch.py" else None


class Writes:
    """A generator that always writes the same edit, with a probability of its own."""

    name = "t5-edits:0"
    card: Mapping[str, Any] = {}
    tasks = frozenset({"cra"})

    def __init__(
        self,
        line: str,
        probability: float = 0.9,
        last: int = 1,
        reads_methods: bool = False,
        reads_code: bool = False,
    ) -> None:
        self.line, self.probability, self.last = line, probability, last
        self.reads_methods, self.reads_code = reads_methods, reads_code
        self.windows: list[Window] = []

    def revise(self, windows: Sequence[Window], *, answers: int = 1) -> list[list[Answer]]:
        self.windows += windows
        at = min(windows[0].changed)
        edit = LineEdit(at, at + self.last, (self.line,) if self.line else ())
        p = self.probability
        return [[Answer(p, p, p, 0.0, (edit,))]]

    def comment(self, windows: Sequence[Window], *, answers: int = 1) -> list[list[Answer]]:
        return [[]]


def ask(comment: str, *generators: Any, line: int = 3, start: int | None = None, **options: Any):
    question = Question("fetch.py", start or line, line, comment)
    return answer(question, CHANGE, Texts(), generators, ReviewOptions(**options))


def test_a_comment_that_spells_its_revision_out_is_carried_out() -> None:
    reply = ask("Please change `range` to `count`", Instructions(), line=2)
    assert "would bring in ruff:F821" in reply.silence  # nobody has defined it
    reply = ask("Please change `3` to `5`", Instructions(), line=2)
    assert reply.suggestion == "    for attempt in range(5):"
    assert reply.grounds == "as the comment spells it out"
    whole = ask("use `body` instead of `page`", Instructions(), start=3, line=5)
    assert whole.suggestion == (
        "        body = get(url, timeout)\n        if body is not None:\n            return body"
    )


@pytest.mark.parametrize(
    ("comment", "why"),
    [
        ("Why three?", "no revision to propose"),
        ("/marginalia suggest", "asks for nothing"),
        ("rename `nothing` to `something`", "no revision to propose"),
        ("replace `timeout)` with `timeout`", "parse errors"),
    ],
)
def test_silence_says_why(comment: str, why: str) -> None:
    reply = ask(comment, Instructions())
    assert reply.suggestion is None
    assert why in reply.silence


def test_a_models_answer_must_be_sure_and_stay_on_the_threads_lines() -> None:
    good = Writes("        page = get(url, timeout=timeout)")
    reply = ask("Pass the timeout by name.", good)
    assert reply.suggestion == good.line
    (window,) = good.windows
    assert window.comment == "Pass the timeout by name."
    assert [window.lines[i] for i in window.changed] == ["        page = get(url, timeout)"]
    unsure = ask("Pass it by name.", Writes(good.line, 0.2))
    assert "0.20 sure; 0.50 asked for" in unsure.silence
    broken = ask("Pass it by name.", Writes("        page = get(url, timeout"))
    assert "parse errors" in broken.silence
    banned = ask("Pass it by name.", good, banned=frozenset({"t5-edits"}))
    assert "banned" in banned.silence


def test_a_revision_beyond_the_threads_lines_is_a_diff() -> None:
    beyond = ask("Return it at once.", Writes("        return get(url, timeout)", last=3))
    assert beyond.suggestion is None
    assert beyond.diff == (
        " def fetch(url, timeout):",
        "     for attempt in range(3):",
        "-        page = get(url, timeout)",
        "-        if page is not None:",
        "-            return page",
        "+        return get(url, timeout)",
        "     return None",
    )
    assert beyond.judged is not None
    assert beyond.judged.candidate.replacement == Replacement(
        3, 5, ("        return get(url, timeout)",)
    )
    # a suggestion of no line at all would be one of a blank line
    gone = ask("Not needed.", Writes("", last=1), line=6)
    assert [row for row in gone.diff if row[0] != " "] == ["-    return None"]
    unsure = ask("Return it at once.", Writes("        return get(url, timeout)", 0.2, last=3))
    assert "0.20 sure" in unsure.silence


def test_who_reads_methods_gets_the_whole_function_and_comes_only_where_one_is() -> None:
    whole = Writes("        page = get(url, timeout=timeout)", reads_methods=True)
    lines = Writes("        page = get(url, timeout=timeout)", 0.6)
    reply = ask("Pass the timeout by name.", whole, lines)
    assert reply.suggestion == whole.line
    assert [window.lines for window in whole.windows] == [tuple(HEAD.decode().splitlines())]
    assert lines.windows == []
    # the first reason is kept: it is that of the more trusted one
    unsure = ask("By name.", Writes(whole.line, 0.3, reads_methods=True), Writes(whole.line, 0.2))
    assert "0.30 sure" in unsure.silence


def test_where_nobody_asked_the_comment_itself_must() -> None:
    class Heeds(Writes):
        """Is less sure where the comment is none of its own."""

        def revise(self, windows: Sequence[Window], *, answers: int = 1) -> list[list[Answer]]:
            ((one,),) = super().revise(windows[:1])
            less = replace(one, probability=self.thanked)
            return [[one if "name" in window.comment else less] for window in windows]

        thanked = 0.9

    question = Question("fetch.py", 3, 3, "Pass the timeout by name.")
    model = Heeds("        page = get(url, timeout=timeout)")

    def said(unasked: bool) -> str:
        reply = answer(question, CHANGE, Texts(), [model], ReviewOptions(), unasked=unasked)
        return reply.suggestion or reply.silence

    assert said(unasked=False) == model.line
    assert said(unasked=True) == "the comment has no part in the revision"
    model.thanked = 0.8
    assert said(unasked=True) == "the comment has no part in the revision"
    model.thanked = 0.7
    assert said(unasked=True) == model.line
    spelled = Question("fetch.py", 2, 2, "Please change `3` to `5`")
    reply = answer(spelled, CHANGE, Texts(), [Instructions()], ReviewOptions(), unasked=True)
    assert reply.suggestion == "    for attempt in range(5):"


def test_the_words_of_a_comment_are_not_its_code_quotes_or_commands() -> None:
    assert asked("> quoted\nDo it.\n```py\nx = 1\n```\n/marginalia suggest\nNow.") == "Do it. Now."


def test_of_a_long_comment_the_first_hundred_words_are_read() -> None:
    model = Writes("    return []", reads_methods=True)
    ask("word " * 20_000, model, line=6)
    assert model.windows[0].comment == " ".join(["word"] * 100)


def test_what_counts_as_spelled_out() -> None:
    assert list(spelled_out('it is "utf-32" instead of "urf-32", right?')) == [("urf-32", "utf-32")]
    assert list(spelled_out("s/urf/utf/")) == [("urf", "utf")]
    assert list(spelled_out("`a_b` -> `c_d`")) == [("a_b", "c_d")]
    assert list(spelled_out("we're renaming; it's `one` and `two`")) == []


def test_who_reads_code_gets_a_comment_s_code_blocks_but_for_suggestions() -> None:
    comment = "Better:\n```python\npage = get(url)\n```\n```suggestion\nx = 1\n```\n> quoted"
    words, code = Writes("        page = get(url)", 0.2), Writes("        page = get(url)")
    code.reads_code = True
    reply = ask(comment, words, code)
    assert reply.suggestion == "        page = get(url)"
    assert words.windows == []  # one word asks for nothing
    assert code.windows[0].comment == "Better: ```python page = get(url) ```"
    alone = ask("```python\npage = get(url)\n```", Instructions(), code)
    assert alone.suggestion == "        page = get(url)"
