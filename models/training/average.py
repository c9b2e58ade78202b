"""The mean of two checkpoints of one run (Izmailov et al. 2018; Wortsman et al. 2022).

    python -m models.training.average FIRST SECOND --out FOLDER

Where a run is gone on with at a high rate and let down again, its two ends lie in one basin, and
between them there may be a better model than either. Whether there is must be measured: the mean
of models of different runs is noise.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import torch
from transformers import T5ForConditionalGeneration

from models.generators.base import GeneratorError
from models.generators.checkpoint import read_card
from models.training.start import load_start
from models.training.trainer import save_model


@torch.no_grad()
def averaged(
    first: T5ForConditionalGeneration, second: T5ForConditionalGeneration
) -> T5ForConditionalGeneration:
    """A model whose every weight is the mean of the two models'; both are left as they are.

    Raises:
        ValueError: the models are not of one shape.
    """
    ours, theirs = first.state_dict(), second.state_dict()
    if {k: v.shape for k, v in ours.items()} != {k: v.shape for k, v in theirs.items()}:
        raise ValueError("the two models have other shapes; only ends of one run have a mean")
    mean = T5ForConditionalGeneration(first.config)
    mean.load_state_dict({k: (v.float() + theirs[k].float()) / 2 for k, v in ours.items()})
    return mean


def average_folders(first: Path, second: Path, out: Path) -> None:
    """Write the mean of two checkpoints' folders, with the second one's card.

    Raises:
        ValueError: the checkpoints are not two ends of one run.
        GeneratorError: one of them is no checkpoint of ours.
    """
    card = dict(read_card(second, str(second)))
    read_card(first, str(first))
    (one, model), (other, later) = load_start(str(first)), load_start(str(second))
    if one.to_str() != other.to_str():
        raise ValueError(f"{first} and {second} have other tokenizers: no two ends of one run")
    card["options"] = {**card.get("options", {}), "mean_of": f"{first.name}, {second.name}"}
    card["validation"] = {}  # what was measured was the second one
    save_model(out, other, averaged(model, later), card)


def main(arguments: Sequence[str] | None = None) -> None:
    """Average two folders."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("first", type=Path)
    parser.add_argument("second", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args(arguments)
    try:
        average_folders(given.first, given.second, given.out)
    except (GeneratorError, ValueError) as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
