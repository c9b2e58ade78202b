"""Reading a delivery's payload: every field is checked where it is used.

A payload is anyone's JSON until proven otherwise. ``Malformed`` says which field is wrong, and
what is not asked for is not judged.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

MAX_ID = 2**63 - 1


class Malformed(ValueError):
    """A payload is not what its event says; the message names the field."""


class Payload:
    """A JSON object with checked access by dotted path (``pull_request.head.sha``)."""

    __slots__ = ("_data",)

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data

    def _find(self, path: str) -> Any:
        value: Any = self._data
        for part in path.split("."):
            if not isinstance(value, Mapping):
                return None
            value = value.get(part)
        return value

    def has(self, path: str) -> bool:
        """Whether the field is there and not null."""
        return self._find(path) is not None

    def text(self, path: str) -> str:
        """A string; missing or of another type is ``Malformed``."""
        value = self._find(path)
        if not isinstance(value, str):
            raise Malformed(f"{path}: expected text")
        return value

    def maybe_text(self, path: str) -> str:
        """A string, or ``""`` where it is missing or null."""
        return self.text(path) if self.has(path) else ""

    def number(self, path: str) -> int:
        """A positive id or number that fits a database's 64 bits."""
        value = self._find(path)
        if not isinstance(value, int) or isinstance(value, bool) or not 0 < value <= MAX_ID:
            raise Malformed(f"{path}: expected a positive number")
        return value

    def maybe_number(self, path: str) -> int | None:
        """A positive number, or ``None`` where it is missing or null."""
        return self.number(path) if self.has(path) else None

    def items(self, path: str) -> list[Payload]:
        """The objects of a list; missing is empty, anything else is ``Malformed``."""
        value = self._find(path)
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(item, Mapping) for item in value):
            raise Malformed(f"{path}: expected a list of objects")
        return [Payload(item) for item in value]

    def table(self, path: str) -> dict[str, Any]:
        """An object as it is; missing is empty."""
        value = self._find(path)
        if value is None:
            return {}
        if not isinstance(value, Mapping):
            raise Malformed(f"{path}: expected an object")
        return dict(value)


def parse(body: bytes) -> Payload:
    """The payload in a JSON body; ``Malformed`` for anything but a JSON object."""
    try:
        data = json.loads(body)
    except RecursionError:
        raise Malformed("body: nested too deeply") from None
    except ValueError as error:
        raise Malformed(f"body: not JSON ({error})") from None
    if not isinstance(data, dict):
        raise Malformed("body: expected a JSON object")
    return Payload(data)
