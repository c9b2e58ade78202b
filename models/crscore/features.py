"""The judge's view of a review: numbers about the review, the change, and the two together.

Four groups of columns. ``text_``: the review alone (how specific, how generic, its form).
``pair_``: review against change (similarity of sentences and lines, names that are really there,
names that are not, rare words shared, subjects that the change has). ``own_``: review against the
claims read off the change. ``ref_``: review against pseudo-references that somebody gave; all zero
where none are.

Sentences that say nothing of the change are found by ``models.crscore.idle``; ``reduced_rows``
gives the reviews without them, which the judge looks at as well, so that filling never pays.
"""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from models.change import Hunk
from models.crscore.change_text import ChangeText, read_change
from models.crscore.encoder import Vectors
from models.crscore.grounding import grounding_columns
from models.crscore.idle import IdleFinder, keys, reductions
from models.crscore.proposals import proposal_columns
from models.crscore.sentences import split_sentences
from models.crscore.stopwords import STOP_WORDS
from models.crscore.subjects import subject_columns
from models.crscore.words import Rarity, identifiers, named_code, sub_words

Matrix = npt.NDArray[np.float64]

_HEDGE = re.compile(
    r"\b(?:seems?|might|maybe|perhaps|possibly|probably|could|i think|i guess|not sure)\b", re.I
)
_ADVICE = re.compile(
    r"\b(?:should|consider|please|suggest|recommend|better|instead|need(?:s|ed)? to|must|let'?s|"
    r"would be|nit|use|rename|add|remove|avoid)\b",
    re.I,
)
_PRAISE = re.compile(
    r"\b(?:good|great|nice|thanks?|lgtm|awesome|clean|well|looks? (?:fine|ok|okay)|improve[sd]?)\b",
    re.I,
)
_REPORT = re.compile(
    r"\b(?:(?:the|this) (?:code )?(?:change|diff|patch|commit|update)|has been|was|were|previously|"
    r"now|changed|added|removed|modified|updated)\b",
    re.I,
)
_PERSON = re.compile(r"\b(?:i|we|you|your|my|our|me)\b", re.I)
_ADDING = re.compile(r"\b(?:add(?:s|ed|ing)?|introduc\w+|new|includ\w+|insert\w*)\b", re.I)
_REMOVING = re.compile(r"\b(?:remov\w+|delet\w+|drop\w*|eliminat\w+|gone|no longer)\b", re.I)
_RESULT = re.compile(r"\b(?:because|since|so that|otherwise|which|to ensure|in case|if)\b", re.I)


@dataclass(frozen=True, slots=True)
class Row:
    """One review to look at: the change, the review text, texts of pseudo-references.

    ``own`` are the claims read off the change itself, ``references`` those that were given.
    """

    diff: str | Sequence[Hunk]
    review: str
    own: tuple[str, ...] = ()
    references: tuple[str, ...] = ()


@dataclass(slots=True)
class Background:
    """What the judge knows of reviews in general, from unlabelled review comments.

    ``centroid`` and ``comments`` are unit vectors of typical comments (width,), (n, width);
    ``subjects`` weighs subjects by how few changes have them;
    ``finder`` finds sentences that say nothing of a change (``None``: while it is being fitted).
    """

    rarity: Rarity
    centroid: Vectors
    comments: Vectors
    subjects: Mapping[str, float]
    finder: IdleFinder | None = None


def _top_mean(values: Vectors, count: int) -> float:
    if not values.size:
        return 0.0
    return float(np.sort(values)[-count:].mean())


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


class View:
    """One row on its way to numbers: its sentences, and the texts to encode."""

    def __init__(self, row: Row, change: ChangeText) -> None:
        self.change = change
        self.own = row.own
        self.references = row.references
        self.review = row.review
        sentences = [s for s in split_sentences(row.review) if any(map(str.isalnum, s))]
        self.sentences = sentences or [row.review.strip()]
        self.pieces = keys(row.review)

    def texts(self) -> list[str]:
        """Every text whose vector is needed."""
        change = self.change
        return [
            *self.sentences,
            *self.pieces,
            *change.added,
            *change.deleted,
            *change.context,
            "\n".join(change.added),
            "\n".join(change.deleted),
            change.block,
            *self.own,
            *self.references,
        ]

    def whole(self, vectors: Mapping[str, Vectors]) -> Vectors:
        """The review's own unit vector: the mean of its sentences' by their words."""
        weights = np.array([1.0 + len(s.split()) for s in self.sentences], dtype=np.float32)
        mean = weights @ np.stack([vectors[s] for s in self.sentences])
        return np.asarray(mean / (np.linalg.norm(mean) or 1.0), dtype=np.float32)


def _text_columns(row: View, known: Background, vectors: Mapping[str, Vectors]) -> dict[str, float]:
    review = row.review
    words = sub_words(review)
    tokens = review.split()
    size = max(len(tokens), 1)
    weights = sorted((known.rarity.of(word) for word in words), reverse=True)
    raw = review.encode("utf-8", "replace")
    own = row.whole(vectors)
    near = known.comments @ own
    return {
        "text_sentences": min(len(row.sentences), 6) / 6,
        "text_words": math.log1p(min(size, 80)),
        "text_function": sum(token.lower() in STOP_WORDS for token in tokens) / size,
        "text_distinct": _share(len(set(words)), len(words)),
        "text_squeeze": _share(len(zlib.compress(raw)), len(raw) + 20),
        "text_rare_mean": float(np.mean(weights)) if weights else 0.0,
        "text_rare_top": float(np.mean(weights[:3])) if weights else 0.0,
        "text_typical": float(known.centroid @ own),
        "text_near_one": float(near.max()),
        "text_near_ten": _top_mean(near, 10),
        "text_question": float("?" in review),
        "text_hedge": len(_HEDGE.findall(review)) / size,
        "text_advice": len(_ADVICE.findall(review)) / size,
        "text_praise": len(_PRAISE.findall(review)) / size,
        "text_report": len(_REPORT.findall(review)) / size,
        "text_person": len(_PERSON.findall(review)) / size,
        "text_result": len(_RESULT.findall(review)) / size,
        "text_code_marks": min(review.count("`") + review.count("()"), 6) / 6,
        "text_lower_start": float(review.lstrip()[:1].islower()),
        "text_closed": float(review.rstrip()[-1:] in (".", "?", "!")),
    }


def _word_columns(row: View, known: Background) -> dict[str, float]:
    change, review, rarity = row.change, row.review, known.rarity
    words = sub_words(review)
    distinct = set(words)
    total = rarity.total(distinct)
    here = distinct & (change.changed | change.kept)
    hit = distinct & change.changed
    named = named_code(review)
    real = {name for name in named if name in change.all_names}
    plain = identifiers(review) & change.names
    strong = {name for name in plain if rarity.total(set(sub_words(name))) >= 5.0}
    lines = (*change.added, *change.deleted)
    best_line = max((rarity.total(set(sub_words(line)) & distinct) for line in lines), default=0.0)
    novelty = change.fresh | change.gone
    columns = {
        "pair_rare_changed": _share(rarity.total(hit), total),
        "pair_rare_anywhere": _share(rarity.total(here), total),
        "pair_rare_fresh": _share(rarity.total(distinct & change.fresh), total),
        "pair_rare_gone": _share(rarity.total(distinct & change.gone), total),
        "pair_rare_kept": _share(rarity.total((distinct & change.kept) - change.changed), total),
        "pair_rare_sum": math.log1p(rarity.total(hit)),
        "pair_rare_max": max((rarity.of(word) for word in hit), default=0.0),
        "pair_unseen_rare": _share(rarity.total(distinct - here), total + 4.0),
        "pair_novel_said": _share(rarity.total(distinct & novelty), rarity.total(novelty)),
        "pair_changed_said": _share(rarity.total(hit), rarity.total(change.changed)),
        "pair_best_line": math.log1p(best_line),
        "pair_named": min(len(named), 4) / 4,
        "pair_named_real": _share(len(real), len(named)),
        "pair_named_false": min(len(named - real), 3) / 3,
        "pair_names": min(len(plain), 4) / 4,
        "pair_names_strong": min(len(strong), 3) / 3,
        "pair_copied": _copied(review, lines),
    }
    columns.update(_direction(review, change))
    columns.update(subject_columns(review, change.subjects, known.subjects))
    columns.update(grounding_columns(review, row.sentences, change, rarity))
    columns.update(proposal_columns(row.sentences, change, rarity))
    return columns


def _copied(review: str, lines: Sequence[str]) -> float:
    """Share of the review's characters that are whole changed lines: a copy is no review."""
    if not review.strip():
        return 0.0
    copied = sum(len(line) for line in lines if len(line) > 8 and line in review)
    return min(1.0, copied / len(review))


def _direction(review: str, change: ChangeText) -> dict[str, float]:
    """Does the review speak of adding what was added, or of removing it?"""
    agree = oppose = 0
    for sentence in split_sentences(review):
        words = set(sub_words(sentence))
        adding, removing = bool(_ADDING.search(sentence)), bool(_REMOVING.search(sentence))
        fresh, gone = len(words & change.fresh), len(words & change.gone)
        if adding and not removing:
            agree += fresh > gone
            oppose += gone > fresh
        elif removing and not adding:
            agree += gone > fresh
            oppose += fresh > gone
    return {
        "pair_direction_agrees": min(agree, 2) / 2,
        "pair_direction_opposes": min(oppose, 2) / 2,
        "pair_only_added": float(bool(change.added) and not change.deleted),
        "pair_only_deleted": float(bool(change.deleted) and not change.added),
        "pair_change_size": math.log1p(len(change.added) + len(change.deleted)),
    }


def _stack(texts: Sequence[str], vectors: Mapping[str, Vectors]) -> Vectors:
    width = len(next(iter(vectors.values())))
    if not texts:
        return np.zeros((0, width), dtype=np.float32)
    return np.stack([vectors[text] for text in texts])


def _matrix_columns(prefix: str, similarity: Vectors) -> dict[str, float]:
    """Summary of similarities, shape (sentences, other side): best, mean of bests, both ways."""
    if not similarity.size:
        return {f"{prefix}_{name}": 0.0 for name in ("max", "rows", "columns", "top", "mean")}
    rows, columns = similarity.max(axis=1), similarity.max(axis=0)
    return {
        f"{prefix}_max": float(similarity.max()),
        f"{prefix}_rows": float(rows.mean()),
        f"{prefix}_columns": float(columns.mean()),
        f"{prefix}_top": _top_mean(similarity.ravel(), 3),
        f"{prefix}_mean": float(similarity.mean()),
    }


def _vector_columns(
    row: View, known: Background, vectors: Mapping[str, Vectors]
) -> dict[str, float]:
    change = row.change
    said = _stack(row.sentences, vectors)
    whole = row.whole(vectors)
    columns: dict[str, float] = {}
    for prefix, lines in (
        ("pair_added", change.added),
        ("pair_deleted", change.deleted),
        ("pair_context", change.context),
        ("pair_changed", (*change.added, *change.deleted)),
    ):
        columns.update(_matrix_columns(prefix, said @ _stack(lines, vectors).T))
    block = vectors[change.block]
    columns["pair_block"] = float(whole @ block)
    columns["pair_block_max"] = float((said @ block).max())
    columns["pair_block_added"] = float(whole @ vectors["\n".join(change.added)])
    columns["pair_block_deleted"] = float(whole @ vectors["\n".join(change.deleted)])
    # How much nearer this review is to this change than typical comments are.
    others = known.comments @ block
    columns["pair_rank"] = float((others < columns["pair_block"]).mean())
    columns["pair_excess"] = columns["pair_block"] - _top_mean(others, 20)
    return columns


def _reference_columns(
    prefix: str,
    row: View,
    texts: Sequence[str],
    known: Background,
    vectors: Mapping[str, Vectors],
) -> dict[str, float]:
    said = _stack(row.sentences, vectors)
    columns = _matrix_columns(prefix, said @ _stack(texts, vectors).T)
    rows, refs = columns[f"{prefix}_rows"], columns[f"{prefix}_columns"]
    words = {word for text in texts for word in sub_words(text)}
    own = set(sub_words(row.review))
    shared = known.rarity.total(own & words)
    whole = row.whole(vectors)
    columns[f"{prefix}_soft_rel"] = _share(2 * rows * refs, rows + refs)
    columns[f"{prefix}_rare"] = _share(shared, known.rarity.total(own))
    columns[f"{prefix}_rare_said"] = _share(shared, known.rarity.total(words))
    columns[f"{prefix}_whole"] = float(max((vectors[t] @ whole for t in texts), default=0.0))
    return columns


def views_of(rows: Sequence[Row]) -> list[View]:
    """The rows with their changes read; rows of one change share its reading."""
    changes: dict[object, ChangeText] = {}
    views = []
    for row in rows:
        key: object = row.diff if isinstance(row.diff, str) else id(row.diff)
        if key not in changes:
            changes[key] = read_change(row.diff)
        views.append(View(row, changes[key]))
    return views


def needed_texts(views: Sequence[View]) -> list[str]:
    """Every distinct text of the rows whose vector the columns need."""
    return list(dict.fromkeys(text for view in views for text in view.texts()))


def columns_of(
    views: Sequence[View], vectors: Mapping[str, Vectors], known: Background
) -> tuple[list[str], Matrix]:
    """Column names and values, shape (rows, columns), from the vectors of ``needed_texts``."""
    names: list[str] = []
    table: list[list[float]] = []
    for view in views:
        columns = _text_columns(view, known, vectors)
        columns.update(_word_columns(view, known))
        columns.update(_vector_columns(view, known, vectors))
        columns.update(_reference_columns("own", view, view.own, known, vectors))
        columns.update(_reference_columns("ref", view, view.references, known, vectors))
        names = names or list(columns)
        table.append(list(columns.values()))
    return names, np.array(table, dtype=np.float64).reshape(len(views), len(names))


@dataclass(frozen=True, slots=True)
class Reduced:
    """Rows without some of their idle sentences: of which row, the row, how many are missing."""

    owners: npt.NDArray[np.int64]
    rows: list[Row]
    missing: Matrix


def reduced_rows(
    rows: Sequence[Row],
    views: Sequence[View],
    vectors: Mapping[str, Vectors],
    known: Background,
) -> tuple[Reduced, list[int]]:
    """The reductions of rows, and how many idle sentences each row has."""
    owners: list[int] = []
    found: list[Row] = []
    missing: list[float] = []
    counts: list[int] = []
    for i, (row, view) in enumerate(zip(rows, views, strict=True)):
        idle = (
            known.finder.flags(view.pieces, view.change, known.rarity, vectors)
            if known.finder is not None
            else [False] * len(view.pieces)
        )
        counts.append(sum(idle))
        for text, count in reductions(row.review, idle):
            owners.append(i)
            found.append(Row(row.diff, text, row.own, row.references))
            missing.append(float(count))
    return Reduced(np.array(owners, dtype=np.int64), found, np.array(missing)), counts
