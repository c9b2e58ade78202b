"""The files under deploy/ are linted and say nothing that the program does not know."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from bot.metrics_export import LedgerCollector, Metrics
from bot.settings import Settings
from bot.store.ledger import Ledger

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
TOOLS = Path(sys.executable).parent
WORKFLOWS = [DEPLOY / "action" / "action.yml", DEPLOY / "action" / "example-workflow.yml"]


def tool(name: str) -> str:
    found = shutil.which(name, path=str(TOOLS)) or shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def run(*command: str, **more) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, **more)
    assert done.returncode == 0, done.stdout + done.stderr


def read(path: Path):
    return yaml.safe_load(path.read_text("utf-8"))


def test_the_dockerfile_is_clean():
    run(tool("hadolint"), "--failure-threshold", "style", str(DEPLOY / "Dockerfile"))


def test_the_image_is_not_root_and_its_torch_is_the_projects():
    text = (DEPLOY / "Dockerfile").read_text()
    users = re.findall(r"^USER (\S+)$", text, re.MULTILINE)
    assert users
    assert users[-1] not in ("root", "0")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    version = re.search(r'TORCH_VERSION="([^"]+)"', text)[1]
    assert f"torch=={version}" in project["dependencies"]
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", text, re.MULTILINE)
    assert all((ROOT / name).exists() for row in copied for name in row.split())


def test_yaml_is_clean():
    files = sorted(str(path) for path in DEPLOY.rglob("*.y*ml"))
    assert len(files) == 4
    rules = (
        "{extends: default, rules: {line-length: {max: 130}, truthy: {check-keys: false},"
        " comments: {min-spaces-from-content: 1}}}"
    )
    run(tool("yamllint"), "--strict", "-d", rules, *files)


def test_workflows_are_safe():
    run(tool("zizmor"), "--offline", "--no-progress", "--persona", "pedantic", *map(str, WORKFLOWS))


def test_the_actions_scripts_take_no_text_from_expressions():
    steps = read(DEPLOY / "action" / "action.yml")["runs"]["steps"]
    for step in steps:
        assert step["shell"] == "bash"
        assert "${{" not in step["run"]
        run(tool("shellcheck"), "--shell=bash", "-", input=step["run"])
    inputs = read(DEPLOY / "action" / "action.yml")["inputs"]
    assert all(entry["description"] for entry in inputs.values())


def test_the_example_workflow_has_the_least_permissions():
    workflow = read(DEPLOY / "action" / "example-workflow.yml")
    assert workflow["permissions"] == {}
    (job,) = workflow["jobs"].values()
    assert job["permissions"] == {"contents": "read", "pull-requests": "write"}
    assert "pull_request_target" not in workflow[True]


def test_compose_is_closed_up_and_its_settings_exist():
    services = read(DEPLOY / "compose.yaml")["services"]
    assert set(services) == {"database", "web", "worker"}
    for name in ("web", "worker"):
        service = services[name]
        assert service["read_only"]
        assert service["cap_drop"] == ["ALL"]
        assert "privileged" not in service
        assert service["command"] == [name]
    assert all(port.startswith("127.0.0.1:") for port in services["web"]["ports"])
    assert not services["database"]["image"].endswith((":latest", "postgres"))
    texts = "".join(
        (DEPLOY / name).read_text() for name in ("compose.yaml", "Dockerfile", "example.env")
    )
    names = set(re.findall(r"\bMARGINALIA_([A-Z_]+)", texts))
    assert names
    assert {name.lower() for name in names} <= set(Settings.model_fields)


def test_the_boards_metrics_are_exported(tmp_path, monkeypatch):
    board = json.loads((DEPLOY / "grafana" / "marginalia.json").read_text())
    wanted = {
        name
        for panel in board["panels"]
        for target in panel["targets"]
        for name in re.findall(r"marginalia_\w+", target["expr"])
    }
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
    monkeypatch.delenv("PROMETHEUS_MULTIPROC_DIR", raising=False)
    ledger = Ledger(f"sqlite:///{tmp_path}/ledger.db")
    ledger.migrate()
    families = [
        *Metrics().registry.collect(),
        *LedgerCollector(ledger.database, 20.0).collect(),
    ]
    ledger.close()
    exported = {
        name + suffix
        for name in (family.name for family in families)
        for suffix in ("", "_total", "_bucket")
    }
    assert wanted <= exported, wanted - exported
