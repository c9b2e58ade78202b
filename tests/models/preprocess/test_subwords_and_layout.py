from hypothesis import given, settings
from hypothesis import strategies as st

from models.preprocess.bpe import Bpe
from models.preprocess.java_lexer import tokenize
from models.preprocess.layout import lay_out


def test_bpe_splits_rare_words_and_joins_them_again(tmp_path):
    bpe = Bpe.learn(["getName getValue setName", "getName ( )\nreturn"] * 3, 40)
    pieces = bpe.encode("setValue getName\n( )")
    assert Bpe.decode(pieces) == "setValue getName\n( )"
    assert len(bpe.encode("getName")) < len(bpe.encode("Namget"))
    assert any(piece.endswith("@@") for piece in bpe.encode("Namget"))
    bpe.save(tmp_path / "bpe.json")
    assert Bpe.load(tmp_path / "bpe.json").encode("setValue getName\n( )") == pieces


def test_bpe_learns_at_most_so_many_merges():
    few = Bpe.learn(["abcdefgh abcdefgh"] * 3, 1)
    assert len(few.encode("abcdefgh")) == 7


SOURCE = """\
    public void close(Door d) {
        // every door
        if (d == null) {
            return;
        }
        d.close();   // last
    }
"""


def test_layout_of_an_unchanged_text_is_the_text():
    tokens = tokenize(SOURCE)
    assert lay_out(SOURCE, tokens, [token.text for token in tokens]) == SOURCE


def test_layout_keeps_what_stands_around_a_change():
    tokens = tokenize(SOURCE)
    words = " ".join(token.text for token in tokens)
    after = words.replace("d == null", "d . isOpen ( )").split()
    assert lay_out(SOURCE, tokens, after) == SOURCE.replace("d == null", "d.isOpen()")


def test_layout_of_a_deletion_and_an_insertion():
    tokens = tokenize(SOURCE)
    words = " ".join(token.text for token in tokens)
    without = lay_out(SOURCE, tokens, words.replace("if ( d == null ) { return ; } ", "").split())
    assert "return" not in without
    assert without.endswith("\n        d.close();   // last\n    }\n")
    more = lay_out(SOURCE, tokens, words.replace("return ;", "log ( d ) ; return ;").split())
    assert more == SOURCE.replace("return;", "log(d);\n            return;")


def test_layout_moves_lines_with_the_braces_around_them():
    source = "void f(Door d) {\n    d.close();\n    d = null;\n}"
    tokens = tokenize(source)
    words = " ".join(token.text for token in tokens)
    guarded = words.replace("d . close", "if ( d != null ) { d . close").replace(
        "null ; }", "null ; } }"
    )
    assert lay_out(source, tokens, guarded.split()) == (
        "void f(Door d) {\n    if (d != null) {\n        d.close();\n        d = null;\n    }\n}"
    )
    inside = "if (a) {\n\tgo();\n\tgo();\n}"
    tokens = tokenize(inside)
    assert lay_out(inside, tokens, ["go", "(", ")", ";", "go", "(", ")", ";"]) == "go();\ngo();"


def test_layout_of_nothing():
    assert lay_out("", [], ["a", ";"]) == "a;"
    assert lay_out("x;", tokenize("x;"), []) == ""


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.sampled_from(["a", "b", "(", ")", ";", ".", "return", '"s t"', "{"]), max_size=12)
)
def test_layout_never_loses_a_token(after):
    text = lay_out(SOURCE, tokenize(SOURCE), after)
    # neighbours may grow together only where Java would read them so as well
    assert "".join("".join(after).split()) == "".join(
        "".join(token.text for token in tokenize(text)).split()
    )
