"""The shipped judge: order, calibration, attacks, heads, and what it refuses."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

from models.crscore.agreement import (
    bootstrap,
    bootstrap_gain,
    kendall,
    partial_spearman,
    resamples,
    spearman,
    system_agreement,
)
from models.crscore.attacks import FILLING, attacks_on
from models.crscore.change_text import read_change
from models.crscore.encoder import SentenceEncoder
from models.crscore.features import Row
from models.crscore.idle import FILLINGS, keys, pieces, reductions
from models.crscore.judge import Judge, JudgeError, row_of
from models.crscore.kernel import Scaling, fit, gaussian_kernel
from models.crscore.weights import default_folder, load_weights, save_weights, settle
from models.crscore.words import Rarity, named_code, stem, sub_words
from models.hunk_text import parse_hunks
from models.review_types import PseudoReference, ReferenceKind

DIFF = """@@ -10,7 +10,9 @@ class SessionStore:
     def load(self, key):
-        raw = self.backend.get(key)
-        return json.loads(raw)
+        raw = self.backend.get(key, timeout=self.timeout)
+        if raw is None:
+            return {}
+        return pickle.loads(raw)

     def close(self):
         self.backend.close()
"""
GOOD = (
    "`pickle.loads` on data from the session backend runs arbitrary code if the backend is "
    "compromised; keep `json.loads` here, or sign the payload before loading it."
)
OTHER = (
    "The `renderRows` loop creates a new array for every column; reuse the buffer that "
    "`TableView` already keeps, otherwise scrolling allocates on each frame."
)


@pytest.fixture(scope="module")
def judge() -> Judge:
    return Judge()


@pytest.mark.weights
def test_a_real_remark_beats_every_attack(judge: Judge) -> None:
    good = judge.probability(DIFF, GOOD)
    attacks = attacks_on(read_change(DIFF), [OTHER], 7)
    assert {attack.kind for attack in attacks} == {"repeat", "names", "praise", "swap"}
    scores = judge.probabilities(DIFF, [attack.text for attack in attacks])
    higher = [a for a, s in zip(attacks, scores, strict=True) if s >= good]
    assert higher == []


@pytest.mark.weights
def test_judgement_is_on_its_scales(judge: Judge) -> None:
    rows = [row_of(DIFF, text) for text in (GOOD, OTHER, "LGTM", "?", "", "x " * 3000)]
    judged = judge.judge(rows)
    for judgement in judged:
        assert 0.0 <= judgement.probability <= 1.0
        for value in (judgement.relevance, judgement.conciseness, judgement.comprehensiveness):
            assert 1.0 <= value <= 5.0
    assert judged[4].probability == judged[3].probability == 0.0
    assert judged[0].relevance > judged[2].relevance
    order = np.argsort([j.raw for j in judged[:3]])
    assert list(order) == list(np.argsort([j.probability for j in judged[:3]]))


@pytest.mark.weights
def test_batches_and_forms_of_a_diff_agree(judge: Judge) -> None:
    together = judge.probabilities(DIFF, [GOOD, OTHER])
    assert together[0] == pytest.approx(judge.probability(DIFF, GOOD), abs=1e-5)
    assert together[1] == pytest.approx(judge.probability(DIFF, OTHER), abs=1e-5)
    hunks = parse_hunks(DIFF)
    assert judge.probability(hunks, GOOD) == pytest.approx(together[0], abs=1e-5)


@pytest.mark.weights
def test_given_claims_go_to_the_other_head(judge: Judge) -> None:
    claim = "The session is now loaded by pickle.loads instead of json.loads."
    given = row_of(DIFF, GOOD, [claim])
    assert given.references == (claim,)
    assert given.own
    read_off = PseudoReference(ReferenceKind.CLAIM, claim, origin="syntax")
    own = row_of(DIFF, GOOD, [read_off])
    assert (own.own, own.references) == ((claim,), ())
    assert judge.judge([given])[0].raw != judge.judge([own])[0].raw


@pytest.mark.weights
def test_empty_change_and_no_claims(judge: Judge) -> None:
    assert 0.0 <= judge.judge([Row("", GOOD)])[0].probability < judge.probability(DIFF, GOOD)
    assert judge.judge([]) == []


def test_weights_survive_a_round_trip(tmp_path) -> None:
    weights = load_weights()
    save_weights(weights, tmp_path)
    again = load_weights(tmp_path)
    assert again.names == weights.names
    rows = np.random.default_rng(0).normal(size=(5, len(weights.names)))
    for name, head in weights.heads.items():
        scaled = weights.scaling.apply(rows)[:, head.columns]
        np.testing.assert_allclose(
            again.heads[name].regression.predict(scaled), head.regression.predict(scaled), atol=1e-9
        )


def test_damaged_weights_are_named(tmp_path) -> None:
    with pytest.raises(JudgeError, match="no judge there"):
        load_weights(tmp_path / "none")
    for name in ("judge.json", "judge.safetensors"):
        shutil.copy(default_folder() / name, tmp_path / name)
    with (tmp_path / "judge.safetensors").open("ab") as handle:
        handle.write(b"x")
    with pytest.raises(JudgeError, match="not the file that"):
        load_weights(tmp_path)
    (tmp_path / "judge.json").write_text("{")
    with pytest.raises(JudgeError, match="damaged"):
        load_weights(tmp_path)


def test_another_encoder_is_not_used(tmp_path) -> None:
    weights = load_weights()
    data = json.loads((default_folder() / "judge.json").read_text("utf-8"))
    assert data["encoder_sha256"] == weights.encoder_sha256
    encoder = SentenceEncoder()
    encoder.sha256 = "0" * 64
    judge = Judge(encoder, weights)
    assert judge.encoder is not encoder
    assert judge.encoder.sha256 == weights.encoder_sha256


def test_words() -> None:
    assert sub_words("unboundDimensions(plot_streams, HTTPServer)") == [
        "unbound", "dimension", "plot", "stream", "http", "server",
    ]  # fmt: skip
    assert stem("loading") == stem("loads") == "load"
    assert stem("is") == "is"
    assert named_code("Use `cache` or fooBar, not foo_bar() or 'two words' here") == {
        "cache",
        "fooBar",
        "foo_bar",
    }
    rarity = Rarity({"code": 1.0}, 6.0)
    assert rarity.total(["code", "pickle"]) == 7.0


def test_change_is_read_by_side() -> None:
    change = read_change(DIFF)
    assert "raw = self.backend.get(key)" in change.deleted
    assert "return {}" not in change.context
    assert "pickl" in {word[:5] for word in change.fresh}
    assert "json" in change.gone
    assert "pickle" in change.names
    assert "SessionStore" in change.all_names - change.names


def test_kernel_ridge_fits_and_weighs() -> None:
    random = np.random.default_rng(1)
    rows = random.normal(size=(80, 4))
    targets = np.column_stack([np.sin(rows[:, 0]), rows[:, 1]])
    model = fit(rows, targets, np.ones(80), 0.5, 1e-6).whole
    np.testing.assert_allclose(model.predict(rows), targets, atol=1e-3)
    pulled = fit(rows[:2] * 0, np.array([[0.0], [1.0]]), np.array([1.0, 3.0]), 0.5, 1e-3).whole
    assert pulled.predict(rows[:1] * 0)[0, 0] == pytest.approx(0.75, abs=1e-3)
    kernel = gaussian_kernel(rows, rows, 0.5)
    assert np.allclose(np.diag(kernel), 1.0)
    scaling = Scaling.of(rows)
    assert abs(scaling.apply(rows).mean()) < 1e-9
    assert np.abs(scaling.apply(rows * 100)).max() < 10


def test_rows_left_out_leave_no_trace() -> None:
    random = np.random.default_rng(2)
    rows, targets = random.normal(size=(60, 4)), random.normal(size=(60, 2))
    targets -= targets.mean(axis=0)
    importance = np.where(np.arange(60) % 2 == 0, 1.0, 0.3)
    out = np.array([3, 4, 17, 40])
    kept = np.setdiff1d(np.arange(60), out)
    less = fit(rows, targets, importance, 0.5, 0.5).without(out)
    again = fit(rows[kept], targets[kept], importance[kept], 0.5, 0.5).whole
    np.testing.assert_allclose(
        less.predict(rows[out]) - less.offset,
        gaussian_kernel(rows[out], rows[kept], 0.5)
        @ np.linalg.solve(
            gaussian_kernel(rows[kept], rows[kept], 0.5) + np.diag(0.5 / importance[kept]),
            targets[kept] - less.offset,
        ),
        atol=1e-9,
    )
    np.testing.assert_allclose(less.predict(rows[out]), again.predict(rows[out]), atol=0.1)


def test_a_review_in_pieces() -> None:
    text = "Why `x`? It is used! See below.\nAnd rename foo Tests are good for you."
    parts = pieces(text)
    assert "".join(parts) == text
    assert keys(text) == [
        "Why `x`", "It is used!", "See below", "And rename foo", "Tests are good for you.",
    ]  # fmt: skip
    assert pieces("") == []
    assert pieces("...") == []
    assert pieces("use a HashMap here.") == ["use a HashMap here."]
    first, second = reductions(text, [False, False, False, False, True])[0]
    assert (first, second) == ("Why `x`? It is used! See below.\nAnd rename foo", 1)
    idle = [True, False, True]
    assert dict(reductions("A b c. D e f. G h i.", idle)) == {
        "D e f. G h i.": 1,
        "A b c. D e f.": 1,
        "D e f.": 2,
    }
    # a review of idle sentences alone keeps one of them; a long one is cut in chains only
    assert "" not in dict(reductions("A b c. D e f.", [True, True]))
    assert len(reductions("A b. " * 30, [True] * 30)) < 40


def test_the_least_score_counts() -> None:
    final = settle(
        np.array([1.0, 2.0]), np.array([0.5, 3.0]), np.array([0, 1]), np.array([0.1, 0.1])
    )
    assert final.tolist() == [0.4, 2.0]


@pytest.mark.weights
def test_a_true_but_useless_sentence_lowers_the_score(judge: Judge) -> None:
    assert not set(FILLING) & set(FILLINGS)
    lower = []
    for review in (GOOD, GOOD.split(";")[0] + ".", "Why `pickle` and not `json.loads`?"):
        plain, *filled = judge.judge(
            [row_of(DIFF, text) for text in (review, *(f"{review} {f}" for f in FILLING))]
        )
        lower += [one.raw < plain.raw and one.probability < plain.probability for one in filled]
        assert plain.idle == 0
    assert np.mean(lower) >= 0.95


def test_agreement_statistics_equal_scipy() -> None:
    from scipy import stats

    random = np.random.default_rng(0)
    left, right = random.integers(1, 6, 60).astype(float), random.normal(size=60)
    mixed = right + 0.5 * left
    assert spearman(left, mixed) == pytest.approx(stats.spearmanr(left, mixed).statistic)
    assert kendall(left, mixed) == pytest.approx(stats.kendalltau(left, mixed).statistic)
    assert spearman(left, np.ones(60)) == 0.0
    # both sides are copies of the third: nothing is left between them beyond noise
    base = np.arange(200.0)
    noisy = [base + random.normal(scale=60, size=200) for _ in range(2)]
    assert abs(partial_spearman(noisy[0], noisy[1], base)) < 0.2 < spearman(noisy[0], noisy[1])
    groups = [i // 6 for i in range(60)]
    for rows in resamples(groups, 5):
        counts = np.bincount(np.array(groups)[rows], minlength=10)
        assert (counts % 6 == 0).all()
    interval = bootstrap(spearman, mixed, left, groups, 200)
    assert interval.low < interval.value < interval.high
    gain = bootstrap_gain(mixed, right, left, groups, 200)
    assert gain.value == pytest.approx(spearman(mixed, left) - spearman(right, left))
    systems = ["a", "b", "c"] * 20
    assert -1.0 <= system_agreement(mixed, left, systems) <= 1.0
