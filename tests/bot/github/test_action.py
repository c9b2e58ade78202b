"""A review in a workflow run: what is posted, and what is shown where nothing may be written."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from bot.errors import FatalError
from bot.github.action import ActionReview, Run, main, workflow_notice
from bot.github.fingerprints import fingerprint
from bot.review.render import render_review
from bot.review.types import FileCoverage, JudgedCandidate, Reason, ReviewResult, Verdict
from models.change import LineKind
from models.review_types import Candidate, CandidateKind, Score


class OneRemarkALine:
    """A reviewer that says the same of every added line, and nothing twice."""

    def review(self, change, sources, options, progress):
        judged = []
        for file in change:
            assert sources.head(file.path) is not None
            lines = [line for hunk in file.hunks for line in hunk.added]
            for line in lines:
                assert line.kind is LineKind.ADDED
                said = Candidate(CandidateKind.COMMENT, "t5:crb", file.path, file_side(),
                                 line.new_no, line.new_no, "Say why.")  # fmt: skip
                name = fingerprint(said, file)
                known = name in options.known_fingerprints
                verdict = Verdict(Reason.ALREADY_SAID if known else Reason.POSTED)
                judged.append(JudgedCandidate(said, Score(1, 1, 1, "s"), verdict, 1, name))
        coverage = tuple(FileCoverage(f.path, f.coverage) for f in change)
        review = render_review(change, judged, coverage, (), "sig")
        return ReviewResult(change, review, tuple(judged), coverage)


def file_side():
    from models.change import Side

    return Side.RIGHT


@pytest.fixture
def run(scene, tmp_path):
    event = tmp_path / "event.json"
    repository = {"id": scene.ref.repository_id, "full_name": scene.ref.repository}
    event.write_text(json.dumps({"repository": repository, "pull_request": {"number": 1}}))
    return Run.of(
        {
            "GITHUB_TOKEN": scene.github.token("alice"),
            "GITHUB_EVENT_PATH": str(event),
            "GITHUB_API_URL": scene.github.url,
            "GITHUB_SERVER_URL": scene.github.url,
            "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        }
    )


def test_one_review_a_head_and_only_what_is_new_after_a_push(scene, run):
    action = ActionReview(run, OneRemarkALine())
    assert action.review().startswith("posted: ")
    assert action.review() == "this head was reviewed already"
    (first,) = scene.github.reviews(scene.pull, author="alice")
    assert [c["line"] for c in first["comments"]] == [10, 11]
    scene.github.push(scene.ref.repository, "change", {"src/new.py": "a = 1\n"})
    assert action.review().startswith("posted: ")
    second = scene.github.reviews(scene.pull, author="alice")[1]
    assert [(c["path"], c["line"]) for c in second["comments"]] == [("src/new.py", 1)]


def test_trouble_5_after_a_rebase_our_own_note_of_the_head_counts(scene, run):
    """GitHub re-points an old review at another commit: the marker has the one it was made for."""
    action = ActionReview(run, OneRemarkALine())
    assert action.review().startswith("posted: ")
    scene.github.push(scene.ref.repository, "main", {"upstream.py": "theirs = 1\n"})
    scene.github.act(scene.pull, "rebase")
    assert action.review() == "nothing to say"
    assert len(scene.github.reviews(scene.pull, author="alice")) == 1


def test_a_token_that_may_not_write_leads_to_summary_and_annotations(scene, run, capsys):
    scene.github.set_permission(scene.ref.repository, "alice", "read")
    weak = scene.github.create_app("Reader", owner=scene.ref.repository.split("/")[0],
                                   permissions={"contents": "read", "pull_requests": "read",
                                                "metadata": "read"})  # fmt: skip
    installation = scene.github.install(weak, scene.ref.repository.split("/")[0])
    token = scene.github.installation_token(installation)
    said = ActionReview(replace(run, token=token), OneRemarkALine()).review()
    assert "may not write" in said
    shown = capsys.readouterr().out.splitlines()
    assert shown[0].startswith("::notice file=src/a.py,line=10,title=Marginalia::Say why.")
    assert "marginalia:comment" not in "".join(shown)
    summary = run.summary_file.read_text()
    assert "### src/a.py:10" in summary
    assert scene.github.reviews(scene.pull) == []


@pytest.mark.parametrize("mode", ["approve", "shadow"])
def test_what_is_not_to_be_posted_unasked_is_shown_in_the_run(scene, run, mode):
    config = {".github/marginalia.yml": f"mode: {mode}\n"}
    scene.github.push(scene.ref.repository, "main", config)
    said = ActionReview(run, OneRemarkALine()).review()
    assert said == f"mode: {mode}: the review is in the run's summary and annotations only"
    assert "### src/a.py:10" in run.summary_file.read_text()
    assert scene.github.reviews(scene.pull, author="alice") == []


def test_closed_and_skipped_pull_requests(scene, run):
    action = ActionReview(run, OneRemarkALine())
    scene.github.act(scene.pull, "draft")
    assert action.review() == "not reviewed: a draft"
    scene.github.act(scene.pull, "close")
    assert action.review().startswith("the pull request is closed")


def test_a_notice_cannot_be_another_command():
    row = workflow_notice("a,b:c%.py", 3, "100%\n::set-output name=x::y\r")
    assert row == (
        "::notice file=a%2Cb%3Ac%25.py,line=3,title=Marginalia::100%25%0A::set-output name=x::y%0D"
    )
    assert "\n" not in row


INPUTS = {
    "MARGINALIA_SURE": "0", "MARGINALIA_USE_MODEL": "false", "MARGINALIA_ANALYZERS": '["ruff"]',
    "MARGINALIA_CLAIMS": "syntax+generator", "MARGINALIA_MODEL": "", "MARGINALIA_MODELS": "",
    "MARGINALIA_RULES": "", "MARGINALIA_CLAIMS_WAIT": "", "MARGINALIA_SHADOW": "",
}  # fmt: skip


@pytest.mark.weights
def test_the_inputs_of_the_step_are_the_operators_settings(scene, run, monkeypatch, capsys):
    text = "def f(seen=[]):\n    return seen\n"
    scene.github.push(scene.ref.repository, "change", {"src/new.py": text})
    for name, value in INPUTS.items():
        monkeypatch.setenv(name, value)
    env = {
        "GITHUB_TOKEN": run.token, "GITHUB_API_URL": run.api_url,
        "GITHUB_SERVER_URL": run.github_url, "GITHUB_STEP_SUMMARY": str(run.summary_file),
        "GITHUB_EVENT_PATH": str(run.summary_file.with_name("event.json")),
    }  # fmt: skip
    assert main(env) == 0
    assert "marginalia: posted: " in capsys.readouterr().out
    (review,) = scene.github.reviews(scene.pull, author="alice")
    assert "ruff:B006" in "".join(one["body"] for one in review["comments"])
    # the generator wrote claims, and wrote them of this change
    assert "|claims:claims-generator@" in review["body"]
    scene.github.push(scene.ref.repository, "change", {"src/more.py": text})
    monkeypatch.setenv("MARGINALIA_SHADOW", "true")
    assert main(env) == 0
    assert "mode: shadow: the review is in the run's summary" in capsys.readouterr().out
    assert len(scene.github.reviews(scene.pull, author="alice")) == 1


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("SURE", "2", "input sure: Input should be less than or equal to 1"),
        ("CLAIMS", "oracle", "input claims: oracle: use syntax, model, generator, or some"),
        ("CLAIMS_MODEL", "x", "a model is named but not asked: add input claims model"),
        ("MODELS", "x", "input models: not JSON (Expecting value"),
    ],
)
def test_a_wrong_input_is_named_in_one_line(run, monkeypatch, capsys, name, value, says):
    monkeypatch.setenv(f"MARGINALIA_{name}", value)
    event = str(run.summary_file.with_name("event.json"))
    assert main({"GITHUB_TOKEN": run.token, "GITHUB_EVENT_PATH": event}) == 2
    error = capsys.readouterr().err
    assert says in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("env", "problem"),
    [
        ({}, "GITHUB_TOKEN: not set"),
        ({"GITHUB_TOKEN": "x"}, "GITHUB_EVENT_PATH: not set"),
        ({"GITHUB_TOKEN": "x", "GITHUB_EVENT_PATH": "/nowhere"}, "cannot be read"),
    ],
)
def test_outside_of_a_workflow(env, problem):
    with pytest.raises(FatalError, match=problem):
        Run.of(env)


def test_another_event(tmp_path):
    event = tmp_path / "event.json"
    event.write_text('{"ref": "main"}')
    with pytest.raises(FatalError, match="run this on pull_request"):
        Run.of({"GITHUB_TOKEN": "x", "GITHUB_EVENT_PATH": str(event)})


def test_the_module_runs_and_imports_nothing_of_the_workspace(tmp_path):
    (tmp_path / "requests.py").write_text("raise SystemExit('imported from the workspace')")
    root = str(Path(__file__).resolve().parents[3])
    done = subprocess.run(
        [sys.executable, "-P", "-m", "bot.github.action"], cwd=tmp_path, text=True,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": root}, capture_output=True, timeout=600,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (
        2,
        "marginalia: GITHUB_TOKEN: not set; give the step the workflow's github.token\n",
    )
