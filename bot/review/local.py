"""A change from this machine: a git range or a diff, the pipeline with its models, progress."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from bot.diff import DiffError, GitError, GitRepository, parse_diff
from bot.errors import FatalError
from bot.review.pipeline import ReviewPipeline
from bot.review.types import NoSources, Progress, Sources
from models.change import Change

if TYPE_CHECKING:
    from bot.review.claims import ClaimChoice
    from bot.review.history import History
    from models.generators.base import Generator

MAX_DIFF_BYTES = 256 * 1024 * 1024


@contextmanager
def read_change(
    repo: Path, range_text: str | None, diff: str | None
) -> Iterator[tuple[Change, Sources]]:
    """The change that the options name, with its sources.

    Raises:
        FatalError: no such repository, range, file, or no diff in it.
    """
    if diff is not None:
        yield parse_diff_file(diff), NoSources()
        return
    try:
        with GitRepository(repo) as repository:
            change = repository.change(range_text)
            yield change, repository.sources(change)
    except (GitError, DiffError) as error:
        raise FatalError(str(error)) from error


def read_file(name: str, most: int) -> bytes:
    """A file that a person named: at most one byte more than ``most``, which tells a larger one.

    Raises ``FatalError`` where it cannot be read.
    """
    try:
        with Path(name).open("rb") as handle:
            return handle.read(most + 1)
    except OSError as error:
        raise FatalError(f"{name}: cannot be read: {error.strerror}") from error


def parse_diff_file(name: str) -> Change:
    """The change in a diff file, or in standard input where the name is ``-``."""
    if name == "-":
        data = sys.stdin.buffer.read(MAX_DIFF_BYTES + 1)
    else:
        data = read_file(name, MAX_DIFF_BYTES)
    if len(data) > MAX_DIFF_BYTES:
        raise FatalError(f"{name}: larger than {MAX_DIFF_BYTES >> 20} MiB; review it in parts")
    try:
        return parse_diff(data)
    except DiffError as error:
        raise FatalError(f"{'standard input' if name == '-' else name}: {error}") from error


def default_model() -> Path | None:
    """The folder of the shipped checkpoint, ``None`` where this installation has none."""
    folder = Path(__file__).resolve().parents[2] / "models" / "weights" / "default"
    return folder if (folder / "marginalia.json").exists() else None


def load_generator(model: str | None) -> Generator | None:
    """The generator of a folder or Hub id, or the shipped one.

    Raises:
        FatalError: the model cannot be used; the message says why.
    """
    source: str | Path | None = model if model is not None else default_model()
    if source is None:
        return None
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    if model is None:
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
    from models.generators.base import GeneratorError
    from models.generators.checkpoint import checkpoint_folder
    from models.generators.requests_model import CARD
    from models.generators.t5_edits import load_reviewer

    try:
        folder = checkpoint_folder(source)
        if (folder / CARD).exists():
            from models.generators.rewriter import Rewriter

            return Rewriter(folder)
        return load_reviewer(source)
    except GeneratorError as error:
        raise FatalError(str(error)) from error


def answerers(model: Generator | None) -> Sequence[Generator]:
    """Who answers reviewers' comments, the most trusted first: what a comment spells out itself,
    the shipped models of Java methods, and the one for all else, where its base model is
    installed; without that, the model that reviews. Another model than the shipped
    one is the operator's choice, and goes before those.

    Args:
        model: ``None`` where no model may speak.
    """
    from models.generators.instructions import Instructions

    if model is None:
        return (Instructions(),)
    others = [_method_reviser(), *_rewriter()]
    if getattr(model, "folder", None) == default_model():
        return (Instructions(), *others, *([model] if len(others) == 1 else []))
    return (Instructions(), model, *others)


@cache
def _method_reviser() -> Generator:
    """The one that all jobs of a process share: its checkpoints are read when first asked."""
    from models.systems.method_reviser import MethodReviser

    return MethodReviser()


@cache
def _rewriter() -> tuple[Generator, ...]:
    """The one that all jobs of a process share; none where it is not all there."""
    from models.generators.requests_model import available

    if not available():
        return ()
    from models.generators.rewriter import Rewriter

    return (Rewriter(),)


def load_pipeline(
    *,
    model: str | None = None,
    use_model: bool = True,
    offered: Mapping[str, str] | None = None,
    rules: Path | None = None,
    history: Callable[[str], History | None] | None = None,
    claims: ClaimChoice | None = None,
) -> ReviewPipeline:
    """A pipeline with the models that the options name.

    ``offered`` are the operator's further models by name, each a folder or Hub id; ``rules`` is
    the folder of own ast-grep rules; ``history`` and ``claims`` as in ``ReviewPipeline``. Raises
    ``FatalError`` where a model, the rules or the sources of claims cannot be used.
    """
    if rules is not None and not rules.is_dir():
        raise FatalError(f"no folder {rules}: name a folder of ast-grep rules (*.yml)")
    return ReviewPipeline(
        generator=load_generator(model) if use_model else None,
        offered={name: partial(load_generator, source) for name, source in (offered or {}).items()},
        rules=rules,
        history=history,
        claims=claims,
    )


@contextmanager
def with_progress(after: float = 1.0) -> Iterator[Progress]:
    """Progress on standard error once the work takes longer than ``after`` seconds.

    A bar on a terminal; nothing where standard error is a file or a pipe.
    """
    if not sys.stderr.isatty():
        yield lambda stage, done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
    from rich.progress import Progress as Bar

    bar = Bar(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    task = bar.add_task("starting", total=1)
    began = time.monotonic()
    shown = False

    def tell(stage: str, done: int, total: int) -> None:
        nonlocal shown
        if not shown and time.monotonic() - began > after:
            bar.start()
            shown = True
        bar.update(task, description=stage, completed=done, total=max(total, 1))

    try:
        yield tell
    finally:
        if shown:
            bar.stop()
