"""``marginalia config``: check, show and describe a repository's configuration, without GitHub."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from bot.repo_config import CONFIG_PATH, RepoConfig, json_schema, stack
from bot.repo_config_reader import ConfigError, read_config

app = typer.Typer(
    name="config",
    help="Check, show and describe .github/marginalia.yml.",
    no_args_is_help=True,
)

_Files = Annotated[
    list[Path] | None,
    typer.Argument(
        help=f"Files to check; {CONFIG_PATH} where none is named; - for standard input."
    ),
]


@app.command()
def validate(
    files: _Files = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON array of problems on standard output.")
    ] = False,
) -> None:
    """Check configuration files: every problem with its line, its column and what to do.

    Exit code 0: all are good; 1: at least one problem; 2: a file cannot be read.
    """
    problems: list[dict[str, Any]] = []
    for path in files or [Path(CONFIG_PATH)]:
        try:
            read_config(_read(path), str(path))
        except ConfigError as error:
            for row, problem in zip(error.lines(), error.problems, strict=True):
                problems.append(
                    {
                        "file": error.source,
                        "line": problem.line,
                        "column": problem.column,
                        "message": problem.message,
                    }
                )
                if not as_json:
                    typer.echo(row, err=True)
        else:
            if not as_json:
                typer.echo(f"{path}: good")
    if as_json:
        typer.echo(json.dumps(problems, indent=2, ensure_ascii=False))
    if problems:
        raise typer.Exit(1)


@app.command()
def show(
    file: Annotated[Path, typer.Argument(help="The repository's file.")] = Path(CONFIG_PATH),
    organisation: Annotated[
        Path | None,
        typer.Option("--org", help="The file of the organisation's .github repository."),
    ] = None,
    operator: Annotated[
        Path | None, typer.Option(help="The operator's defaults, in the same format.")
    ] = None,
) -> None:
    """Show the settings that count, each with the layer that set it.

    Later layers count: defaults, the operator's, the organisation's, the repository's own.
    """
    layers: list[tuple[str, RepoConfig]] = []
    for name, path in (
        ("operator", operator),
        ("organisation", organisation),
        ("repository", file),
    ):
        if path is None or (path == file and path == Path(CONFIG_PATH) and not path.exists()):
            continue
        try:
            layers.append((name, read_config(_read(path), str(path))))
        except ConfigError as error:
            typer.echo(str(error), err=True)
            raise typer.Exit(1) from error
    typer.echo("\n".join(describe(layers)))


@app.command()
def schema() -> None:
    """Print the JSON Schema of the configuration, for editors."""
    typer.echo(schema_text(), nl=False)


def schema_text() -> str:
    """The published schema file's text: ``bot/schemas/marginalia.schema.json``."""
    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"


def describe(layers: list[tuple[str, RepoConfig]]) -> list[str]:
    """The stacked settings as YAML lines, each with a comment naming the layer it comes from.

    ``layers`` are (name, configuration) pairs, the earliest first.
    """
    merged = stack(config for _, config in layers)
    rows: list[str] = []
    for key in RepoConfig.model_fields:
        value = getattr(merged, key)
        if key in ("paths", "analyzers", "when", "feedback"):
            rows.append(f"{key}:")
            for inner in type(value).model_fields:
                origin = _origin(layers, key, inner)
                rows.append(f"  {inner}: {_flow(getattr(value, inner))}  # {origin}")
        else:
            rows.append(f"{key}: {_flow(value)}  # {_origin(layers, key)}")
    return rows


def _origin(layers: list[tuple[str, RepoConfig]], key: str, inner: str | None = None) -> str:
    for name, config in reversed(layers):
        if key in config.model_fields_set and (
            inner is None or inner in getattr(config, key).model_fields_set
        ):
            return name
    return "default"


def _flow(value: Any) -> str:
    """A value in YAML's flow style, which for these values is JSON."""
    return "all" if value is None else json.dumps(value, ensure_ascii=False)


def _read(path: Path) -> bytes:
    try:
        return sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        typer.echo(f"{path}: cannot be read ({reason}): name a configuration file", err=True)
        raise typer.Exit(2) from error
