"""Which repositories are held out, fixed once and for all.

A repository is in one part as a whole, in every data set, so that no record of a held repository
is ever trained on. ``VALIDATION`` chooses checkpoints; ``TEST`` is only reported.
"""

from __future__ import annotations

from typing import Literal

Part = Literal["train", "validation", "test"]

VALIDATION = frozenset(
    {
        "pallets/flask",
        "square/moshi",
        "spf13/cobra",
        "jqlang/jq",
        "sinatra/sinatra",
        "serilog/serilog",
        "fastapi/fastapi",
    }
)
TEST = frozenset(
    {
        "psf/requests",
        "google/gson",
        "expressjs/express",
        "helm/helm",
        "clap-rs/clap",
        "App-vNext/Polly",
        "guzzle/guzzle",
        "django/django",
        "ansible/ansible",
        "vitest-dev/vitest",
    }
)


def part_of(repository: str) -> Part:
    """The part that a repository (``owner/name``) belongs to."""
    if repository in VALIDATION:
        return "validation"
    return "test" if repository in TEST else "train"
