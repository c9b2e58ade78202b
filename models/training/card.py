"""The model card of a checkpoint: what it was trained on, how, and what it measures.

``marginalia.json`` is the machine's half (format, tasks, options, numbers, calibration), the
``README.md`` beside it the person's; both are written here and nowhere else.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from models.generators.line_edits import SAID
from models.training.splits import TEST, VALIDATION

_SOURCES = """\
`edits` (public git histories, permissive licences), `codrep` (public projects' code),
`autotransform` (D-ACT / AutoTransform, MIT), `trans_review` train (Tufano et al. 2021, MIT),
`pr_reviews` (GitHub review comments; vscode and Kotlin, MIT and Apache-2.0)"""


_CLAIM_SOURCES = """\
`crscore/claims_silver` (claims by a large model, MIT), each change with mostly other names than
its own, and `edits` (public git histories, permissive licences) with the commits' subjects"""
_ABSTRACTED_SOURCES = """\
Trained on Java methods whose names are replaced: `trans_review` train (Tufano et al. 2021, MIT)
but for every 33rd record, methods of `autotransform` (D-ACT / AutoTransform, MIT), and, in those
begun from `abstracted`, of `codrep` (public projects' code) and `edits` (public git histories,
permissive licences). Every method was revised. The first of them was begun from the default
checkpoint."""
_SAID_SOURCES = """\
Trained on Java methods whose names are replaced, with their revisions: `trans_review` train
(Tufano et al. 2021, MIT) but for every 33rd record, with the reviewers' comments; methods of
`edits` (public git histories, permissive licences) with the commits' messages; and methods of
`autotransform` (D-ACT / AutoTransform, MIT) and `codrep` (public projects' code) with comments that
are made up of words of the edit and of other comments."""
COVERAGE_PLOT = "precision.svg"
LOSS_PLOT = "loss.svg"
"""Charts beside a card, which shows those that it knows of."""


def write_card(folder: Path, card: Mapping[str, Any]) -> None:
    """Write both halves of the card into a checkpoint's folder."""
    text = json.dumps(card, indent=2, ensure_ascii=False) + "\n"
    (folder / "marginalia.json").write_text(text, encoding="utf-8")
    (folder / "README.md").write_text(render_card(card), encoding="utf-8")


def render_card(card: Mapping[str, Any]) -> str:
    """The card as Markdown, from nothing but its own numbers."""
    options, progress = card["options"], card["progress"]
    claims = "claims" in card["tasks"]
    said = SAID in card["tasks"]
    abstracted = options.get("mixture") in ("abstracted", "abstracted_before")
    parts = [
        "# A small claim generator"
        if claims
        else "# What a reviewer said"
        if said
        else "# A small line-edit model",
        "A T5 encoder-decoder made by Marginalia's own trainer, Apache-2.0. It reads a window of "
        + (
            "changed code and answers with claims about the change, one a line. "
            if claims
            else "code with numbered lines and edits of it, and says what comment led to them. "
            if said
            else "code with numbered lines and answers with line edits, with a comment, or with "
            "`<none>`: nothing to revise. "
        )
        + "Tasks: "
        + ", ".join(f"`{task}`" for task in card["tasks"])
        + ".",
        "## How it was made",
        f"- Parameters: {card.get('parameters', 0) / 1e6:.1f} million, stored in bfloat16.\n"
        f"- {progress['step']} steps, {progress['examples']} examples, {progress['tokens']} "
        f"tokens, {progress['seconds'] / 60:.0f} minutes.\n"
        + "\n".join(f"- {name}: {value}" for name, value in options.items()),
        "Trained on " + _CLAIM_SOURCES.replace("\n", " ") + ". One change in ten is held out, by a "
        "hash of its text, and so are the changes of the human study."
        if claims
        else (_SAID_SOURCES if said else _ABSTRACTED_SOURCES).replace("\n", " ")
        if said or abstracted
        else "Trained on "
        + _SOURCES.replace("\n", " ")
        + ". Edits of versions, dates, licences and "
        "lock files are left out. Of the CRB examples half need no revision, and about a fifth "
        "have a fault made on purpose.",
        "Held out as a whole, in every set: for choosing checkpoints "
        + ", ".join(sorted(VALIDATION))
        + "; for the table below "
        + ", ".join(sorted(TEST))
        + ". No `valid` file of `trans_review` was trained on.",
        "## Validation",
        "| measure | value |\n|---|---|\n"
        + "\n".join(f"| {name} | {value:.4f} |" for name, value in card["validation"].items()),
    ]
    if "losses" in card:
        parts.append(f"![Loss while training]({LOSS_PLOT})")
    if "coverage" in card:
        parts += [
            "## Precision by coverage",
            "The share of right revisions among the most probable ones, by the share of all "
            "windows that has one, in per cent; AUC: how well the probability of `<none>` tells "
            "windows that need no revision from those that people revised.",
            str(card["coverage"]),
            f"![Precision by coverage]({COVERAGE_PLOT})",
        ]
    if "suggestions" in card:
        parts += [
            "## Answers to reviewers (CRA) on held suggestion blocks",
            str(card["suggestions"]),
        ]
    if "table" in card:
        parts += ["## Held repositories", str(card["table"])]
    if "findings" in card:
        parts += ["## What was found", str(card["findings"])]
    parts += [
        "## Use",
        "`marginalia score --claims generator` asks it, alone or with others. What it says is only "
        "compared with reviews, and a claim that names what the change does not have is dropped."
        if claims
        else "It weighs revisions of abstracted methods by how probable the comment is that they "
        "answer (`marginalia suggest`, `marginalia bench run --system default --task cra`); "
        "nothing else asks it."
        if said
        else "It answers abstracted methods, and whole Java methods after they are abstracted "
        "(`models.systems.java_methods`), together with the others of its kind that ship: in "
        "`marginalia bench run --system default`, and where a reviewer's comment asks for a "
        "revision (`marginalia suggest`, and `/marginalia suggest` in a thread). Reviews do not "
        "ask it: it takes every method for one that is to be revised."
        if abstracted
        else "`marginalia review` uses it by default. Its revisions are suggestions for a person, "
        "and the gate holds back all that it is not sure of. It is small: expect silence more "
        "often than help.",
    ]
    return "\n\n".join(parts) + "\n"
