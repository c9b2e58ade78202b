"""All analyzers' rules that are off until a person asks for them, in one place."""

from __future__ import annotations

from models.analyzers import bandit, ruff_rules, rule_pack, shellcheck

SAME_FAULT: tuple[frozenset[str], ...] = (
    # an `except` that takes everything and drops it: told once, by whichever is ranked first
    frozenset({"ruff:E722", "ruff:S110", "ruff:S112", "ruff:BLE001"}),
)
"""Rules (analyzer:rule) that speak of one fault in their own words, where they meet on a line."""


def same_fault(rule: str, other: str) -> bool:
    """Whether two rules, each as analyzer:rule, say the same of one line."""
    return rule == other or any({rule, other} <= group for group in SAME_FAULT)


def off_by_default() -> frozenset[str]:
    """Every such rule as analyzer:rule."""
    return frozenset(
        [f"ast-grep:{rule.id}" for rule in rule_pack.shipped_rules() if not rule.default_on]
        + [f"ruff:{code}" for code in ruff_rules.OFF_BY_DEFAULT]
        + [f"bandit:{code}" for code in bandit.OFF_BY_DEFAULT]
        + [f"shellcheck:SC{code}" for code in shellcheck.OFF_BY_DEFAULT]
    )
