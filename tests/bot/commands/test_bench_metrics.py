import gzip
import json

import pytest

from tests.bot.commands.command_line import call


def write(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def test_metrics_as_json(tmp_path):
    file = write(
        tmp_path / "p.jsonl",
        {"source": "a b", "target": "a c", "prediction": "a c"},
        {"source": "a b c", "target": "x y c", "prediction": "x b c"},
    )
    result = call("bench", "metrics", "--predictions", file, "--json")
    assert result.code == 0, result.err
    answer = json.loads(result.out)
    assert answer["n"] == 2
    assert answer["exact_match"] == 0.5
    assert answer["edit_progress"]["mean"] == 0.75
    assert answer["edit_progress"]["median"] == 0.75
    assert answer["edit_progress"]["aggregate"] == pytest.approx(2 / 3)


TRICKY = [
    # source, target, prediction; Edit Progress by hand
    ("a b c d", "a b x d", "a b x d"),  # 1
    ("a b c d", "a b x d", "a b c d"),  # copied: 0
    ("a b c d", "a b x d", ""),  # 1 apart, now 4: -3
    ("a b c d", "", "a b"),  # 4 apart, now 2: 1/2
    ("", "x y", "x z"),  # 2 apart, now 1: 1/2
    ("a  b\tc\n d", "a b x d", " a b   x\nd "),  # only white space differs: 1
    ("a b", "a b", "a b"),  # nothing to revise, left alone
    ("a b", "a b", "a c d"),  # nothing to revise, led away by 2
    ("größe = 1", "größe = 2", "größe = 2"),  # 1
    ("", "", ""),  # nothing at all
]


def test_tricky_rows_by_hand(tmp_path):
    rows = [dict(zip(("source", "target", "prediction"), row, strict=True)) for row in TRICKY]
    answer = call("bench", "metrics", "--predictions", write(tmp_path / "t", *rows), "--json")
    assert answer.code == 0, answer.err
    found = json.loads(answer.out)
    assert found["exact_match"] == 5 / 10
    assert found["revised"] == {"n": 7, "exact_match": 3 / 7}
    assert found["unchanged"] == {"n": 3, "exact_match": 2 / 3, "distance": 2 / 3}
    assert found["edit_progress"]["mean"] == pytest.approx((1 + 0 - 3 + 0.5 + 0.5 + 1 + 1) / 7)
    assert found["edit_progress"]["median"] == 0.5
    # 1 + 1 + 1 + 4 + 2 + 1 + 1 tokens apart at the start, 0 + 1 + 4 + 2 + 1 + 0 + 0 at the end
    assert found["edit_progress"]["aggregate"] == pytest.approx(1 - 8 / 11)
    assert found["perfect_at_k"] == {"1": 0.5}
    # in tokens, over the longer: 0, 1/4, 4/4, 2/2, 1/2, 0, 0, 2/3, 0, 0
    assert found["normalised_edit_distance"] == pytest.approx((0.25 + 1 + 1 + 0.5 + 2 / 3) / 10)


def test_metrics_for_people_and_gzip(tmp_path):
    path = tmp_path / "p.jsonl.gz"
    with gzip.open(path, "wt", encoding="utf-8") as lines:
        lines.write('{"source": "a", "target": "b", "predictions": ["c", "b"]}\n\n')
    result = call("bench", "metrics", "--predictions", str(path))
    assert result.code == 0, result.err
    assert "exact_match" in result.out
    assert "0.00 %" in result.out
    assert "exact_match|tok:whitespace" in result.out


def test_an_empty_file_has_no_numbers(tmp_path):
    result = call("bench", "metrics", "--predictions", write(tmp_path / "p"), "--json")
    assert result.code == 0
    assert json.loads(result.out)["exact_match"] is None


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"{", "not JSON"),
        (b"[1]", "not an object"),
        (b'{"source": "a", "target": "b"}', '"prediction" is missing'),
        (b'{"source": 1, "target": "b", "prediction": "c"}', '"source" must be a text'),
        (b'{"source": "a", "target": "b", "predictions": "c"}', "list of texts"),
        (
            b'{"source": "a", "target": "b", "prediction": "c", "predictions": ["b", "c"]}',
            "put the best answer first",
        ),
        (b'{"source": "a", "target": "b", "prediction": "c", "category": 3}', '"category"'),
        (b"\xff\xfe", "not UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
    ],
)
def test_a_bad_line_is_one_clear_line(tmp_path, line, words):
    path = tmp_path / "p.jsonl"
    path.write_bytes(b'{"source": "a", "target": "b", "prediction": "c"}\n' + line + b"\n")
    result = call("bench", "metrics", "--predictions", str(path))
    assert result.code == 2
    assert words in result.err
    assert "line 2" in result.err
    assert result.err.count("\n") == 1


def test_a_file_that_is_not_there(tmp_path):
    result = call("bench", "metrics", "--predictions", str(tmp_path / "none"))
    assert result.code == 2
    assert "cannot be read (No such file or directory)" in result.err
    broken = tmp_path / "x.gz"
    broken.write_bytes(b"plain")
    result = call("bench", "metrics", "--predictions", str(broken))
    assert result.code == 2
    assert "not a whole gzip file" in result.err
    broken.write_bytes(gzip.compress(b'{"source": "a", "target": "b"}' * 9)[:-12])
    result = call("bench", "metrics", "--predictions", str(broken))
    assert result.code == 2
    assert "not a whole gzip file" in result.err
