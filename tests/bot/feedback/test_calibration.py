"""The learnt probability: the prior at first, a team's taste later, never a jump."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import pytest

from bot.feedback.calibration import AcceptanceModel, Choices, Observed, Status
from bot.feedback.measures import bins, expected_calibration_error, table, wilson
from models.change import Side
from models.review_types import Candidate, CandidateKind, Score
from tests.bot.feedback.teams import TASTES, Team, accepted_at, errors, live

SCORE = Score(0.5, 0.5, 0.5, "test")


def candidate(origin: str = "ruff:B006", confidence: float = 1.0) -> Candidate:
    return Candidate(
        CandidateKind.FINDING, origin, "a.py", Side.RIGHT, 1, 1, "text", confidence=confidence
    )


def outcomes(
    count: int, accepted: bool, origin: str = "ruff:B006", first: int = 0
) -> list[Observed]:
    return [
        Observed(f"{origin}{first + at}", float(first + at), origin, 0.7, accepted)
        for at in range(count)
    ]


@pytest.mark.parametrize("prior", [0.0, 0.05, 0.55, 0.7, 0.9, 1.0])
def test_a_new_team_starts_from_the_prior(prior: float) -> None:
    assert AcceptanceModel.shipped().probability(candidate(), SCORE, prior) == prior
    assert AcceptanceModel.shipped().learn([]).probability(candidate(), SCORE, prior) == prior


def test_one_dismissal_is_no_jump_and_five_outcomes_hardly_move() -> None:
    start = AcceptanceModel.shipped()
    for prior in (0.55, 0.7, 0.9):
        seen = [replace(one, prior=prior) for one in outcomes(5, False)]
        one = start.learn(seen[:1]).probability(candidate(), SCORE, prior)
        assert prior - 0.05 < one < prior
        mixed = [*seen[:2], *(replace(o, accepted=True) for o in seen[2:])]
        assert abs(start.learn(mixed).probability(candidate(), SCORE, prior) - prior) < 0.08
    others = start.learn(outcomes(5, False)).probability(candidate("oxlint:eqeqeq"), SCORE, 0.7)
    assert abs(others - 0.7) < 0.1


def test_each_single_outcome_moves_little_at_any_time() -> None:
    seen = outcomes(40, False)
    before = 0.7
    for count in range(1, 41, 3):
        model = AcceptanceModel.shipped().learn(seen[:count])
        now = model.probability(candidate(), SCORE, 0.7)
        assert before - 3 * 0.1 < now < before
        before = now
    assert before < 0.12


def test_a_rule_that_is_dismissed_fades_and_is_listed_with_its_counts() -> None:
    seen = outcomes(25, False, "ruff:E501") + outcomes(25, True, "ruff:F821", 100)
    model = AcceptanceModel.shipped().learn(seen)
    faded = model.faded(0.5)
    assert [one.rule for one in faded] == ["ruff:E501"]
    (one,) = faded
    assert (one.total, one.accepted) == (25, 0)
    assert one.low < one.probability < one.high < 0.5
    assert model.probability(candidate("ruff:F821"), SCORE, 0.7) > 0.7


def test_pins_and_bans_stand_above() -> None:
    model = AcceptanceModel.shipped().learn(outcomes(25, False, "ruff:E501"))
    pinned = model.with_choices(Choices(pinned=frozenset({"ruff:E501"})))
    assert pinned.probability(candidate("ruff:E501"), SCORE, 0.7) == 0.7
    assert pinned.standings[0].status(0.5, pinned.choices) is Status.PINNED
    banned = model.with_choices(Choices(banned=frozenset({"ruff"})))
    assert banned.probability(candidate("ruff:B006"), SCORE, 0.9) == 0.0
    assert banned.probability(candidate("t5:crb:1a2b"), SCORE, 0.9) > 0.5
    assert banned.faded(0.5) == ()


def test_a_model_of_another_hash_inherits_what_its_family_learnt() -> None:
    model = AcceptanceModel.shipped().learn(outcomes(30, False, "t5:crb:11111111"))
    assert model.probability(candidate("t5:crb:22222222"), SCORE, 0.7) < 0.3


def test_order_and_repetition_do_not_matter() -> None:
    seen = outcomes(12, True) + outcomes(9, False, "oxlint:eqeqeq", 3)
    twice = [*seen, *seen]
    random.Random(5).shuffle(twice)
    assert AcceptanceModel.shipped().learn(twice) == AcceptanceModel.shipped().learn(seen)


def test_the_state_survives_json() -> None:
    model = AcceptanceModel.shipped().learn(outcomes(30, False), outcomes(9, True, "ruff:E501", 50))
    again = AcceptanceModel.from_json(json.loads(json.dumps(model.to_json())))
    assert again.standings == model.standings
    for prior in (0.3, 0.7):
        one, other = (m.probability(candidate(), SCORE, prior) for m in (model, again))
        assert one == pytest.approx(other, abs=1e-5)
    with pytest.raises(ValueError, match="of version 0, not 1"):
        AcceptanceModel.from_json({"version": 0})
    with pytest.raises(ValueError, match="damaged"):
        AcceptanceModel.from_json({"version": 1})


def test_a_new_repository_borrows_from_its_installation_and_is_not_counted_twice() -> None:
    elsewhere = [replace(one, repository_id=2) for one in outcomes(60, False, "ruff:E501")]
    start = AcceptanceModel.shipped()
    assert start.learn([], elsewhere).probability(candidate("ruff:E501"), SCORE, 0.7) < 0.3
    own = [replace(one, repository_id=1) for one in outcomes(8, False, "ruff:E501", 90)]
    assert start.learn(own, own) == start.learn(own)
    # its own answers win over its neighbours'
    mine = [replace(one, repository_id=1) for one in outcomes(60, True, "ruff:E501", 90)]
    assert start.learn(mine, elsewhere).probability(candidate("ruff:E501"), SCORE, 0.7) > 0.8


@pytest.mark.parametrize("name", ["likes style", "hates style", "as shipped"])
def test_calibrated_after_300_outcomes_and_better_than_a_fixed_threshold(name: str) -> None:
    course = live(Team(TASTES[name], seed=3), 300, every=60)
    posted, _ = errors(course.model, TASTES[name])
    assert posted < 0.05
    for share in (0.25, 0.5):
        learnt, fixed, _ = accepted_at(course.model, TASTES[name], share)
        assert learnt > fixed if name != "as shipped" else learnt > 0.95 * fixed


def test_a_team_that_changes_its_taste_is_followed() -> None:
    likes, hates = TASTES["likes style"], TASTES["hates style"]
    team = Team(likes, hates, change_after=200, seed=2)
    course = live(team, 10_000, every=200, reviews=200)
    at_change, _ = errors(course.model, hates)
    live(team, len(course.outcomes) + 300, every=100, course=course)
    after, _ = errors(course.model, hates)
    assert after < 0.05 < at_change


def test_measures() -> None:
    assert expected_calibration_error([], []) is None
    assert expected_calibration_error([0.9] * 10, [1.0] * 9 + [0.0]) == pytest.approx(0)
    assert expected_calibration_error([0.9, 0.1], [0.0, 1.0]) == pytest.approx(0.9)
    low, high = wilson(9, 10)
    assert (round(low, 3), round(high, 3)) == (0.652, 0.977)
    (row,) = bins([0.61, 0.65], [1.0, 0.0])
    assert (row.low, row.count, row.predicted, row.observed) == (0.6, 2, pytest.approx(0.63), 0.5)
    assert "##########" in table([row])[1]
