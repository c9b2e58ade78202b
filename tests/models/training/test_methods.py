"""Methods of other sets in Trans-Review's dialect, and views of one example."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from models.preprocess.abstraction import PLACEHOLDER, abstract, renumbered
from models.training.abstracted import Methods, Reviews, abstracted_example, said_example
from models.training.methods import hinted, method_around, reshuffled, spoken

WINDOW = """
    int unfinished() {
        return 1;
    }

    /* what it holds */
    public String name(int id) {
        // the first one wins
        if (id == 0) {
            return first;
        }
        return rest.get(id);
    }

    void next() {
"""
ROW = {
    "code": "int METHOD_1 ( int VAR_1 , int VAR_2 ) { return VAR_1 + VAR_2 + INT_1 ; }",
    "revised": "int METHOD_1 ( int VAR_1 , int VAR_2 ) { return Math . max ( VAR_1 , VAR_2 ) ; }",
    "comment": "why VAR_2 ?",
}


@pytest.mark.parametrize("line", [6, 8, 12])
def test_the_method_around_a_line_is_given_on_one_line_without_remarks(line: int) -> None:
    assert method_around(WINDOW, line, line) == (
        "public String name(int id) { if (id == 0) { return first; } return rest.get(id); }"
    )


@pytest.mark.parametrize("lines", [(0, 0), (2, 8), (14, 14)])
def test_lines_that_no_whole_method_holds_give_none(lines: tuple[int, int]) -> None:
    assert method_around(WINDOW, *lines) is None


def test_a_message_loses_its_stop_words_and_says_placeholders_for_known_names() -> None:
    both = abstract("int sumOf(int left) { return left; }", "int sumOf(int left) { return 0; }")
    name = both.placeholders()["sumOf"]
    said = spoken("Let sumOf return the default", both).split()
    assert name in said
    assert "the" not in said
    assert {"return", "default"} <= set(said)


def test_reshuffling_renames_code_revision_and_comment_alike() -> None:
    seen = set()
    for seed in range(40):
        view = reshuffled(ROW, random.Random(seed))
        for key in ("code", "revised"):
            assert renumbered(view[key]) == renumbered(ROW[key])
        shared = [f"{row['code']} @ {row['revised']} @ {row['comment']}" for row in (view, ROW)]
        assert renumbered(shared[0]) == renumbered(shared[1])
        seen.add(view["code"])
    assert len(seen) == 2  # VAR_1 and VAR_2; METHOD_1 and INT_1 are the only ones of their kind


def test_made_up_comments_name_some_of_what_is_written_and_nothing_that_stays() -> None:
    spoken_of = {"Math": 0, "max": 0, "INT_1": 0, "METHOD_1": 0}
    for seed in range(400):
        words = hinted(ROW, ["please", "look", "VAR_9"], random.Random(seed))["comment"].split()
        assert "VAR_9" not in words
        for word in spoken_of:
            spoken_of[word] += word in words
    assert spoken_of["METHOD_1"] == 0
    assert 130 < spoken_of["Math"] < 210
    assert 130 < spoken_of["max"] < 210
    assert 35 < spoken_of["INT_1"] < 90


@pytest.mark.data
def test_methods_of_other_sets_are_of_the_abstracted_dialect(data_folder: Path) -> None:
    java = Methods(data_folder, limit=400)
    barred = {row["code"] for part in ("held", "valid") for row in Reviews(data_folder, part).rows}
    assert {name: len(rows) > 5 for name, rows in java.sets.items()} == {
        "autotransform": True,
        "codrep": True,
        "edits": True,
    }
    for rows in java.sets.values():
        for row in rows:
            assert row["code"] not in barred
            assert not re.search(r"\b(java|android|com|org) \. [a-z]", row["code"]), row["code"]
            known = {token for token in row["code"].split() if PLACEHOLDER.fullmatch(token)}
            written = {token for token in row["revised"].split() if PLACEHOLDER.fullmatch(token)}
            assert written <= known
    rng = random.Random(1)
    before, after = java.before(rng), java.after(rng)
    assert before is not None
    assert after is not None
    assert (before.task, before.language, before.comment) == ("crb", "abstracted", "")
    assert (after.task, after.language) == ("cra", "abstracted")
    assert after.comment
    assert before.edits
    assert after.changed >= {edit.first for edit in after.edits if edit.end > edit.first}


@pytest.mark.data
def test_no_revision_of_the_published_sets_names_what_its_method_does_not(
    data_folder: Path,
) -> None:
    for part in ("train", "valid"):
        for row in Reviews(data_folder, part).rows:
            known = {token for token in row["code"].split() if PLACEHOLDER.fullmatch(token)}
            written = {token for token in row["revised"].split() if PLACEHOLDER.fullmatch(token)}
            assert written <= known


def test_a_record_without_marks_is_marked_where_it_changes() -> None:
    row = {
        "code": "void METHOD_1 ( ) { VAR_1 ( ) ; VAR_2 ( ) ; }",
        "revised": "void METHOD_1 ( ) { VAR_1 ( ) ; }",
        "comment": "twice ?",
    }
    example = abstracted_example(row, "cra", "codrep")
    assert example is not None
    assert [example.lines[i] for i in example.changed] == ["VAR_2 ( ) ;"]


def test_turned_round_an_example_asks_for_its_comment() -> None:
    asked, turned = abstracted_example(ROW, "cra"), said_example(ROW)
    assert asked is not None
    assert turned is not None
    assert (turned.task, turned.reply, turned.comment) == ("said", ROW["comment"], "")
    assert (turned.lines, turned.edits, turned.changed) == (asked.lines, asked.edits, asked.changed)
    assert said_example({**ROW, "revised": ROW["code"]}) is None
    assert said_example({**ROW, "comment": ""}) is None
