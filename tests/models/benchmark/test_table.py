from dataclasses import replace

import pytest
import torch

from models.benchmark.completion import evaluate_completions
from models.benchmark.remarks import best_of
from models.benchmark.run import Result
from models.benchmark.table import NOT_RUN, tables
from models.benchmark.tiny import tiny_results
from models.metrics import Record, evaluate
from models.systems.causal import Completion
from models.systems.completion_cases import Case, Category
from models.tasks import Example, Prediction


def result(system, task, recipe="", data="d", n=2):
    metrics = evaluate([Record("a b", "a c", "a c"), Record("a b", "a d", "a b")])
    return Result(system, task, data, n, {**metrics, "n": n}, recipe)


def test_rows_that_were_not_run_say_so():
    made = tables([])
    assert [table.title.split(":")[0] for table in made] == [
        "Table II", "Table III", "Table IV", "Table V", "Completion",
    ]  # fmt: skip
    rows = {row[0]: row for row in made[0].rows}
    assert rows["CodeT5"][1:] == ("8.8 / 41.8", "13.7 / -67.8", "5.4 / 25.6", NOT_RUN)
    assert rows["Copy of the source"][-1] == NOT_RUN
    assert all(len(row) == len(table.header) for table in made for row in table.rows)
    assert "| CodeT5 | 8.8 / 41.8 |" in made[0].markdown()


def test_real_runs_stand_before_tiny_ones_and_data_sets_have_their_own_columns():
    made = tables(
        [
            result("codet5", "cra", "tiny", n=50),
            result("codet5", "cra", "ours", n=20),
            result("copy", "cra", "", "other"),
        ]
    )
    table = made[1]
    assert table.header[-2:] == ("ours: d", "ours: other")
    rows = {row[0]: row for row in table.rows}
    assert rows["CodeT5"][-2:] == ("50.0 / 50.0, 50.0, 50.0 (ours, n = 20)", NOT_RUN)
    assert rows["Copy of the source"][-2] == NOT_RUN


def test_a_cell_counts_what_was_scored_not_what_was_predicted():
    scored = replace(result("copy", "crb"), n=40)
    rows = {row[0]: row for row in tables([scored])[0].rows}
    assert rows["Copy of the source"][-1].endswith("(n = 2)")


def test_interrogative_rows():
    (table,) = [t for t in tables([result("codet5", "rcg", "tiny")]) if "Table V" in t.title]
    rows = {row[0]: row for row in table.rows}
    assert rows["CodeT5"][1:3] == ("33.8", "0.24 / 1.6")
    assert "n/a / 50.0 (d, tiny; 0.0 interrogative)" in rows["CodeT5"][3]
    assert rows["T5-Review"][3] == NOT_RUN


def test_comments_of_a_judged_run_show_the_judges_mean():
    judged = result("default", "rcg")
    judged = replace(judged, metrics={**judged.metrics, "judge_best_of": {"k": 3, "mean": 0.25}})
    (table,) = [t for t in tables([judged]) if "Table IV" in t.title]
    cells = {row[0]: row[-1] for row in table.rows}
    assert cells["Marginalia (shipped)"].endswith(" / 0.250 (n = 2)")
    assert cells["Retrieval"] == NOT_RUN


def test_the_best_of_k_comments_counts_and_silence_counts_nothing():
    def by_length(diff: str, texts: list[str]) -> list[float]:
        return [len(text) / 10 for text in texts]

    examples = [Example(str(number), diff="@@") for number in range(3)]
    answers = [
        Prediction("ab", ("ab", "abcd", "abcdef")),
        Prediction("", ("", " ")),
        Prediction("a", ("a",)),
    ]
    assert best_of(by_length, examples, answers, 2) == pytest.approx((0.4 + 0.0 + 0.1) / 3)
    assert best_of(by_length, examples, answers, 3) == pytest.approx((0.6 + 0.0 + 0.1) / 3)


def test_completions_are_judged_by_their_best_suggestion():
    case = Case("A.java", 1, Category.SERVICE, ".", "x.", "getName();")
    scored = evaluate_completions([case], [Completion(("getName(1)\nx", "setName"), 0.5)])
    assert scored["full_match"] == {"clipped": 1.0, "unclipped": 0.0}
    service = scored["categories"]["service"]
    assert service["short"]["dg"] == 1.0
    assert service["short"]["dg_unclipped"] == 0.7
    assert service["long"]["dg"] == pytest.approx(0.8)
    wrong = evaluate_completions([case], [Completion(("", "x"), 0.5)])
    assert wrong["full_match"] == {"clipped": 0.0, "unclipped": 0.0}
    (row,) = [
        r
        for t in tables([Result("java8g", "completion", "d", 1, scored)])
        for r in t.rows
        if "Completion" in t.title and r[3] == "all" and r[4] == "short"
    ]
    assert row[:2] == ("Java8G", "55")
    assert row[-3:] == ("100.0", "70.0", "70.0")


def test_every_systems_row_is_filled_by_a_tiny_run():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        made = tables(tiny_results())
    finally:
        torch.set_num_threads(before)
    for table in made[:3]:
        rows = {row[0]: row[-1] for row in table.rows}
        assert [name for name, cell in rows.items() if cell == NOT_RUN] == ["Marginalia (shipped)"]
        neural = {"T5-Review", "CodeBERT", "GraphCodeBERT", "CodeT5", "Java8G", "CodeGPT"}
        assert all("(tiny, n = 4)" in rows[name] for name in neural)
    assert all(NOT_RUN not in row for row in made[4].rows)
