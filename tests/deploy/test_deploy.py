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


def test_every_setting_is_in_the_table_of_settings():
    text = (DEPLOY / "README.md").read_text("utf-8")
    rows = "\n".join(line for line in text.splitlines() if line.startswith("| `MARGINALIA_"))
    named = set(re.findall(r"`MARGINALIA_([A-Z_]+)`", rows.replace("` or `", "`, `")))
    assert named == {name.upper() for name in Settings.model_fields}
    # numbers in brackets are the defaults
    for name, field in Settings.model_fields.items():
        if isinstance(field.default, (int, float)) and not isinstance(field.default, bool):
            row = next(line for line in rows.splitlines() if f"`MARGINALIA_{name.upper()}`" in line)
            shown = {float(n.replace(",", "")) for n in re.findall(r"\b\d[\d,]*(?:\.\d+)?", row)}
            assert field.default in shown | {number * 2**20 for number in shown}, row


ELSEWHERE = {
    "where things are kept": "data_dir database_url retention_days body_retention_days",
    "the web side": "host port web_processes web_threads webhook_secret previous_webhook_secret "
    "allow_unsigned max_body_bytes metrics client_id client_secret public_url",
    "the run says it": "github_api_url github_url token app_id private_key private_key_file "
    "repositories",
    "an App alone may": "check_run resolve_threads",
    "jobs": "jobs_per_machine jobs_per_repository deliveries_per_machine poll_interval heartbeat "
    "lease stall_after sweep_interval max_tries retry_delay retry_delay_max give_up_after "
    "missed_interval poll_repositories poll_repositories_interval drain job_version",
    "logs": "log_level log_json",
}
"""Settings that mean nothing in a workflow's run, and why."""


def test_every_setting_that_a_run_could_use_is_an_input_of_the_action():
    action = read(DEPLOY / "action" / "action.yml")
    apart = {name for names in ELSEWHERE.values() for name in names.split()}
    wanted = set(Settings.model_fields) - apart
    inputs = {name.replace("-", "_"): entry for name, entry in action["inputs"].items()}
    assert set(inputs) - {"token", "python"} == wanted
    assert all(inputs[name]["default"] == "" for name in wanted)
    environment = action["runs"]["steps"][-1]["env"]
    assert environment == {
        "GITHUB_TOKEN": "${{ inputs.token }}",
        **{
            f"MARGINALIA_{name.upper()}": f"${{{{ inputs.{name.replace('_', '-')} }}}}"
            for name in wanted
        },
    }
    table = (DEPLOY / "README.md").read_text("utf-8")
    assert all(f"| `{name.replace('_', '-')}` |" in table for name in inputs)


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
