"""A review as text: what a person sees of awkward lines, and what no line may break."""

from __future__ import annotations

import io
import json

from rich.console import Console

from bot.review.output_json import to_json
from bot.review.output_markdown import to_markdown
from bot.review.output_terminal import WIDEST, code_line, to_terminal
from tests.bot.review.formats.reviews import awkward, candidate, result


def printed(review, *, explain: bool = False) -> str:
    stream = io.StringIO()
    to_terminal(review, Console(file=stream, width=120), explain=explain)
    return stream.getvalue()


def test_line_endings_of_windows_are_no_strange_characters():
    shown = printed(result(candidate(path="win.py", line=2)))
    code, _, _ = shown.partition("What was read")
    assert "      2 + b = 2\n" in code
    assert "\N{REPLACEMENT CHARACTER}" not in code
    assert code_line("\ufeffimport os\r") == "import os"


def test_what_could_steer_the_terminal_is_shown_as_a_strange_character():
    shown = printed(awkward(), explain=True)
    assert "\x1b" not in shown
    assert "\N{REPLACEMENT CHARACTER}[31m" in shown


def test_a_line_of_thousands_of_characters_is_clipped():
    long = f"x = [{'1, ' * 20_000}]"
    shown = printed(result(candidate(new=(long,), origin="a:fix")), explain=True)
    assert max(map(len, shown.splitlines())) <= WIDEST + 20
    assert code_line("y" * WIDEST) == "y" * WIDEST
    assert code_line("y" * (WIDEST + 1)) == "y" * (WIDEST - 1) + "\N{HORIZONTAL ELLIPSIS}"


def test_half_a_character_breaks_no_output():
    review = result(candidate(text="The key \ud800 stands here twice.", new=("a = '\udce9'",)))
    for text in (
        printed(review, explain=True),
        to_markdown(review, explain=True),
        json.dumps(json.loads(to_json(review, explain=True)), ensure_ascii=False),
    ):
        assert "The key \N{REPLACEMENT CHARACTER} stands" in text
        text.encode("utf-8")
