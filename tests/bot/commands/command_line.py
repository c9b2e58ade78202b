"""Calls of ``marginalia`` in this process, as a shell would see them."""

import io
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass

from bot.cli import main


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


def call(*arguments: object) -> Outcome:
    """Run the command; the path of imports is put back afterwards."""
    out, err, path, code = io.StringIO(), io.StringIO(), list(sys.path), 0
    try:
        with redirect_stdout(out), redirect_stderr(err):
            main([str(argument) for argument in arguments])
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else int(left.code is not None)
    finally:
        sys.path[:] = path
    return Outcome(code, out.getvalue(), err.getvalue())
