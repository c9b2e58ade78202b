"""``marginalia score``: rows in and out, broken lines, gzip, tables, calibration."""

from __future__ import annotations

import builtins
import gzip
import hashlib
import io
import json
import tracemalloc

import numpy as np
import pytest
from typer.testing import CliRunner

from bot.commands.calibrate import app as calibrate_app
from bot.commands.score import app
from bot.errors import FatalError
from models.crscore import CRScore
from models.crscore.baselines import bert_scores, bleu, chrf, edit_similarity, rouge_l
from models.crscore.encoder import SentenceEncoder
from models.crscore.rows import CHUNK, RowError, read_rows, score_rows
from models.crscore.tables import Fields, TableError, agreement_table, system_table

ROW = {
    "diff": "@@ -1 +1 @@\n-timeout = 5\n+timeout = 50\n",
    "review": "Why is the timeout ten times longer now?",
    "id": 7,
}


def lines(*rows: object) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


@pytest.mark.weights
def test_rows_through_files_and_streams(tmp_path) -> None:
    rows = [ROW, {**ROW, "review": ""}, {**ROW, "claims": ["The timeout was raised."]}]
    source, out = tmp_path / "in.jsonl.gz", tmp_path / "out.jsonl.gz"
    source.write_bytes(gzip.compress(lines(*rows)))
    runner = CliRunner()
    assert runner.invoke(app, [str(source), "--out", str(out)]).exit_code == 0
    scored = [json.loads(line) for line in gzip.decompress(out.read_bytes()).splitlines()]
    piped = runner.invoke(app, [], input=lines(*rows))
    assert piped.exit_code == 0
    for row, given, streamed in zip(
        scored, rows, map(json.loads, piped.stdout.splitlines()), strict=True
    ):
        assert {key: row[key] for key in given} == given
        assert set(row) - set(given) == {"con", "comp", "rel", "judge", "signature"}
        assert 0.0 <= row["judge"] <= 1.0
        assert streamed["rel"] == row["rel"]
    assert "refs:given" in scored[2]["signature"]
    assert "judge:3@" in scored[0]["signature"]
    assert scored[1]["rel"] == scored[1]["judge"] == 0.0
    expected = CRScore().score(ROW["diff"], ROW["review"])
    assert scored[0]["rel"] == expected.rel
    assert scored[0]["signature"].startswith(expected.signature)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"{", "line 2: not JSON"),
        (b"[1]", "line 2: not an object"),
        (b'{"diff": "x"}', "line 2: 'review' must be a text"),
        (b'{"diff": 1, "review": "x"}', "line 2: 'diff' must be a text"),
        (b'{"diff": "", "review": "", "claims": "x"}', "line 2: 'claims' must be a list"),
        (b'"\xff"', "line 2: not UTF-8"),
        (b'{"diff": "", "review": "\\ud800"}', "line 2: half of a surrogate pair"),
    ],
)
def test_a_broken_line_is_named_and_costs_itself_alone(tmp_path, line: bytes, message: str) -> None:
    with pytest.raises(RowError, match=message):
        list(read_rows([lines(ROW), line], "rows.jsonl"))
    path, out = tmp_path / "rows.jsonl", tmp_path / "out.jsonl"
    path.write_bytes(lines({**ROW, "claims": []}) + line + b"\n\n" + lines({**ROW, "claims": []}))
    result = CliRunner().invoke(app, [str(path), "--no-judge", "--out", str(out)])
    assert isinstance(result.exception, FatalError)
    assert result.exception.code == 2
    assert "2 rows graded, 1 broken" in str(result.exception)
    [named] = result.stderr.splitlines()
    assert message in named
    assert [json.loads(row)["id"] for row in out.read_bytes().splitlines()] == [7, 7]


def test_a_cut_gzip_keeps_its_whole_rows(tmp_path) -> None:
    path, out = tmp_path / "cut.jsonl.gz", tmp_path / "out.jsonl"
    rows = [{**ROW, "claims": [], "id": number} for number in range(300)]
    path.write_bytes(gzip.compress(lines(*rows))[:-40])
    result = CliRunner().invoke(app, [str(path), "--no-judge", "--out", str(out)])
    assert isinstance(result.exception, FatalError)
    assert "1 broken" in str(result.exception)
    assert "not a whole gzip" in result.stderr
    kept = [json.loads(row)["id"] for row in out.read_bytes().splitlines()]
    assert len(kept) > 100
    assert kept == list(range(len(kept)))


def test_a_missing_file_is_named(tmp_path) -> None:
    result = CliRunner().invoke(app, [str(tmp_path / "no"), "--no-judge"])
    assert isinstance(result.exception, FatalError)
    assert "No such file" in str(result.exception)


def test_options_are_checked() -> None:
    for options, message in (
        (["--variant", "other"], "use paper or reference"),
        (["--rule", "other"], "use reference or sigma"),
        (["--threshold", "3"], "cosine lies between"),
        (["--encoder", "/no/such/encoder"], "no such folder"),
        (["--encoder", "no-such-encoder"], "cannot be loaded"),
    ):
        result = CliRunner().invoke(app, ["--no-judge", *options], input=lines(ROW))
        assert isinstance(result.exception, FatalError)
        assert message in str(result.exception)


@pytest.mark.weights
def test_memory_is_bounded_by_the_chunk() -> None:
    taken = 0

    def endless() -> object:
        nonlocal taken
        while True:
            taken += 1
            yield {**ROW, "claims": ["The timeout was raised."]}

    scored = score_rows(endless(), CRScore(), None)
    assert next(scored)["judge"] is None
    assert taken == CHUNK


class HashedEncoder:
    """Unit vectors by the hash of a text: quick, and another one for each text."""

    name, sha256, dtype, library = "hashed", "0" * 64, "float32", "none"

    def encode_groups(self, groups, variant="paper"):
        return [np.stack([self._vector(text) for text in group]) for group in groups]

    @staticmethod
    def _vector(text: str) -> np.ndarray:
        raw = hashlib.sha256(text.encode()).digest()
        vector = np.frombuffer(raw, dtype=np.uint8).astype(np.float32) - 127.5
        return vector / np.linalg.norm(vector)


def test_ten_thousand_rows_in_constant_memory() -> None:
    def endless():
        for number in range(10_000):
            review = f"Row {number} speaks of timeout {number}. " * (number % 7)
            yield json.dumps({**ROW, "review": review, "claims": [f"Claim {number}."]}).encode()

    scorer = CRScore(HashedEncoder(), threshold=0.5)
    held = []
    tracemalloc.start()
    for done, row in enumerate(score_rows(read_rows(endless(), "rows"), scorer, None), 1):
        assert 0.0 <= row["rel"] <= 1.0
        if done % 2_000 == 0:
            held.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    assert done == 10_000
    # what is held after 10,000 rows is what was held after 2,000, within a chunk of rows
    assert max(held) - held[0] < 1_000_000


def scored_rows() -> list[dict[str, object]]:
    rows = []
    random = np.random.default_rng(0)
    for diff in range(12):
        for system, quality in (("msg", 0.5), ("good", 0.9), ("bad", 0.1)):
            rel = float(np.clip(quality + random.normal(scale=0.1), 0, 1))
            rows.append(
                {
                    "diff": f"diff {diff}",
                    "review": f"{system} words of diff {diff}" * (diff % 3 + 1),
                    "con": rel, "comp": rel, "rel": rel, "judge": rel, "signature": "x",
                    "system": system, "lang": "py" if diff % 2 else "java",
                    "human": 1 + round(4 * quality), "note": None,
                }
            )  # fmt: skip
    return rows


def test_tables(tmp_path) -> None:
    rows = scored_rows()
    table = system_table(rows).splitlines()
    assert [line.split("|")[1].strip() for line in table[2:]] == ["good", "msg", "bad"]
    text = agreement_table(rows, Fields(), samples=50)
    for name in ("judge", "CRScore Rel", "length", "BLEU", "chrF", "ROUGE-L", "edit similarity"):
        assert f"| {name} |" in text
    for part in ("language java", "system good", "without msg", "ranking of systems"):
        assert part in text
    assert "BERTScore" not in text
    with pytest.raises(TableError, match="--human"):
        agreement_table(rows, Fields(human="other"))
    path = tmp_path / "scored.jsonl"
    path.write_bytes(lines(*rows))
    runner = CliRunner()
    # a number travels with how it was made
    made = "\n\n36 rows: x"
    assert runner.invoke(app, ["table", str(path)]).stdout.strip() == system_table(rows) + made
    again = runner.invoke(app, ["agreement", str(path), "--human", "human", "--samples", "50"])
    assert again.stdout.strip() == text + made


def test_baselines() -> None:
    for measure in (bleu, chrf, rouge_l, edit_similarity):
        assert measure("the cat sat on the mat", "the cat sat on the mat") == pytest.approx(1.0)
        assert measure("", "the cat") == 0.0
    assert rouge_l("the black cat", "the cat") == pytest.approx(2 * 2 / 5)


@pytest.mark.weights
def test_bert_score_of_equal_texts_is_one() -> None:
    same, other = bert_scores(
        SentenceEncoder(), ["rename the flag", "rename the flag"], ["rename the flag", "it rains"]
    )
    assert same == pytest.approx(1.0, abs=1e-5)
    assert other < 0.8


@pytest.mark.weights
def test_calibrate_threshold(tmp_path) -> None:
    # sentences of many matters that everyone has at hand
    said = [str(thing.__doc__).split("\n")[0] for thing in vars(builtins).values()]
    said = list(dict.fromkeys(text for text in said if " " in text))
    rows = [{"diff": "", "review": text, "claims": [f"{text} It is new."]} for text in said]
    source, out = tmp_path / "rows.jsonl", tmp_path / "thresholds.json"
    source.write_bytes(lines(*rows))
    for rule in ("reference", "sigma"):
        result = CliRunner().invoke(
            calibrate_app, ["threshold", str(source), "--out", str(out), "--rule", rule]
        )
        assert result.exit_code == 0, result.exception
    stored = json.loads(out.read_text())["thresholds"]
    assert [row["rule"] for row in stored] == ["reference", "sigma"]
    assert all(row["data_sha256"] and row["encoder_sha256"] for row in stored)
    # what was stored is what scores are made by
    one = tmp_path / "one.jsonl"
    one.write_bytes(lines(rows[0]))
    made = CliRunner().invoke(
        app, [str(one), "--no-judge", "--thresholds", str(out), "--rule", "sigma"]
    )
    assert made.exit_code == 0, made.exception
    assert f"|tau:{stored[1]['value']:.4f}|" in json.loads(made.stdout)["signature"]
    # sentences that are all alike have no threshold
    alike = tmp_path / "alike.jsonl"
    alike.write_bytes(lines(*({**ROW, "review": f"{ROW['review']} {n}"} for n in range(60))))
    kept = out.read_bytes()
    result = CliRunner().invoke(
        calibrate_app, ["threshold", str(alike), "--out", str(out), "--rule", "sigma"]
    )
    assert "too alike" in str(result.exception)
    assert out.read_bytes() == kept
    # claims that are given as none are none, as in scoring
    none = tmp_path / "none.jsonl"
    none.write_bytes(lines(*({**ROW, "claims": []} for _ in range(60))))
    result = CliRunner().invoke(calibrate_app, ["threshold", str(none), "--out", str(out)])
    assert "0 reviews with references" in str(result.exception)
    few = tmp_path / "few.jsonl"
    few.write_bytes(lines(ROW))
    result = CliRunner().invoke(calibrate_app, ["threshold", str(few), "--out", str(out)])
    assert isinstance(result.exception, FatalError)
    assert "at least 50" in str(result.exception)


def test_what_is_written_can_be_read_again() -> None:
    from models.crscore.rows import write_row

    row = {"diff": "", "review": "ä", "note": "\ud800"}
    sink = io.BytesIO()
    write_row(sink, row)
    assert list(read_rows([sink.getvalue()], "rows")) == [row]
    (read,) = read_rows([b'{"diff": "", "review": "", "n": NaN, "m": [-Infinity]}'], "rows")
    assert read == {"diff": "", "review": "", "n": None, "m": [None]}
    sink = io.BytesIO()
    write_row(sink, ROW | {"review": "ä"})
    assert "ä".encode() in sink.getvalue()


def test_names_and_groups_as_they_are_in_tables() -> None:
    rows = [row | {"system": "a|b" if row["system"] == "bad" else "c"} for row in scored_rows()]
    assert "| a\\|b |" in system_table(rows)
    rows = [row | {"index": i // 12} for i, row in enumerate(rows)]
    by_number = agreement_table(rows, Fields(group="index"), samples=50)
    named = [row | {"index": f"d{row['index']}"} for row in rows]
    assert by_number == agreement_table(named, Fields(group="index"), samples=50)


def test_a_constant_side_has_no_correlation() -> None:
    rows = [row | {"human": 1 if row["system"] == "bad" else row["human"]} for row in scored_rows()]
    (line,) = (
        line
        for line in agreement_table(rows, Fields(), samples=50).splitlines()
        if line.startswith("| system bad")
    )
    assert line.count("n/a") == 2
