"""The ``marginalia`` command: it names the subcommands and says errors in one line.

Nothing heavy is imported here: ``marginalia --help`` answers in well under a second. Each
subcommand's module lives in ``bot.commands`` and is imported only when it is the one asked for.
"""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from bot.errors import FULL, FatalError

_COMMANDS: dict[str, tuple[str, str, str]] = {
    # name: (module, attribute, help)
    "review": ("review", "review", "Review a change: a range of a git repository or a diff."),
    "suggest": ("suggest", "suggest", "Print the revision that a comment asks for."),
    "doctor": ("doctor", "doctor", "Say what is installed and what is missing."),
    "models": ("models", "app", "The models that ship with the program, and others."),
    "serve": ("serve", "serve", "Receive deliveries and review pull requests: web and worker."),
    "web": ("serve", "web", "Only the web side; workers run beside it."),
    "worker": ("serve", "worker", "Only a worker."),
    "replay": ("serve", "replay", "Send a stored delivery through the webhook."),
    "simulate": ("simulate", "simulate", "Print what would be posted on a pull request."),
    "explain": ("explain", "explain", "Say why a posted remark was posted, from the ledger."),
    "jobs": ("serve", "jobs_app", "The jobs in the ledger."),
    "feedback": ("feedback", "app", "What became of the posted comments."),
    "learn": ("learn", "learn", "Learn from past reviews of a repository."),
    "data": ("data", "app", "See, export and delete all that was learnt."),
    "train": ("train", "train", "Train a model, or go on with one."),
    "bench": ("bench", "app", "Score predictions and run the systems on data sets."),
    "score": ("score", "app", "Grade reviews by CRScore and the judge."),
    "calibrate": ("calibrate", "app", "Derive and store thresholds."),
    "config": ("config", "app", "A repository's own configuration."),
}


def _root(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Review changes with small local models that grade their own notes."""
    if version:
        from importlib.metadata import version as installed

        typer.echo(f"marginalia {installed('marginalia')}")
        raise typer.Exit


def _unused() -> None:
    """Stands for a subcommand that this call did not name."""


def build(arguments: list[str]) -> typer.Typer:
    """The command line for these arguments: all subcommands listed, the named one loaded."""
    app = typer.Typer(
        name="marginalia",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
    app.callback(invoke_without_command=True)(_root)
    named = next((word for word in arguments if not word.startswith("-")), "")
    for name, (module, attribute, text) in _COMMANDS.items():
        if name == named:
            command = getattr(importlib.import_module(f"bot.commands.{module}"), attribute)
            if isinstance(command, typer.Typer):
                app.add_typer(command, name=name, help=text)
            else:
                app.command(name)(command)
        else:
            app.command(name, help=text)(_unused)
    return app


def run(app: typer.Typer, arguments: list[str] | None = None) -> None:
    """Run an application of commands and leave; a wrong use is a ``FatalError`` of one line.

    The library itself would say it in four lines: usage, hint, an empty one, the error.
    """
    # typer, which is pinned, carries click in here and exports none of these three
    from typer._click.exceptions import ClickException, NoArgsIsHelpError, UsageError

    try:
        code = app(args=arguments, prog_name="marginalia", standalone_mode=False)
        # here, where it can still be said: the interpreter's own end would print a traceback
        sys.stdout.flush()
    except NoArgsIsHelpError as error:
        error.show()
        sys.exit(error.exit_code)
    except ClickException as error:
        context = error.ctx if isinstance(error, UsageError) else None
        where = context.command_path if context is not None else "marginalia"
        said = error.format_message().replace("Value error, ", "").rstrip(".")
        raise FatalError(f"{said}: see {where} --help", error.exit_code) from None
    except typer.Abort:
        raise FatalError("stopped", 1) from None
    except OSError as error:
        if error.errno not in FULL:
            raise
        _drop_output()
        where = error.filename or "the output"
        raise FatalError(f"{where}: {error.strerror}: make room and run it again") from None
    sys.exit(code if isinstance(code, int) else 0)


def _drop_output() -> None:
    """What could not be written is not tried again at the end."""
    with Path(os.devnull).open("w") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; leaves with the exit codes of ``bot.errors``."""
    # a reviewed repository may be the current folder: nothing in it may be imported
    sys.path[:] = [entry for entry in sys.path if entry not in ("", ".")]
    given = sys.argv[1:] if arguments is None else arguments
    try:
        run(build(given), given)
    except FatalError as error:
        sys.stderr.write(f"marginalia: {error}\n")
        sys.exit(error.code)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)


if __name__ == "__main__":
    main()
