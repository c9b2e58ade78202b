"""Slips in revised methods that only one thing can have been meant by."""

import pytest

from models.systems.mending import mended, with_every_use_renamed, with_matching_braces
from models.tasks import Example

METHOD = (
    "public int METHOD_1 ( TYPE_1 VAR_1 ) { for ( TYPE_2 t : VAR_1 ) "
    "{ if ( t . METHOD_2 ( ) ) { VAR_2 = METHOD_3 ( t , this . t ) ; } } return VAR_2 ; }"
)
EXAMPLE = Example("1", METHOD, abstracted=True)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("f ( ) { g ( ) ;", "f ( ) { g ( ) ; }"),
        ("f ( ) { { g ( ) ;", "f ( ) { { g ( ) ; } }"),
        ("f ( ) { g ( ) ; } } }", "f ( ) { g ( ) ; }"),
        ("f ( ) { g ( ) ; }", None),
        ("f ( ) } { g ( ) ; } ;", None),
    ],
)
def test_braces_are_matched_at_the_end_only(text: str, meant: str | None) -> None:
    assert with_matching_braces(text) == meant


def test_an_unwrapped_block_loses_its_closing_brace() -> None:
    unwrapped = METHOD.replace("if ( t . METHOD_2 ( ) ) { ", "")
    assert mended(EXAMPLE)(unwrapped) == unwrapped.removesuffix(" }")


def test_a_renamed_variable_is_renamed_where_it_is_used_and_a_member_is_not() -> None:
    slip = METHOD.replace("TYPE_2 t :", "TYPE_2 type :")
    assert mended(EXAMPLE)(slip) == (
        "public int METHOD_1 ( TYPE_1 VAR_1 ) { for ( TYPE_2 type : VAR_1 ) "
        "{ if ( type . METHOD_2 ( ) ) { VAR_2 = METHOD_3 ( type , this . t ) ; } } return VAR_2 ; }"
    )


@pytest.mark.parametrize(
    "code",
    [
        "int f ( ) { int b = 1 ; return a ; }",
        "int f ( int b ) { return a ; }",
        "void f ( ) { try ( A b = g ( ) ) { a . x ( ) ; } }",
        "void f ( ) { try { g ( ) ; } catch ( E b ) { throw a ; } }",
        "void f ( ) { h ( b -> a ) ; }",
        "void f ( ) { h ( ( b ) -> a ) ; }",
    ],
)
def test_every_way_to_declare_a_variable_is_known(code: str) -> None:
    assert with_every_use_renamed(frozenset({"a"}), code) == code.replace(" a ", " b ")


@pytest.mark.parametrize(
    "text",
    [
        METHOD,  # nothing is lost
        METHOD.replace("TYPE_2 t :", "TYPE_2 t2 : t3 = t ; TYPE_1 t4 ="),  # two are new
        METHOD.replace("( TYPE_1 VAR_1 )", "( )"),  # none is new: what was meant is not known
        METHOD.replace("( t , this", "( this"),  # the use went, the declaration stayed
        METHOD.replace("VAR_2 = METHOD_3 (", "VAR_2 = METHOD_3 ( ( ("),  # no closing brace helps
    ],
)
def test_what_has_no_slip_or_more_than_one_meaning_stays_as_it_is(text: str) -> None:
    assert mended(EXAMPLE)(text) == text
