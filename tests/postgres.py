"""A temporary PostgreSQL for the tests: its own cluster, on a socket and a free port of this host.

PostgreSQL refuses to run as root, so there it runs as ``nobody``. Commits are synchronous as in
production, but the cluster's own fsync is off: what the tests kill is our processes, not the host.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg
import pytest

USER = "nobody"


def missing() -> str:
    """Why there is no PostgreSQL to test with; empty where there is one."""
    for program in ("initdb", "postgres"):
        if _program(program) is None:
            return f"PostgreSQL's {program} is not installed"
    if os.geteuid() == 0 and shutil.which("runuser") is None:
        return "PostgreSQL refuses to run as root and there is no runuser"
    return ""


def _program(name: str) -> str | None:
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    path = os.pathsep.join([os.environ.get("PATH", ""), *map(str, places)])
    return shutil.which(name, path=path)


@contextmanager
def cluster() -> Iterator[str]:
    """A running server; yields its URL without a database's name."""
    folder = Path(tempfile.mkdtemp(prefix="marginalia-pg-", dir=_fast_folder()))
    folder.chmod(0o755)
    data = folder / "data"
    data.mkdir()
    prefix: list[str] = []
    if os.geteuid() == 0:
        shutil.chown(folder, USER)
        shutil.chown(data, USER)
        prefix = ["runuser", "-u", USER, "--"]
    initdb, postgres = _program("initdb"), _program("postgres")
    assert initdb is not None
    assert postgres is not None
    port = free_port()
    with (folder / "log").open("wb") as log:
        subprocess.run(
            [*prefix, initdb, "-D", data, "-U", "marginalia", "-A", "trust", "--no-sync"],
            check=True,
            stdout=log,
            stderr=log,
            cwd="/",
        )
        options = {
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": str(folder),
            "port": str(port),
            "fsync": "off",
            "full_page_writes": "off",
            "max_connections": "200",
        }
        flags = [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
        server = subprocess.Popen(
            [*prefix, postgres, "-D", data, *flags],
            stdout=log,
            stderr=log,
            cwd="/",
        )
    base = f"postgresql://marginalia@127.0.0.1:{port}"
    try:
        _wait(base, server, folder / "log")
        yield base
    finally:
        with suppress(psycopg.OperationalError):
            _stop(data)
        server.terminate()
        server.wait(timeout=20)
        shutil.rmtree(folder, ignore_errors=True)


def _fast_folder() -> str | None:
    """Memory where there is enough of it: a cluster is thousands of small files."""
    memory = Path("/dev/shm")
    if memory.is_dir() and os.access(memory, os.W_OK):
        return str(memory) if shutil.disk_usage(memory).free > 1 << 30 else None
    return None


def _stop(data: Path) -> None:
    """Stop the server itself, without a checkpoint: under runuser our child is not the server."""
    pid_file = data / "postmaster.pid"
    if pid_file.exists():
        with suppress(ProcessLookupError, ValueError):
            os.kill(int(pid_file.read_text().splitlines()[0]), signal.SIGQUIT)


def _wait(base: str, server: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(200):
        if server.poll() is not None:
            raise RuntimeError(f"PostgreSQL did not start: {log.read_text()[-2000:]}")
        try:
            psycopg.connect(f"{base}/postgres", connect_timeout=2).close()
        except psycopg.OperationalError:
            with suppress(subprocess.TimeoutExpired):
                server.wait(timeout=0.1)
            continue
        return
    raise RuntimeError("PostgreSQL did not answer within 20 s")


def new_database(base: str, name: str, template: str = "template1") -> str:
    """A new database, a copy of ``template``; its URL."""
    with psycopg.connect(f"{base}/postgres", autocommit=True) as connection:
        connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}" STRATEGY FILE_COPY')
    return f"{base}/{name}"


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="session")
def postgres_base() -> Iterator[str]:
    """A server for the whole session; skips where PostgreSQL is not there."""
    reason = missing()
    if reason:
        pytest.skip(reason)
    with cluster() as base:
        yield base
