"""CRScore against the published definition, written out plainly here, and its edge cases."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import torch

from models.crscore import CRScore, corpus_score
from models.crscore.encoder import (
    EncoderError,
    SentenceEncoder,
    Variant,
    fast_bfloat16,
    shipped_folder,
)
from models.crscore.score import harmonic_mean, similarity_scores
from models.crscore.sentences import split_sentences
from models.crscore.stopwords import STOP_TOKENS
from models.crscore.threshold import (
    Threshold,
    ThresholdError,
    derive_reference,
    derive_sigma,
    find_threshold,
    read_thresholds,
    store_threshold,
)
from models.review_types import PseudoReference, ReferenceKind, Score

CLAIMS = (
    "The function parse now takes the argument strict.",
    "An import of json was added.",
    "The old helper was removed.",
)
REVIEW = "Why is strict needed here? The import of json is unused. Looks good!"
DIFF = """@@ -1,2 +1,3 @@
+import json
-def parse(text):
+def parse(text, strict):
     return text
"""


@pytest.fixture(scope="module")
def encoder() -> SentenceEncoder:
    return SentenceEncoder(dtype="float32")


def published(
    encoder: SentenceEncoder, sentences: Sequence[str], claims: Sequence[str], variant: Variant
) -> np.ndarray:
    """The similarity matrix by one sentence-transformers call a side, as the paper describes."""
    model = encoder._load()

    def side(texts: Sequence[str]) -> np.ndarray:
        rows = []
        outputs = model.encode(list(texts), output_value="token_embeddings")
        for text, vectors in zip(texts, outputs, strict=True):
            masked_by = text if variant == "paper" else texts[0]
            tokens = [model.tokenizer.decode([i]) for i in model.tokenizer(masked_by)["input_ids"]]
            kept = [
                vector
                for token, vector in zip(tokens, vectors.numpy(), strict=False)
                if token not in STOP_TOKENS
            ]
            mean = np.mean(kept, axis=0)
            rows.append(mean / np.linalg.norm(mean))
        return np.array(rows)

    return side(sentences) @ side(claims).T


@pytest.mark.weights
@pytest.mark.parametrize("variant", ["paper", "reference"])
def test_equals_the_published_way(encoder: SentenceEncoder, variant: Variant) -> None:
    sentences = split_sentences(REVIEW)
    expected = published(encoder, sentences, CLAIMS, variant)
    ours = encoder.encode_groups([sentences, CLAIMS], variant)
    np.testing.assert_allclose(ours[0] @ ours[1].T, expected, atol=2e-5)
    tau = float(np.sort(expected.ravel())[-3]) - 1e-3
    score = CRScore(encoder, variant, tau).score(DIFF, REVIEW, CLAIMS)
    assert (score.con, score.comp, score.rel) == similarity_scores(expected, tau)
    best = np.unravel_index(expected.argmax(), expected.shape)
    assert score.nearest is not None
    assert score.nearest.text == CLAIMS[best[1]]
    assert score.similarity == pytest.approx(expected.max(), abs=1e-4)


@pytest.mark.weights
def test_the_variants_differ(encoder: SentenceEncoder) -> None:
    texts = ["The import is not used.", "It should be removed before this is merged, I think."]
    own, first = (encoder.encode_groups([texts], v)[0] for v in ("paper", "reference"))
    np.testing.assert_allclose(own[0], first[0], atol=1e-5)
    assert not np.allclose(own[1], first[1], atol=1e-3)


@pytest.mark.weights
def test_batches_change_nothing(encoder: SentenceEncoder) -> None:
    scorer = CRScore(encoder, threshold=0.4)
    rows = [(DIFF, text, CLAIMS) for text in (REVIEW, "", "json\n\nis it used? yes. ", "no")]
    together = scorer.score_batch(rows)
    alone = [scorer.score(*row) for row in rows]
    for left, right in zip(together, alone, strict=True):
        assert (left.con, left.comp, left.rel) == (right.con, right.comp, right.rel)
        assert left.similarity == pytest.approx(right.similarity, abs=1e-5)


@pytest.mark.weights
def test_empty_sides(encoder: SentenceEncoder) -> None:
    paper = CRScore(encoder, "paper", 0.5)
    reference = CRScore(encoder, "reference", 0.5)
    for scorer in (paper, reference):
        for review in ("", " \n\n"):
            score = scorer.score(DIFF, review, CLAIMS)
            assert (score.con, score.comp, score.rel) == (0.0, 0.0, 0.0)
    assert paper.score(DIFF, REVIEW, []).rel == 0.0
    # The published code puts one empty sentence in the place of an empty side.
    both = reference.score(DIFF, "", [])
    assert (both.con, both.comp, both.rel, both.nearest) == (1.0, 1.0, 1.0, None)


def test_sentences() -> None:
    assert split_sentences("One. Two? Three! Four.\n\n  \nFive e.g. six") == [
        "One",
        "Two",
        "Three! Four.",
        "Five e.g",
        "six",
    ]
    assert split_sentences("Why? ") == ["Why", ""]
    assert split_sentences("\n \n") == []


def test_equations() -> None:
    similarity = np.array([[0.9, 0.1, 0.2], [0.1, 0.2, 0.3]], dtype=np.float32)
    con, comp, rel = similarity_scores(similarity, 0.5)
    assert (con, comp) == (0.5, pytest.approx(1 / 3))
    assert rel == pytest.approx(2 * 0.5 * (1 / 3) / (0.5 + 1 / 3))
    assert similarity_scores(similarity, 0.95) == (0.0, 0.0, 0.0)
    exact = np.array([[0.5]], dtype=np.float32)
    assert similarity_scores(exact, 0.5) == (0.0, 0.0, 0.0)
    assert harmonic_mean(0.0, 0.0) == 0.0


def test_corpus_has_both_readings() -> None:
    total = corpus_score([Score(1.0, 0.5, 2 / 3, ""), Score(0.0, 0.0, 0.0, "")])
    assert (total.reviews, total.con, total.comp) == (2, 0.5, 0.25)
    assert total.rel == pytest.approx(1 / 3)
    assert total.rel_of_means == pytest.approx(harmonic_mean(0.5, 0.25))
    assert corpus_score([]).rel == 0.0


def test_signature_names_everything(encoder: SentenceEncoder) -> None:
    scorer = CRScore(encoder, "reference", 0.5)
    references = (
        PseudoReference(ReferenceKind.CLAIM, "a", origin="syntax"),
        PseudoReference(ReferenceKind.SMELL, "b", origin="ruff:B006"),
    )
    signature = scorer.signature(references)
    fields = dict(part.split(":", 1) for part in signature.split("|"))
    assert fields["var"] == "reference"
    assert fields["tau"] == "0.5000"
    assert fields["enc"] == f"all-MiniLM-L6-v2@{encoder.sha256[:12]}"
    assert fields["dtype"] == "float32"
    assert fields["refs"] == "ruff+syntax"
    assert fields["lib"].startswith("sentence-transformers-")


def test_bad_arguments_are_named(encoder: SentenceEncoder, tmp_path: object) -> None:
    with pytest.raises(ValueError, match="variant 'other'"):
        CRScore(encoder, "other", 0.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="threshold 7"):
        CRScore(encoder, threshold=7)
    with pytest.raises(EncoderError, match="cannot be loaded"):
        SentenceEncoder("/no/such/folder-of-an-encoder")
    with pytest.raises(EncoderError, match=r"no model\.safetensors"):
        SentenceEncoder(str(tmp_path))


def test_bfloat16_is_detected_not_assumed(encoder: SentenceEncoder) -> None:
    automatic = SentenceEncoder()
    assert automatic.dtype == ("bfloat16" if fast_bfloat16() else "float32")
    assert shipped_folder().joinpath("model.safetensors").exists()


TEXTS = [
    "Why is the lock taken twice?",
    "",
    "the of and",
    "x" * 40,
    "Rename `maxRetries` to `max_retries`, since all other settings are written that way.",
    "if (a == null) { return b; }",
    "\N{SNOWMAN} naïve",
] * 15


def test_packed_pass_is_the_librarys(encoder: SentenceEncoder) -> None:
    vectors = encoder.encode(TEXTS)
    model = encoder._load()
    outputs = model.encode(TEXTS[:7], output_value="token_embeddings", convert_to_numpy=False)
    for text, ours, theirs in zip(TEXTS, vectors, outputs, strict=False):
        names = model.tokenizer.batch_decode([[i] for i in model.tokenizer(text)["input_ids"]])
        kept = [v for name, v in zip(names, theirs, strict=True) if name not in STOP_TOKENS]
        mean = np.mean([v.numpy() for v in kept], axis=0)
        np.testing.assert_allclose(ours, mean / np.linalg.norm(mean), atol=1e-6)
    tokens = encoder.token_vectors(TEXTS[:7])
    for one, theirs in zip(tokens, outputs, strict=True):
        np.testing.assert_allclose(one.vectors, theirs.numpy(), atol=2e-6)


def test_a_core_each_gives_the_same_and_leaves_the_threads(encoder: SentenceEncoder) -> None:
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        alone = encoder.encode(TEXTS)
        torch.set_num_threads(3)
        together = encoder.encode(TEXTS)
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)
    np.testing.assert_allclose(alone, together, atol=1e-6)


def test_int8_is_near_and_does_not_depend_on_neighbours(encoder: SentenceEncoder) -> None:
    whole = SentenceEncoder(dtype="int8")
    assert "dtype:int8" in CRScore(whole, threshold=0.5).signature()
    vectors = whole.encode(TEXTS[:7])
    assert ((vectors * encoder.encode(TEXTS[:7])).sum(1) > 0.97).all()
    np.testing.assert_allclose(whole.encode(TEXTS[4:5])[0], vectors[4], atol=2e-3)


@pytest.mark.weights
def test_thresholds_by_both_rules(encoder: SentenceEncoder, tmp_path) -> None:
    words = [
        "parser",
        "loop",
        "cache",
        "socket",
        "thread",
        "mutex",
        "buffer",
        "token",
        "index",
        "query",
    ]
    reviews = [f"The {a} should not hold the {b}" for a in words for b in words if a < b][:40]
    reviews += [f"Rename the {word}. It is unclear" for word in words]
    sigma = derive_sigma(encoder, reviews, "made here")
    assert sigma.value == pytest.approx(sigma.mean + 5 * sigma.deviation, abs=2e-3)
    again = derive_sigma(encoder, reviews, "made here")
    assert sigma == again
    pairs = [(text, [f"{text} any longer", "Something else entirely"]) for text in reviews]
    reference = derive_reference(encoder, pairs, "made here")
    assert reference.value == pytest.approx(reference.mean, abs=1e-4)
    assert sigma.data_sha256 != reference.data_sha256
    with pytest.raises(ThresholdError, match="at least 50"):
        derive_sigma(encoder, reviews[:10], "few")

    path = tmp_path / "thresholds.json"
    store_threshold(path, sigma)
    store_threshold(path, reference)
    store_threshold(path, sigma)
    assert sorted(row.rule for row in read_thresholds(path)) == ["reference", "sigma"]
    assert find_threshold(encoder, rule="sigma", path=path) == sigma.value
    with pytest.raises(ThresholdError, match="calibrate threshold"):
        find_threshold(encoder, variant="reference", path=path)
    path.write_text('{"thresholds": [{"value": 1}]}')
    with pytest.raises(ThresholdError, match="not a list of thresholds"):
        read_thresholds(path)


def test_shipped_thresholds_are_for_the_shipped_encoder(encoder: SentenceEncoder) -> None:
    rows: list[Threshold] = read_thresholds()
    assert {(row.variant, row.rule) for row in rows} == {
        (variant, rule) for variant in ("paper", "reference") for rule in ("sigma", "reference")
    }
    for row in rows:
        assert row.encoder_sha256 == encoder.sha256
        assert len(row.data_sha256) == 64
