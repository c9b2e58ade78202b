"""Log lines: fields that a record takes, secrets that never get in, libraries that fall in line."""

from __future__ import annotations

import ast
import io
import json
import logging
from pathlib import Path

import pytest

import bot
from bot.logs import FORBIDDEN, LOUD, adopt, redact, set_up

TAKEN = set(vars(logging.makeLogRecord({}))) | {"message", "asctime", "delivery", "job"}


def test_every_named_field_can_be_logged() -> None:
    """A field named like one of the record's own raises where it is logged: mostly in trouble."""
    wrong = []
    for path in Path(bot.__file__).parent.rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text())):
            if not isinstance(call, ast.Call):
                continue
            for given in call.keywords:
                if given.arg == "extra" and isinstance(given.value, ast.Dict):
                    names = {key.value for key in given.value.keys if isinstance(key, ast.Constant)}
                    wrong += [f"{path.name}:{call.lineno}: {n}" for n in names & TAKEN]
                    # these are dropped on the way, so that the line would say less than it means
                    wrong += [f"{path.name}:{call.lineno}: {n}" for n in names & FORBIDDEN]
    assert wrong == []


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    out = io.StringIO()
    monkeypatch.setattr("sys.stderr", out)
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    set_up("INFO", json_lines=True)
    yield out
    root.handlers[:] = handlers
    root.setLevel(level)


def test_a_library_with_its_own_handler_writes_as_we_do(lines: io.StringIO) -> None:
    import github  # noqa: F401 - brings a handler with it

    logging.getLogger("github").addHandler(logging.StreamHandler(lines))
    adopt(*LOUD)
    logging.getLogger("github.GithubRetry").warning("failed at https://x:%s@h/", "s3cret")
    (line,) = lines.getvalue().splitlines()
    said = json.loads(line)
    assert (said["level"], said["logger"]) == ("WARNING", "github.GithubRetry")
    assert "s3cret" not in line


def test_secrets_do_not_get_in(lines: io.StringIO) -> None:
    logging.getLogger("x").info("said", extra={"token": "t", "patch": "+ code", "number": 3})
    said = json.loads(lines.getvalue())
    assert said["number"] == 3
    assert not FORBIDDEN & said.keys()
    assert redact("Bearer ghs_0123456789abcdefXYZ!") == "Bearer ***!"
