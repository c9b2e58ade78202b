"""Every number here was worked out by hand from the definitions."""

import math

import pytest

from models.metrics import (
    DG,
    Bleu,
    EditProgress,
    EditSimilarity,
    ExactMatch,
    InterrogativeSplit,
    NormalisedEditDistance,
    PerfectAtK,
    Record,
    Signature,
    SmoothedBleu4,
    dg,
    edit_progress,
    evaluate,
    is_interrogative,
    smoothed_bleu4,
    token_distance,
)
from models.metrics.correlation import correlation

# distances source -> target: 1, 2, 1; prediction -> target: 0, 2, 4
RECORDS = [
    Record("a b c", "a x c", "a  x\nc"),
    Record("a b c d", "a b", "a b c d"),
    Record("a b", "a c", "a b b b b"),
    Record("k", "k", "k"),
]


def test_exact_match_counts_every_record_and_tells_the_unchanged_apart():
    score = ExactMatch().score(RECORDS)
    assert score.value == 0.5
    assert score.n == 4
    assert score.parts == {"revised": 1 / 3, "unchanged": 1.0}
    assert score.format() == "exact_match 50.00 (n = 4)"


def test_token_distance_counts_tokens_not_characters():
    assert token_distance("long_name = 1 ;", "other = 1 ;") == 1
    assert token_distance("", "a b") == 2
    assert token_distance("a  b\tc", "a b c") == 0


def test_edit_progress_of_one_prediction():
    assert edit_progress("a b c", "a x c", "a x c") == 1.0
    assert edit_progress("a b c", "a x c", "a b c") == 0.0
    assert edit_progress("a b c d", "a b", "a b c") == 0.5
    assert edit_progress("a b", "a c", "x y z") == -2.0
    assert edit_progress("a", "a", "b") is None


def test_edit_progress_mean_median_and_aggregate():
    # progress: 1, 0, (1 - 4) / 1 = -3
    score = EditProgress().score(RECORDS)
    assert score.parts["mean"] == pytest.approx(-2 / 3)
    assert score.parts["median"] == 0.0
    assert score.parts["aggregate"] == pytest.approx(1 - 6 / 4)
    assert score.value == score.parts["aggregate"]
    assert score.parts["n"] == 3
    assert score.parts["n_unchanged"] == 1
    assert score.parts["unchanged_distance"] == 0.0


def test_edit_progress_of_unchanged_records_only_is_undecided():
    score = EditProgress().score([Record("a b", "a b", "a")])
    assert score.value is None
    assert score.parts["mean"] is None
    assert score.parts["unchanged_distance"] == 1.0
    assert score.format() == "edit_progress n/a (n = 1)"


def test_perfect_at_k_looks_down_the_ranking():
    records = [
        Record("s", "t", "t", ("t", "u")),
        Record("s", "t", "u", ("u", "v", "t")),
        Record("s", "t", "u", ()),
    ]
    score = PerfectAtK([1, 3]).score(records)
    assert score.parts == {"1": pytest.approx(1 / 3), "3": pytest.approx(2 / 3)}
    assert score.value == pytest.approx(2 / 3)
    with pytest.raises(ValueError, match="each 1 or more"):
        PerfectAtK([0])


def test_edit_similarity_by_both_distances():
    record = [Record("", "abcd", "abxd")]
    assert EditSimilarity().score(record).value == 0.75
    # without substitutions: one deletion and one insertion of 8 characters
    assert EditSimilarity("indel").score(record).value == 0.75
    assert EditSimilarity("indel").score([Record("", "ab", "abcd")]).value == pytest.approx(2 / 3)
    assert EditSimilarity().score([Record("", "ab", "abcd")]).value == 0.5
    assert EditSimilarity().score([Record("", "", " ")]).value == 1.0


def test_normalised_edit_distance_is_over_the_longer():
    records = [Record("", "a b c d", "a b"), Record("", "a", "a"), Record("", "", "")]
    assert NormalisedEditDistance().score(records).value == pytest.approx(0.5 / 3)


def test_smoothed_bleu4_by_hand():
    # guess "a b c", gold "a b d": unigrams 2/3, bigrams (1+1)/(2+1), trigrams (0+1)/(1+1),
    # four-grams (0+1)/(0+1); equal lengths, no penalty
    expected = (2 / 3 * 2 / 3 * 1 / 2 * 1) ** 0.25
    assert smoothed_bleu4("a b c", "A b d") == pytest.approx(expected)
    # guess of 1 word, gold of 3: precisions are all 1, penalty exp(1 - 4/2)
    assert smoothed_bleu4("a", "a b c") == pytest.approx(math.exp(-1))
    assert smoothed_bleu4("x", "a b") == 0.0
    # the script's own answers: of an empty prediction only the penalty is left
    assert smoothed_bleu4("", "a") == pytest.approx(math.exp(-1))
    assert smoothed_bleu4("", "a b c") == pytest.approx(math.exp(-3))
    assert smoothed_bleu4("", "") == 1.0
    assert smoothed_bleu4("a", "") == 0.0
    # the underscore is a mark of its own, and so is every full stop
    assert smoothed_bleu4("foo_bar.", "foo _ bar .") == pytest.approx(1.0)
    mean = SmoothedBleu4().score([Record("", "a", "a"), Record("", "a b", "x")])
    assert mean.value == pytest.approx(0.5)


def test_bleu_is_sacrebleus_as_a_fraction():
    record = [Record("", "the cat sat on the mat", "the cat sat on the mat")]
    score = Bleu().score(record)
    assert score.value == pytest.approx(1.0)
    assert "tok:13a" in str(score.signature)
    # 4 of 5 words, 3 of 4 pairs, 2 of 3, 1 of 2; prediction of 5 words against 6
    half = Bleu().score([Record("", "the cat sat on the mat", "the cat sat on a")])
    wanted = (4 / 5 * 3 / 4 * 2 / 3 * 1 / 2) ** 0.25 * math.exp(1 - 6 / 5)
    assert half.value == pytest.approx(wanted)
    assert Bleu().score([]).value is None


def test_dg_counts_the_leading_right_characters():
    assert dg("getName", "getName();") == 1.0
    assert dg("getName", "getName();", clipped=False) == 0.7
    assert dg("getNode();", "getName();") == 0.4
    assert dg("get", "getName();") == 1.0
    assert dg("name()", "name") == pytest.approx(4 / 6)
    assert dg("", "x") == 0.0
    assert dg("x", "") == 0.0
    assert dg(" ", "") == 1.0


def test_dg_clipped_never_ranks_a_long_suggestion_over_its_own_start():
    expected = "getName().trim();"
    long = "getName().size();"
    for cut in range(1, len(long)):
        assert dg(long[:cut], expected) >= dg(long, expected)


def test_dg_share_of_full_matches():
    score = DG().score([Record("", "abc", "ab"), Record("", "abc", "xb")])
    assert score.value == 0.5
    assert score.parts == {"full_match": 0.5}
    assert DG(clipped=False).score([Record("", "abc", "ab")]).parts == {"full_match": 0.0}


@pytest.mark.parametrize(
    "text",
    [
        "why not a set",
        "Maybe final ?",
        "Is this used. I think not",
        "ok. Could you rename it",
        "not sure what happens",
    ],
)
def test_interrogative_comments(text):
    assert is_interrogative(text)


@pytest.mark.parametrize("text", ["rename this", "this is wrong", "I can do it later", "showtime"])
def test_comments_that_tell(text):
    assert not is_interrogative(text)


def test_interrogative_split():
    score = InterrogativeSplit().score(
        [Record("", "why ?", "why ?"), Record("", "rename", "x"), Record("", "fix", "fix")]
    )
    assert score.value == pytest.approx(1 / 3)
    assert score.parts["n_interrogative"] == 1
    assert score.parts["exact_match_interrogative"] == 1.0
    assert score.parts["exact_match_other"] == 0.5


def test_correlation_by_hand():
    # ranks 1 2 3 4 against 1 3 2 4: rho = 1 - 6 * 2 / (4 * 15) = 0.8; tau = (5 - 1) / 6
    spearman = correlation([1, 2, 3, 4], [10, 30, 20, 40], "spearman", resamples=50)
    kendall = correlation([1, 2, 3, 4], [10, 30, 20, 40], "kendall", resamples=50)
    assert spearman.value == pytest.approx(0.8)
    assert kendall.value == pytest.approx(4 / 6)
    assert spearman.low is not None
    assert spearman.high is not None
    assert spearman.low <= 0.8 <= spearman.high
    again = correlation([1, 2, 3, 4], [10, 30, 20, 40], "spearman", resamples=50)
    assert spearman == again


def test_correlation_draws_whole_groups():
    scores = [float(i) for i in range(20)]
    grades = [float(i) for i in range(20)]
    result = correlation(scores, grades, groups=[i // 2 for i in range(20)], resamples=20)
    assert (result.value, result.low, result.high) == pytest.approx((1.0, 1.0, 1.0))
    assert "unit:group" in str(result.signature)


def test_correlation_of_a_constant_is_undecided_and_bad_calls_are_refused():
    assert correlation([1, 1, 1], [1, 2, 3]).value is None
    assert correlation([1, 2], [1, 2]).format() == "spearman n/a (n = 2)"
    with pytest.raises(ValueError, match="same length"):
        correlation([1, 2], [1])
    with pytest.raises(ValueError, match="unknown correlation 'pearson'"):
        correlation([1, 2], [1, 2], "pearson")


def test_signature_names_the_choices_and_the_version():
    assert str(Signature("m", (("tok", "x"),))) == "m|tok:x|version:2"


def test_evaluate_has_the_fixed_form_and_is_empty_for_nothing():
    result = evaluate(RECORDS)
    assert result["n"] == 4
    assert result["exact_match"] == 0.5
    assert set(result["edit_progress"]) == {"mean", "median", "aggregate"}
    assert result["unchanged"] == {"n": 1, "exact_match": 1.0, "distance": 0.0}
    assert result["perfect_at_k"] == {"1": 0.5}
    nothing = evaluate([])
    assert nothing["n"] == 0
    assert nothing["exact_match"] is None
    assert nothing["edit_progress"] == {"mean": None, "median": None, "aggregate": None}
    assert nothing["bleu"] is None
