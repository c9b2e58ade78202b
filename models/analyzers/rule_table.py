"""All analyzers' rules that are off until a person asks for them, in one place."""

from __future__ import annotations

from models.analyzers import bandit, ruff_rules, rule_pack, shellcheck


def off_by_default() -> frozenset[str]:
    """Every such rule as analyzer:rule."""
    return frozenset(
        [f"ast-grep:{rule.id}" for rule in rule_pack.shipped_rules() if not rule.default_on]
        + [f"ruff:{code}" for code in ruff_rules.OFF_BY_DEFAULT]
        + [f"bandit:{code}" for code in bandit.OFF_BY_DEFAULT]
        + [f"shellcheck:SC{code}" for code in shellcheck.OFF_BY_DEFAULT]
    )
