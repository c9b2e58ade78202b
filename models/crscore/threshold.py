"""The similarity above which two sentences count as saying the same (CRScore's tau).

A cosine has no scale of its own: every encoder needs its own threshold, derived by a rule that is
written down. Two rules:

- ``sigma``: mean plus five standard deviations of the similarity of sentences from reviews of
  different changes, which are unrelated pairs (the rule that the paper states).
- ``reference``: the mean best similarity that the sentences of real reviews reach with the
  pseudo-references of their own change (the recipe behind the repository's fractional values).

Derived values live in ``thresholds.json`` beside this module or in a file of the operator's, each
with the hash of the data that it came from.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from models.crscore.encoder import Encoder, Variant
from models.crscore.sentences import split_sentences

Rule = Literal["sigma", "reference"]
RULES: tuple[Rule, ...] = get_args(Rule)
DEFAULT_RULE: Rule = "reference"
SIGMAS = 5.0


class ThresholdError(ValueError):
    """No threshold is known for an encoder, or none can be derived from the given data."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """One derived threshold and all that it depends on.

    ``value`` is tau; ``mean`` and ``deviation`` describe the ``pairs`` similarities it was derived
    from; ``data_sha256`` is the hash of the texts in order.
    """

    encoder: str
    encoder_sha256: str
    dtype: str
    variant: Variant
    rule: Rule
    value: float
    mean: float
    deviation: float
    pairs: int
    data: str
    data_sha256: str


def data_sha256(texts: Iterable[str]) -> str:
    """Hash of a sequence of texts (UTF-8, a zero byte after each)."""
    digest = hashlib.sha256()
    for text in texts:
        digest.update(text.encode("utf-8", "surrogatepass") + b"\0")
    return digest.hexdigest()


def derive_sigma(
    encoder: Encoder, reviews: Sequence[str], data: str, variant: Variant = "paper", seed: int = 0
) -> Threshold:
    """Mean plus five sigma over up to 200,000 random pairs of sentences of different reviews."""
    groups = [sentences for text in reviews if (sentences := split_sentences(text))]
    if len(groups) < 50:
        raise ThresholdError(f"{data}: {len(groups)} reviews; the sigma rule needs at least 50")
    vectors = encoder.encode_groups(groups, variant)
    owner = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    flat = np.concatenate(vectors)
    random_rows = random.Random(seed)  # noqa: S311 (a seeded sample, not a secret)
    count = min(200_000, len(flat) * (len(flat) - 1) // 2)
    left = np.array([random_rows.randrange(len(flat)) for _ in range(count)])
    right = np.array([random_rows.randrange(len(flat)) for _ in range(count)])
    apart = owner[left] != owner[right]
    values = np.einsum("nd,nd->n", flat[left[apart]], flat[right[apart]])
    return _threshold(
        encoder, variant, "sigma", values, values.mean() + SIGMAS * values.std(), data, reviews
    )


def derive_reference(
    encoder: Encoder,
    pairs: Sequence[tuple[str, Sequence[str]]],
    data: str,
    variant: Variant = "paper",
) -> Threshold:
    """Mean over the sentences of real reviews of their best match among the change's references.

    ``pairs`` holds (review, texts of the pseudo-references of the change that it is about).
    """
    split = [(split_sentences(review), list(texts)) for review, texts in pairs]
    split = [(sentences, texts) for sentences, texts in split if sentences and texts]
    if len(split) < 50:
        raise ThresholdError(
            f"{data}: {len(split)} reviews with references; the reference rule needs at least 50"
        )
    vectors = encoder.encode_groups([group for pair in split for group in pair], variant)
    best = np.concatenate(
        [(vectors[2 * i] @ vectors[2 * i + 1].T).max(axis=1) for i in range(len(split))]
    )
    texts = [text for review, references in pairs for text in (review, *references)]
    return _threshold(encoder, variant, "reference", best, best.mean(), data, texts)


def _threshold(
    encoder: Encoder,
    variant: Variant,
    rule: Rule,
    values: np.ndarray,
    value: float,
    data: str,
    texts: Iterable[str],
) -> Threshold:
    return Threshold(
        encoder=encoder.name,
        encoder_sha256=encoder.sha256,
        dtype=encoder.dtype,
        variant=variant,
        rule=rule,
        value=round(float(value), 4),
        mean=round(float(values.mean()), 4),
        deviation=round(float(values.std()), 4),
        pairs=len(values),
        data=data,
        data_sha256=data_sha256(texts),
    )


def read_thresholds(path: Path | None = None) -> list[Threshold]:
    """The thresholds of a file, or the shipped ones."""
    if path is None:
        text = resources.files(__package__).joinpath("thresholds.json").read_text("utf-8")
    else:
        text = path.read_text("utf-8")
    try:
        return [Threshold(**row) for row in json.loads(text)["thresholds"]]
    except (ValueError, KeyError, TypeError) as error:
        raise ThresholdError(
            f"{path or 'thresholds.json'}: not a list of thresholds ({error}); "
            "derive it again by: marginalia calibrate threshold"
        ) from error


def store_threshold(path: Path, threshold: Threshold) -> None:
    """Write a threshold into a file, in place of an older one of the same encoder and rule."""
    known = read_thresholds(path) if path.exists() else []
    same = _key(threshold)
    rows = [row for row in known if _key(row) != same]
    rows.append(threshold)
    rows.sort(key=lambda row: (row.encoder, row.variant, row.rule))
    text = json.dumps({"thresholds": [asdict(row) for row in rows]}, indent=1)
    path.write_text(text + "\n", encoding="utf-8")


def _key(threshold: Threshold) -> tuple[str, Variant, Rule]:
    return threshold.encoder_sha256, threshold.variant, threshold.rule


def find_threshold(
    encoder: Encoder,
    variant: Variant = "paper",
    rule: Rule = DEFAULT_RULE,
    path: Path | None = None,
) -> float:
    """The stored tau of this very encoder (by the hash of its weights), or ``ThresholdError``."""
    for row in read_thresholds(path):
        if _key(row) == (encoder.sha256, variant, rule):
            return row.value
    raise ThresholdError(
        f"no {rule!r} threshold is stored for encoder {encoder.name} ({encoder.sha256[:12]}), "
        f"variant {variant}: pass threshold=, or derive one by: marginalia calibrate threshold"
    )
