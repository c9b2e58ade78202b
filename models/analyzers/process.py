"""Tools run as processes: found safely, started with a clean environment, stopped in time.

What a tool may use is counted in processor time: on a busy machine it takes longer and finds the
same. A limit by the clock, far above it, stops what waits for ever.

The files that a tool reads are hostile (they come from the reviewed repository), so nothing of the
caller's environment reaches it and nothing in its working folder is put on an import path.
"""

from __future__ import annotations

import functools
import math
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from models.review_types import Finding

MAX_OUTPUT_BYTES = 64 * 1024 * 1024
MAX_ARGUMENT_BYTES = 96 * 1024
VERSION_TIMEOUT_S = 20.0
WALL_FACTOR = 8.0
"""How much longer than its processor time a tool may take by the clock, unless it is said."""
# The limit is the shell's to set: a fork of this (threaded) process may not run Python code, and
# a limit that is set from outside comes after the tool's first children. The hard limit ends what
# does not heed the first signal. Where the service itself has a lower one, that one stays.
_LIMITED = 'ulimit -S -t "$0" 2>/dev/null; ulimit -H -t "$(($0 + 2))" 2>/dev/null; exec "$@"'
_OVER = (-signal.SIGXCPU, 128 + signal.SIGXCPU)
"""Ends of a process that used up its processor time, and of a shell whose child did."""


class AnalyzerFailure(Exception):
    """An analyzer broke off; the message says why in one line.

    ``findings`` holds what it had found before, which stays.
    """

    def __init__(self, reason: str, findings: Sequence[Finding] = ()) -> None:
        super().__init__(reason)
        self.findings = tuple(findings)


@dataclass(frozen=True, slots=True)
class Output:
    """What a process wrote (bytes) and how it ended (``code``: the exit status)."""

    code: int
    stdout: bytes
    stderr: bytes


@dataclass(slots=True)
class Budget:
    """What is left to a tool for all of its commands.

    ``processor_s`` are seconds of processor time, of which the commands' use is taken away;
    ``deadline`` is a time of ``time.monotonic``.
    """

    processor_s: float
    deadline: float

    @classmethod
    def of(cls, processor_s: float, wall_s: float | None = None) -> Budget:
        """A budget from now on; ``wall_s`` of ``None`` is ``WALL_FACTOR`` times the other."""
        wall = WALL_FACTOR * processor_s if wall_s is None else wall_s
        return cls(processor_s, time.monotonic() + wall)


def _search_path() -> str:
    """PATH without relative or empty entries, which would mean the (hostile) working folder."""
    entries = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return os.pathsep.join(entry for entry in entries if Path(entry).is_absolute())


def find_tool(name: str) -> Path | None:
    """The executable ``name``: beside the running interpreter first, then on PATH.

    An absolute ``name`` is taken as it is. ``None`` where there is no such executable.
    """
    if Path(name).is_absolute():
        return Path(name) if os.access(name, os.X_OK) else None
    beside = shutil.which(name, path=str(Path(sys.executable).parent))
    found = beside or shutil.which(name, path=_search_path())
    return Path(found) if found else None


def clean_environment(scratch: Path) -> dict[str, str]:
    """The whole environment of a tool; home and temporary folder are ``scratch``."""
    path = os.pathsep.join([str(Path(sys.executable).parent), _search_path()])
    kept = {name: os.environ[name] for name in ("JAVA_HOME", "SYSTEMROOT") if name in os.environ}
    return {
        **kept,
        "PATH": path,
        "HOME": str(scratch),
        "XDG_CONFIG_HOME": str(scratch),
        "XDG_CACHE_HOME": str(scratch),
        "TMPDIR": str(scratch),
        "LC_ALL": "C.UTF-8",
        "NO_COLOR": "1",
        "PYTHONSAFEPATH": "1",
        "PYTHONNOUSERSITE": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUTF8": "1",
    }


def execute(
    argv: Sequence[str | Path],
    *,
    cwd: Path,
    scratch: Path,
    budget: Budget,
    ok: Sequence[int] = (0, 1),
) -> Output:
    """Run ``argv`` in ``cwd`` within ``budget``; the whole process group ends with it.

    Each process of it has the processor time that is left, in whole seconds; what the command and
    those of its children that it waited for used is taken off. Raises ``AnalyzerFailure`` where it
    can't start, uses or takes too long, writes more than ``MAX_OUTPUT_BYTES`` or exits with a code
    that is not in ``ok``.
    """
    name = Path(argv[0]).name
    wall = budget.deadline - time.monotonic()
    if budget.processor_s <= 0 or wall <= 0:
        raise AnalyzerFailure(f"{name}: no time left to run")
    seconds = math.ceil(budget.processor_s)
    out_path, err_path = scratch / "stdout", scratch / "stderr"
    with out_path.open("wb") as out, err_path.open("wb") as err:
        try:
            process = subprocess.Popen(
                ["/bin/sh", "-c", _LIMITED, str(seconds), *(str(part) for part in argv)],
                cwd=cwd,
                env=clean_environment(scratch),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise AnalyzerFailure(f"{name}: could not start: {error}") from error
        try:
            code, used = _wait(process, budget.deadline)
        except TimeoutError as error:
            budget.processor_s = 0
            raise AnalyzerFailure(f"{name}: stopped after {wall:.0f} s") from error
        finally:
            _end_group(process)
    budget.processor_s -= used
    if code in _OVER or (code == -signal.SIGKILL and used >= seconds):
        raise AnalyzerFailure(f"{name}: stopped after {seconds} s of processor time")
    if out_path.stat().st_size > MAX_OUTPUT_BYTES:
        raise AnalyzerFailure(f"{name}: output over {MAX_OUTPUT_BYTES // 2**20} MiB")
    output = Output(code, out_path.read_bytes(), err_path.read_bytes()[:10_000])
    if b"Traceback (most recent call last)" in output.stderr:
        # A tool written in Python ends so with status 1, which also says "there are findings".
        lines = output.stderr.decode("utf-8", "replace").strip().splitlines()
        raise AnalyzerFailure(f"{name}: crashed: {lines[-1][:200]}")
    if code not in ok:
        reason = f"signal {-code}" if code < 0 else f"exit status {code}"
        raise AnalyzerFailure(f"{name}: {reason}{_first_line(output.stderr)}")
    return output


def _wait(process: subprocess.Popen[bytes], deadline: float) -> tuple[int, float]:
    """The exit status of a process and the processor seconds it used; ``TimeoutError`` if late.

    As ``Popen.wait``, which does not tell what was used.
    """
    pause = 0.0005
    while True:
        ended, status, usage = os.wait4(process.pid, os.WNOHANG)
        if ended:
            process.returncode = os.waitstatus_to_exitcode(status)
            return process.returncode, usage.ru_utime + usage.ru_stime
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        pause = min(pause * 2, left, 0.05)
        time.sleep(pause)


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """Kill what is left of the process and its children (they share its new session)."""
    # The group outlives its leader while any child runs, so this also ends orphans.
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    except PermissionError:
        # macOS answers this for a group that holds only zombies.
        pass
    process.wait()


def _first_line(stderr: bytes) -> str:
    text = stderr.decode("utf-8", "replace").strip()
    return f": {text.splitlines()[0][:200]}" if text else ""


def batches(files: Sequence[str]) -> Iterator[list[str]]:
    """``files`` as command-line arguments (``./`` in front of each), in lots that fit a command."""
    batch: list[str] = []
    size = 0
    for file in files:
        argument = f"./{file}"
        cost = len(os.fsencode(argument)) + 9
        if batch and size + cost > MAX_ARGUMENT_BYTES:
            yield batch
            batch, size = [], 0
        batch.append(argument)
        size += cost
    if batch:
        yield batch


@functools.cache
def tool_version(path: Path, argument: str = "--version") -> str | None:
    """The first number with dots that ``path --version`` prints, or ``None`` where it fails."""
    import re
    import tempfile

    with tempfile.TemporaryDirectory(prefix="marginalia-") as folder:
        try:
            output = execute(
                [path, argument],
                cwd=Path(folder),
                scratch=Path(folder),
                budget=Budget.of(VERSION_TIMEOUT_S),
                ok=(0,),
            )
        except AnalyzerFailure:
            return None
    found = re.search(rb"\d+(?:\.\d+)+", output.stdout + output.stderr)
    return found.group().decode() if found else None
