"""Spaces between new tokens are Java's habits, and the source's own."""

from __future__ import annotations

import pytest

from models.preprocess.java_lexer import tokenize
from models.preprocess.layout import lay_out
from models.preprocess.spacing import Spacing

SOURCE = "void f() {\n    g();\n}\n"


@pytest.mark.parametrize(
    "line",
    [
        "private Map<String, List<int[]>> names = new HashMap<>();",
        "public static <T extends A & B> T first(List<? super T> all, String... more) {",
        "Collections.<String>emptyList().stream().map(A::b).forEach(x -> g(x, -1));",
        "for (int i = 0; i < n && n > (m + 1); i++) {",
        "a[i - 1] = -b + ++c - d--;",
        "if (!done && (x >> 2) < y) {",
        "return (String) a == null ? b : c;",
        "case A.B:",
        "for (String s : all) {",
        "try (JarFile j = open(p[0])) {",
        '@Inject final double[][] m = {{1.0f}, {}}; // "',
        "Class<?>[] types = x.getClass().cast(y);",
        "throw new A(this.b, \"c (d)\", 'e');",
    ],
)
def test_habits_of_java(line):
    code = line.removesuffix(' // "')
    words = [token.text for token in tokenize(code)]
    spacing = Spacing(SOURCE, words)
    said = words[0] + "".join(spacing.before(i) + words[i] for i in range(1, len(words)))
    # braces of array initializers stand apart where nothing tells otherwise
    assert said.replace("{ ", "{").replace(" }", "}") == code


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("f( a ); g( b );", "h( c )"),
        ("f(a); g( b );", "h(c)"),
        ("if(a) b();", "if(c)"),
        ("if(a) b();", "return (c)"),
        ("if (a) b();", "if (c)"),
        ("int[] a = { };", "x = { };"),
        ("int[] a = {};", "x = {};"),
    ],
)
def test_habits_of_the_source(source, said):
    words = [token.text for token in tokenize(said)]
    spacing = Spacing(source, words)
    joined = words[0] + "".join(spacing.before(i) + words[i] for i in range(1, len(words)))
    assert joined == said


def test_a_revision_is_laid_out_with_them():
    source = "void f(List<String> a) {\n    if( a.size() > 0 )\n        g( a );\n}\n"
    words = [token.text for token in tokenize(source)]
    at = words.index("a", words.index("if"))
    revised = [*words[:at], "!", "a", ".", "isEmpty", "(", ")", *words[at + 7 :]]
    assert lay_out(source, tokenize(source), revised) == source.replace(
        "a.size() > 0", "!a.isEmpty()"
    )
