"""A run goes on after kill -9, is the same twice at one seed, and shows where it stands."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
import torch

from models.benchmark.toy import toy_examples
from models.generators.base import Window
from models.generators.line_edits import LineEdit
from models.generators.t5_edits import T5EditGenerator
from models.generators.t5_said import CommentLikelihood
from models.training.examples import diff_edits
from models.training.progress import History, Position, Progress, position
from models.training.trainer import TrainOptions, train


def write(path: Path, rows: list[dict[str, object]]) -> None:
    path.parent.mkdir(exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8") as lines:
        lines.writelines(json.dumps(row) + "\n" for row in rows)


def changed_lines(row: dict[str, str]) -> dict[str, object]:
    before, after = (row[side].split("\n") for side in ("before", "after"))
    edits = diff_edits(before, after)
    end = edits[-1].end + len(after) - len(before)
    return {
        "first_changed": edits[0].first,
        "last_changed": edits[-1].end - 1,
        "new_lines": after[edits[0].first : end],
    }


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    """Toy records in the layouts that the mixture of abstracted methods reads."""
    folder = tmp_path_factory.mktemp("data")
    toys = [
        {
            "code": " ".join(toy.code.split()),
            "marked_code": " ".join(toy.marked_code.split()),
            "revised": " ".join(str(toy.revised).split()),
            "comment": str(toy.comment),
            "project": "toy",
        }
        for toy in toy_examples(120)
    ]
    write(folder / "trans_review" / "train.jsonl.gz", toys)
    write(folder / "trans_review" / "valid.jsonl.gz", toys[:4])
    write(folder / "autotransform" / "pairs.jsonl.gz", toys[:40])
    write(folder / "pr_reviews" / "python.jsonl.gz", toys)
    windows = [
        {"before": toy.code, "after": str(toy.revised), "repo": "toy/toy", "message": "Mend it"}
        for toy in toy_examples(120)
    ]
    write(folder / "codrep" / "windows.jsonl.gz", windows)
    write(folder / "edits" / "java.jsonl.gz", [row | changed_lines(row) for row in windows[:40]])
    return folder


@pytest.fixture(autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def tiny(data: Path, folder: Path, **changes: object) -> TrainOptions:
    options = TrainOptions(
        data, folder, minutes=1.0, seed=3, vocabulary=480, width=128, feed_forward=64,
        encoder_layers=2, decoder_layers=2, tokens=256, mixture="abstracted", game_minutes=0.0,
        short_minutes=0.0, threads=1, checked=8, steps=6,
    )  # fmt: skip
    return replace(options, **changes)


def state_of(folder: Path) -> dict[str, object]:
    return torch.load(folder / "state.pt", weights_only=True)


def test_two_runs_with_one_seed_give_equal_weights_and_another_seed_gives_others(data, tmp_path):
    states = []
    for name, seed in (("a", 3), ("b", 3), ("c", 4)):
        train(tiny(data, tmp_path / name, seed=seed), lambda line: None)
        states.append(state_of(tmp_path / name))
    first, again, other = (state["model"] for state in states)
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not any(torch.equal(first[name], other[name]) for name in first if "wi" in name)
    moments = [state["optimizer"]["state"] for state in states]
    assert all(torch.equal(moments[0][n]["exp_avg"], moments[1][n]["exp_avg"]) for n in moments[0])


def test_dropout_trains_and_is_none_of_the_saved_model(data, tmp_path):
    states = []
    for name, share in (("a", 0.0), ("b", 0.3), ("c", 0.3)):
        train(tiny(data, tmp_path / name, steps=3, dropout=share), lambda line: None)
        states.append(state_of(tmp_path / name)["model"])
    plain, dropped, again = states
    assert not any(torch.equal(plain[name], dropped[name]) for name in plain if "wi" in name)
    assert all(torch.equal(dropped[name], again[name]) for name in dropped)
    assert json.loads((tmp_path / "b" / "best" / "config.json").read_text())["dropout_rate"] == 0


RUN = """
import sys
from pathlib import Path
from models.training.trainer import TrainOptions, train
options = eval(sys.argv[1], {"TrainOptions": TrainOptions, "PosixPath": Path})
say = lambda *words: print(*words, flush=True)
train(options, say, lambda at: say("at", at.step, at.seconds))
"""


def test_a_killed_run_goes_on_and_has_lost_no_more_than_lies_between_two_savings(data, tmp_path):
    folder = tmp_path / "run"
    options = tiny(data, folder, steps=100_000, save_seconds=1.0)
    process = subprocess.Popen(
        [sys.executable, "-c", RUN, repr(options)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        cwd=Path(__file__).parents[3],
    )
    assert process.stdout is not None
    seen: list[tuple[int, float]] = []
    saved_lines, steps_since = 0, 0
    for line in process.stdout:
        if line.startswith("at "):
            step, seconds = line.split()[1:]
            seen.append((int(step), float(seconds)))
            steps_since += 1
            # some steps after a saving: they are lost
            if (saved_lines >= 1 and steps_since > 2) or saved_lines > 3:
                break
        elif line.startswith("step ") and " examples: " in line:
            saved_lines += 1
            steps_since = 0
    process.send_signal(signal.SIGKILL)
    rest, _ = process.communicate()
    seen += [
        (int(step), float(seconds))
        for step, seconds in (line.split()[1:] for line in rest.splitlines() if line[:3] == "at ")
    ]
    assert process.returncode == -signal.SIGKILL
    progress = state_of(folder)["progress"]
    longest = max(b - a for (_, a), (_, b) in pairwise(seen))
    assert 0 < progress["step"] <= seen[-1][0]
    assert seen[-1][1] - progress["seconds"] <= options.save_seconds + longest

    lines: list[str] = []
    train(replace(options, steps=progress["step"] + 5), lines.append)
    assert f"from step {progress['step']}" in lines[0]
    after = state_of(folder)
    assert after["progress"]["step"] == progress["step"] + 5
    assert after["progress"]["seconds"] > progress["seconds"]
    assert len(after["history"]["validation"]) >= saved_lines
    generator = T5EditGenerator(folder / "best", beams=2)
    assert len(generator.revise([Window("java", ("int a;",))])) == 1


def test_a_kill_while_the_best_model_is_exchanged_leaves_the_new_one_to_its_own_run(data, tmp_path):
    folder = tmp_path / "run"
    train(tiny(data, folder, steps=2), lambda line: None)
    (folder / "best").rename(folder / "best.new")
    train(tiny(data, folder, steps=2), lambda line: None)
    assert (folder / "best" / "model.safetensors").exists()
    with pytest.raises(ValueError, match="a run with other options"):
        train(tiny(data, folder, seed=9), lambda line: None)


def test_a_run_shows_where_it_stands_and_leaves_a_chart(data, tmp_path):
    lines: list[str] = []
    places: list[Position] = []
    options = tiny(data, tmp_path, save_seconds=0.0, game_minutes=0.4, short_minutes=0.7)
    train(options, lines.append, places.append)
    assert [place.step for place in places] == list(range(1, 7))
    assert places[-1].share == 1.0
    assert places[-1].seconds_left == 0.0
    assert places[0].validation is None
    assert places[-1].validation is not None
    assert {place.stage for place in places} == {"games", "short", "full"}
    assert any("loss" in line and "min left" in line for line in lines)
    for chart in (tmp_path / "loss.svg", tmp_path / "best" / "loss.svg"):
        root = ElementTree.fromstring(chart.read_text(encoding="utf-8"))
        drawn = [node for node in root if node.tag.endswith("polyline")]
        assert [len(node.attrib["points"].split()) for node in drawn] == [1, 7]
    card = json.loads((tmp_path / "best" / "marginalia.json").read_text(encoding="utf-8"))
    assert len(card["losses"]["validation"]) == 7
    assert "![Loss while training](loss.svg)" in (tmp_path / "best" / "README.md").read_text()


def test_the_time_left_is_that_of_a_run_as_fast_as_so_far():
    half = position(Progress(step=50, seconds=30.0), 0.5, 1.0, History(), "full")
    assert half.seconds_left == pytest.approx(30.0)
    begun = position(Progress(), 0.0, 1.0, History(validation=[(0.0, 2.0)]), "games")
    assert begun.seconds_left == float("inf")
    assert begun.validation == 2.0


def test_data_without_anything_that_fits_end_in_one_line(data, tmp_path):
    options = TrainOptions(
        data=data, folder=tmp_path, mixture="abstracted", minutes=0.01, game_minutes=0,
        short_minutes=0, vocabulary=300, width=16, heads=2, feed_forward=16, encoder_layers=1,
        decoder_layers=1, longest_source=3, checked=2,
    )  # fmt: skip
    with pytest.raises(ValueError, match="at most 3 tokens long"):
        train(options, report=lambda line: None)


def test_what_was_said_is_learnt_from_revisions_turned_round(data, tmp_path):
    start = tmp_path / "start"
    train(tiny(data, start, steps=2), lambda line: None)
    options = tiny(
        data, tmp_path / "said", mixture="said", steps=3, longest_source=320, longest_answer=90,
        start_from=str(start / "best"),
    )  # fmt: skip
    numbers = train(options, lambda line: None)
    assert numbers["loss"] == numbers["loss_said"] > 0
    best = tmp_path / "said" / "best"
    assert json.loads((best / "marginalia.json").read_text())["tasks"] == ["said"]
    assert (best / "README.md").read_text().startswith("# What a reviewer said")
    (log,) = CommentLikelihood(best).log_likelihoods(
        [(Window("abstracted", ("a ;", "b ;"), comment="drop"), (LineEdit(0, 1, ()),))]
    )
    assert log is not None
    assert log < 0


def test_revising_before_review_alone_is_learnt_by_a_wider_model(data, tmp_path):
    start = tmp_path / "start"
    train(tiny(data, start, steps=2), lambda line: None)
    options = tiny(
        data, tmp_path / "crb", mixture="abstracted_before", steps=3, widen=True, dropout=0.1,
        start_from=str(start / "best"),
    )  # fmt: skip
    numbers = train(options, lambda line: None)
    assert numbers["loss"] == numbers["loss_crb"] > 0
    assert "loss_cra" not in numbers
    best = tmp_path / "crb" / "best"
    assert json.loads((best / "marginalia.json").read_text())["tasks"] == ["crb"]
    assert json.loads((best / "config.json").read_text())["d_model"] == 256
    text = (best / "README.md").read_text()
    assert "Every method was revised" in text
    assert "- widen: True" in text
