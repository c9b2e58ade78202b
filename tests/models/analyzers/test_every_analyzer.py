"""Each analyzer on real input that makes it report, on hostile input, and absent."""

import pytest

from models.analyzers import ANALYZERS
from models.analyzers.base import analyze
from tests.models.analyzers.calls import EXAMPLES, rules, run
from tests.tools.pmd import pmd_on_the_path

__all__ = ["pmd_on_the_path"]
EXPECTED = {
    "ruff": ("B006", 1),
    "ast-grep": ("js-debugger", 1),
    "bandit": ("B614", 3),
    "lizard": ("complexity", 1),
    "oxlint": ("no-dupe-keys", 1),
    "shellcheck": ("SC2164", 2),
    "hadolint": ("DL3003", 2),
    "yamllint": ("key-duplicates", 2),
    "zizmor": ("template-injection", 7),
    "sqlfluff": ("CV05", 1),
    "cppcheck": ("arrayIndexOutOfBounds", 3),
    "pmd": ("EqualsNull", 3),
}


@pytest.mark.parametrize("name", list(ANALYZERS))
def test_reports_a_real_smell(name):
    path, text = EXAMPLES[name]
    report = run(name, {path: text})
    assert report.notes == ()
    rule, line = EXPECTED[name]
    (finding,) = [one for one in report.findings if one.rule == rule]
    assert (finding.analyzer, finding.path, finding.line) == (name, path, line)
    assert finding.end_line >= line
    assert finding.message.endswith(".")
    assert finding.message[0].isupper() or finding.message[0] == "`"


@pytest.mark.parametrize("name", list(ANALYZERS))
def test_absent_it_is_one_note_and_the_others_work(name):
    path, text = EXAMPLES[name]
    absent = type(ANALYZERS[name])(f"{name}-that-is-not-there")
    report = analyze([absent, ANALYZERS["ruff"]], {path: text.encode(), "b.py": b"import os\n"})
    (note,) = report.notes
    assert note.startswith(f"{name}: not run: {name}-that-is-not-there is not installed; to get it")
    assert "F401" in rules(report)
    assert absent.version() is None


@pytest.mark.parametrize("name", list(ANALYZERS))
def test_odd_file_names(name):
    path, text = EXAMPLES[name]
    folder, _, last = path.rpartition("/")
    start = f"{folder}/" if folder else "ü b/"
    if name == "hadolint":
        names = [f"-d x/{last}", "ü b/c:1:2: [error] x/Dockerfile.é"]
    else:
        stem, dot, ending = last.partition(".")
        names = [f"{start}-{stem}{dot}{ending}", f"{start}a b:3:1: 'é'{dot}{ending}"]
    report = run(name, dict.fromkeys(names, text))
    assert {one.path for one in report.findings} == set(names)
    assert report.notes == ()


@pytest.mark.parametrize("name", list(ANALYZERS))
def test_content_that_is_not_text(name):
    path, text = EXAMPLES[name]
    folder, _, last = path.rpartition("/")
    bad = f"{folder}/x{last}" if folder else f"x/{last}"
    report = run(name, {bad: b"\xff\xfe\x80\1" * 300 + b"\n\xe9", path: text})
    assert EXPECTED[name][0] in [one.rule for one in report.findings if one.path == path]


@pytest.mark.parametrize("name", list(ANALYZERS))
def test_another_encoding_costs_no_finding(name):
    path, text = EXAMPLES[name]
    sign = {"py": "#", "sh": "#", "yml": "#", "Dockerfile": "#", "sql": "--"}
    mark = sign.get(path.rpartition(".")[2], "//")
    report = run(name, {path: text.encode() + f"{mark} é\n".encode("latin-1")})
    assert (EXPECTED[name][0], EXPECTED[name][1]) in [
        (one.rule, one.line) for one in report.findings
    ]
    assert all(one.fix == () for one in report.findings)


HOSTILE = {
    "oxlint": {
        ".oxlintrc.json": '{"rules": {"no-dupe-keys": "off"}, "ignorePatterns": ["**"]}',
        ".eslintignore": "*\n",
        "oxlint.config.ts": "export default { rules: {} };\n",
        ".gitignore": "*\n",
    },
    "shellcheck": {".shellcheckrc": "disable=all\n"},
    "hadolint": {".hadolint.yaml": "ignored: [DL3003]\n", ".hadolint.yml": "ignored: [DL3003]\n"},
    "yamllint": {".yamllint": "rules: {}\n", ".yamllint.yaml": "rules: {}\n"},
    "zizmor": {
        "zizmor.yml": "rules: {template-injection: {disable: true}}\n",
        ".github/zizmor.yml": "rules: {template-injection: {disable: true}}\n",
    },
    "sqlfluff": {
        ".sqlfluff": "[sqlfluff]\nexclude_rules = CV05\n",
        "pyproject.toml": '[tool.sqlfluff.core]\nexclude_rules = "CV05"\n',
        ".sqlfluffignore": "*\n",
    },
    "bandit": {
        ".bandit": "[bandit]\nskips: B614\n",
        "pyproject.toml": '[tool.bandit]\nskips = ["B614"]\n',
        "bandit.yaml": "skips: [B614]\n",
    },
    "lizard": {"whitelizard.txt": "f\n", ".gitignore": "*\n"},
    "cppcheck": {"a.cppcheck": "<project/>", "cppcheck.cfg": "x"},
}


@pytest.mark.parametrize("name", list(HOSTILE))
def test_the_repositorys_configuration_never_applies(name):
    path, text = EXAMPLES[name]
    report = run(name, {**HOSTILE[name], path: text})
    assert EXPECTED[name][0] in [one.rule for one in report.findings if one.path == path]


SUPPRESSED = {
    "bandit": ("a.py", "import torch\n\nweights = torch.load('w.bin')  # nosec\n"),
    "lizard": ("a.py", EXAMPLES["lizard"][1].replace("(x):\n", "(x):  # lizard forgives\n")),
    "oxlint": ("a.ts", "// oxlint-disable-next-line no-dupe-keys\n" + EXAMPLES["oxlint"][1]),
    "shellcheck": ("a.sh", "#!/bin/bash\n# shellcheck disable=SC2164\ncd /tmp/x\n"),
    "hadolint": ("Dockerfile", "FROM debian:12\n# hadolint ignore=DL3003\nRUN cd /x && ls\n"),
    "yamllint": ("a.yml", "a: 1\na: 2  # yamllint disable-line\n"),
    "sqlfluff": ("a.sql", "SELECT a FROM b WHERE c = NULL -- noqa\n"),
    "cppcheck": (
        "a.c",
        "int f(void) {\n  int a[3];\n  // cppcheck-suppress arrayIndexOutOfBounds\n  a[3] = 1;\n"
        "  return 0;\n}\n",
    ),
}


@pytest.mark.parametrize("name", list(SUPPRESSED))
def test_suppression_comments_are_honoured(name):
    path, text = SUPPRESSED[name]
    report = run(name, {path: text})
    assert EXPECTED[name][0] not in rules(report)
    assert report.notes == ()


BROKEN = {
    "ruff": ("a.py", "x = = 1\ny = = 2\n"),
    "oxlint": ("a.js", "function (:\n"),
    "shellcheck": ("a.sh", "#!/bin/sh\nif true; then\n"),
    "hadolint": ("Dockerfile", "FROM x\nRUNN y\n"),
    "yamllint": ("a.yml", "a: [1\nb: 2\n"),
}


@pytest.mark.parametrize("name", list(BROKEN))
def test_a_syntax_error_is_reported_once(name):
    path, text = BROKEN[name]
    report = run(name, {path: text})
    assert [one.rule for one in report.findings if one.rule == "syntax"] == ["syntax"]
