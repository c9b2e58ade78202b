"""``marginalia train``: what is refused before anything is trained or written."""

import json

import pytest

from tests.bot.commands.command_line import call


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    return folder


def refused(*arguments: object) -> str:
    answer = call("train", "--steps", 1, *arguments)
    assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
    return answer.err


def test_places_are_checked_first(data, tmp_path):
    file = tmp_path / "file"
    file.write_text("mine")
    assert "no such folder" in refused("--data", tmp_path / "none", "--out", tmp_path / "o")
    assert "no such folder" in refused("--data", file, "--out", tmp_path / "o")
    assert "name a folder" in refused("--data", data, "--out", file)
    assert file.read_text() == "mine"


def test_a_folder_with_other_files_is_not_written_into(data, tmp_path):
    mine = tmp_path / "project" / "best" / "thesis.txt"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    assert "holds other files and no run" in refused("--data", data, "--out", tmp_path / "project")
    assert mine.read_text() == "mine"


def test_a_refused_run_leaves_no_folder_behind(data, tmp_path):
    out, model = tmp_path / "run", tmp_path / "model"
    model.mkdir()
    (model / "config.json").write_text(json.dumps({"model_type": "gpt2"}))
    common = ["--data", data, "--out", out]
    for arguments, words in (
        ([], "no such file; give the data sets' folder by --data"),
        (["--mixture", "x"], "choose of default"),
        (["--from", tmp_path / "none"], "no such folder"),
        (["--from", model], "marginalia bench run --system"),
        (["--longest", 8, 72], "give 64 16 or more"),
        (["--mixture", "requests", "--widen"], "--widen: not for requests"),
        (["--mixture", "requests"], "no such file; give the data sets' folder by --data"),
    ):
        assert words in refused(*common, *arguments)
        assert not out.exists()
