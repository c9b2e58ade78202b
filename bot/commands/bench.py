"""``marginalia bench``: score predictions, run a system on data, print the papers' tables."""

from __future__ import annotations

import json
import os
import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bot.errors import FatalError

if TYPE_CHECKING:
    from models.benchmark.run import Result
    from models.systems.base import Progress, System
    from models.tasks import Example, Task

app = typer.Typer(
    name="bench",
    help="Score predictions and run the systems on data sets.",
    no_args_is_help=True,
    add_completion=False,
)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Out = Annotated[Path | None, typer.Option("--result-out", help="Write the result for bench table.")]


@app.callback()
def _group() -> None:
    """Score predictions and run the systems on data sets."""


@app.command("metrics")
def metrics(
    predictions: Annotated[
        Path,
        typer.Option(
            "--predictions",
            help='JSON lines of {"source", "target", "prediction"}; tokens apart by white space.',
        ),
    ],
    as_json: Json = False,
) -> None:
    """Score stored predictions: exact match, Edit Progress, BLEU, similarity, DG and the rest."""
    from models.metrics.report import PredictionsError, evaluate, read_predictions

    try:
        records = read_predictions(predictions)
    except PredictionsError as error:
        raise FatalError(str(error)) from error
    result = evaluate(records)
    if as_json:
        _print_json(result)
    else:
        print_metrics(result)


@app.command("run")
def run(
    system: Annotated[str, typer.Option(help="A system's name; default: the shipped model.")],
    task: Annotated[str, typer.Option(help="crb, cra or rcg.")],
    data: Annotated[Path, typer.Option(help="What to predict: a file or a published folder.")],
    limit: Annotated[int | None, typer.Option(min=1, help="At most so many records.")] = None,
    every: Annotated[int, typer.Option(min=1, help="Only every so manyth record.")] = 1,
    model: Annotated[str, typer.Option(help="A checkpoint: a folder or a Hub id.")] = "",
    start: Annotated[str, typer.Option("--from", help="Published weights to fine-tune.")] = "",
    train: Annotated[Path | None, typer.Option(help="Data to fit on first.")] = None,
    train_limit: Annotated[int | None, typer.Option(min=1, help="At most so many of them.")] = None,
    valid: Annotated[Path | None, typer.Option(help="Data that choose the best weights.")] = None,
    recipe: Annotated[str, typer.Option(help="paper or tiny.")] = "paper",
    beams: Annotated[int, typer.Option(min=1, help="Ranked answers a record.")] = 1,
    save: Annotated[
        Path | None, typer.Option(help="Keep the fitted system in this folder.")
    ] = None,
    as_json: Json = False,
    predictions_out: Annotated[
        Path | None, typer.Option(help='Write {"source", "prediction"} a record, in order.')
    ] = None,
    result_out: Out = None,
) -> None:
    """Predict a data set with one system, and score it where it has targets.

    The system is loaded (--model), fitted (--train) or needs neither. Exit codes: 0 done, 2 wrong
    input.
    """
    from models.benchmark.datasets import DataError, read_examples
    from models.benchmark.run import run_system, write_predictions
    from models.systems.base import SystemFault
    from models.systems.card import UnusableCheckpoint
    from models.tasks import NEEDS, Task, can_ask

    try:
        asked = Task(task.lower())
    except ValueError as error:
        raise FatalError(f"--task {task}: no such task; ask for crb, cra or rcg") from error
    for place in (predictions_out, result_out):
        _must_be_writable(place)
    if model and (start or train):
        raise FatalError("--model names fitted weights: leave --from and --train out")
    if (start or valid or save) and train is None and not model:
        given = "--from" if start else "--valid" if valid else "--save"
        raise FatalError(f"{given} goes with --train: name the data to fit on")
    try:
        examples = read_examples(data, None if limit is None else limit * every)[::every]
        if not examples:
            raise FatalError(f"{data}: no records; give other data")
        if not any(can_ask(asked, example) for example in examples):
            raise FatalError(
                f"{data}: no record holds {NEEDS[asked]}, which {asked} needs; give other data"
            )
        fit_on = read_examples(train, train_limit) if train is not None else []
        check_on = read_examples(valid, train_limit) if valid is not None else []
        found, used = _open(system, asked, model, start, recipe, fit_on, check_on)
        if save is not None:
            found.trained_on = str(train) if train is not None else found.trained_on
            _save(found, save)
        with _waiting(f"{system}: predicting {len(examples)} records"):
            result, answers = run_system(
                found, asked, examples, _label(data, every), system, used, model, beams
            )
    except (DataError, SystemFault, UnusableCheckpoint) as error:
        raise FatalError(str(error)) from error
    if predictions_out is not None:
        write_predictions(predictions_out, asked, examples, answers)
    _report(result, as_json, result_out)


@app.command("completion")
def completion(
    system: Annotated[str, typer.Option(help="java8g or codegpt.")],
    data: Annotated[Path, typer.Option(help="A folder of Java files.")],
    model: Annotated[str, typer.Option(help="A checkpoint: a folder or a Hub id.")] = "",
    train: Annotated[Path | None, typer.Option(help="A folder of Java files to learn.")] = None,
    recipe: Annotated[str, typer.Option(help="paper or tiny.")] = "paper",
    limit: Annotated[int, typer.Option(min=1, help="At most so many cases.")] = 4075,
    seed: Annotated[int, typer.Option(help="Draws the cases.")] = 1,
    as_json: Json = False,
    result_out: Out = None,
) -> None:
    """Complete Java at triggers, as Java8G was measured. Exit codes: 0 done, 2 wrong input."""
    from models.benchmark.completion import evaluate_completions
    from models.benchmark.run import Result
    from models.systems import make_system
    from models.systems.base import SystemFault
    from models.systems.card import UnusableCheckpoint
    from models.systems.completion_cases import java_files, sample_cases

    _must_be_writable(result_out)
    if system not in ("java8g", "codegpt"):
        raise FatalError(f"--system {system}: completes no code; ask for java8g or codegpt")
    for folder in (data, train):
        if folder is not None and not folder.is_dir():
            raise FatalError(f"{folder}: no such folder; give a folder of Java files")
    cases = sample_cases(java_files(data), limit, seed)
    if not cases:
        raise FatalError(f"{data}: no Java file with a place to complete; give another folder")
    try:
        found: Any = make_system(system, _recipe(system, recipe))
        if model:
            found = type(found).start_from(model, found.recipe)
        if train is not None:
            with _waiting(f"{system}: learning {train}"):
                found.train_on_files([text for _, text in java_files(train)])
        with _waiting(f"{system}: completing {len(cases)} cases"):
            answers = found.complete(cases)
    except (SystemFault, UnusableCheckpoint) as error:
        raise FatalError(str(error)) from error
    used = found.recipe.name if train is not None else ""
    scored = evaluate_completions(cases, answers)
    result = Result(system, "completion", data.name, len(cases), scored, used, model, 2)
    _report(result, as_json, result_out)


@app.command("table")
def table(
    results: Annotated[
        Path | None,
        typer.Option(help="A folder of results; default: those that ship with the program."),
    ] = None,
    tiny: Annotated[
        bool, typer.Option("--tiny", help="Also fit and run every system on toy data.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Print the papers' tables with our rows beside them; rows that were not run say so."""
    from dataclasses import asdict

    from models.benchmark.run import ResultError, read_results, shipped_results
    from models.benchmark.table import tables

    folder = results if results is not None else shipped_results()
    if results is not None and not results.is_dir():
        raise FatalError(f"{results}: no such folder; give one of result files")
    try:
        rows = read_results(folder)
    except ResultError as error:
        raise FatalError(str(error)) from error
    if tiny:
        from models.benchmark.tiny import tiny_results

        with _waiting("every system on toy data"):
            rows += tiny_results()
    made = tables(rows)
    if as_json:
        _print_json({"tables": [asdict(one) for one in made]})
    else:
        typer.echo("\n".join(one.markdown() for one in made))


def _open(
    name: str,
    task: Task,
    model: str,
    start: str,
    recipe: str,
    train: list[Example],
    valid: list[Example],
) -> tuple[System, str]:
    """The system, ready for the task, and the name of the recipe that it was fitted by."""
    from models.systems import SYSTEMS, make_system, system_class
    from models.systems.checkpoints import open_checkpoint, starting_point

    if name not in SYSTEMS:
        raise FatalError(f"--system {name}: no such system; ask for {', '.join(sorted(SYSTEMS))}")
    if model:
        loaded = open_checkpoint(model, task)
        if loaded.kind != name:
            raise FatalError(
                f"--model {model}: a checkpoint of {loaded.kind}; ask for --system {loaded.kind}"
            )
        return loaded, ""
    try:
        tasks = system_class(name).tasks
        if task not in tasks:
            raise FatalError(f"--system {name}: does {', '.join(sorted(tasks))}, not {task}")
        found = (
            starting_point(start, name, _recipe(name, recipe))
            if start
            else make_system(name, _recipe(name, recipe))
        )
    except ImportError as error:
        raise FatalError(
            f"--system {name}: cannot be imported ({error.name or error}); "
            "run marginalia doctor to see what is missing"
        ) from error
    if name in ("copy", "default"):  # ready for every task as they are made
        found.task = task
    if not train:
        return found, ""
    with _fitting(f"{name}: fitting {len(train)} records") as progress:
        found.fit(task, train, valid, progress)
    return found, getattr(getattr(found, "recipe", None), "name", "")


def _save(system: System, folder: Path) -> None:
    try:
        system.save(folder)
    except OSError as error:
        raise FatalError(f"--save {folder}: cannot be written ({error.strerror})") from error


def _must_be_writable(path: Path | None) -> None:
    """A place that cannot be written is said before the work, not after it."""
    if path is None:
        return
    if path.is_dir() or not path.absolute().parent.is_dir():
        what = "is a folder" if path.is_dir() else "its folder does not exist"
        raise FatalError(f"{path}: cannot be written ({what}); name a file in a folder of yours")
    if not os.access(path if path.exists() else path.absolute().parent, os.W_OK):
        raise FatalError(f"{path}: cannot be written (no permission); name another file")


def _recipe(system: str, name: str) -> Any:
    """The recipe by its name; the paper's is the system's own."""
    from models.systems import WITHOUT_RECIPE, tiny_recipe

    if name not in ("paper", "tiny"):
        raise FatalError(f"--recipe {name}: no such recipe; ask for paper or tiny")
    return tiny_recipe(system) if name == "tiny" and system not in WITHOUT_RECIPE else None


def _label(data: Path, every: int) -> str:
    """How a data set is named in tables: folder and name, without endings."""
    name = f"{data.resolve().parent.name}/{data.name.split('.')[0]}"
    return f"{name}, every {every}th" if every > 1 else name


def _report(result: Result, as_json: bool, out: Path | None) -> None:
    row = result.as_json()
    if out is not None:
        out.write_text(json.dumps(row, indent=2) + "\n", encoding="utf-8")
    if as_json:
        _print_json(row)
        return
    typer.echo(f"{result.system}, {result.task}, {result.data}: {result.n} records")
    if row["metrics"] is None:
        typer.echo("no targets, so nothing was scored")
    else:
        print_metrics(row["metrics"])


def _print_json(value: Any) -> None:
    sys.stdout.write(json.dumps(value, indent=2) + "\n")


def print_metrics(result: dict[str, Any]) -> None:
    """Print the answer of ``evaluate`` for a person: per cent, one metric a line."""
    for name, value in _rows(result):
        typer.echo(f"{name:<42} {value}")
    typer.echo("")
    for signature in result["signatures"].values():
        typer.echo(signature)


_COUNTS = frozenset({"n", "distance"})


def _rows(result: dict[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    for key, value in result.items():
        if key == "signatures":
            continue
        if isinstance(value, dict):
            rows += _rows(value, f"{prefix}{key}.")
        elif value is None:
            rows.append((prefix + key, "n/a"))
        elif key in _COUNTS:
            rows.append((prefix + key, f"{value:g}"))
        else:
            rows.append((prefix + key, f"{100 * value:.2f} %"))
    return rows


def _waiting(text: str) -> AbstractContextManager[Any]:
    """A sign of life on standard error, where a person looks at it."""
    if not sys.stderr.isatty():
        return nullcontext()
    from rich.console import Console

    return Console(stderr=True).status(text)


class _fitting:
    """A bar with the loss and the time left, on standard error, while a system is fitted."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._bar: Any = None

    def __enter__(self) -> Progress | None:
        if not sys.stderr.isatty():
            return None
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        from models.systems.base import Step

        self._bar = Progress(
            TextColumn(self._text),
            BarColumn(),
            TextColumn("{task.completed}/{task.total} steps, {task.fields[loss]}"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
        )
        self._bar.start()
        number = self._bar.add_task("", total=None, loss="")
        validation = ""

        def show(step: Step) -> None:
            nonlocal validation
            if step.validation is not None:
                validation = f", validation {step.validation:.3f}"
            self._bar.update(
                number,
                completed=step.step,
                total=step.steps,
                loss=f"loss {step.loss:.3f}{validation}",
            )

        return show

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()
