"""Text that every database takes.

Patches are decoded with ``surrogateescape`` and payloads are anyone's, so text may hold lone
surrogates and NUL; PostgreSQL refuses both, SQLite's driver the first. They are written visibly
(``\\udc80``, ``\\x00``) instead of costing the whole row.
"""

from __future__ import annotations

import json
import zlib
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Dialect


def clean(text: str) -> str:
    """``text`` with NUL and lone surrogates written as escapes."""
    if text.isascii() and "\x00" not in text:
        return text
    return text.encode("utf-8", "backslashreplace").decode("utf-8").replace("\x00", "\\x00")


def clean_value(value: Any) -> Any:
    """A JSON value with every string in it cleaned."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(str(key)): clean_value(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [clean_value(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted(clean_value(item) for item in value)
    return value


def dump_json(value: Any) -> str:
    """Compact JSON of a cleaned value: the serializer of the ledger's JSON columns."""
    return json.dumps(clean_value(value), ensure_ascii=False, separators=(",", ":"))


class CleanText(sa.types.TypeDecorator[str]):
    """A text column that cleans what is written to it."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Clean on the way in."""
        return None if value is None else clean(value)


class Compressed(sa.types.TypeDecorator[bytes]):
    """Bytes kept deflated: a delivery's body is a fifth of its size then, and so is its commit."""

    impl = sa.LargeBinary
    cache_ok = True

    def process_bind_param(self, value: bytes | None, dialect: Dialect) -> bytes | None:
        """Deflate, fast rather than small."""
        return None if value is None else zlib.compress(value, 1)

    def process_result_value(self, value: bytes | None, dialect: Dialect) -> bytes | None:
        """Inflate."""
        return None if value is None else zlib.decompress(value)
