"""Structured logs: one JSON object a line, with the delivery and the job it belongs to.

No secret and no code gets in: messages are fixed texts, values are named fields, and fields whose
names speak of secrets or contents are dropped whatever they hold.
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from pythonjsonlogger.json import JsonFormatter

_delivery: ContextVar[str] = ContextVar("delivery", default="")
_job: ContextVar[str] = ContextVar("job", default="")

FORBIDDEN = frozenset(
    {"authorization", "body", "code", "key", "password", "patch", "private_key", "secret", "token"}
)
_TOKENS = re.compile(
    r"gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{16,}|ghs_[A-Za-z0-9._-]{16,}"
    r"|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+|(?<=://)[^/@\s:]+:[^/@\s]+(?=@)"
)


class _Safe(logging.Filter):
    """Adds the delivery and the job to every record, and drops fields that must not be said."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.delivery = _delivery.get()
        record.job = _job.get()
        for name in FORBIDDEN & record.__dict__.keys():
            del record.__dict__[name]
        return True


class _JsonLines(JsonFormatter):
    """JSON lines; redacted as a whole, since libraries put URLs into messages and tracebacks."""

    def format(self, record: logging.LogRecord) -> str:
        return redact(super().format(record))


class _PlainLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return redact(super().format(record))


def redact(text: str) -> str:
    """``text`` with everything that looks like a GitHub token or a URL's password replaced."""
    return _TOKENS.sub("***", text)


LOUD = ("dbos", "github")
"""Libraries that bring a log handler of their own, which knows nothing of JSON and redaction."""


@contextmanager
def delivery_log(guid: str) -> Iterator[None]:
    """Every log line inside carries this delivery's GUID."""
    mark = _delivery.set(guid)
    try:
        yield
    finally:
        _delivery.reset(mark)


@contextmanager
def job_log(job_id: str) -> Iterator[None]:
    """Every log line inside carries this job's id."""
    mark = _job.set(job_id)
    try:
        yield
    finally:
        _job.reset(mark)


def set_up(level: str, json_lines: bool) -> None:
    """Log to standard error, as JSON or as plain lines for a person at a terminal."""
    handler = logging.StreamHandler(sys.stderr)
    if json_lines:
        handler.setFormatter(
            _JsonLines(
                "{asctime}{levelname}{name}{message}{delivery}{job}",
                style="{",
                rename_fields={"asctime": "time", "levelname": "level", "name": "logger"},
            )
        )
    else:
        handler.setFormatter(
            _PlainLines("{asctime} {levelname:7} {message} {delivery}{job}", style="{")
        )
    handler.addFilter(_Safe())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    logging.getLogger("alembic").setLevel(logging.WARNING)
    adopt(*LOUD)


def adopt(*libraries: str) -> None:
    """Let libraries that bring their own log handlers write as everything else does.

    They may add one whenever they are imported or started, so this is called after either.
    """
    for library in libraries:
        logger = logging.getLogger(library)
        logger.handlers.clear()
        logger.propagate = True
        if logging.getLogger().level > logging.DEBUG:
            logger.setLevel(logging.WARNING)
