"""The claim generator: its windows, what of its claims is kept, a tiny checkpoint, the options."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot.commands.score import app, claims_reader
from bot.errors import FatalError
from models.crscore.claims.by_generator import ClaimGenerator, generated_claims
from models.crscore.claims.by_model import ClaimsError
from models.crscore.claims.window import MOST_LINES, checkable, claim_windows
from models.generators.base import Window
from models.generators.line_edits import CLAIMS, EditCodec
from models.training.tokenizer import train_tokenizer
from tests.models.tiny import tiny_checkpoint

DIFF = """@@ -10,4 +10,4 @@ def fetch(url):
     client = Client(url)
-    client.timeout = 5
+    client.timeout = 50
     return client.get()
 # the end
"""


def checkpoint(folder: Path, tasks: list[str]) -> Path:
    return tiny_checkpoint(folder, [*DIFF.splitlines(), "The timeout was raised."] * 30, tasks)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return checkpoint(tmp_path_factory.mktemp("claims"), [CLAIMS])


def test_a_window_is_the_change_with_two_lines_around_it() -> None:
    (window,) = claim_windows("@@ -1,9 +1,9 @@ def f():\n a\n b\n c\n-d\n+e\n f\n g\n h\n i\n")
    assert window.lines == ("def f():", "b", "c", "d", "e", "f", "g")
    assert (window.removed, window.changed) == (frozenset({3}), frozenset({4}))
    (long,) = claim_windows("@@ -0,0 +1,99 @@\n" + "".join(f"+x{i} = {i}\n" for i in range(99)))
    assert len(long.lines) == MOST_LINES
    assert claim_windows("@@ -1 +1 @@\n a\n") == []
    assert claim_windows("") == []


def test_claims_that_name_what_is_not_there_are_dropped() -> None:
    lines = claim_windows(DIFF)[0].lines
    said = [
        "The timeout of client was raised from 5 to 50.",
        "The function `fetch` has a longer timeout.",
        "The function `parse` has a longer timeout.",
        "The timeout was raised to 500.",
        "The max_retries of the client changed.",
        "Something unlike anything here happens.",
        "The timeout is a new new new new one.",
        "The timeout of client was raised from 5 to 50.",
    ]
    assert checkable(said, lines) == said[:2]


def test_a_checkpoint_asked_for_claims(folder: Path, tmp_path: Path) -> None:
    generator = ClaimGenerator(folder)
    windows = claim_windows(DIFF)
    alone = generator.write(windows)
    assert alone == generator.write(windows * 3)[:1]
    assert generator.answers([DIFF, "", DIFF + DIFF])[0] == "\n".join(
        checkable(alone[0], windows[0].lines)
    )
    assert generator.answers([""]) == [""]
    written = generated_claims(str(folder), tmp_path)
    claims = written.of(DIFF)
    assert [claim.text for claim in claims] == [
        text for text in generator.answer(DIFF).splitlines() if any(map(str.isalnum, text))
    ]
    (kept,) = tmp_path.glob("*/*.json")
    assert json.loads(kept.read_text())["model"] == generator.key
    kept.write_text(json.dumps({"claims": ["The timeout was raised."]}))
    (claim,) = generated_claims(str(folder), tmp_path).of(DIFF)
    assert (claim.text, claim.origin) == ("The timeout was raised.", f"model:{generator.key}")


def test_many_diffs_are_asked_about_together_and_known_ones_not_again(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    diffs = [DIFF, DIFF.replace("50", "75"), "", DIFF.replace("client", "session"), DIFF]
    alone = [generated_claims(str(folder)).of(diff) for diff in diffs]
    written = generated_claims(str(folder), tmp_path)
    written.of(diffs[1])
    asked: list[int] = []
    write = ClaimGenerator.write

    def counted(self: ClaimGenerator, windows: Sequence[Window]) -> list[list[str]]:
        asked.append(len(windows))
        return write(self, windows)

    monkeypatch.setattr(ClaimGenerator, "write", counted)
    assert written.of_all(diffs) == alone
    assert asked == [2]
    assert generated_claims(str(folder), tmp_path).of_all(diffs) == alone
    assert asked == [2]
    assert written.of_all([]) == []
    assert written.lot == ClaimGenerator(folder).lot > 1


def test_the_task_needs_no_token_of_its_own(folder: Path) -> None:
    codec = EditCodec(train_tokenizer(DIFF.splitlines() * 30, 500))
    ids = codec.source(CLAIMS, "python", ["a"], [0])
    assert ids == codec.source("rcg", "python", ["a"], [0], comment="claims")


def test_options_alone_and_together(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    cache = tmp_path / "cache"
    generated_claims(str(folder), cache).of(DIFF)
    (kept,) = cache.glob("*/*.json")
    kept.write_text(json.dumps({"claims": ["The timeout was raised."]}))

    def said(sources: str) -> list[str]:
        read = claims_reader(sources, "", "", cache, str(folder) if "gen" in sources else "")
        (found,) = read([(DIFF, "python")])
        return [claim.text for claim in found]

    syntax = said("syntax")
    assert said("generator") == ["The timeout was raised."]
    assert said("syntax+generator") == ["The timeout was raised.", *syntax]


def test_rows_are_asked_about_together(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = ClaimGenerator.write
    asked: list[int] = []

    def counted(self: ClaimGenerator, windows: Sequence[Window]) -> list[list[str]]:
        asked.append(len(windows))
        return write(self, windows)

    monkeypatch.setattr(ClaimGenerator, "write", counted)
    rows = [
        {"diff": diff, "review": "Say why.", **more}
        for diff, more in (
            (DIFF, {}), (GO, {}), (DIFF, {}), (DIFF, {"lang": "python"}), (DIFF, {"claims": ["A."]})
        )
    ]  # fmt: skip
    source = tmp_path / "rows.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    options = [str(source), "--claims", "syntax+generator", "--claims-generator", str(folder)]
    result = CliRunner().invoke(app, [*options, "--no-judge", "--out", str(tmp_path / "out.jsonl")])
    assert result.exception is None
    assert asked == [2]
    graded = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [row["diff"] for row in graded] == [row["diff"] for row in rows]
    assert graded[0]["rel"] == graded[2]["rel"]


def test_what_does_not_fit_is_named(tmp_path: Path) -> None:
    other = checkpoint(tmp_path / "other", ["crb"])
    with pytest.raises(ClaimsError, match="--mixture claims"):
        ClaimGenerator(other)
    with pytest.raises(ClaimsError, match="no such folder"):
        ClaimGenerator(tmp_path / "none")
    for options, message in (
        (["--claims", "generator+generator"], "joined by +"),
        (["--claims-generator", "x"], "not asked"),
        (["--claims", "model+generator"], "--claims-model"),
    ):
        result = CliRunner().invoke(app, options, input="")
        assert isinstance(result.exception, FatalError)
        assert message in str(result.exception)


GO = """\
diff --git a/c.go b/c.go
--- a/c.go
+++ b/c.go
@@ -95,6 +95,10 @@ func (c *Controller) syncHandler(key string) error {
 \tcspcGot := cspc.DeepCopy()
 \terr = c.syncCSPC(cspcGot)
+\tif err != nil {
+\t\treturn err
+\t}
+\terr = cleanupCSPIResources(cspcGot)
 \treturn err
 }
"""


@pytest.mark.weights
def test_the_shipped_generator_speaks_of_the_change() -> None:
    claims = [claim.text for claim in generated_claims().of(GO)]
    assert any("error" in claim for claim in claims), claims
    said = json.dumps({"diff": GO, "review": "Is the error of the cleanup returned?"})
    result = CliRunner().invoke(app, ["--claims", "syntax+generator"], input=said + "\n")
    assert "refs:model+syntax" in json.loads(result.stdout)["signature"], result.output
