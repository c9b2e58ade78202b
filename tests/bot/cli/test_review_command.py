"""The command as its user runs it: real git repositories, real processes, the shipped models."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from tests.example import NEW, OLD, commit, git, make_example

BIN = Path(sys.executable).parent / "marginalia"
SCHEMA = Path("bot/schemas/review.schema.json")


def run(*arguments: str, cwd: Path | None = None, stdin: bytes | None = None, **env: str):
    """Run the installed command; standard output and error as text."""
    return subprocess.run(
        [str(BIN), *arguments],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        timeout=300,
        env={**os.environ, **env},
        check=False,
    )


@pytest.fixture(scope="module")
def example(tmp_path_factory) -> Path:
    return make_example(tmp_path_factory.mktemp("example"))


@pytest.fixture(scope="module")
def explained(example) -> dict:
    done = run(
        "review",
        "main..change",
        "--repo",
        str(example),
        "--json",
        "--explain",
        "--sure",
        "0",
        "--max-comments",
        "50",
    )
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


def test_the_json_is_as_its_schema_says(explained):
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(explained)


def test_every_changed_file_is_covered_once(explained):
    status = {entry["path"]: entry["status"] for entry in explained["coverage"]}
    assert status == {
        "docs/README.md": "reviewed",
        "logo.png": "binary",
        "package-lock.json": "generated",
        "pages/fetch.py": "reviewed",
        "pages/legacy.py": "reviewed",
        "store/load.go": "reviewed",
        "web/cart.js": "reviewed",
    }


def test_findings_and_graded_model_candidates_are_there(explained):
    findings = {c["origin"] for c in explained["comments"] if c["kind"] == "finding"}
    assert {"ruff:B006", "ruff:F821"} <= findings
    model = [c for c in explained["candidates"] if c["origin"].startswith("t5-edits:")]
    assert model
    assert all(c["signature"].startswith("crscore:") for c in model)
    assert {c["verdict"] for c in explained["candidates"]} == {"posted", "rejected"}


def test_every_comment_is_inside_a_hunk_and_every_suggestion_applies(explained, example):
    from bot.diff import apply_replacements
    from bot.diff.git import GitRepository
    from models.review_types import Replacement
    from models.syntax import error_count, language_of

    with GitRepository(example) as repository:
        change = repository.change("main..change")
    for comment in explained["comments"]:
        file = change.file(comment["path"])
        shown = [
            line.new_no if comment["side"] == "RIGHT" else line.old_no
            for hunk in file.hunks
            for line in hunk.lines
        ]
        assert {*range(comment["start_line"], comment["line"] + 1)} <= {*shown}
        if comment["suggestion"] is not None:
            head = NEW[comment["path"]]
            lines = tuple(comment["suggestion"].split("\n"))
            after = apply_replacements(
                head, [Replacement(comment["start_line"], comment["line"], lines)]
            )
            language = language_of(comment["path"])
            assert after != head
            assert error_count(after, language) <= error_count(head, language)


def test_two_runs_give_one_review(explained, example):
    again = run(
        "review",
        "main..change",
        "--repo",
        str(example),
        "--json",
        "--explain",
        "--sure",
        "0",
        "--max-comments",
        "50",
    )
    document = json.loads(again.stdout)
    for one in (document, explained):
        one.pop("timings")
    assert document == explained


def test_a_diff_on_standard_input_is_reviewed(example):
    diff = git(example, "diff", "main", "change") + "\n"
    done = run("review", "--diff", "-", "--json", "--no-model", stdin=diff.encode())
    assert done.returncode == 0, done.stderr.decode()
    paths = {entry["path"] for entry in json.loads(done.stdout)["coverage"]}
    assert paths == set(NEW) | {"pages/legacy.py"}


def test_piped_text_is_plain(example):
    done = run("review", "main..change", "--repo", str(example), "--no-model")
    text = done.stdout.decode()
    assert "\x1b" not in text
    assert "pages/fetch.py:7" in text
    assert "binary" in text


def test_markdown_has_the_suggestions(example):
    done = run(
        "review", "main..change", "--repo", str(example), "--no-model", "--markdown", "--explain"
    )
    text = done.stdout.decode()
    assert "```suggestion" in text
    assert "## Every candidate" in text


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["review", "nowhere..change"], "nowhere"),
        (["review", "--diff", "absent.diff"], "absent.diff: cannot be read"),
        (["review", "--json", "--markdown"], "exclude each other"),
        (["review", "a..b", "--diff", "x"], "exclude each other"),
        (["review", "--", "--output=x..HEAD"], "--output=x"),
    ],
)
def test_wrong_input_is_one_line_and_exit_2(example, arguments, says):
    done = run(*arguments, cwd=example)
    error = done.stderr.decode()
    assert done.returncode == 2
    assert says in error
    assert error.count("\n") == 1
    assert error.startswith("marginalia: ")


def test_no_repository_is_one_line_and_exit_2(tmp_path):
    done = run("review", "--repo", str(tmp_path))
    assert done.returncode == 2
    assert done.stderr.decode().count("\n") == 1


def test_no_diff_is_one_line_and_exit_2():
    done = run("review", "--diff", "-", stdin=b"hello\nworld\n")
    assert done.returncode == 2
    assert done.stderr.decode().startswith("marginalia: standard input: ")


def test_a_checkpoint_without_a_task_card_is_refused_with_the_way_to_train_it(example, tmp_path):
    (tmp_path / "config.json").write_text('{"model_type": "t5"}')
    done = run("review", "main..change", "--repo", str(example), "--model", str(tmp_path))
    assert done.returncode == 2
    assert f"marginalia train --from {tmp_path}" in done.stderr.decode()


def test_nothing_of_a_reviewed_repository_is_imported(tmp_path):
    """A hostile repository in the current folder: its modules must never run."""
    folder = tmp_path / "hostile"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    commit(folder, OLD, "one")
    trap = b"import pathlib\npathlib.Path(__file__).with_name('ran').write_text('ran')\n"
    hostile = {
        "models/__init__.py": trap,
        "bot/__init__.py": trap,
        "sitecustomize.py": trap,
        "usercustomize.py": trap,
        "torch.py": trap,
        "ruff.py": trap,
        "conftest.py": trap,
        "ruff.toml": b"extend = 'other.toml'\n",
        "sgconfig.yml": b"ruleDirs: [rules]\n",
        "pages/x.py": b"def f(a=[]):\n    return a\n",
    }
    commit(folder, {**OLD, **hostile}, "two")
    done = run("review", "HEAD~1..HEAD", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr.decode()
    origins = {c["origin"] for c in json.loads(done.stdout)["comments"]}
    assert "ruff:B006" in origins
    assert not list(folder.rglob("ran"))


def test_help_needs_no_torch():
    code = (
        "import sys; sys.argv = ['marginalia', '--help']\n"
        "from bot.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "heavy = {'torch', 'transformers', 'sentence_transformers', 'flask'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert b"review" in done.stdout


def test_doctor_says_what_is_here():
    done = run("doctor")
    text = done.stdout.decode()
    assert done.returncode == 0, done.stderr.decode()
    assert "all-MiniLM-L6-v2  sha256 53aa51172d14" in text
    assert "ruff" in text


def test_models_list_names_the_shipped_checkpoint():
    text = run("models", "list").stdout.decode()
    assert "default  line-edits-1" in text
