"""Validation while training: fixed sets that no training example comes from."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import torch
from transformers import T5ForConditionalGeneration

from models.generators.line_edits import SAID, EditCodec
from models.training.abstracted import Reviews
from models.training.batches import Encoded, cut_batches, encode, pad
from models.training.claims import Messages, Silver
from models.training.examples import Example
from models.training.mixture import Edits, PullRequests


class Validation:
    """Fixed sets, by repository (of ``abstracted`` by record, of ``claims`` by change) apart
    from training."""

    def __init__(
        self, codec: EditCodec, data: Path, size: int, limit: int | None, mixture: str = "default"
    ) -> None:
        rng = random.Random(7)  # noqa: S311 - a fixed sample, no secret
        makers: Mapping[str, Callable[[random.Random], Example | None]]
        if mixture == "abstracted":
            reviews = Reviews(data, "held")
            makers = {"crb": reviews.before, "cra": reviews.after, "remarked": reviews.remark}
            self.counted: tuple[str, ...] = ("crb", "cra")
        elif mixture == "abstracted_before":
            makers = {"crb": Reviews(data, "held").before}
            self.counted = ("crb",)
        elif mixture == SAID:
            makers = {SAID: Reviews(data, "held").said}
            self.counted = (SAID,)
        elif mixture == "claims":
            makers = {
                "claims": Silver(data, "held").plain,
                "messages": Messages(Edits(data, "validation", limit)).claim,
            }
            self.counted = ("claims",)
        else:
            edits = Edits(data, "validation", limit)
            people = PullRequests(data, "validation")
            makers = {
                "revised": edits.revision,
                "unrevised": edits.unrevised,
                "spoiled": edits.spoiled,
                "suggested": people.suggestion,
                "remarked": people.comment,
            }
            self.counted = ("revised", "unrevised", "spoiled", "suggested")
        self.codec = codec
        self.sets: dict[str, list[Encoded]] = {}
        for name, maker in makers.items():
            rows: list[Encoded] = []
            while len(rows) < (size if name not in ("suggested", "remarked") else size // 4):
                example = maker(rng)
                row = None if example is None else encode(codec, example, rng)
                if row is not None:
                    rows.append(row)
            self.sets[name] = rows

    def measure(self, model: T5ForConditionalGeneration) -> dict[str, float]:
        """Loss by set, greedy exact match by set, and how well ``<none>`` tells right from spoiled.

        Greedy exact match needs no generation: an answer whose every token is the likeliest one
        given the right prefix is exactly what greedy decoding writes.
        """
        result: dict[str, float] = {}
        nothing: dict[str, list[float]] = {}
        model.eval()
        for name, rows in self.sets.items():
            total = hits = 0.0
            count = 0
            nothing[name] = []
            for group in cut_batches(rows, 8192):
                batch = pad(group, self.codec.pad)
                with torch.inference_mode():
                    logits = model(
                        input_ids=batch.source, attention_mask=batch.mask, labels=batch.labels
                    ).logits.float()
                real = batch.labels.ne(-100)
                losses = torch.nn.functional.cross_entropy(
                    logits.transpose(1, 2), batch.labels, reduction="none", ignore_index=-100
                )
                total += float(losses.sum())
                count += int(real.sum())
                right = logits.argmax(-1).eq(batch.labels) | ~real
                hits += float(right.all(1).sum())
                nothing[name] += torch.softmax(logits[:, 0], -1)[:, self.codec.none].tolist()
            result[f"loss_{name}"] = total / count
            result[f"exact_{name}"] = hits / len(rows)
        if "unrevised" in nothing:
            result["auc_spoiled"] = auc(nothing["unrevised"], nothing["spoiled"])
            result["auc_revised"] = auc(nothing["unrevised"], nothing["revised"])
        model.train()
        result["loss"] = sum(result[f"loss_{name}"] for name in self.counted)
        return result


def auc(higher: Sequence[float], lower: Sequence[float]) -> float:
    """The probability that a value of ``higher`` exceeds one of ``lower`` (ties count half)."""
    joined = torch.tensor([*higher, *lower], dtype=torch.float64)
    _, inverse, counts = torch.unique(joined, return_inverse=True, return_counts=True)
    ranks = (torch.cumsum(counts, 0) - (counts - 1) / 2)[inverse]
    n, m = len(higher), len(lower)
    return float((ranks[:n].sum() - n * (n + 1) / 2) / (n * m))
