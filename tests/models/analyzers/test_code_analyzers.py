"""What is said of code by lizard, cppcheck, oxlint and bandit, and what is not."""

import pytest

from models.analyzers import ANALYZERS
from models.analyzers.base import introduced, run_analyzers
from models.review_types import Finding, Severity
from tests.models.analyzers.calls import EXAMPLES, rules, run
from tests.models.analyzers.test_introduced import changed


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
