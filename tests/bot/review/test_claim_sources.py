"""Where the bot's claims come from: real sources, what they change, what their failure costs."""

from __future__ import annotations

import json
import logging
import socket
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.diff import parse_diff
from bot.errors import FatalError
from bot.github.explain import explain_text
from bot.review.claims import ClaimChoice, ClaimWriters, hunk_text, hunks_to_ask, origin_in_words
from bot.review.local import read_change
from bot.review.output_markdown import to_markdown
from bot.review.pipeline import ReviewPipeline
from bot.review.types import Reason, ReviewOptions, ReviewResult
from bot.settings import SettingsError, load
from bot.store.reviews import Explanation
from bot.store.tables import CandidateRow, ReviewRow
from bot.wiring import load_reviewer
from models.change import Side
from models.crscore import CRScore
from models.crscore.claims.by_generator import SHIPPED, ClaimGenerator
from models.generators.base import Answer, Window
from models.generators.checkpoint import weights_hash
from models.review_types import Candidate, CandidateKind
from tests.bot.commands.command_line import call
from tests.example import make_example
from tests.models.crscore.test_claims_by_model import Server, completion

BASE = b"""\
import time


def fetch(client, url):
    client.timeout = 5
    return client.get(url)
"""
HEAD = BASE.replace(b"timeout = 5\n", b"timeout = 50\n    time.sleep(0.1)\n").replace(
    b"(client, url)", b"(client, url, seen=[])"
)
DIFF = b"""\
--- a/fetch.py
+++ b/fetch.py
@@ -1,6 +1,7 @@
 import time
\x20
\x20
-def fetch(client, url):
-    client.timeout = 5
+def fetch(client, url, seen=[]):
+    client.timeout = 50
+    time.sleep(0.1)
     return client.get(url)
"""
SAID = "Callers of a slow server wait up to ten times longer before they see an error."


class Files:
    """The file of ``DIFF``."""

    def base(self, path: str) -> bytes | None:
        return BASE if path == "fetch.py" else None

    def head(self, path: str) -> bytes | None:
        return HEAD if path == "fetch.py" else None


class Says:
    """A generator that has one remark on every hunk."""

    name = "t5-own"
    card: Mapping[str, Any] = {}
    tasks = frozenset({"rcg"})

    def revise(self, windows: Sequence[Window], *, answers: int = 1) -> list[list[Answer]]:
        return [[] for _ in windows]

    def comment(self, windows: Sequence[Window], *, answers: int = 1) -> list[list[Answer]]:
        return [[Answer(0.9, 0.9, 1, 0, text=SAID)] for _ in windows]


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        running.say = completion(f"Changes:\n1. The timeout was raised.\nImplications:\n- {SAID}\n")
        thread = threading.Thread(target=running.serve_forever, args=(0.05,))
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def score() -> CRScore:
    return CRScore()


def closed_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def review(score: CRScore, choice: ClaimChoice | None, **options: Any) -> ReviewResult:
    pipeline = ReviewPipeline(score=score, generator=Says(), claims=choice)
    chosen = ReviewOptions(analyzers=frozenset({"ruff"}), **options)
    return pipeline.review(parse_diff(DIFF), Files(), chosen)


def remark(result: ReviewResult):
    return next(one for one in result.candidates if one.candidate.text == SAID)


def test_by_default_claims_are_read_off_the_change(score):
    result = review(score, None)
    assert {one.origin for one in result.references} == {"syntax", "ruff:B006"}
    assert "|claims:" not in result.review.signature
    assert load().claim_choice == ClaimChoice()
    assert load().claim_choice.written == ()


@pytest.mark.parametrize("sources", ["model", "syntax+model"])
def test_an_endpoints_claims_are_what_rel_and_judge_are_made_from(score, server, sources):
    choice = ClaimChoice(sources, model="coder:7b", endpoint=server.url)
    before, after = remark(review(score, None)), remark(review(score, choice))
    assert before.score.nearest is not None
    assert before.score.nearest.origin == "syntax"
    assert after.score.rel != before.score.rel
    assert after.score.nearest is not None
    assert (after.score.nearest.text, after.score.nearest.origin) == (SAID, "model:coder:7b/512")
    assert after.score.nearest.path == "fetch.py"
    assert after.score.judge != before.score.judge
    # what a model says of a change may be just what is worth saying: it is no restatement
    assert after.verdict.reason is not Reason.RESTATES_CHANGE
    refs = "model+ruff" if sources == "model" else "model+ruff+syntax"
    assert f"|refs:{refs}|claims:coder-7b/512|" in after.score.signature


def test_the_source_of_a_claim_is_named_wherever_it_is_shown(score, server):
    choice = ClaimChoice("syntax+model", model="coder", endpoint=server.url)
    result = review(score, choice, sure=0)
    assert remark(result).verdict.posted
    (body,) = [one.body for one in result.review.comments if SAID in one.body]
    assert f"grounded in: {SAID} (written by coder)" in body
    assert "(written by coder)" in to_markdown(result, explain=True)
    row = CandidateRow(
        path="fetch.py", start_line=5, line=5, side="RIGHT", kind="comment", origin="t5-own:rcg",
        severity="warning", text=SAID, con=1.0, comp=0.1, rel=0.2, judge=None, confidence=0.9,
        weakest=0.9, similarity=1.0, reason="posted", detail="", rank=1, signature="s",
        nearest={"text": SAID, "origin": "model:coder/512"},
    )  # fmt: skip
    assert f"| {SAID} (1.00; written by coder) |" in explain_text(
        Explanation(review=ReviewRow(), candidates=(row,), comments=(), candidate=row)
    )


@pytest.mark.parametrize(
    ("origin", "words"),
    [
        ("syntax", "read off the change"),
        ("model:claims-generator@41de505b334c", "written by the claim generator"),
        ("model:qwen2.5-coder:7b/512", "written by qwen2.5-coder:7b"),
        ("model:org/name/512", "written by org/name"),
        ("ruff:B006", "ruff:B006"),
    ],
)
def test_a_source_in_words(origin, words):
    assert origin_in_words(origin) == words


def test_a_hunk_is_asked_about_once_wherever_it_stands(score, server, tmp_path):
    choice = ClaimChoice("model", model="coder", endpoint=server.url, cache=tmp_path)
    writers = ClaimWriters(choice)
    hunk = parse_diff(DIFF).files[0].hunks[0]
    moved = replace(
        hunk, old_start=41, new_start=51,
        lines=tuple(
            replace(line, old_no=line.old_no and line.old_no + 40,
                    new_no=line.new_no and line.new_no + 50) for line in hunk.lines
        ),
    )  # fmt: skip
    assert hunk_text(moved) == hunk_text(hunk)
    first = writers.write({("fetch.py", 0): hunk}, lambda *_: None)
    again = writers.write({("other.py", 3): moved}, lambda *_: None)
    assert len(server.asked) == 1
    assert [one.path for one in again.claims["other.py", 3]] == ["other.py"] * 2
    assert [one.text for one in again.claims["other.py", 3]] == [
        one.text for one in first.claims["fetch.py", 0]
    ]
    # another process finds them in the folder
    ClaimWriters(choice).write({("fetch.py", 0): hunk}, lambda *_: None)
    assert len(server.asked) == 1


def test_a_hunk_of_which_nothing_would_be_said_is_not_asked_about(score, server):
    choice = ClaimChoice("model", model="coder", endpoint=server.url)
    pipeline = ReviewPipeline(score=score, claims=choice)
    quiet = ReviewOptions(analyzers=frozenset({"lizard"}), use_model=False)
    assert pipeline.review(parse_diff(DIFF), Files(), quiet).candidates == ()
    assert server.asked == []


def test_a_model_that_says_nothing_leaves_what_is_read_off(score, server):
    server.say = completion("")
    result = review(score, ClaimChoice("model", model="coder", endpoint=server.url))
    assert {one.origin for one in result.references} == {"syntax", "ruff:B006"}
    assert result.notes == ()


def test_an_endpoint_that_is_down_is_one_line_and_the_review_goes_on(score, caplog):
    port = closed_port()
    choice = ClaimChoice("model", model="coder", endpoint=f"http://127.0.0.1:{port}/v1")
    with caplog.at_level(logging.INFO):
        result = review(score, choice)
    (line,) = [one for one in caplog.records if one.name == "bot.review.claims"]
    said = line.getMessage()
    assert line.levelname == "WARNING"
    assert said.startswith("claims by model: 0 of 1 hunks, the rest are read off the change: http:")
    assert "is the server running?" in said
    assert "\n" not in said
    default = review(score, None)
    assert result.references == default.references
    assert [one.verdict for one in result.candidates] == [one.verdict for one in default.candidates]
    assert result.review.comments == default.review.comments
    # the pull request learns that something is missing, not where the operator's model runs
    (note,) = result.notes
    assert note.startswith("claims by the operator's model could be had for 0 of 1 hunks")
    assert str(port) not in result.review.summary


def test_weights_that_are_missing_are_one_line_and_the_review_goes_on(score, caplog, tmp_path):
    choice = ClaimChoice("syntax+generator", generator=str(tmp_path / "none"))
    with caplog.at_level(logging.INFO):
        result = review(score, choice)
    (line,) = [one.getMessage() for one in caplog.records if one.name == "bot.review.claims"]
    assert line.startswith("claims by generator: 0 of 1 hunks, the rest are read off the change:")
    assert str(tmp_path / "none") in line
    assert result.references == review(score, None).references


def test_a_review_waits_only_so_long(score, server, caplog):
    choice = ClaimChoice("model", model="coder", endpoint=server.url, wait_s=1e-9)
    with caplog.at_level(logging.INFO):
        result = review(score, choice)
    assert server.asked == []
    assert "not done after 1e-09 s" in caplog.text
    assert result.references == review(score, None).references


def test_the_shipped_generator_writes_claims_for_the_services_reviewer(monkeypatch, tmp_path):
    settings = tmp_path / "operator.toml"
    settings.write_text('claims = "syntax+generator"\nuse_model = false\n', encoding="utf-8")
    monkeypatch.setenv("MARGINALIA_CONFIG", str(settings))
    reviewer = load_reviewer(load())
    options = ReviewOptions(analyzers=frozenset({"ast-grep"}))
    with read_change(make_example(tmp_path / "repo"), "main..change", None) as (change, sources):
        result = reviewer.review(change, sources, options, lambda *_: None)
    origin = f"model:claims-generator@{weights_hash(SHIPPED)}"
    assert {"syntax", origin} <= {one.origin for one in result.references}
    # only the hunk with a finding was asked about
    assert {one.path for one in result.references if one.origin == origin} == {"store/load.go"}
    assert f"|claims:{origin.removeprefix('model:')}" in result.review.signature
    assert result.notes == ()


def test_the_generator_is_asked_about_a_whole_change_at_once(monkeypatch):
    lots: list[int] = []
    write = ClaimGenerator.write

    def counted(self: ClaimGenerator, windows: Sequence[Window]) -> list[list[str]]:
        lots.append(len(windows))
        return write(self, windows)

    monkeypatch.setattr(ClaimGenerator, "write", counted)
    texts = [DIFF.replace(b"50", b"%d" % (50 + index)) for index in range(4)]
    hunks = {("fetch.py", i): parse_diff(t).files[0].hunks[0] for i, t in enumerate(texts)}
    shown: list[int] = []
    written = ClaimWriters(ClaimChoice("generator")).write(
        hunks, lambda stage, done, total: shown.append(done)
    )
    assert (lots, shown) == ([4], [0])
    assert written.notes == ()
    alone = ClaimWriters(ClaimChoice("generator"))
    for place, one in hunks.items():
        claims = alone.write({place: one}, lambda *_: None).claims[place]
        assert written.claims[place] == claims


def test_the_command_takes_the_sources_by_environment_and_by_option(server, tmp_path, monkeypatch):
    repo = make_example(tmp_path / "repo")
    head = ("review", "main..change", "--repo", repo, "--no-model", "--json", "--explain")
    monkeypatch.setenv("MARGINALIA_CLAIMS", "syntax+model")
    monkeypatch.setenv("MARGINALIA_CLAIMS_MODEL", "coder")
    monkeypatch.setenv("MARGINALIA_CLAIMS_ENDPOINT", server.url)
    monkeypatch.setenv("MARGINALIA_CLAIMS_KEY", "s3cret")
    done = call(*head)
    assert done.code == 0, done.err
    said = [one for one in json.loads(done.out)["references"] if one["text"] == SAID]
    assert {one["origin"] for one in said} == {"model:coder/512"}
    assert len(said) == len(server.asked) > 0
    assert {asked[1]["Authorization"] for asked in server.asked} == {"Bearer s3cret"}
    before = len(server.asked)
    monkeypatch.setenv("MARGINALIA_CLAIMS_WAIT", "1e-9")
    assert SAID not in call(*head).out
    assert len(server.asked) == before
    refused = call(*head, "--claims", "nope")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "--claims nope: use syntax, model, generator, or some joined by +" in refused.err


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"claims": "oracle"}, "MARGINALIA_CLAIMS: oracle: use syntax, model, generator, or some"),
        ({"claims": "syntax+syntax"}, "MARGINALIA_CLAIMS: syntax.syntax: use syntax"),
        ({"claims": "model"}, "name the model by MARGINALIA_CLAIMS_MODEL"),
        ({"claims_model": "coder"}, "a model is named but not asked: add MARGINALIA_CLAIMS model"),
        ({"claims_generator": "x"}, "a generator is named but not asked: add MARGINALIA_CLAIMS"),
        (
            {"claims": "model", "claims_model": "x", "claims_endpoint": "http://8.8.8.8/v1"},
            "MARGINALIA_CLAIMS_ENDPOINT http://8.8.8.8/v1: 8.8.8.8 is not of a private network",
        ),
        (
            {"claims": "model", "claims_model": "x", "claims_endpoint": "10.0.0.1:8000"},
            "MARGINALIA_CLAIMS_ENDPOINT 10.0.0.1:8000: not an address",
        ),
        ({"claims_wait": 0}, "MARGINALIA_CLAIMS_WAIT: "),
    ],
)
def test_a_wrong_choice_is_refused_at_the_start_in_one_line(given, says):
    with pytest.raises(SettingsError, match=f"^[^\n]*{says}[^\n]*$"):
        load(**given)


def test_a_cache_is_a_folder_or_nothing(monkeypatch, tmp_path):
    monkeypatch.setenv("MARGINALIA_CLAIMS_CACHE", "")
    assert load().claims_cache is None
    (tmp_path / "file").write_text("")
    with pytest.raises(SettingsError, match=r"^MARGINALIA_CLAIMS_CACHE: [^\n]+ is no folder"):
        load(claims_cache=tmp_path / "file")


def test_hunks_with_a_models_comment_are_asked_about_first():
    file = parse_diff(DIFF.replace(b"@@ -1,6 +1,7 @@", b"@@ -1,6 +1,7 @@ x")).files[0]
    second = replace(file.hunks[0], section="second")
    file = replace(file, hunks=(file.hunks[0], second))
    finding, comment = (
        Candidate(CandidateKind(kind), "o", "fetch.py", Side.RIGHT, 4, 4, "Mend it.")
        for kind in ("finding", "comment")
    )
    places = [("fetch.py", 0), ("fetch.py", 1), ("fetch.py", 9)]
    asked = hunks_to_ask([finding, comment, finding], places, {"fetch.py": file})
    assert list(asked.items()) == [(places[1], second), (places[0], file.hunks[0])]


def test_a_wrong_choice_in_code_is_refused_too():
    with pytest.raises(FatalError, match="use syntax, model, generator"):
        ReviewPipeline(claims=ClaimChoice("oracle"))


def test_a_source_that_needs_no_network_takes_a_host_by_name(tmp_path: Path):
    """A name is looked up whenever it is asked: one that is unknown now does not stop a start."""
    settings = load(
        claims="model", claims_model="coder", claims_endpoint="http://models.internal:8000/v1"
    )
    assert settings.claim_choice.endpoint == "http://models.internal:8000/v1"
