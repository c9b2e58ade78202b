import gzip
import json

import pytest

from models.benchmark.datasets import DataError, read_examples
from models.benchmark.suggestions import suggested_revision
from models.tasks import (
    Prediction,
    Task,
    can_ask,
    records,
    source_of,
    target_of,
    without_marks,
)


def lines(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_trans_review_records(tmp_path):
    file = lines(
        tmp_path / "t.jsonl",
        {
            "comment": "drop it",
            "code": "void METHOD_1 ( ) { VAR_1 ; }",
            "marked_code": "void METHOD_1 ( ) { <START> VAR_1 ; <END> }",
            "revised": "void METHOD_1 ( ) { }",
        },
        {"code": "int a ;", "comment": None, "revised": None},
    )
    first, second = read_examples(file)
    assert first.abstracted
    assert not second.abstracted
    assert (first.id, second.id) == ("1", "2")
    assert without_marks(first.marked_code) == first.code
    assert source_of(Task.CRA, first) == first.code
    assert source_of(Task.RCG, first) == first.marked_code
    assert target_of(Task.CRB, first) == "void METHOD_1 ( ) { }"
    assert target_of(Task.RCG, second) is None
    assert not can_ask(Task.CRA, second)
    scored = records(Task.CRB, [first, second], [Prediction("x"), Prediction("y")])
    assert [(record.source, record.prediction) for record in scored] == [(first.code, "x")]


def test_raw_marks_are_read_as_marks(tmp_path):
    file = lines(tmp_path / "t.jsonl", {"code": "", "marked_code": "f() {\nSTART   g(); END \n}"})
    assert read_examples(file)[0].marked_code == "f() {\n<START>   g(); <END> \n}"
    assert read_examples(file)[0].code == "f() {\n  g(); \n}"


def test_trans_review_folders(tmp_path):
    one = tmp_path / "one"
    one.mkdir()
    (one / "src-train.txt").write_text("VAR_1 ;\nVAR_2 ;\n")
    (one / "tgt-train.txt").write_text("a ;\nb ;\n")
    assert [(e.code, e.revised) for e in read_examples(one)] == [
        ("VAR_1 ;", "a ;"),
        ("VAR_2 ;", "b ;"),
    ]
    two = tmp_path / "two"
    two.mkdir()
    (two / "src1-val.txt").write_text("why\n")
    (two / "src2-val.txt").write_text("<START> VAR_1 ; <END> }\n")
    (two / "tgt-val.txt").write_text("}\n")
    (example,) = read_examples(two)
    assert (example.comment, example.code, example.revised) == ("why", "VAR_1 ; }", "}")
    (two / "tgt-val.txt").write_text("}\n}\n")
    with pytest.raises(DataError, match=r"unequal length \(src1-val.txt 1, .*tgt-val.txt 2 lines"):
        read_examples(two)


@pytest.mark.parametrize(
    ("before", "after"), [("before.txt", "after.txt"), ("initial_ver.txt", "approved_ver.txt")]
)
def test_autotransform_and_dact_folders(tmp_path, before, after):
    (tmp_path / before).write_text("int a ;\nint b ;\n")
    (tmp_path / after).write_text("int c ;\nint d ;\n")
    assert [e.revised for e in read_examples(tmp_path, 1)] == ["int c ;"]


def test_t5_review_tables(tmp_path):
    path = tmp_path / "test.tsv"
    path.write_text(
        "<code>int a;</code>\t<code>int b;</code>\n"
        "<technical_language>no a</technical_language><code><START>int a;<END></code>\tint b;\n"
        "<code><START>int a;<END></code>\twhy a\n"
    )
    crb, cra, rcg = read_examples(path)
    assert (crb.code, crb.comment) == ("int a;", None)
    assert (cra.comment, cra.code, cra.marked_code) == ("no a", "int a;", "<START>int a;<END>")
    assert (rcg.comment, rcg.revised, rcg.code) == ("why a", None, "int a;")
    path.write_text("alone\n")
    with pytest.raises(DataError, match="line 1: one column"):
        read_examples(path)


def test_codereviewer_records(tmp_path):
    generation = {"patch": "@@ -1 +1 @@\n-a\n+b", "msg": "why b", "lang": "py", "proj": "x"}
    refinement = {"old": " a\n+b", "new": " a\n+c", "comment": "c", "lang": "py"}
    file = lines(tmp_path / "a.jsonl", generation)
    assert read_examples(file)[0].diff == generation["patch"]
    assert read_examples(file)[0].comment == "why b"
    (example,) = read_examples(lines(tmp_path / "b.jsonl", refinement))
    assert (example.code, example.revised, example.comment) == ("a\nb", "a\nc", "c")
    assert (example.language, example.project) == ("python", "")
    del refinement["new"]
    (blind,) = read_examples(lines(tmp_path / "c.jsonl", refinement))
    assert (blind.code, blind.revised, blind.comment) == ("a\nb", None, "c")


def test_codrep_folder_gives_windows(tmp_path):
    (tmp_path / "Tasks").mkdir()
    (tmp_path / "Solutions").mkdir()
    program = "\n".join(f"line{n}" for n in range(1, 41))
    (tmp_path / "Tasks" / "1.txt").write_text(f"new line\n\n{program}")
    (tmp_path / "Solutions" / "1.txt").write_text("20\n")
    (example,) = read_examples(tmp_path)
    assert example.code.split("\n") == [f"line{n}" for n in range(10, 31)]
    assert example.revised.split("\n")[10] == "new line"
    assert example.code.split("\n")[10] == "line20"
    (tmp_path / "Solutions" / "1.txt").write_text("99")
    with pytest.raises(DataError, match="line 99 of 40"):
        read_examples(tmp_path)


def test_edits_and_github_comments(tmp_path):
    (edit,) = read_examples(
        lines(tmp_path / "e.jsonl", {"before": "a", "after": "b", "message": "m", "repo": "o/r"})
    )
    assert (edit.code, edit.revised, edit.comment, edit.project) == ("a", "b", "m", "o/r")
    rows = [
        {"diff_hunk": "@@ -1 +1,2 @@\n a\n+b", "comment": "Use c.\n```suggestion\nc\n```\n"},
        {"diff_hunk": "@@ -1 +1,2 @@\n a\n+b", "comment": "why?"},
    ]
    first, second = read_examples(lines(tmp_path / "g.jsonl", *rows))
    assert (first.code, first.revised, first.comment) == ("a\nb", "a\nc", "Use c.")
    assert first.marked_code == "a\n<START> b <END>"
    assert (second.diff, second.comment) == (rows[1]["diff_hunk"], "why?")
    assert (second.code, second.revised) == ("a\nb", None)


def test_a_hunk_alone_can_be_revised_too(tmp_path):
    hunk = "@@ -1,3 +1,3 @@ def f():\n a\n-b\n+c\n d"
    for fields in (
        {"diff": hunk, "comment": "why?"},
        {"diff_hunk": hunk, "comment": "why?"},
        {"patch": hunk, "msg": "why?"},
    ):
        (example,) = read_examples(lines(tmp_path / "h.jsonl", fields))
        assert example.code == "a\nc\nd"
        assert all(can_ask(task, example) for task in Task)
        # never the hunk with its signs, which no revision is made of
        assert example.asked(Task.CRA) == example.asked(Task.CRB) == "a\nc\nd"
        assert example.asked(Task.RCG) == hunk
        assert target_of(Task.CRA, example) is None


@pytest.mark.parametrize(
    ("fields", "language"),
    [
        ({"before": "a", "lang": "go"}, "go"),
        ({"before": "a", "lang": "PY"}, "python"),
        ({"before": "a", "lang": None}, "java"),
        ({"before": "a", "path": "x/y.rs"}, "rust"),
        ({"before": "a", "file": "pysnooper_pycompat.py"}, "python"),
        ({"before": "a"}, "java"),
        ({"code": "a", "path": "x.kt"}, "kotlin"),
        ({"diff_hunk": "@@ -1 +1 @@\n+a", "path": "a/b.ts"}, "typescript"),
        ({"diff": "@@ -1 +1 @@\n+    def load(self):\n+        return None"}, "python"),
        ({"diff": "@@ -1 +1 @@\n+a"}, ""),
        ({"patch": "@@ -1 +1 @@\n+a", "msg": "b", "lang": ".cs"}, "csharp"),
    ],
)
def test_the_language_of_a_record(tmp_path, fields, language):
    (example,) = read_examples(lines(tmp_path / "l.jsonl", fields))
    assert example.language == language


def test_a_byte_order_mark_is_no_part_of_the_first_record(tmp_path):
    path = tmp_path / "b.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"code": "a"}\r\n{"code": "b"}\r\n')
    assert [example.code for example in read_examples(path)] == ["a", "b"]


def test_suggestion_blocks_as_revisions_or_none():
    hunk = "@@ -1 +1 @@\n a\n+b"
    assert suggested_revision(hunk, "no block") is None
    assert suggested_revision(hunk, "```suggestion\nc\n``` and ```suggestion\nd\n```") is None
    assert suggested_revision("@@ -1 +0,0 @@\n-a", "```suggestion\nc\n```") is None
    deletion = suggested_revision(hunk, "```suggestion\n```")
    assert deletion is not None
    assert deletion.revised == "a"
    # the old line comes twice if the block is taken for that of the last line alone
    both = suggested_revision(
        "@@ -1 +1,3 @@\n a\n+if m:\n+    go(m)", "```suggestion\nif n:\n    go(n)\n```"
    )
    assert both is not None
    assert both.revised == "a\nif n:\n    go(n)"
    assert both.marked_code == "a\n<START> if m:\n    go(m) <END>"
    crlf = suggested_revision(hunk, "```suggestion\r\nc\r\n```")
    assert crlf is not None
    assert crlf.revised == "a\nc"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"{", "line 1: not JSON"),
        (b'"x"', "not an object"),
        (b'{"x": 1}', "no known layout has the fields x"),
        (b'{"code": 1}', '"code" must be a text'),
        (b'{"code": "a"}\n{"before": "b"}', "line 2: the field 'code' is missing"),
        (b'{"code": "a \\ud800"}', "line 1: half of a surrogate pair"),
        (b"\xff", "not UTF-8"),
    ],
)
def test_broken_data_is_one_clear_line(tmp_path, content, words):
    path = tmp_path / "x.jsonl"
    path.write_bytes(content)
    with pytest.raises(DataError, match=words) as caught:
        read_examples(path)
    assert "\n" not in str(caught.value)


def test_missing_places(tmp_path):
    with pytest.raises(DataError, match="no such file or folder"):
        read_examples(tmp_path / "none")
    with pytest.raises(DataError, match=r"no known layout; give a folder with before\.txt"):
        read_examples(tmp_path)
    path = tmp_path / "x.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"code": "a"}\n' * 50)[:-9])
    with pytest.raises(DataError, match="not a whole gzip file"):
        read_examples(path)


def test_a_missing_field_names_its_line(tmp_path):
    path = lines(tmp_path / "x.jsonl", {"diff": "a", "comment": "b"}, {"comment": "b"})
    with pytest.raises(DataError, match="line 2: the field 'diff' is missing"):
        read_examples(path)
