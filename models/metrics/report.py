"""All metrics over one set of predictions, and the reader of prediction files."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from models.metrics.base import Record
from models.metrics.bleu import Bleu, SmoothedBleu4
from models.metrics.dg import DG
from models.metrics.edit_progress import EditProgress
from models.metrics.edit_similarity import EditSimilarity, NormalisedEditDistance
from models.metrics.exact_match import ExactMatch, PerfectAtK
from models.metrics.interrogative import InterrogativeSplit


class PredictionsError(ValueError):
    """A prediction file that cannot be read; the message is one line for a person."""


def evaluate(records: Sequence[Record]) -> dict[str, Any]:
    """Every metric over the records, as ``marginalia bench metrics --json`` prints it.

    All values are fractions; one that no record could decide is ``None``. ``signatures`` says
    how each number was made.
    """
    exact = ExactMatch().score(records)
    progress = EditProgress().score(records)
    depth = max((len(record.ranked) for record in records), default=1)
    perfect = PerfectAtK([k for k in (1, 5, 10) if k == 1 or k <= depth]).score(records)
    split = InterrogativeSplit().score(records)
    similarity, distance = EditSimilarity().score(records), NormalisedEditDistance().score(records)
    bleu, smoothed = Bleu().score(records), SmoothedBleu4().score(records)
    clipped, whole = DG().score(records), DG(clipped=False).score(records)
    return {
        "n": len(records),
        "exact_match": exact.value,
        "edit_progress": {key: progress.parts[key] for key in ("mean", "median", "aggregate")},
        "revised": {"n": int(progress.parts["n"] or 0), "exact_match": exact.parts["revised"]},
        "unchanged": {
            "n": int(progress.parts["n_unchanged"] or 0),
            "exact_match": exact.parts["unchanged"],
            "distance": progress.parts["unchanged_distance"],
        },
        "perfect_at_k": dict(perfect.parts),
        "bleu": bleu.value,
        "bleu4_smoothed": smoothed.value,
        "edit_similarity": similarity.value,
        "normalised_edit_distance": distance.value,
        "dg": {
            "clipped": clipped.value,
            "unclipped": whole.value,
            "full_match_clipped": clipped.parts["full_match"],
            "full_match_unclipped": whole.parts["full_match"],
        },
        "interrogative": {
            "share": split.value,
            **{
                name: {
                    "n": int(split.parts[f"n_{name}"] or 0),
                    "exact_match": split.parts[f"exact_match_{name}"],
                    "bleu": split.parts[f"bleu_{name}"],
                }
                for name in ("interrogative", "other")
            },
        },
        "signatures": {
            score.name: str(score.signature)
            for score in (
                exact, progress, perfect, bleu, smoothed, similarity, distance, clipped, whole,
                split,
            )
        },
    }  # fmt: skip


def read_predictions(path: Path) -> list[Record]:
    """Read JSON lines of ``{"source", "target", "prediction"}`` (gzipped if the name ends in .gz).

    ``prediction`` may be left out where ``predictions``, a list of texts with the best first, is
    given; ``category`` is optional. Blank lines are skipped. Raises PredictionsError, naming the
    file and the line.
    """
    return list(_records(path))


def _records(path: Path) -> Iterator[Record]:
    try:
        with _open(path) as lines:
            for number, raw in enumerate(lines, 1):
                if raw.strip():
                    yield _record(raw, f"{path}, line {number}")
    except (OSError, EOFError, zlib.error) as error:
        # Only gzip's own complaints come without the system's words for what went wrong.
        reason = getattr(error, "strerror", None) or "not a whole gzip file"
        raise PredictionsError(
            f"{path}: cannot be read ({reason}); give a file of JSON lines"
        ) from error


def _open(path: Path) -> Any:
    return gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")


def _record(raw: bytes, where: str) -> Record:
    try:
        row = json.loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise PredictionsError(f"{where}: not UTF-8 text; save the file as UTF-8") from error
    except json.JSONDecodeError as error:
        raise PredictionsError(
            f'{where}: not JSON ({error.msg}); write {{"source", "target", "prediction"}} '
            "as one object a line"
        ) from error
    except RecursionError as error:
        raise PredictionsError(f"{where}: nested too deeply; write one flat object") from error
    if not isinstance(row, dict):
        raise PredictionsError(
            f'{where}: not an object; write {{"source", "target", "prediction"}} a line'
        )
    ranked = row.get("predictions", [])
    if not isinstance(ranked, list) or not all(isinstance(text, str) for text in ranked):
        raise PredictionsError(f'{where}: "predictions" must be a list of texts, best first')
    if "prediction" not in row and ranked:
        row["prediction"] = ranked[0]
    if ranked and row["prediction"] != ranked[0]:
        raise PredictionsError(
            f'{where}: "prediction" is not the first of "predictions"; put the best answer first'
        )
    for key in ("source", "target", "prediction"):
        if key not in row:
            raise PredictionsError(f'{where}: "{key}" is missing; each line needs it as a text')
        if not isinstance(row[key], str):
            raise PredictionsError(f'{where}: "{key}" must be a text')
    category = row.get("category", "")
    if not isinstance(category, str):
        raise PredictionsError(f'{where}: "category" must be a text')
    return Record(row["source"], row["target"], row["prediction"], tuple(ranked), category)
