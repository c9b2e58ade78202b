"""What is wrong at the start is said in one line with exit code 2; nothing is made on the way."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bot.commands.command_line import call
from tests.e2e.workers import ROOT
from tests.models.tiny import tiny_checkpoint

TOKEN = {"MARGINALIA_TOKEN": "t", "MARGINALIA_WEBHOOK_SECRET": "s"}
APP = {"MARGINALIA_APP_ID": "5", "MARGINALIA_WEBHOOK_SECRET": "s"}


@pytest.fixture(autouse=True)
def _apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An empty folder, no settings of this machine; what ``serve`` sets here is put back."""
    for name in list(os.environ):
        if name.startswith("MARGINALIA_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", "")
    monkeypatch.chdir(tmp_path)
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def refused(*words: object) -> str:
    """The one line of a command that must end with exit code 2."""
    done = call(*words)
    lines = done.err.splitlines()
    assert (done.code, done.out, len(lines)) == (2, "", 1), done
    assert lines[0].startswith("marginalia: ")
    return lines[0].removeprefix("marginalia: ")


def use(monkeypatch: pytest.MonkeyPatch, **values: object) -> None:
    for name, value in values.items():
        monkeypatch.setenv(name, str(value))


@pytest.fixture
def taken() -> Iterator[int]:
    """A port where something listens."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(1)
        yield listener.getsockname()[1]


@pytest.mark.parametrize("words", [("serve",), ("web",)])
def test_a_port_in_use_is_refused_before_anything_starts(monkeypatch, taken, words) -> None:
    use(monkeypatch, **TOKEN)
    line = refused(*words, "--port", taken)
    assert line.startswith(f"cannot listen on 127.0.0.1:{taken}: Address already in use: choose")


def test_no_link_to_the_set_up_is_printed_where_nothing_can_listen(taken, tmp_path) -> None:
    assert "Address already in use" in refused("serve", "--port", taken)


def test_an_address_of_another_machine_is_refused(monkeypatch) -> None:
    use(monkeypatch, **TOKEN)
    assert refused("web", "--host", "192.0.2.1").startswith("cannot listen on 192.0.2.1:3000: ")
    assert refused("web", "--host", "300.1.1.1").startswith("cannot listen on 300.1.1.1:3000: ")


def test_an_app_without_a_usable_key_is_refused_by_serve_itself(monkeypatch, tmp_path) -> None:
    use(monkeypatch, **APP)
    assert refused("serve") == "MARGINALIA_PRIVATE_KEY_FILE: the App's key is missing"
    wrong = tmp_path / "app.pem"
    use(monkeypatch, MARGINALIA_PRIVATE_KEY_FILE=wrong)
    assert refused("serve").startswith(
        f"MARGINALIA_PRIVATE_KEY_FILE: {wrong}: No such file or directory: name the .pem file"
    )
    wrong.write_text("no key")
    for command in ("serve", "worker"):
        assert refused(command).startswith(
            "MARGINALIA_PRIVATE_KEY_FILE: the App's private key cannot be used: give the .pem"
        )
    wrong.write_bytes(b"\xff\xfe")
    assert refused("serve").startswith(f"MARGINALIA_PRIVATE_KEY_FILE: {wrong}: no text: name")


@pytest.mark.parametrize("command", ["serve", "worker", "web", "learn", "jobs"])
def test_a_ledger_that_cannot_be_made_is_refused(monkeypatch, tmp_path, command) -> None:
    file = tmp_path / "file"
    file.write_text("no folder")
    (tmp_path / "export").mkdir()
    use(monkeypatch, **TOKEN, MARGINALIA_DATABASE_URL=f"sqlite:///{file}/sub/x.db")
    words = {"learn": ("--repo", "export"), "jobs": ("list",)}.get(command, ())
    line = refused(command, *words)
    if command == "jobs":
        assert line.startswith(f"there is no ledger in sqlite:///{file}/sub/x.db: name")
    else:
        assert line.startswith(f"MARGINALIA_DATABASE_URL: sqlite:///{file}/sub/x.db: its folder ")


def test_learn_refuses_a_database_that_is_away_or_none(monkeypatch, tmp_path) -> None:
    (tmp_path / "export").mkdir()
    file = tmp_path / "text.db"
    file.write_text("this is no database, however long it is" * 50)
    use(monkeypatch, MARGINALIA_DATABASE_URL=f"sqlite:///{file}")
    assert refused("learn", "--repo", "export") == (
        f"MARGINALIA_DATABASE_URL: sqlite:///{file}: file is not a database"
    )
    use(monkeypatch, MARGINALIA_DATABASE_URL="postgresql://u:pw@127.0.0.1:1/x")
    line = refused("learn", "--repo", "export")
    assert line.startswith("MARGINALIA_DATABASE_URL: postgresql+psycopg://u:***@127.0.0.1:1/x: ")


@pytest.mark.parametrize(
    "words",
    [
        ("jobs", "list"),
        ("jobs", "show", "1"),
        ("jobs", "retry", "1"),
        ("feedback", "report"),
        ("data", "export"),
        ("data", "delete", "--all"),
    ],
)
def test_looking_makes_no_ledger(tmp_path, words) -> None:
    place = tmp_path / "typo"
    assert refused(*words, "--data-dir", place).startswith(f"there is no ledger in {place}")
    assert not place.exists()


def test_learning_from_nothing_makes_no_ledger(tmp_path) -> None:
    assert "there is no such folder" in refused("learn", "--repo", "nowhere")
    assert refused("learn", "flask") == 'learn: "flask" is not a repository: write owner/name'
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", [("export",), ("delete",)])
def test_half_a_name_is_no_repository_of_which_nothing_is_kept(words) -> None:
    line = refused("data", *words, "--repo", "flask")
    assert line == '--repo: "flask" is not a repository: write owner/name'


def test_what_learn_makes_is_its_owners_alone(tmp_path) -> None:
    (tmp_path / "export").mkdir()
    call("learn", "--repo", "export")
    assert (tmp_path / "marginalia-data").stat().st_mode & 0o077 == 0


def test_a_slip_in_a_variables_name_is_told_by_serve(monkeypatch, taken) -> None:
    use(monkeypatch, **TOKEN, MARGINALIA_SHADOWS="true")
    done = call("serve", "--port", taken)
    assert done.err.splitlines()[0] == (
        "marginalia: MARGINALIA_SHADOWS is no setting and does nothing: use MARGINALIA_SHADOW"
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("review", "--sure", "2"), "Invalid value for '--sure': Input should be less than or"),
        (("review", "--format", "nope"), "Invalid value for '--format': 'nope' is not one of"),
        (("review", "--frobnicate"), "No such option: --frobnicate"),
        (("review", "a..b", "c..d"), "Got unexpected extra argument"),
        (("jobs", "show"), "Missing argument 'JOB'"),
        (("jobs", "shwo"), "No such command 'shwo'"),
        (("frobnicate",), "No such command 'frobnicate'"),
    ],
)
def test_a_wrong_use_is_one_line_too(words, said) -> None:
    line = refused(*words)
    assert line.startswith(said)
    assert line.endswith(" --help")


def test_a_rule_that_nothing_would_turn_on_is_refused() -> None:
    assert refused("review", "--enable", "ast-grep:js-vra") == (
        "--enable ast-grep:js-vra: no rule that is off by default; did you mean ast-grep:js-var?"
    )
    assert refused("review", "--enable", "nope").endswith("; write analyzer:rule, as ruff:T201")


def test_a_cache_of_claims_that_is_no_folder_is_refused(tmp_path) -> None:
    (tmp_path / "file").write_text("")
    line = refused("review", "--claims", "syntax+generator", "--claims-cache", "file")
    assert line == "--claims-cache file: no folder: name one"


@pytest.mark.parametrize(
    "command",
    [
        ["review", "--model"],
        ["models", "evaluate", "--data", "."],
        ["bench", "run", "--system", "default", "--task", "crb", "--data", "rows.jsonl", "--model"],
    ],
)
@pytest.mark.parametrize("task", ["claims", "said"])
def test_a_model_that_was_not_trained_to_review_is_refused(tmp_path, command, task) -> None:
    tiny_checkpoint(tmp_path / "made", ["int f ( ) { }"] * 30, [task])
    (tmp_path / "rows.jsonl").write_text('{"code": "int f ( ) { }", "revised": "int g ( ) { }"}\n')
    subprocess.run(["git", "init", "-q"], check=True)
    subprocess.run(["git", "add", "rows.jsonl"], check=True)
    line = refused(*command, "made")
    assert f"'made' was trained for {task} only, not to review" in line


@pytest.mark.parametrize("command", [["config", "schema"], ["score", "rows.jsonl", "--no-judge"]])
def test_a_full_disk_under_the_output_is_one_line(tmp_path, command) -> None:
    (tmp_path / "rows.jsonl").write_text('{"diff": "@@ -1 +1 @@\\n-a\\n+b\\n", "review": "why?"}\n')
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("needs /dev/full, which this system has not")
    with full.open("w") as out:
        done = subprocess.run(
            [sys.executable, "-m", "bot.cli", *command],
            cwd=tmp_path, stdout=out, stderr=subprocess.PIPE, text=True, check=False,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
    assert (done.returncode, done.stderr.splitlines()) == (
        2,
        ["marginalia: the output: No space left on device: make room and run it again"],
    )
