"""Learning from history: resumable, nothing twice, no names; seen, taken away and deleted."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from bot.feedback.tables import OutcomeRow
from bot.learn.data import deleted, exported
from bot.learn.export import batches
from bot.learn.people import without_people
from bot.learn.remarks import is_bot, is_small_talk, told
from bot.learn.store import Learnt
from bot.store.ledger import Ledger
from models.systems.retrieval import Retrieval
from models.tasks import Example

HUNK = "@@ -1,2 +1,2 @@\n def add(a, b):\n-    return a\n+    return a + {n}"


def row(number: int, **more: Any) -> dict[str, Any]:
    return {
        "repo": f"acme/{'shop' if number % 2 else 'till'}",
        "path": "shop/sum.py",
        "line": number,
        "side": "RIGHT",
        "diff_hunk": HUNK.format(n=number),
        "comment": f"Why is {number} added here? It should be checked before.",
        **more,
    }


def write(folder: Path, rows: list[Any], name: str = "a.jsonl") -> Path:
    folder.mkdir(exist_ok=True)
    lines = [one if isinstance(one, str) else json.dumps(one) for one in rows]
    (folder / name).write_text("\n".join(lines) + "\n", "utf-8")
    return folder


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "bot.cli", *arguments]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(*arguments), capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "text",
    ["Thanks!", "LGTM :+1:", "@someone done", "Good catch, thanks", "+1", "fixed", "Nice one :)"],
)
def test_small_talk_is_none_of_it(text: str) -> None:
    assert is_small_talk(text)


@pytest.mark.parametrize(
    "text", ["Rename this to `total`.", "done in the wrong place", "```suggestion\nx = 1\n```"]
)
def test_what_asks_for_something_is_kept(text: str) -> None:
    assert not is_small_talk(text)


def test_people_are_taken_out_and_decorators_stay() -> None:
    text = without_people(
        "@ann-lee could you ask bob@acme.org? See https://github.com/ann and `@property`.\n"
        "Co-authored-by: Ann Lee <ann@acme.org>\n```py\n@cache\ndef f(): ...\n```"
    )
    for name in ("ann", "bob", "Ann"):
        assert name not in text
    assert "`@property`" in text
    assert "@cache" in text
    assert is_bot("dependabot[bot]")
    assert is_bot("someone", "Bot")
    assert not is_bot("abbot")


def test_an_export_is_read_in_batches_and_broken_lines_cost_themselves(tmp_path: Path) -> None:
    rows: list[Any] = [row(n) for n in range(10)]
    rows += ["{broken", row(90, author="ci[bot]"), row(91, comment="Thanks!"), {"comment": "x y"}]
    rows += [row(92, followed=False), row(93, followed=True)]
    folder = write(tmp_path / "export", rows)
    tally: Counter[str] = Counter()
    found = list(batches(folder, size=4, tally=tally))
    remarks = [one for some, _, _ in found for one in some]
    assert len(remarks) == 12
    assert told(tally) == (
        "16 comments read, 11 kept; dropped: by bots or deleted accounts 1, small talk 1, "
        "that nothing followed 1, unreadable 2"
    )
    assert [place for _, place, _ in found][-1] == ["a.jsonl", 16]
    assert sum(len(wrong) for _, _, wrong in found) == 2
    unfollowed = next(one for one in remarks if one.followed is False)
    assert (unfollowed.comment, unfollowed.diff_hunk) == ("", "")
    rest = [one for some, _, _ in batches(folder, ["a.jsonl", 8], 4) for one in some]
    assert rest == remarks[8:]


def test_who_wrote_any_line_is_taken_out_of_all_of_them(tmp_path: Path) -> None:
    said = "Please do as zoe-late and ann-lee said of this before."
    rows = [row(1, author="ann-lee", comment=said), row(2, author="zoe-late"), row(3)]
    ours = "Say why.\n\n<!-- marginalia:comment abc -->"
    folder = write(tmp_path / "export", [*rows, row(4, author="bob", comment=ours)])
    tally: Counter[str] = Counter()
    whole = [one for some, _, _ in batches(folder, size=1, tally=tally) for one in some]
    assert whole[0].comment == "Please do as @someone and @someone said of this before."
    assert len(whole) == tally["kept"] == 3
    # a run that goes on behind the first line knows the same people
    again = [one for some, _, _ in batches(folder, ["a.jsonl", 0], 1) for one in some]
    assert again == whole


def killed_and_resumed(export: Path, data: Path, kills: int) -> int:
    """Learn, killed hard after the first progress of each try; how many tries were killed."""
    done = 0
    for _ in range(kills):
        process = subprocess.Popen(
            command("learn", "--repo", str(export), "--data-dir", str(data)),
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert process.stderr is not None
        for line in process.stderr:
            if "lines read" in line:
                process.send_signal(signal.SIGKILL)
                break
        process.stderr.close()
        done += process.wait(timeout=120) == -signal.SIGKILL
    return done


def names(data: Path) -> list[tuple[str, str]]:
    ledger = Ledger(f"sqlite:///{data / 'marginalia.db'}")
    found = [(one.repository, one.key) for one in Learnt(ledger.database).remarks()]
    ledger.close()
    return found


def test_kill_9_and_again_leaves_nothing_out_and_nothing_twice(tmp_path: Path) -> None:
    folder = os.environ.get("MARGINALIA_DATA")
    export = tmp_path / "export"
    if folder:
        with gzip.open(Path(folder) / "pr_reviews" / "python.jsonl.gz", "rt", "utf-8") as lines:
            write(export, [json.loads(next(lines)) for _ in range(1500)])
    else:
        write(export, [row(n) for n in range(1500)])
    whole = run("learn", "--repo", str(export), "--data-dir", str(tmp_path / "one"))
    assert whole.returncode == 0, whole.stderr
    expected = names(tmp_path / "one")
    assert len(expected) > 1000

    data = tmp_path / "two"
    assert killed_and_resumed(export, data, 2) == 2
    assert 0 < len(names(data)) < len(expected)
    again = run("learn", "--repo", str(export), "--data-dir", str(data))
    assert again.returncode == 0, again.stderr
    assert "going on behind line" in again.stderr
    assert names(data) == expected
    once_more = run("learn", "--repo", str(export), "--data-dir", str(data), "--quiet")
    assert once_more.stderr == ""
    assert names(data) == expected


def test_the_yield_is_an_index_and_a_training_set_and_all_of_it_can_be_deleted(
    tmp_path: Path,
) -> None:
    export = write(tmp_path / "export", [row(n) for n in range(20)])
    data = tmp_path / "data"
    made = run("learn", "--repo", str(export), "--data-dir", str(data), "--quiet")
    assert made.returncode == 0, made.stderr
    assert "acme/shop: 10 remarks" in made.stdout
    folder = data / "learnt" / "acme" / "shop"
    index = Retrieval.load(folder / "index")
    (found,) = index.predict([Example("x", diff=HUNK.format(n=7))])
    assert found.text == row(7)["comment"]
    with gzip.open(folder / "pr_reviews" / "python.jsonl.gz", "rt", "utf-8") as lines:
        training = [json.loads(line) for line in lines]
    assert {one["repo"] for one in training} == {"acme/shop"}
    assert set(training[0]) == {"repo", "path", "line", "side", "diff_hunk", "comment"}

    shown = run("data", "export", "--repo", "acme/shop", "--data-dir", str(data))
    rows = [json.loads(line) for line in shown.stdout.splitlines()]
    assert [one["kind"] for one in rows] == ["remark"] * 10
    gone = run("data", "delete", "--repo", "acme/shop", "--data-dir", str(data))
    assert json.loads(gone.stdout.splitlines()[0]) == {"kind": "remark", "deleted": 10}
    assert not folder.exists()
    left = run("data", "export", "--data-dir", str(data))
    kept = [json.loads(line) for line in left.stdout.splitlines()]
    # a setting of the whole installation is no repository's
    assert {one["kind"] for one in kept} == {"remark", "setting"}
    assert {one["repository"] for one in kept if one["kind"] == "remark"} == {"acme/till"}
    refused = run("data", "delete", "--data-dir", str(data))
    assert (refused.returncode, "--all" in refused.stderr) == (2, True)


def test_what_was_learnt_from_people_is_exported_without_them(tmp_path: Path) -> None:
    ledger = Ledger(f"sqlite:///{tmp_path / 'marginalia.db'}")
    ledger.migrate()
    with ledger.database.write() as session:
        for number, repository in ((1, "o/r"), (2, "o/other")):
            session.add(
                OutcomeRow(
                    comment_id=number, repository_id=number, repository=repository,
                    installation_id=None, pull=1, origin="ruff:B006", kind="finding",
                    language="python", prior=0.7, rel=0.5, confidence=1.0, posted_at=1.0,
                    state="dismissed", final=True, edit_progress=None, ended_at=2.0, changed_at=2.0,
                )
            )  # fmt: skip
    ledger.memory.dismiss(1, 1, "print", "ann", 5.0)
    rows = list(exported(ledger.database, "O/R"))
    assert [one["kind"] for one in rows] == ["outcome", "dismissal"]
    assert rows[0]["candidate_kind"] == "finding"
    assert "ann" not in json.dumps(rows)
    counts = {one["kind"]: one["deleted"] for one in deleted(ledger.database, "o/r")}
    assert (counts["outcome"], counts["dismissal"]) == (1, 1)
    assert [one["repository"] for one in exported(ledger.database)] == ["o/other"]
    ledger.close()
