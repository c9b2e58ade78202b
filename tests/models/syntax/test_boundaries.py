from __future__ import annotations

from models.syntax import statement_boundaries


def test_statements_and_definitions_with_their_depth():
    source = (
        b"import a\n\ndef f(\n    x,\n):\n    y = [\n        1,\n    ]\n    if y:\n"
        b"        return y\n\nz = 1\n"
    )
    assert statement_boundaries(source, "python") == {1: 0, 3: 0, 6: 2, 9: 2, 10: 3, 12: 0}


def test_brace_languages():
    source = b"class A {\n  int f() {\n    a(1,\n      2);\n    return 1;\n  }\n}\n"
    found = statement_boundaries(source, "java")
    assert set(found) == {1, 2, 3, 5}
    assert found[1] < found[2] < found[3] == found[5]


def test_two_statements_on_a_line_are_one_boundary():
    assert statement_boundaries(b"a = 1; b = 2\nc = 3\n", "python") == {1: 0, 2: 0}


def test_paragraphs_where_there_is_no_grammar():
    source = b"one\nstill one\n\n  two\n\n\nthree\n"
    assert statement_boundaries(source, "") == {1: 0, 4: 2, 7: 0}
    assert statement_boundaries(b"", "cobol") == {}


def test_deep_nesting_is_read_in_time():
    assert statement_boundaries(b"(" * 100_000, "python") is not None
