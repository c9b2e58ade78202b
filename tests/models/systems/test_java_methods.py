"""Raw Java methods in Trans-Review's dialect, and back."""

from __future__ import annotations

import itertools

import pytest

from models.preprocess.java_lexer import tokenize
from models.preprocess.layout import lay_out
from models.systems.java_methods import abstracted_method, is_one_method
from models.systems.shipped import ShippedSystem
from models.systems.views import views_of
from models.tasks import Example, Prediction, Task
from models.training.records import records

METHOD = """\
    @Override
    public boolean hasNames(String prefix) {
        // count them
        if (names.size() == 0) {
            return false;
        }
        log.info("names: {} of java.util.List", names);
        return true;
    }
"""


def raw(code: str, **more: str) -> Example:
    return Example("1", code, language="java", **more)


def test_a_method_is_abstracted_and_an_answer_restored_in_its_own_layout():
    method = abstracted_method(raw(METHOD), Task.CRB)
    assert method is not None
    assert method.example.code == (
        "@Override public boolean METHOD_1 ( String VAR_1 ) { if ( VAR_2 . size ( ) == 0 ) "
        "{ return false ; } log . info ( STRING_1 , VAR_2 ) ; return true ; }"
    )
    assert method.example.abstracted
    assert method.restored(method.example.code) == METHOD
    answer = method.example.code.replace("VAR_2 . size ( ) == 0", "VAR_2 . isEmpty ( )")
    expected = METHOD.replace("names.size() == 0", "names.isEmpty()")
    assert method.restored(answer) == expected
    assert method.restored(answer.replace("VAR_1", "VAR_9")) is None
    # an answer that cannot be restored is no answer: the method stays as it is
    lost = Prediction("VAR_9 ( )", ("VAR_9 ( )", answer), 0.4)
    assert method.answered(lost) == Prediction(METHOD, (expected, METHOD), 0.0)
    kept = method.answered(Prediction(answer, (answer, method.example.code), 0.4))
    assert kept == Prediction(expected, (expected, METHOD), 0.4)


def test_a_comment_and_its_marks_go_along_for_cra_alone():
    marked = METHOD.replace("if (names", "<START>if (names").replace("== 0) {", "== 0) {<END>")
    example = raw(METHOD, marked_code=marked, comment="Use `names.isEmpty()` for hasNames.")
    method = abstracted_method(example, Task.CRA)
    assert method is not None
    assert "<START> if ( VAR_2 . size ( ) == 0 ) { <END> return" in method.example.marked_code
    assert method.example.comment == "VAR_2 isEmpty ( ) METHOD_1"
    long = abstracted_method(raw(METHOD, comment="rename everything " * 500), Task.CRA)
    assert long is not None
    assert len((long.example.comment or "").split()) == 213
    before = abstracted_method(example, Task.CRB)
    assert before is not None
    assert (before.example.marked_code, before.example.comment) == ("", None)


def test_an_answer_may_use_what_the_comment_writes_as_code():
    comment = (
        "Why not `Strings.isBlank(prefix)` or the `MAX`, get(names) or findNames? "
        "`names` and SomeType stay. Say `if` (again isBlank(x))."
    )
    method = abstracted_method(raw(METHOD, comment=comment), Task.CRA)
    assert method is not None
    assert method.example.comment == (
        "TYPE_1 METHOD_2 ( VAR_1 ) VAR_3 get ( VAR_2 ) _CODE_ ? VAR_2 _CODE_ stay ( "
        "METHOD_2 ( x ) )"
    )
    answer = method.example.code.replace("VAR_2 . size ( ) == 0", "TYPE_1 . METHOD_2 ( VAR_1 )")
    expected = METHOD.replace("names.size() == 0", "Strings.isBlank(prefix)")
    assert method.restored(answer) == expected
    # under other numbers of the method's own names as well
    for view in views_of(method.example, 3):
        assert view.restored("TYPE_1 . METHOD_2 ( )") is not None
        assert view.restored("METHOD_3 ( )") is None


def test_packages_before_types_are_taken_off_and_put_back():
    code = (
        "@java.lang.Override public java.util.List<java.lang.String> names() { "
        "return com.google.common.collect.ImmutableList.<java.lang.String>of(a.b.Kind, Kind); }"
    )
    method = abstracted_method(raw(code), Task.CRB)
    assert method is not None
    # what is written without its package elsewhere keeps it here
    assert dict(method.packages) == {
        "Override": "java.lang.",
        "List": "java.util.",
        "String": "java.lang.",
        "ImmutableList": "com.google.common.collect.",
    }
    assert method.example.code.startswith("@Override public List < String > METHOD_1 ( ) {")
    words = [word for token in method.example.code.split() for word in method._words(token)]
    assert lay_out(code, tokenize(code), words) == code
    answer = method.example.code.replace("public", "protected")
    assert method.restored(answer) == code.replace("public", "protected")


@pytest.mark.parametrize(
    ("code", "whole"),
    [
        ("void a() { }", True),
        ("/** Why. */ A(int b) { c = b; } // end", True),
        ("abstract int a(int b);", True),
        ("void a() { } void b() { }", False),
        ("int a = 1;", False),
        ("class A { void a() { } }", False),
        ("void a() { if (b }", False),
        ("} void a() { }", False),
        ("", False),
        ("def a(): pass", False),
    ],
)
def test_what_is_one_whole_method(code, whole):
    assert is_one_method(code) is whole


@pytest.mark.parametrize(
    ("example", "task"),
    [
        (raw("int a = 1;"), Task.CRB),
        (raw(METHOD), Task.RCG),
        (Example("1", METHOD, language="csharp"), Task.CRB),
        (Example("1", "void METHOD_1 ( ) { }", language="java", abstracted=True), Task.CRB),
        (raw("void a() { " + "b(); " * 60 + "}"), Task.CRB),
        (raw("void a() { b(" + "1 + " * 3000 + "1); }"), Task.CRB),
    ],
)
def test_other_code_is_not_for_these_models(example, task):
    assert abstracted_method(example, task) is None


@pytest.mark.data
def test_raw_methods_of_the_published_split_come_back_as_they_were(data_folder):
    file = data_folder / "trans_review" / "raw_valid.jsonl.gz"
    raw_rows = itertools.islice(records(file), 400)
    methods = [abstracted_method(raw(row["code"]), Task.CRB) for row in raw_rows]
    found = [method for method in methods if method is not None]
    assert len(found) >= 390
    for method in found:
        words = [word for token in method.example.code.split() for word in method._words(token)]
        assert lay_out(method.source, tokenize(method.source), words) == method.source


def test_the_shipped_system_revises_raw_methods():
    code = METHOD.replace("    @Override\n", "")
    head = "public boolean hasNames(String prefix) {"
    marked = code.replace(head, f"<START>{head}<END>")
    example = raw(code, marked_code=marked, comment="This should be private.")
    (found,) = ShippedSystem(Task.CRA).predict([example])
    assert found.text == code.replace("public boolean", "private boolean")
    assert 0.5 < found.confidence <= 1.0
