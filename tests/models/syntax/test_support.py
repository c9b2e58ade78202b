"""The table of languages by what works: it says what is true, and README says the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.analyzers.rule_pack import shipped_rules
from models.syntax import error_count, language_of, language_row
from models.syntax.support import support, table
from tests.bot.commands.command_line import call

ROOT = Path(__file__).parents[3]
ROWS = {one.title: one for one in support()}


def test_every_row_is_true_of_the_code():
    assert len(ROWS) == len(list(support()))
    for one in ROWS.values():
        endings = [name for name in one.files if name.startswith(".")]
        languages = {language_of(f"a{ending}") or language_of(ending) for ending in endings}
        if one.parses:
            (name,) = languages
            row = language_row(name)
            assert (row.title, row.targets, row.claims) == (one.title, one.targets, one.claims)
            assert error_count(b"", name) == 0
        else:
            assert not one.targets
            assert not one.claims
            assert one.analyzers
    assert sum(one.rules for one in ROWS.values()) == sum(
        len(rule.languages) for rule in shipped_rules()
    )


@pytest.mark.parametrize(
    ("title", "analyzers"),
    [
        ("Python", {"ruff", "ast-grep", "bandit", "lizard"}),
        ("TypeScript", {"ast-grep", "oxlint", "lizard"}),
        ("Bash", {"shellcheck"}),
        ("C++", {"ast-grep", "cppcheck", "lizard"}),
        ("GitHub workflows", {"yamllint", "zizmor"}),
        ("Dockerfile", {"hadolint"}),
        ("YAML", {"yamllint"}),
        ("SQL", {"sqlfluff"}),
    ],
)
def test_analyzers_of_a_row(title, analyzers):
    assert set(ROWS[title].analyzers) == analyzers


def test_doctor_prints_the_table_and_readme_has_it():
    assert call("doctor", "--languages").out == table()
    readme = (ROOT / "README.md").read_text("utf-8")
    assert table() in readme
