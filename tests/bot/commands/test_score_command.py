"""``marginalia score``: what is refused before the work, and rows that were graded before."""

import json

import pytest

from tests.bot.commands.command_line import call

DIFF = "@@ -1 +1 @@\n-timeout = 5\n+timeout = 50\n"


def graded(place: int, **more: object) -> dict[str, object]:
    rel = place / 10
    row = {
        "diff": f"{DIFF}{place // 2}", "review": "w" * (10 - place), "system": f"s{place % 2}",
        "con": rel, "comp": rel, "rel": rel, "judge": rel, "signature": "by:me", "human": place,
    }  # fmt: skip
    return {**row, **more}


def write(path, *rows: object) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def agreement(*arguments: object):
    return call("score", "agreement", "--samples", 20, *arguments)


def test_the_input_is_never_written_over(tmp_path):
    path = tmp_path / "rows.jsonl"
    text = json.dumps({"diff": DIFF, "review": "why?"}) + "\n"
    path.write_text(text)
    (tmp_path / "link.jsonl").symlink_to(path)
    for out in (path, tmp_path / "link.jsonl"):
        answer = call("score", path, "--out", out)
        assert (answer.code, answer.err.count("\n")) == (2, 1)
        assert "would be written over" in answer.err
        assert path.read_text() == text
    answer = call("calibrate", "threshold", path, "--out", path)
    assert answer.code == 2
    assert path.read_text() == text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--out", "{}/none/x"], "its folder does not exist"),
        (["--out", "{}"], "is a folder"),
        (["--encoder", "{}/none"], "no such folder"),
        (["--threshold", "0.5", "--thresholds", "x"], "exclude each other"),
        (["--thresholds", "{}/none"], "No such file"),
    ],
)
def test_wrong_options_are_one_line_before_the_work(tmp_path, arguments, words):
    path = write(tmp_path / "rows.jsonl", {"diff": DIFF, "review": "why?"})
    answer = call("score", path, *(text.format(tmp_path) for text in arguments))
    assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
    assert words in answer.err


def test_tables_say_how_their_rows_were_graded(tmp_path):
    rows = [graded(place, signature="a" if place < 4 else "b") for place in range(6)]
    path = write(tmp_path / "rows.jsonl", *rows)
    answer = call("score", "table", path)
    assert answer.code == 0, answer.err
    assert answer.out.endswith("\n\n4 rows: a\n2 rows: b\n")


@pytest.mark.parametrize("human", [float("nan"), True])
def test_what_is_no_number_is_no_score_of_a_person(tmp_path, human):
    rows = [graded(place) for place in range(6)]
    expected = agreement(write(tmp_path / "a.jsonl", *rows))
    found = agreement(write(tmp_path / "b.jsonl", *rows, graded(6, human=human)))
    assert found.code == expected.code == 0, found.err
    assert found.out == expected.out
    assert "nan" not in found.out


def test_fields_that_no_row_has_are_named(tmp_path):
    path = write(tmp_path / "rows.jsonl", *(graded(place) for place in range(6)))
    for option in ("--group", "--system", "--language"):
        answer = agreement(path, option, "nix")
        assert (answer.code, answer.err) == (
            2,
            f"marginalia: {option} nix: no row has that field\n",
        )
    assert "--system nix" in call("score", "table", path, "--system", "nix").err
    assert "no rows" in call("score", "table", write(tmp_path / "empty.jsonl")).err
    assert "no such folder" in agreement(path, "--bertscore-encoder", tmp_path / "none").err


def test_rows_without_the_judge_are_counted(tmp_path):
    rows = [graded(place, judge=None if place == 2 else 0.5) for place in range(6)]
    answer = agreement(write(tmp_path / "rows.jsonl", *rows))
    assert answer.code == 0
    assert "1 of 6 rows have no judge" in answer.err
    assert "| judge |" not in answer.out


@pytest.mark.weights
def test_only_rows_without_scores_of_ours_are_graded(tmp_path):
    plain = {"diff": DIFF, "review": "why?"}
    whole = {**plain, "signature": "x", "con": 1, "comp": 1, "rel": 1, "judge": 1}
    foreign = [
        {**plain, "signature": "of another program"},
        *({**whole, **wrong} for wrong in ({"con": "high"}, {"con": True}, {"judge": ""})),
    ]
    path = write(tmp_path / "rows.jsonl", graded(1), *foreign, graded(9))
    answer = call("score", "table", path)
    assert answer.code == 0, answer.err
    assert "\n2 rows: by:me" in answer.out
    assert "\n4 rows: crscore:" in answer.out
