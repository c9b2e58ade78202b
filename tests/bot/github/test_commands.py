"""Commands are lines of a person's own prose, and nothing else is."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.github.commands import Command, CommandKind, mentions, parse

K = CommandKind


@pytest.mark.parametrize(
    ("body", "kinds"),
    [
        ("/marginalia review", [K.REVIEW]),
        ("  /Marginalia   FULL  Review. ", [K.FULL_REVIEW]),
        ("Thanks!\r\n/marginalia pause\r\nBye", [K.PAUSE]),
        ("/marginalia", [K.HELP]),
        ("/marginalia help", [K.HELP]),
        ("/marginalia resume\n\n/marginalia config", [K.RESUME, K.CONFIG]),
        ("/marginalia review\n/marginalia review", [K.REVIEW]),
        ("/marginalia explain!", [K.EXPLAIN]),
        ("/marginalia dismiss because we want it so", [K.DISMISS]),
        ("/marginalia review src/a.py", [K.UNKNOWN]),
        ("/marginalia approve", [K.UNKNOWN]),
        ("/marginalia set sure=0", [K.UNKNOWN]),
        # not commands
        ("please /marginalia review", []),
        ("> /marginalia review", []),
        ("> quoted\n/marginalia review", []),  # a lazy line still belongs to the quote
        ("```\n/marginalia review\n```", []),
        ("~~~yaml\n/marginalia review", []),
        ("    /marginalia review", []),
        ("`/marginalia review`", []),
        ("- /marginalia review", []),
        ("# /marginalia review", []),
        ("<!--\n/marginalia review\n-->", []),
        ("<details>\n/marginalia review\n</details>", []),
        ("\\/marginalia review", []),
        ("/marginalia/review", []),
        ("/marginalia-review", []),
        ("/marginaliareview", []),
        ("see src/marginalia review", []),
        ("[/marginalia review](http://x)", []),
        ("", []),
    ],
)
def test_what_is_a_command(body, kinds):
    assert [command.kind for command in parse(body)] == kinds


def test_trouble_23_markup_inside_a_command_makes_it_unknown():
    assert parse("/marginalia `review`")[0].kind is K.UNKNOWN
    assert parse("/marginalia [review](http://x)")[0].kind is K.UNKNOWN


def test_at_most_five_commands_of_one_comment():
    body = "\n".join(f"/marginalia x{n}" for n in range(9))
    assert parse(body) == tuple(Command(K.UNKNOWN, f"x{n}") for n in range(5))


@settings(deadline=None, max_examples=200)
@given(st.text(st.sampled_from("/marginalia review`>-\\\n<!*[]() "), max_size=80))
def test_parse_never_fails_and_mentions_never_misses(body):
    assert not parse(body) or mentions(body)
