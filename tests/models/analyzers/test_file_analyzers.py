"""What is said of images, scripts, YAML, SQL and workflows, and what is not."""

from models.analyzers.base import introduced
from models.review_types import Replacement, Severity
from tests.models.analyzers.calls import EXAMPLES, rules, run
from tests.models.analyzers.test_introduced import changed


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
