"""Which answer is given, on candidates whose expectations are worked out by hand."""

import pytest

from models.systems.decision import Stakes, choose, expected_distances
from models.systems.soundness import parses_like
from models.tasks import Example

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


def test_an_unsound_candidate_is_passed_over():
    candidates = [(0.5, "a b c x"), (0.3, "a b c y")]
    stakes = Stakes(0.01, 1.0)
    assert choose(SOURCE, candidates, stakes) == 0
    assert choose(SOURCE, candidates, stakes, lambda text: "x" not in text) == 1
    assert choose(SOURCE, candidates, stakes, lambda text: False) is None


JAVA = "public int METHOD_1 ( int VAR_1 ) { if ( VAR_1 > 0 ) { return 1 ; } return VAR_1 ; }"


def test_a_method_with_a_bracket_too_few_does_not_parse():
    sound = parses_like(Example("1", JAVA, abstracted=True))
    assert sound(JAVA)
    assert sound(JAVA.replace("VAR_1 > 0", "VAR_1 >= 0"))
    assert not sound(JAVA.replace("return 1 ; }", "return 1 ;"))
    assert not sound(JAVA.replace("if ( VAR_1 > 0 ) {", "else {"))


def test_what_is_broken_already_may_stay_so_but_not_get_worse():
    cut = Example("1", "    if a:\n        f(\n", language="python")
    assert parses_like(cut)("    if b:\n        f(\n")
    whole = Example("1", "if a:\n    f()\n", language="python")
    assert not parses_like(whole)("if a:\n    f(\n")


def test_a_language_without_a_grammar_has_nothing_to_say():
    assert parses_like(Example("1", "x = (1", language="brainfuck"))("((((")


def test_a_revision_that_leaves_nothing_is_none() -> None:
    for example in (
        Example("1", JAVA, abstracted=True),
        Example("1", "x = 1", language="python"),
        Example("1", "x = (1", language="brainfuck"),
    ):
        assert not parses_like(example)("")
        assert not parses_like(example)(" \n")
        assert parses_like(example)(example.code)
