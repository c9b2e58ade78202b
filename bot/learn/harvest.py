"""What is made of the remarks: a retrieval index, a training set, the calibration's first data."""

from __future__ import annotations

import gzip
import json
import logging
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.learn.remarks import Remark
from bot.learn.store import Learnt
from bot.store.database import Database
from models.tasks import Example, Task

TRAINING = Path("pr_reviews") / "python.jsonl.gz"
"""Where ``marginalia train --data`` looks for review comments in its folder."""
INDEX = "index"


@dataclass(frozen=True, slots=True)
class Harvest:
    """What was made of a repository's remarks, and where."""

    repository: str
    folder: Path
    indexed: int
    training: int
    outcomes: int


def folder_of(data_dir: Path, repository: str) -> Path:
    """Where a repository's harvest is kept."""
    owner, _, name = repository.lower().partition("/")
    safe = [part.replace("..", "_").replace("/", "_").replace("\\", "_") for part in (owner, name)]
    return data_dir / "learnt" / (safe[0] or "_") / (safe[1] or "_")


def harvest(database: Database, data_dir: Path, repository: str) -> Harvest:
    """Make a repository's index and training set anew from its remarks."""
    learnt = Learnt(database)
    remarks = [one for one in learnt.remarks(repository) if one.comment]
    folder = folder_of(data_dir, repository)
    fresh = folder.with_name(f"{folder.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    _write_training(fresh / TRAINING, remarks)
    if remarks:
        _write_index(fresh / INDEX, remarks)
    shutil.rmtree(folder, ignore_errors=True)
    fresh.rename(folder)
    outcomes = len(learnt.observed(repository))
    return Harvest(repository, folder, len(remarks), len(remarks), outcomes)


def examples_of(remarks: Sequence[Remark]) -> list[Example]:
    """Remarks as examples of RCG: the hunk, and what was said of it."""
    return [
        Example(one.key, diff=one.diff_hunk, comment=one.comment, project=one.repository)
        for one in remarks
    ]


def _write_training(path: Path, remarks: Sequence[Remark]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8") as lines:
        for one in remarks:
            row = {
                "repo": one.repository,
                "path": one.path,
                "line": one.line,
                "side": one.side,
                "diff_hunk": one.diff_hunk,
                "comment": one.comment,
            }
            lines.write(json.dumps(row, ensure_ascii=False) + "\n")


def _write_index(folder: Path, remarks: Sequence[Remark]) -> None:
    from models.systems.retrieval import Retrieval

    # it tells of every step, whatever the level that was asked for
    logging.getLogger("bm25s").setLevel(logging.WARNING)
    system = Retrieval()
    system.fit(Task.RCG, examples_of(remarks))
    system.save(folder)


def move_harvest(data_dir: Path, old: str, new: str) -> None:
    """What was made of a repository's remarks, under its new name; what is there stays."""
    before, after = folder_of(data_dir, old), folder_of(data_dir, new)
    if before.is_dir() and not after.exists():
        after.parent.mkdir(parents=True, exist_ok=True)
        before.rename(after)


def drop_harvest(data_dir: Path, repository: str | None = None) -> None:
    """Delete what was made of a repository's remarks, or of all."""
    folder = data_dir / "learnt" if repository is None else folder_of(data_dir, repository)
    shutil.rmtree(folder, ignore_errors=True)
