import gzip
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.preprocess.abstraction import (
    UnknownPlaceholder,
    abstract,
    default_idioms,
    idioms_of,
    renumbered,
)
from models.preprocess.comments import dialect_comment
from models.preprocess.java_lexer import TokenKind, tokenize, with_marks

METHOD = """\
    /** Closes all. */
    public void closeAll(Collection<Door> doors, int limit) {
        // every one
        for (Door door : doors) {
            door.close(); LOG.warn("shut " + door, 250, 0, 'x', 1.5f);
        }
    }
"""


def test_abstracts_by_kind_in_order_of_appearance():
    result = abstract(METHOD)
    assert result.texts[0] == (
        "public void METHOD_1 ( Collection < TYPE_1 > VAR_1 , int VAR_2 ) { "
        "for ( TYPE_1 VAR_3 : VAR_1 ) { "
        "VAR_3 . close ( ) ; LOG . warn ( STRING_1 + VAR_3 , INT_1 , 0 , CHAR_1 , FLOAT_1 ) ; } }"
    )
    assert result.names["METHOD_1"] == "closeAll"
    assert result.names["STRING_1"] == '"shut "'


def test_a_pair_shares_one_map():
    result = abstract("int act() { return far; }", "int act() { return near + far; }")
    assert result.texts == (
        "int METHOD_1 ( ) { return VAR_1 ; }",
        "int METHOD_1 ( ) { return VAR_2 + VAR_1 ; }",
    )


def test_restores_the_tokens_exactly_and_refuses_invented_names():
    result = abstract(METHOD)
    assert result.restore(result.texts[0]) == " ".join(t.text for t in tokenize(METHOD))
    with pytest.raises(UnknownPlaceholder, match="VAR_9"):
        result.restore("VAR_1 . VAR_9 ( )")


def test_marks_stay_and_do_not_disturb_the_parse():
    marked = with_marks("int act() {\nSTART     g(); END \n}\n")
    assert marked == "int act() {\n<START>     g(); <END> \n}\n"
    assert abstract(marked).texts[0] == "int METHOD_1 ( ) { <START> METHOD_2 ( ) ; <END> }"
    assert with_marks(marked) == marked
    assert with_marks("f(); // note END \n") == "f(); // note <END> \n"
    assert with_marks("restart ENDING") == "restart ENDING"


@pytest.mark.parametrize(
    ("code", "abstracted"),
    [
        # a method and a variable of one name are two placeholders
        ("int sizes() { return sizes; }", "METHOD_1 ( ) { return VAR_1 ; }"),
        # a capital scope of a call is a type, a constant elsewhere is a variable
        ("void act() { CACHE.load(MAX_SIZE); }", "TYPE_1 . METHOD_2 ( VAR_1 ) ;"),
        # a member of an idiom is a variable
        ("void act() { Assert.fails(); }", "Assert . VAR_1 ( ) ;"),
        # method references
        ("void act() { go(door::shut); }", "METHOD_2 ( TYPE_1 : : METHOD_3 ) ;"),
        # a generic call keeps the full stop with its scope
        ("void act() { go(Sets.<Door>none()); }", "METHOD_2 ( TYPE_1 < TYPE_2 > METHOD_3 ( ) ) ;"),
        # annotations, with and without an idiom
        ("@Override @Nullable Door act() { }", "@Override ANNOTATION_1 TYPE_1 METHOD_1 ( ) { }"),
        # class after an idiom
        ("void act() { go(String.class); }", "METHOD_2 ( String . VAR_1 ) ;"),
        # without a parse, only looks decide
        ("void act( { Door.go(x1) }", "void VAR_1 ( { TYPE_1 . VAR_2 ( VAR_3 ) }"),
        # qualified types
        ("gov.hhs.fha.Door act() { }", "TYPE_1 . TYPE_2 . VAR_1 . TYPE_3 METHOD_1 ( ) { }"),
    ],
)
def test_rules(code, abstracted):
    assert abstracted in abstract(code).texts[0]


def test_text_beyond_ascii_keeps_its_offsets():
    result = abstract('void act() { String s1 = "möhö"; Tür t1 = größe; }')
    assert result.texts[0] == (
        "void METHOD_1 ( ) { String VAR_1 = STRING_1 ; TYPE_1 VAR_2 = VAR_3 ; }"
    )


def test_lexer_never_fails_and_loses_only_space_and_comments():
    kinds = {t.text: t.kind for t in tokenize('a 1 1L 0xFF 1.5 1e3 2f \'c\' "s" >>>= @X <END> "')}
    assert kinds["1L"] is TokenKind.INTEGER
    assert kinds["0xFF"] is TokenKind.INTEGER
    assert kinds["1e3"] is TokenKind.FLOAT
    assert kinds["2f"] is TokenKind.FLOAT
    assert kinds["@X"] is TokenKind.ANNOTATION
    assert kinds["<END>"] is TokenKind.MARK
    assert kinds['"'] is TokenKind.OPERATOR


@settings(deadline=None, max_examples=60)
@given(st.text(alphabet="ab1$_.<>@:(){};\"'/*\\ \n\té", max_size=60))
def test_any_text_is_abstracted_and_restored(code):
    result = abstract(code)
    assert result.restore(result.texts[0]).split() == [
        piece for token in tokenize(code) for piece in token.text.split()
    ]


def test_idioms_are_what_an_abstracted_corpus_leaves():
    assert idioms_of(['VAR_1 . size ( ) + 1 + ""', "return @Override x ;"]) == frozenset(
        {"size", "1", '""', "@Override", "x"}
    )
    assert {"size", "String", "LOG", "@Override", "0"} <= default_idioms()


def test_comments_in_the_datas_dialect():
    abstraction = abstract("void run() { fSource.shut(); }")
    assert dialect_comment("What if `fSource` is null? NPE will be thrown.", abstraction) == (
        "VAR_1 null ? NPE thrown"
    )
    assert dialect_comment("Why not use closeQuietly() here?", abstraction) == "_CODE_ ( )"


def _read(folder, name):
    path = folder / "trans_review" / f"{name}.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as rows:
        return [json.loads(row) for row in rows]


@pytest.mark.data
def test_reproduces_the_published_abstraction_of_the_validation_set(data_folder):
    same = marked_same = restored = 0
    published, raw = _read(data_folder, "valid"), _read(data_folder, "raw_valid")
    for want, given_ in zip(published, raw, strict=True):
        got = abstract(given_["code"], given_["revised"])
        same += renumbered(f"{want['code']} {want['revised']}") == renumbered(" ".join(got.texts))
        marked = abstract(with_marks(given_["marked_code"])).texts[0]
        marked_same += renumbered(want["marked_code"]) == renumbered(marked)
        restored += all(
            got.restore(text) == " ".join(token.text for token in tokenize(given_[side]))
            for text, side in zip(got.texts, ("code", "revised"), strict=True)
        )
    assert restored == len(raw)
    assert same / len(raw) >= 0.99
    assert marked_same / len(raw) >= 0.98


@pytest.mark.data
def test_the_shipped_idioms_are_those_of_the_training_text(data_folder):
    texts = [text for row in _read(data_folder, "train") for text in (row["code"], row["revised"])]
    assert idioms_of(texts) == default_idioms()
