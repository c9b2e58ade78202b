"""Training examples of the claim generator: what is read of an answer, and who is held out."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest
import torch

from models.crscore.claims.by_generator import ClaimGenerator
from models.crscore.words import identifiers, named_code
from models.training.claims import Silver, held, split_claims
from models.training.tokenizer import train_tokenizer
from models.training.trainer import TrainOptions, save_model, train
from tests.models.tiny import tiny_model


def test_claims_of_prose_and_of_lists() -> None:
    prose = (
        "The GIT DIFF shows that a guard was added. The code change in the GIT DIFF renames "
        "`old.name` to `newName`. Done."
    )
    assert split_claims(prose) == [
        "A guard was added.",
        "The code change renames `old.name` to `newName`.",
    ]
    listed = "1. A guard was added.\n2) It checks x.\n\nImplications:\n1. Callers may break."
    assert split_claims(listed) == ["A guard was added.", "It checks x."]
    assert split_claims("") == []


def diff(number: int) -> str:
    return f"@@ -1 +1 @@ def run(self):\n-    oldName_{number} = 1\n+    newName_{number} = 2\n"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "crscore").mkdir()
    rows = [
        {"kind": "summary", "diff": diff(i), "claims": f"The name oldName_{i} was changed."}
        for i in range(60)
    ]
    study = [{"diff": diff(7).replace("-1 +1", "-9 +9")}]
    for name, content in (("claims_silver", rows), ("pseudo_refs", study)):
        with gzip.open(tmp_path / "crscore" / f"{name}.jsonl.gz", "wt") as lines:
            lines.writelines(json.dumps(row) + "\n" for row in content)
    return tmp_path


def test_parts_are_apart_and_without_the_study(data: Path) -> None:
    train, kept = Silver(data, "train"), Silver(data, "held")
    assert not set(train.diffs) & set(kept.diffs)
    assert set(train.diffs) | set(kept.diffs) == {diff(i) for i in range(60) if i != 7}
    assert kept.diffs
    assert all(map(held, kept.diffs))


def test_names_are_exchanged_on_both_sides(data: Path) -> None:
    train = Silver(data, "train")
    rng = random.Random(3)
    drawn = [train.drawn(rng) for _ in range(60)]
    own = {tuple(example.lines) for example in train.examples}
    assert any(example is not None and example.lines not in own for example in drawn)
    for example in drawn:
        assert example is not None
        assert named_code(example.reply or "") <= identifiers("\n".join(example.lines))


def test_a_run_makes_a_checkpoint_that_is_asked_for_claims(data: Path, tmp_path: Path) -> None:
    edits = [
        {
            "repo": repo,
            "message": f"Change the name of run number {i}",
            "before": f"def run():\n    old_{i} = 1\n",
            "after": f"def run():\n    new_{i} = 1\n",
            "first_changed": 1,
            "last_changed": 1,
            "new_lines": [f"    new_{i} = 1"],
        }
        for i, repo in enumerate(["pallets/flask", "some/project"] * 4)
    ]
    (data / "edits").mkdir()
    with gzip.open(data / "edits" / "python.jsonl.gz", "wt") as lines:
        lines.writelines(json.dumps(row) + "\n" for row in edits)
    tokenizer = train_tokenizer([diff(i) for i in range(60)] + ["The name was changed."] * 20, 500)
    card: dict[str, Any] = {"tasks": ["crb"], "options": {}, "validation": {}}
    card["progress"] = dict.fromkeys(("step", "examples", "tokens", "seconds"), 0)
    start = tmp_path / "start"
    save_model(start, tokenizer, tiny_model(tokenizer), card)
    threads = torch.get_num_threads()
    try:
        numbers = train(
            TrainOptions(
                data=data, folder=tmp_path / "run", start_from=str(start), steps=3, tokens=512,
                mixture="claims", threads=1, checked=8, longest_answer=130,
            ),
            lambda line: None,
        )  # fmt: skip
    finally:
        torch.set_num_threads(threads)
    assert numbers["loss"] == numbers["loss_claims"]
    assert numbers["loss_messages"] > 0
    best = tmp_path / "run" / "best"
    assert (best / "README.md").read_text().startswith("# A small claim generator")
    said = ClaimGenerator(best).answers([diff(1)])
    assert len(said) == 1
