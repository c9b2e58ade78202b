"""Markdown that cannot break out, and texts within GitHub's limits."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from bot.github.text import MOST_CHARACTERS, clip, code_span, fence, one_line, quiet

MARKDOWN = MarkdownIt("commonmark")
texts = st.text(st.sampled_from("`~ab \n<>-@"), max_size=60)


@given(texts)
def test_trouble_17_a_fence_holds_whatever_is_inside(text):
    tokens = MARKDOWN.parse(f"before\n\n{fence(text, 'suggestion')}\n\nafter")
    assert [t.type for t in tokens if t.type == "fence"] == ["fence"]
    content = next(t.content for t in tokens if t.type == "fence")
    assert content == (text if text.endswith("\n") or not text else text + "\n")
    assert tokens[-2].content == "after"


@given(texts)
def test_a_code_span_stays_one(text):
    (inline,) = [t for t in MARKDOWN.parse(f"x {code_span(text)} y") if t.type == "inline"]
    spans = [c for c in inline.children or () if c.type == "code_inline"]
    assert len(spans) == 1
    assert spans[0].content.split() == text.split()


@settings(deadline=None)
@given(texts, st.integers(1, 90))
def test_a_cut_text_is_within_its_limit_and_closes_its_fence(text, times):
    long = f"intro\n{fence(text)}\n" * times
    cut = clip(long, 200)
    assert len(cut) <= 200
    if len(long) > 200:
        tokens = MARKDOWN.parse(cut)
        assert tokens[-2].type == "inline"
        assert "cut" in tokens[-2].content


def test_trouble_25_the_limit_of_a_comment():
    assert len(clip("x" * 200_000)) <= MOST_CHARACTERS < 65_536
    assert clip("short") == "short"


def test_one_line_and_quiet():
    assert one_line("a\n b\tc") == "a b c"
    assert one_line("word " * 100, 20).endswith("…")
    assert len(one_line("word " * 100, 20)) <= 20
    assert quiet("`@property` and ``a`@b`` mail a@b.c, `open @x") == (
        "`@property` and ``a`@b`` mail a@b.c, `open @\N{ZERO WIDTH SPACE}x"
    )
    assert quiet("<!-- marginalia:review x --> @octocat") == (
        "&lt;!-- marginalia:review x --> @\N{ZERO WIDTH SPACE}octocat"
    )
