import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.preprocess.dataflow import data_flow


def edges(code, language):
    flow = data_flow(code, language)
    return {(node.name, node.token, node.relation): list(node.parents) for node in flow.nodes}


def test_python_branches_join_at_the_use():
    # tokens: 0 def 1 pick 2 ( 3 a 4 , 5 b 6 ) 7 : 8 x 9 = 10 0 11 if 12 b 13 > 14 a 15 : 16 x
    # 17 = 18 b 19 else 20 : 21 x 22 = 23 a 24 return 25 x
    code = (
        "def pick(a, b):\n    x = 0\n    if b > a:\n        x = b\n"
        "    else:\n        x = a\n    return x\n"
    )
    assert edges(code, "python") == {
        ("a", 3, "computedFrom"): [],
        ("b", 5, "computedFrom"): [],
        ("b", 12, "comesFrom"): [5],
        ("a", 14, "comesFrom"): [3],
        ("x", 16, "computedFrom"): [18],
        ("b", 18, "comesFrom"): [5],
        ("x", 21, "computedFrom"): [23],
        ("a", 23, "comesFrom"): [3],
        ("x", 25, "comesFrom"): [16, 21],
    }


def test_java_loops_run_twice_and_methods_are_no_variables():
    # 0 int 1 sum 2 ( 3 List 4 xs 5 ) 6 { 7 int 8 s 9 = 10 0 11 ; 12 for 13 ( 14 int 15 x 16 :
    # 17 xs 18 . 19 all 20 ( 21 ) 22 ) 23 { 24 s 25 += 26 x 27 ; 28 } 29 return 30 s
    code = "int sum(List xs) { int s = 0; for (int x : xs.all()) { s += x; } return s; }"
    found = edges(code, "java")
    assert found["x", 15, "computedFrom"] == [17]
    assert found["s", 24, "computedFrom"] in ([8, 26], [8, 24, 26])
    assert found["s", 30, "comesFrom"] == [8, 24]
    assert not any(name in ("all", "sum") for name, _, _ in found)


def test_java_try_catch_and_while():
    code = "void f(int n) { while (n > 0) { n = n - 1; } try { g(n); } catch (E e) { h(e, n); } }"
    flow = data_flow(code, "java")
    names = {node.token: node for node in flow.nodes}
    texts = [token.text for token in flow.tokens]
    last_n = max(place for place, text in enumerate(texts) if text == "n")
    definition = texts.index("n", texts.index("{") + 5)
    assert names[last_n].relation == "comesFrom"
    assert set(names[last_n].parents) == {texts.index("n"), definition}
    assert code[flow.tokens[1].start : flow.tokens[1].end] == "f"


def test_python_comprehensions_tuples_and_attributes():
    flow = data_flow("ys = [f(y) for y in xs if y]\nfor i, j in ys:\n    o.k = i + j\n", "python")
    by_name = {}
    for node in flow.nodes:
        by_name.setdefault(node.name, []).append(node)
    assert by_name["y"][0].parents == (by_name["y"][1].token,)
    assert {node.name for node in flow.nodes} >= {"ys", "xs", "i", "j"}
    assert "k" not in by_name
    (use,) = [node for node in by_name["ys"] if node.relation == "comesFrom"]
    assert by_name["i"][0].parents == (use.token,)


def test_offsets_are_characters_and_strings_are_whole():
    code = 'x = "größe"  # Größe\ny = x\n'
    flow = data_flow(code, "python")
    assert [token.text for token in flow.tokens] == ["x", "=", '"größe"', "y", "=", "x"]
    assert all(code[token.start : token.end] == token.text for token in flow.tokens)


def test_an_unknown_language_is_refused_and_deep_code_keeps_its_tokens():
    with pytest.raises(ValueError, match="choose java or python"):
        data_flow("x", "cobol")
    deep = data_flow("x = " + "(" * 3000 + "y" + ")" * 3000, "python")
    assert deep.nodes == ()
    assert len(deep.tokens) > 3000


@settings(deadline=None, max_examples=60)
@given(
    st.text(alphabet="abx=+-*/(){}[]:;.,\n \"'#@é", max_size=80),
    st.sampled_from(["java", "python"]),
)
def test_any_text_gives_tokens_in_order(code, language):
    flow = data_flow(code, language)
    assert all(code[token.start : token.end] == token.text for token in flow.tokens)
    assert all(0 <= node.token < len(flow.tokens) for node in flow.nodes)
    assert [t.start for t in flow.tokens] == sorted(t.start for t in flow.tokens)
