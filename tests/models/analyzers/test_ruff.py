"""The ruff adapter: selection, words, fixes."""

import json
import subprocess

from models.analyzers import ruff_rules
from models.analyzers.base import run_analyzers
from models.analyzers.process import find_tool
from models.review_types import Replacement, Severity


def findings(text: str, path: str = "a.py", enable=()):
    report = run_analyzers({path: text.encode()}, names=["ruff"], enable=enable)
    assert report.notes == ()
    return report.findings


def test_a_safe_fix_becomes_whole_lines():
    (finding,) = findings("def f(é):\n    return é == None and é\n")
    assert finding.rule == "E711"
    assert finding.message == "Compare with `None` by `is` or `is not`."
    assert finding.fix == ()  # ruff calls it unsafe: a class may define ==
    (finding,) = findings("ü = [1]\nif not 'é' in ü:\n    ü = 2\n")
    assert finding.rule == "E713"
    assert finding.fix == (Replacement(2, 2, ("if 'é' not in ü:",)),)


def test_what_a_raise_in_a_handler_lacks_is_no_lost_cause():
    # Python keeps the first exception as the context; what is lost is that it was handled
    (finding,) = findings("try:\n    f = open('x')\nexcept OSError:\n    raise ValueError('y')\n")
    assert finding.rule == "B904"
    assert "lost" not in finding.message
    assert finding.message.startswith("Raise with `from err` (or `from None`)")


def test_an_unused_import_is_removed_line_and_all():
    (finding,) = findings("import os\nimport sys\n\nprint(sys)\n")
    assert finding.message == "`os` is imported but not used; remove the import."
    assert finding.fix == (Replacement(1, 1, ()),)


def test_words_of_its_own_where_we_have_none():
    assert "RUF017" not in ruff_rules.MESSAGES
    (finding,) = findings("def f(x):\n    return sum(x, [])\n")
    assert finding.message == "Avoid quadratic list summation."
    assert finding.severity is Severity.INFO


def test_our_words_name_what_ruffs_message_is_about():
    texts = {
        "PLR1722": ("exit(1)\n", "`exit()` is meant for the interactive prompt; use `sys.exit()`."),
        "PERF102": (
            "for k, _ in d.items():\n    print(k)\n",
            "Only one half of each pair is used: iterate over `.keys()`.",
        ),
        "PIE810": (
            "x.startswith('a') or x.startswith('b')\n",
            "Pass a tuple to `startswith` instead of several calls.",
        ),
        "SIM113": (
            "def f(y):\n    i = 0\n    for x in y:\n        g(i, x)\n        i += 1\n",
            "Count with `enumerate()` instead of `i`.",
        ),
    }
    for rule, (text, message) in texts.items():
        said = {one.rule: one.message for one in findings(text, enable=[f"ruff:{rule}"])}
        assert said[rule] == message


def test_noisy_rules_run_only_when_asked_for():
    assert findings("print(1)\n") == ()
    (finding,) = findings("print(1)\n", enable=["ruff:T201"])
    assert finding.rule == "T201"


def test_tests_are_let_off_what_tests_do():
    text = "import requests\n\n\ndef test_f():\n    assert requests.get('x')\n"
    assert [one.rule for one in findings(text, "a.py")] == ["S113"]
    assert findings(text, "tests/test_a.py") == ()


def test_an_imported_fixture_is_used_by_being_a_parameter():
    text = "from .fixtures import site, other\n\n\ndef test_f(\n    site,\n):\n    assert site.up\n"
    said = [(one.rule, one.message) for one in findings(text, "tests/test_a.py")]
    assert said == [("F401", "`.fixtures.other` is imported but not used; remove the import.")]
    assert "F811" in [one.rule for one in findings(text, "a.py")]


def test_tests_may_hold_odd_characters_and_times():
    text = "import datetime\n\nNOW = datetime.datetime.utcnow()\nURL = '//a.b\u200b@c.d'\n"
    assert [one.rule for one in findings(text, "a.py")] == ["DTZ003", "PLE2515"]
    assert findings(text, "tests/test_a.py") == ()


def test_a_debuggers_call_was_left_in_and_its_import_may_be_meant():
    assert [one.rule for one in findings("import pdb\n\nuse(pdb.Pdb)\n")] == ["F821"]
    (finding,) = findings("import pdb\n\npdb.set_trace()\n")
    assert (finding.rule, finding.line) == ("T100", 3)


def test_a_class_that_names_itself_in_an_annotation_is_known():
    text = "class Matrix:\n    def __mul__(self, b: Matrix) -> Matrix:\n        return b\n"
    assert findings(text) == ()
    (finding,) = findings(text.replace("b: Matrix", "b: Vector"))
    assert (finding.rule, finding.message[:8]) == ("F821", "`Vector`")
    (early,) = findings("x = Matrix()\n\n\nclass Matrix:\n    y = x\n")
    assert early.rule == "F821"


def test_an_f_string_without_a_placeholder_is_no_error():
    (finding,) = findings("x = f'a'\n")
    assert (finding.rule, finding.severity) == ("F541", Severity.INFO)


def test_style_that_linters_have_is_off_until_it_is_asked_for():
    text = "if x := f():\n    y = set([1])\nelse:\n    if x == 2:\n        f()\n"
    assert [one.rule for one in findings(text)] == ["F821", "F821"]
    asked = findings(text, enable=["ruff:C405", "ruff:PLR5501"])
    assert {one.rule for one in asked} == {"F821", "C405", "PLR5501"}


def test_only_the_first_syntax_error_is_reported():
    (finding,) = findings("x = = 1\ny = = 2\ndef (:\n")
    assert (finding.rule, finding.line, finding.severity) == ("syntax", 1, Severity.ERROR)
    assert finding.message == "Syntax error: expected an expression."


def test_the_syntax_of_a_newer_python_is_no_error():
    assert findings("match [1]:\n    case [x]:\n        y = x\ntype A = int\n") == ()


def test_every_selected_rule_exists_and_is_stable():
    known = json.loads(
        subprocess.run(
            [find_tool("ruff"), "rule", "--all", "--output-format=json"],
            capture_output=True,
            check=True,
        ).stdout
    )
    stable = {rule["code"] for rule in known if not rule["preview"]}
    chosen = [*ruff_rules.DEFECTS, *ruff_rules.SECURITY, *ruff_rules.SIMPLIFICATIONS]
    for code in [*chosen, *ruff_rules.OFF_BY_DEFAULT, *ruff_rules.MESSAGES]:
        assert any(one.startswith(code) for one in stable), code


def test_every_message_is_a_sentence():
    for code, message in ruff_rules.MESSAGES.items():
        assert message.endswith("."), code
        assert len(message) <= 140, code


def test_an_awaited_call_blocks_nothing() -> None:
    text = """\
import httpx


async def fetch(url):
    client = httpx.Client()
    first = {0}client.get(url)
    return first, {0}(
        client.get(url)
    )
"""
    assert [one.rule for one in findings(text.format(""))] == ["ASYNC212", "ASYNC212"]
    assert findings(text.format("await ")) == ()
