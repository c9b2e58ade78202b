import gzip
import json

import pytest

from models.benchmark.toy import toy_examples, toy_files
from tests.bot.commands.command_line import call


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "toys.jsonl.gz"
    with gzip.open(path, "wt", encoding="utf-8") as rows:
        for example in toy_examples(12):
            row = {
                "code": example.code,
                "marked_code": example.marked_code,
                "revised": example.revised,
                "comment": example.comment,
            }
            rows.write(json.dumps(row) + "\n")
    return path


def test_run_scores_and_writes_predictions_in_order(data, tmp_path):
    out, result_out = tmp_path / "p.jsonl", tmp_path / "r.json"
    answer = call(
        "bench", "run", "--system", "copy", "--task", "cra", "--data", data, "--limit", 5,
        "--json", "--predictions-out", out, "--result-out", result_out,
    )  # fmt: skip
    assert answer.code == 0, answer.err
    row = json.loads(answer.out)
    assert (row["system"], row["task"], row["n"]) == ("copy", "cra", 5)
    assert row["metrics"]["edit_progress"] == {"mean": 0.0, "median": 0.0, "aggregate": 0.0}
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [set(r) for r in rows] == [{"source", "prediction"}] * 5
    assert [r["source"] for r in rows] == [e.code for e in toy_examples(5)]
    assert json.loads(result_out.read_text()) == row
    table = call("bench", "table", "--results", tmp_path, "--json")
    assert table.code == 0, table.err
    tables = json.loads(table.out)["tables"]
    assert len(tables) == 5
    copy = next(r for r in tables[1]["rows"] if r[0] == "Copy of the source")
    assert copy[-1] == "0.0 / 0.0, 0.0, 0.0 (n = 5)"
    codet5 = next(r for r in tables[1]["rows"] if r[0] == "CodeT5")
    assert codet5[1] == "30.2 / 66.8"
    assert codet5[-1] == "not run"


def test_a_file_without_revisions_is_predicted_and_not_scored(tmp_path):
    path = tmp_path / "blind.jsonl"
    path.write_text('{"code": "int a ;"}\n{"code": "int b ;"}\n')
    out = tmp_path / "p.jsonl"
    answer = call(
        "bench", "run", "--system", "copy", "--task", "crb", "--data", path, "--json",
        "--predictions-out", out,
    )  # fmt: skip
    assert answer.code == 0, answer.err
    assert json.loads(answer.out)["metrics"] is None
    assert out.read_text().splitlines()[1] == '{"source": "int b ;", "prediction": "int b ;"}'
    plain = call("bench", "run", "--system", "copy", "--task", "CRB", "--data", path)
    assert "nothing was scored" in plain.out


def test_predictions_are_gzipped_by_name(data, tmp_path):
    out = tmp_path / "p.jsonl.gz"
    answer = call(
        "bench", "run", "--system", "copy", "--task", "crb", "--data", data, "--limit", 2,
        "--predictions-out", out,
    )  # fmt: skip
    assert answer.code == 0, answer.err
    with gzip.open(out, "rt", encoding="utf-8") as rows:
        assert [json.loads(row)["source"] for row in rows] == [e.code for e in toy_examples(2)]


def test_a_comment_on_a_hunk_is_revised_and_not_scored(tmp_path):
    path = tmp_path / "comments.jsonl"
    path.write_text('{"diff_hunk": "@@ -1 +1,2 @@\\n a\\n+b", "comment": "why?"}\n')
    out = tmp_path / "p.jsonl"
    answer = call(
        "bench", "run", "--system", "copy", "--task", "cra", "--data", path, "--json",
        "--predictions-out", out,
    )  # fmt: skip
    assert answer.code == 0, answer.err
    assert json.loads(answer.out)["metrics"] is None
    assert json.loads(out.read_text()) == {"source": "a\nb", "prediction": "a\nb"}


def test_the_shipped_model_is_silent_on_standard_error(data, capfd):
    answer = call(
        "bench", "run", "--system", "default", "--task", "crb", "--data", data, "--limit", 1,
        "--json",
    )  # fmt: skip
    assert answer.code == 0, answer.err
    assert answer.err + capfd.readouterr().err == ""


def test_a_place_that_cannot_be_written_is_said_before_the_work(data, tmp_path):
    for option in ("--predictions-out", "--result-out"):
        for place, words in ((tmp_path, "is a folder"), (tmp_path / "no" / "f", "does not exist")):
            answer = call(
                "bench", "run", "--system", "copy", "--task", "crb", "--data", data, option, place
            )
            assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
            assert words in answer.err
    blocked = tmp_path / "file"
    blocked.write_text("")
    answer = call(
        "bench", "run", "--system", "constant", "--task", "rcg", "--data", data, "--train", data,
        "--save", blocked / "folder",
    )  # fmt: skip
    assert (answer.code, answer.err.count("\n")) == (2, 1)
    assert "--save" in answer.err


def test_a_checkpoint_is_never_shown_under_another_systems_name(data, tmp_path):
    folder = tmp_path / "fitted"
    common = ["--task", "rcg", "--data", data]
    made = call("bench", "run", "--system", "constant", "--train", data, "--save", folder, *common)
    assert made.code == 0, made.err
    answer = call("bench", "run", "--system", "retrieval", "--model", folder, *common)
    assert (answer.code, answer.err.count("\n")) == (2, 1)
    assert "a checkpoint of constant; ask for --system constant" in answer.err


def test_fit_save_and_run_again_from_the_folder(data, tmp_path):
    folder = tmp_path / "fitted"
    common = ["--task", "rcg", "--data", data, "--json"]
    first = call(
        "bench", "run", "--system", "retrieval", "--train", data, "--save", folder, *common
    )
    assert first.code == 0, first.err
    assert json.loads(first.out)["metrics"]["exact_match"] == 1.0
    again = call("bench", "run", "--system", "retrieval", "--model", folder, *common)
    assert again.code == 0, again.err
    rows = [json.loads(one.out) for one in (first, again)]
    assert rows[0]["metrics"] == rows[1]["metrics"]
    assert rows[1]["checkpoint"] == str(folder)


def test_every_nth_record(data):
    answer = call(
        "bench", "run", "--system", "copy", "--task", "crb", "--data", data, "--every", 5, "--json"
    )
    assert json.loads(answer.out)["n"] == 3
    assert json.loads(answer.out)["data"].endswith("/toys, every 5th")


@pytest.fixture
def one_thread():
    """Where other work runs beside the tests, more threads wait for each other."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def test_completion_of_a_folder(tmp_path, one_thread):
    for path, text in toy_files(4):
        place = tmp_path / "code" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    answer = call(
        "bench", "completion", "--system", "java8g", "--recipe", "tiny", "--limit", 4, "--json",
        "--data", tmp_path / "code", "--train", tmp_path / "code",
    )  # fmt: skip
    assert answer.code == 0, answer.err
    row = json.loads(answer.out)
    assert (row["n"], row["recipe"]) == (4, "tiny")
    scores = row["metrics"]["categories"]["all"]
    assert set(scores) == {"long", "short"}
    assert 0 <= scores["short"]["dg"] <= 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--system", "gpt9", "--task", "crb"], "no such system; ask for autotransform, codebert"),
        (["--system", "copy", "--task", "xyz"], "no such task; ask for crb, cra or rcg"),
        (["--system", "codet5", "--task", "crb"], "has no weights; give a checkpoint"),
        (["--system", "constant", "--task", "rcg"], "has no weights"),
        (["--system", "copy", "--task", "rcg"], "copy: does cra, crb, not rcg"),
        (["--system", "autotransform", "--task", "cra"], "autotransform: does crb, not cra"),
        (["--system", "codet5", "--task", "crb", "--model", "x", "--train", "y"], "leave --from"),
        (["--system", "codet5", "--task", "crb", "--from", "x"], "--from goes with --train"),
        (["--system", "codet5", "--task", "crb", "--save", "x"], "--save goes with --train"),
        (["--system", "codet5", "--task", "crb", "--valid", "x"], "--valid goes with --train"),
        (["--system", "copy", "--task", "crb", "--model", "/none"], "no such folder"),
        (["--system", "codet5", "--task", "crb", "--recipe", "big"], "ask for paper or tiny"),
    ],
)
def test_wrong_calls_are_one_line_and_two(data, arguments, words):
    answer = call("bench", "run", "--data", data, *arguments)
    assert answer.code == 2
    assert words in answer.err
    assert answer.err.count("\n") == 1


def test_wrong_data_is_one_line_and_two(tmp_path):
    common = ["bench", "run", "--system", "copy", "--task"]
    missing = call(*common, "crb", "--data", tmp_path / "none.jsonl")
    assert (missing.code, missing.err.count("\n")) == (2, 1)
    assert "no such file" in missing.err
    path = tmp_path / "d.jsonl"
    path.write_text('{"code": "a"}\n')
    wrong = call(*common, "cra", "--data", path)
    assert wrong.code == 2
    assert "no record holds code and a comment, which cra needs" in wrong.err
    path.write_text("\n")
    assert "no records" in call(*common, "crb", "--data", path).err
    assert call("bench", "table", "--results", tmp_path / "none").code == 2
    (tmp_path / "r.json").write_text("[]")
    broken = call("bench", "table", "--results", tmp_path)
    assert broken.code == 2
    assert "not a result" in broken.err
    java = call("bench", "completion", "--system", "copy", "--data", tmp_path)
    assert "completes no code" in java.err
