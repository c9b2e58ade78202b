"""Every rule of the pack on its own example, in each of its languages."""

import pytest

from models.analyzers import rule_pack
from models.analyzers.ast_grep import AstGrep
from models.analyzers.base import analyze

ENDINGS = {
    "Python": "py",
    "JavaScript": "js",
    "TypeScript": "ts",
    "Tsx": "tsx",
    "Java": "java",
    "Go": "go",
    "C": "c",
    "Cpp": "cpp",
    "Rust": "rs",
}
RULES = rule_pack.shipped_rules()
CASES = [(rule, language) for rule in RULES for language in rule.languages]


def example(rule, language, kind):
    return f"{kind}/{language}/{rule.id}.{rule.ending or ENDINGS[language]}"


@pytest.fixture(scope="module")
def report():
    files = {
        example(rule, language, kind): getattr(rule, kind).encode()
        for rule, language in CASES
        for kind in ("bad", "good")
    }
    made = analyze([AstGrep("ast-grep")], files, enable=[rule.id for rule in RULES])
    assert made.notes == ()
    return made


def named(report, path, rule):
    return [one for one in report.findings if one.path == path and one.rule == rule.id]


@pytest.mark.parametrize(("rule", "language"), CASES, ids=lambda one: getattr(one, "id", one))
def test_reports_its_bad_example_once_and_its_good_one_never(report, rule, language):
    assert rule.bad.strip()
    assert rule.good.strip()
    assert len(named(report, example(rule, language, "bad"), rule)) == 1
    assert named(report, example(rule, language, "good"), rule) == []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_fix_gives_the_stated_text(report, rule):
    assert ("fix" in rule.body) == (rule.fixed is not None)
    if rule.fixed is None:
        return
    (finding,) = named(report, example(rule, rule.languages[0], "bad"), rule)
    lines = rule.bad.splitlines()
    for one in reversed(finding.fix):
        lines[one.start_line - 1 : one.end_line] = one.lines
    assert lines == rule.fixed.splitlines()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_rule_is_well_formed(rule):
    assert rule.path.stem == rule.id
    assert rule.message.endswith(".")
    assert len(rule.message) <= 140
    assert rule.body["severity"] in ("error", "warning", "info")


def test_a_rule_that_is_off_by_default_runs_only_when_it_is_named(report):
    off = [rule for rule in RULES if not rule.default_on]
    files = {example(rule, rule.languages[0], "bad"): rule.bad.encode() for rule in off}
    silent = analyze([AstGrep("ast-grep")], files)
    assert off
    for rule in off:
        path = example(rule, rule.languages[0], "bad")
        assert named(silent, path, rule) == []
        assert named(report, path, rule)


def test_a_broken_rule_file_is_named(tmp_path):
    path = tmp_path / "x.yml"
    path.write_text("id: x\n")
    with pytest.raises(ValueError, match=r"x\.yml: not an ast-grep rule"):
        rule_pack.read_rule(path)
