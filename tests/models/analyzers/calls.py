"""Calls of one analyzer at a time; a test is skipped where the analyzer is not installed."""

import pytest

from models.analyzers import ANALYZERS
from models.analyzers.base import run_analyzers

EXAMPLES = {
    "ruff": ("a.py", "def f(x=[]):\n    return x\n"),
    "ast-grep": ("a.js", "debugger;\n"),
    "bandit": ("a.py", "import torch\n\nweights = torch.load('w.bin')\n"),
    "lizard": ("a.py", "def f(x):\n" + "".join(f"    if x == {n}: g()\n" for n in range(30))),
    "oxlint": ("a.ts", "const o = { a: 1, a: 2 };\nexport default o;\n"),
    "shellcheck": ("run.sh", "#!/bin/bash\ncd /tmp/x\nrm -rf ./*\n"),
    "hadolint": ("Dockerfile", "FROM debian:12\nRUN cd /x && ls\n"),
    "yamllint": ("a.yml", "a: 1\na: 2\n"),
    "zizmor": (
        ".github/workflows/ci.yml",
        "on: issues\njobs:\n  a:\n    runs-on: ubuntu-latest\n    permissions: {}\n    steps:\n"
        '      - run: echo "${{ github.event.issue.title }}"\n',
    ),
    "sqlfluff": ("a.sql", "SELECT a FROM b WHERE c = NULL\n"),
    "cppcheck": ("a.c", "int f(void) {\n  int a[3];\n  a[3] = 1;\n  return a[0];\n}\n"),
    "pmd": (
        "A.java",
        "class A {\n  private int x = 1;\n  boolean f(Object o) { return o.equals(null); }\n}\n",
    ),
}


def installed(name: str) -> None:
    reason = ANALYZERS[name].available()
    if name == "pmd" and reason:
        pytest.skip(f"{reason}, or run npm ci --ignore-scripts in tests/tools")


def run(name: str, files: dict[str, str | bytes], enable: tuple[str, ...] = ()):
    installed(name)
    raw = {path: text.encode() if isinstance(text, str) else text for path, text in files.items()}
    return run_analyzers(raw, names=[name], time_limit_s=120, enable=enable)


def rules(report):
    return [one.rule for one in report.findings]
