"""The hold-out report: what was accepted, whether the probabilities held, what they would do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from bot.feedback.calibration import AcceptanceModel, Choices, Observed, origin_of, rule_of
from bot.feedback.ledger import observed
from bot.feedback.measures import Bin, bins, expected_calibration_error, table, wilson
from bot.feedback.outcome import ACCEPTED, State
from bot.feedback.tables import OutcomeRow
from models.review_types import Candidate, Score

DAYS_30 = 30 * 86_400.0
"""What "last month" means: the 30 days before the report."""


@dataclass(frozen=True, slots=True)
class Share:
    """Of ``total`` ended comments ``accepted`` were accepted; 90 % interval, and every state."""

    name: str
    total: int
    accepted: int
    low: float
    high: float
    states: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class WhatIf:
    """What the learnt probability would have done with the last month's comments.

    The model has seen nothing from that month. ``kept`` of the ``posted`` are at least ``sure``;
    ``newly`` candidates that were held back then would have been posted (nobody knows how they
    would have ended). ``accepted_same_number`` compares at the number kept: those with the
    highest prior instead.
    """

    sure: float
    posted: int
    accepted: int
    kept: int
    kept_accepted: int
    accepted_same_number: int
    newly: int


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that ``marginalia feedback report`` shows.

    ``curve``/``error`` are of the learnt probabilities, each predicted by what was known before
    its month; ``prior_error`` is that of the priors on the same comments.
    """

    shares: Mapping[str, tuple[Share, ...]]
    open: int
    outdated: int
    curve: tuple[Bin, ...]
    error: float | None
    prior_error: float | None
    what_if: WhatIf
    model: AcceptanceModel


def make_report(
    rows: Sequence[OutcomeRow],
    held_back: Sequence[tuple[Candidate, Score, float]],
    now: float,
    sure: float = 0.5,
    choices: Choices | None = None,
) -> Report:
    """The report of these outcomes (of one repository, or of all as one).

    Args:
        rows: all outcomes in the ledger.
        held_back: what was not sure enough in the 30 days before ``now``.
        now: the time of the report, seconds since the epoch.
        sure: the threshold in force.
        choices: pins and bans of the repository (``bot.kept_config``).
    """
    names: dict[str, Callable[[OutcomeRow], str]] = {
        "origin": lambda row: origin_of(row.origin),
        "rule": lambda row: rule_of(row.origin),
        "language": lambda row: row.language,
        "month": lambda row: _month(row.posted_at),
    }
    ended = [row for row in rows if row.final and row.state != State.OUTDATED.value]
    learnt = observed(rows)
    predicted = _held_out(learnt)
    truth = [float(one.accepted) for one, _ in predicted]
    return Report(
        shares={name: _shares(ended, key) for name, key in names.items()},
        open=sum(not row.final for row in rows),
        outdated=sum(row.final and row.state == State.OUTDATED.value for row in rows),
        curve=tuple(bins([p for _, p in predicted], truth)),
        error=expected_calibration_error([p for _, p in predicted], truth),
        prior_error=expected_calibration_error([one.prior for one, _ in predicted], truth),
        what_if=_what_if(learnt, held_back, now, sure, choices or Choices()),
        model=AcceptanceModel.shipped().learn(learnt).with_choices(choices or Choices()),
    )


def as_json(report: Report) -> dict[str, Any]:
    """The report as a JSON value."""
    sure = report.what_if.sure
    choices = report.model.choices
    return {
        "pinned": sorted(choices.pinned),
        "banned": sorted(choices.banned),
        "acceptance": {
            name: [{**asdict(share), "states": dict(share.states)} for share in shares]
            for name, shares in report.shares.items()
        },
        "open": report.open,
        "outdated": report.outdated,
        "calibration": {
            "bins": [asdict(one) for one in report.curve],
            "expected_calibration_error": report.error,
            "prior_expected_calibration_error": report.prior_error,
        },
        "last_month": asdict(report.what_if),
        "rules": [
            {**asdict(one), "status": one.status(sure, report.model.choices).value}
            for one in report.model.standings
        ],
        "outcomes": report.model.outcomes,
    }


def as_text(report: Report) -> list[str]:
    """The report for a person, as lines."""
    waiting = f"{report.open} still open, {report.outdated} outdated"
    if not any(report.shares.values()):
        return [
            f"No comment has an outcome yet ({waiting}): what became of one is known when it is "
            "answered or its pull request is closed."
        ]
    lines: list[str] = []
    for name, shares in report.shares.items():
        width = max([len(name), *(len(share.name) for share in shares)])
        lines += [f"{name:<{width}}  accepted  of  share (90 %)"]
        lines += [
            f"{one.name:<{width}}  {one.accepted:>8} {one.total:>3}  "
            f"{one.accepted / one.total:.2f} ({one.low:.2f} to {one.high:.2f})"
            for one in shares
        ]
        lines.append("")
    lines.append(f"{waiting} (not counted above)")
    lines += ["", "Calibration, each month predicted from what was known before it:"]
    lines += table(report.curve)
    if report.error is not None and report.prior_error is not None:
        lines.append(
            f"expected calibration error {report.error:.3f}; of the priors {report.prior_error:.3f}"
        )
    lines += ["", *_what_if_text(report.what_if)]
    sure = report.what_if.sure
    lines += ["", f"Rules at {sure:.2f} sure:"]
    for word, names in (
        ("pinned", report.model.choices.pinned),
        ("banned", report.model.choices.banned),
    ):
        if names:
            lines.append(f"  {word} by the configuration: {', '.join(sorted(names))}")
    lines += [
        f"  {one.rule}: {one.prior:.2f} -> {one.probability:.2f} ({one.low:.2f} to "
        f"{one.high:.2f}), {one.accepted} of {one.total} accepted, "
        f"{one.status(sure, report.model.choices).value}"
        for one in report.model.standings
    ]
    return lines


def _what_if_text(found: WhatIf) -> list[str]:
    if not found.posted and not found.newly:
        return ["Last 30 days: no comment has ended."]
    return [
        f"Last 30 days: {found.posted} comments ended, {found.accepted} accepted.",
        f"With what was known before, at {found.sure:.2f} sure, {found.kept} of them would have "
        f"been posted, {found.kept_accepted} accepted (the same number by the priors: "
        f"{found.accepted_same_number}); {found.newly} that were held back would have been posted.",
    ]


def _shares(rows: Sequence[OutcomeRow], key: Callable[[OutcomeRow], str]) -> tuple[Share, ...]:
    groups: dict[str, list[State]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(State(row.state))
    made = []
    for name in sorted(groups):
        states = groups[name]
        accepted = sum(state in ACCEPTED for state in states)
        low, high = wilson(accepted, len(states))
        counts = {state.value: states.count(state) for state in State if state in states}
        made.append(Share(name, len(states), accepted, low, high, counts))
    return tuple(made)


def _held_out(learnt: Sequence[Observed]) -> list[tuple[Observed, float]]:
    """Every outcome with the probability that the model of the months before gave it."""
    ordered = sorted(learnt, key=lambda one: (one.at, one.key))
    months: dict[str, list[Observed]] = {}
    for one in ordered:
        months.setdefault(_month(one.at), []).append(one)
    made: list[tuple[Observed, float]] = []
    for month in sorted(months):
        model = AcceptanceModel.shipped().learn([one for one, _ in made])
        made += [(one, model.probability_of(one)) for one in months[month]]
    return made


def _what_if(
    learnt: Sequence[Observed],
    held_back: Sequence[tuple[Candidate, Score, float]],
    now: float,
    sure: float,
    choices: Choices,
) -> WhatIf:
    since = now - DAYS_30
    before = AcceptanceModel.shipped().learn([one for one in learnt if one.at < since])
    model = before.with_choices(choices)
    last = [one for one in learnt if since <= one.at <= now]
    kept = [one for one in last if model.chosen_probability_of(one) >= sure]
    by_prior = sorted(last, key=lambda one: -one.prior)[: len(kept)]
    return WhatIf(
        sure=sure,
        posted=len(last),
        accepted=sum(one.accepted for one in last),
        kept=len(kept),
        kept_accepted=sum(one.accepted for one in kept),
        accepted_same_number=sum(one.accepted for one in by_prior),
        newly=sum(model.probability(c, score, prior) >= sure for c, score, prior in held_back),
    )


def _month(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m")
