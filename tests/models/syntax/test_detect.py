from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.syntax import guess_language, language_of, supported


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("src/a.py", "python"),
        ("a.PYI", "python"),
        ("web/app.jsx", "javascript"),
        ("web/app.mjs", "javascript"),
        ("a.ts", "typescript"),
        ("a.d.ts", "typescript"),
        ("a.tsx", "tsx"),
        ("A.java", "java"),
        ("main.go", "go"),
        ("lib.rs", "rust"),
        ("a.c", "c"),
        ("a.h", "c"),
        ("a.C", "cpp"),
        ("a.hpp", "cpp"),
        ("A.cs", "csharp"),
        ("a.rb", "ruby"),
        ("Rakefile", "ruby"),
        ("a.php", "php"),
        ("a.kt", "kotlin"),
        ("build.gradle.kts", "kotlin"),
        ("a.scala", "scala"),
        ("a.sh", "bash"),
        (".bashrc", "bash"),
        ("dir\\a.py", "python"),
        ("README.md", ""),
        ("Makefile", ""),
        ("a.py.orig", ""),
        ("", ""),
    ],
)
def test_by_path(path, language):
    assert language_of(path) == language


@pytest.mark.parametrize(
    ("first", "language"),
    [
        ("#!/usr/bin/env python3", "python"),
        ("#!/usr/bin/python3.11 -u", "python"),
        ("#!/bin/sh", "bash"),
        ("#!/usr/bin/env -S node --flag", "javascript"),
        ("#! /usr/bin/ruby", "ruby"),
        ("#!/usr/bin/perl", ""),
        ("import os", ""),
    ],
)
def test_by_first_line(first, language):
    assert language_of("run", first) == language


def test_the_name_wins_over_the_first_line():
    assert language_of("a.rb", "#!/usr/bin/env python") == "ruby"


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("def f(self):\n    return None\n", "python"),
        ("const a = require('b');\nmodule.exports = { a };\n", "javascript"),
        ("public static void main(String[] args) {\n  final int a = 1;\n}\n", "java"),
        ("func f() error {\n\tif err != nil {\n\t\treturn err\n\t}\n}\n", "go"),
        ("#include <a.h>\nstd::string f();\n", "cpp"),
        ("using System;\nnamespace A.B { public override int F() { } }\n", "csharp"),
        ("pub fn f(a: &mut A) -> B {\n    let mut b = 1;\n}\n", "rust"),
    ],
)
def test_guess_by_content(text, language):
    assert guess_language(text) == language


def test_a_hint_stands_where_nothing_speaks_against_it():
    assert guess_language("x", "java") == "java"
    assert guess_language("", "") == ""
    # data sets call this JavaScript
    wrong = (
        "class A(object):\n    def f(self):\n        return None\n    def g(self):\n        pass\n"
    )
    assert guess_language(wrong, "javascript") == "python"


@given(st.text(max_size=300), st.sampled_from(["", "python", "java"]))
def test_a_guess_is_always_a_language_or_the_hint(text, hint):
    assert guess_language(text, hint) in {*supported(), hint}
