"""The sandbox from end to end, with a service of twenty lines in the App's place."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.github_double import Double
from tests.github_double.process import ROOT
from tests.github_double.service import Service, ServiceError

TWENTY_LINES = """
import json, os, requests
from http.server import BaseHTTPRequestHandler, HTTPServer

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()

    def do_POST(self):
        pull = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["pull_request"]
        self.send_response(202)
        self.end_headers()
        requests.post(
            os.environ["MARGINALIA_GITHUB_API_URL"]
            + f"/repos/{pull['base']['repo']['full_name']}/pulls/{pull['number']}/reviews",
            headers={"Authorization": "token " + os.environ["MARGINALIA_TOKEN"]},
            json={"event": "COMMENT", "body": "Read it all.", "comments": [
                {"path": "parcels.py", "line": 7, "side": "RIGHT", "body": "Shared between calls"}
            ]},
        )

HTTPServer(("127.0.0.1", int(os.environ["MARGINALIA_PORT"])), Handler).serve_forever()
"""


def sandbox(command: str, *more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "tests.github_double.sandbox",
            "--judge",
            "never",
            "--as",
            "token",
            "--command",
            command,
            *more,
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "KEEP": ""},
        timeout=900,
    )


def test_the_posted_review_is_printed(tmp_path: Path) -> None:
    script = tmp_path / "service.py"
    script.write_text(TWENTY_LINES)
    done = sandbox("{python} " + str(script))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "marginalia-bot reviewed" in done.stdout
    assert "Read it all." in done.stdout
    assert "--- parcels.py:7 (RIGHT)\n\nShared between calls" in done.stdout


def test_a_service_that_ends_is_an_error_with_its_last_words() -> None:
    done = sandbox("{python} -c 'raise SystemExit(\"no weights\")'")
    assert done.returncode == 1
    assert "the service ended:\nno weights" in done.stdout


def test_a_killed_service_is_gone_with_its_children(tmp_path: Path) -> None:
    script = tmp_path / "service.py"
    script.write_text(TWENTY_LINES)
    github = Double()
    github.url = "http://127.0.0.1:9"
    service = Service(github, tmp_path / "data", token="t", command="{python} " + str(script))
    with service:
        service.alive()
        pid = service.pid
        service.kill()
        with pytest.raises(ProcessLookupError):
            os.killpg(pid, 0)
        with pytest.raises(ServiceError, match="ended"):
            service.alive()
        service.start()
        assert service.pid != pid
