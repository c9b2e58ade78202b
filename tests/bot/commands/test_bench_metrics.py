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
