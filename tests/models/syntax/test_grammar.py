from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.syntax import LANGUAGES, UnknownLanguage, error_count, language_row, parse, supported
from models.syntax.grammar import MAX_DEPTH, fields_of, walk, walk_with_parents

GOOD = {
    "python": b"def f(a):\n    return a\n",
    "javascript": b"const f = (a) => a + 1;\n",
    "typescript": b"function f(a: string): number { return 1 }\n",
    "tsx": b"const f = (a: string) => <b c={a}>x</b>;\n",
    "java": b"class A { int f(int a) { return a; } }\n",
    "go": b"package a\n\nfunc f(a int) int {\n\treturn a\n}\n",
    "rust": b"fn f(a: i32) -> i32 { a }\n",
    "c": b"int f(int a) { return a; }\n",
    "cpp": b"template <class T> class A { public: int f() const { return 1; } };\n",
    "csharp": b"class A { int F(int a) { return a; } }\n",
    "ruby": b"def f(a)\n  a + 1\nend\n",
    "php": b"<?php\nfunction f($a) { return $a; }\n",
    "kotlin": b"fun f(a: Int): Int {\n    return a\n}\n",
    "scala": b"object A {\n  def f(a: Int): Int = a\n}\n",
    "bash": b'f() {\n  echo "$1"\n}\n',
}


def test_the_table_names_every_language_once():
    assert supported() == tuple(GOOD)
    extensions = [e for row in LANGUAGES for e in row.extensions]
    assert len(extensions) == len(set(extensions))
    assert all(row.targets and row.claims for row in LANGUAGES)


@pytest.mark.parametrize("language", GOOD)
def test_good_code_has_no_errors_and_broken_code_has(language):
    source = GOOD[language]
    assert error_count(source, language) == 0
    assert error_count(source.replace(b")", b"", 1), language) > 0


def test_missing_nodes_count():
    assert error_count(b"int f( { return 1; }", "c") >= 1
    assert error_count(b"x = (1", "python") == 1


def test_aliases_and_unknown_names():
    assert language_row("PY") is language_row("python")
    assert language_row("c++").title == "C++"
    assert language_row("cobol") is None
    with pytest.raises(
        UnknownLanguage, match=r"no syntax for language 'cobol': give one of python"
    ):
        parse(b"", "cobol")


def test_a_grammar_is_loaded_only_when_it_is_used():
    code = (
        "import sys, models.syntax as s\n"
        "assert not [m for m in sys.modules if m.startswith('tree_sitter_')]\n"
        "s.parse(b'a', 'go')\n"
        "print([m for m in sys.modules if m.startswith('tree_sitter_') and '.' not in m])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['tree_sitter_go']"


def test_walk_sees_every_node_with_what_is_above_it():
    tree = parse(GOOD["python"], "python")
    nodes = list(walk(tree.root_node))
    assert len(nodes) == tree.root_node.descendant_count
    for node, above in walk_with_parents(tree.root_node):
        assert (above[-1] if above else None) == node.parent


def test_walk_stops_at_a_depth_that_no_person_writes():
    tree = parse(b"(" * 5000 + b"1" + b")" * 5000, "python")
    depths = [len(above) for _, above in walk_with_parents(tree.root_node)]
    assert max(depths) == MAX_DEPTH


def test_fields_of():
    tree = parse(b"if a:\n    b\n", "python")
    node = tree.root_node.named_children[0]
    assert [name for _, name in fields_of(node)] == ["", "condition", "", "consequence"]


@pytest.mark.parametrize("language", GOOD)
@settings(max_examples=15, deadline=None)
@given(source=st.binary(max_size=200))
def test_any_bytes_are_parsed(language, source):
    assert error_count(source, language) >= 0
    assert error_count(GOOD[language] + source, language) >= 0
