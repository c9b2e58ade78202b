"""Which answer is given, on candidates whose expectations are worked out by hand."""

import pytest

from models.systems.decision import Stakes, choose, expected_distances

SOURCE = "a b c d"


def test_expected_distances_by_hand():
    candidates = [(0.5, "a b c x"), (0.25, "a b c y z")]
    # against the first (0 and 2 tokens, where the source is 1 away), against the second (2 and 0,
    # where the source is 2 away), and a truth that is neither, as far again as the edits are long
    first = 0.5 * (0 - 1) + 0.25 * (2 - 2) + 0.25 * 0.8 * 1
    second = 0.5 * (2 - 1) + 0.25 * (0 - 2) + 0.25 * 0.8 * 2
    assert expected_distances(SOURCE, candidates, 0.8) == pytest.approx([first, second])


def test_no_candidate_is_no_answer():
    assert expected_distances(SOURCE, [], 1.0) == []
    assert choose(SOURCE, [], Stakes(0.1, 1.0)) is None


def test_where_tokens_cost_nothing_the_most_probable_is_given():
    assert choose(SOURCE, [(0.2, "x y z"), (0.3, "a b"), (0.1, "a")], Stakes(0.0, 1.0)) == 1


def test_a_doubtful_long_edit_is_not_given_where_a_short_one_is():
    long = "p q r s t u v w x y"
    stakes = Stakes(0.02, 1.0)
    assert choose(SOURCE, [(0.1, long)], stakes) is None
    assert choose(SOURCE, [(0.1, "a b c x")], stakes) == 0
    assert choose(SOURCE, [(0.6, long)], stakes) == 0


def test_of_two_as_probable_texts_the_one_nearer_to_the_other_candidates_is_given():
    candidates = [(0.2, "k l m n o p q"), (0.2, "a b c x y"), (0.2, "a b c x z")]
    assert choose(SOURCE, candidates, Stakes(0.02, 1.0)) in (1, 2)


def test_probabilities_that_round_above_one_leave_nothing_over():
    assert expected_distances(SOURCE, [(1.0000001, "a b c x")], 5.0) == pytest.approx([-1.0])
