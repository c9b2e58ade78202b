"""Names as diffs quote them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.diff.names import decode, encode, is_utf8, shown, split_names, strip_prefixes, unquote


@given(st.binary(min_size=1, max_size=20))
def test_quoting_in_octal_is_undone(raw: bytes) -> None:
    quoted = '"' + "".join(f"\\{byte:03o}" for byte in raw) + '"'
    assert encode(unquote(quoted)) == raw


@pytest.mark.parametrize(
    ("quoted", "name"),
    [
        (r'"tab\there"', "tab\there"),
        (r'"\a\b\n\v\f\r\"\\"', '\a\b\n\v\f\r"\\'),
        (r'"na\303\257ve"', "naïve"),
        ("plain name", "plain name"),
        ('"', '"'),
        ('"open', '"open'),
    ],
)
def test_letters_after_a_backslash(quoted: str, name: str) -> None:
    assert unquote(quoted) == name


@pytest.mark.parametrize(
    ("rest", "name"),
    [
        ("a/x b/x", "x"),
        ("a/x b/x b/x b/x", "x b/x"),
        ("a/a b b/a b", "a b"),
        ("x x", "x"),
        ("a/x a/x", "a/x"),
        ("i/x y w/x y", "x y"),
        ("older/x y neu/x y", "x y"),
        (r'"a/\303\257" "b/\303\257"', "ï"),
        (r'a/x "b/x"', "x"),
    ],
)
def test_two_names_on_one_line(rest: str, name: str) -> None:
    assert split_names(rest) == (name, name)


def test_two_different_names_are_not_guessed() -> None:
    assert split_names("a/x b/y") is None
    assert split_names("x") is None


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        ("a/x", "b/x", ("x", "x")),
        ("a/x", "b/y", ("x", "y")),
        ("/dev/null", "b/x", (None, "x")),
        ("a/x", "/dev/null", ("x", None)),
        ("old/x", "new/x", ("x", "x")),
        ("x.orig", "x", ("x.orig", "x")),
        ("a/x", "a/x", ("a/x", "a/x")),
    ],
)
def test_prefixes(old: str, new: str, names: tuple[str | None, str | None]) -> None:
    assert strip_prefixes(old, new) == names


def test_a_name_is_fit_to_print() -> None:
    name = decode(b"caf\xe9\x1b[31m\nnaive \xc3\xaf")
    assert not is_utf8(name)
    assert shown(name) == "caf\\xe9\\x1b[31m\\nnaive ï"
    assert is_utf8(shown(name))
