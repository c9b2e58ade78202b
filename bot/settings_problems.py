"""What is wrong with the operator's settings, in words that say where and what to do."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Collection, Iterable
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_settings import TomlConfigSettingsSource

PREFIX = "MARGINALIA_"
OTHERS = frozenset({"CONFIG", "DATA", "TEST_ALL"})
"""Variables that are no settings: the file of settings, the data sets, all tests."""
ALIKE = 0.8
"""From this share of equal letters on a name is taken for a slip of the pen."""


class SettingsError(Exception):
    """A setting is wrong; the message says which, where and what to do."""


class TomlFile(TomlConfigSettingsSource):
    """A file of settings, which need not exist; raises ``SettingsError`` with its name."""

    def _read_file(self, file_path: Path | Traversable) -> dict[str, Any]:
        try:
            return tomllib.loads(file_path.read_text("utf-8"))
        except OSError as error:
            raise SettingsError(f"{file_path}: cannot be read: {error.strerror}") from None
        except UnicodeDecodeError:
            raise SettingsError(f"{file_path}: not UTF-8 text: save it as UTF-8") from None
        except tomllib.TOMLDecodeError as error:
            raise SettingsError(f"{file_path}: not TOML: {error}") from None


def in_words(error: ValidationError, known: Collection[str]) -> str:
    """All that is wrong, each with its name; ``known`` are the names of settings."""
    said = []
    for item in error.errors(include_url=False, include_input=False):
        name = ".".join(str(part) for part in item["loc"])
        if item["type"] == "extra_forbidden":
            # by environment such a name does not come here: a file named it
            near = _nearest(name, known)
            hint = f"did you mean {near}?" if near else "deploy/README.md lists them"
            said.append(f"settings file: {name}: there is no such setting; {hint}")
            continue
        where = f"{PREFIX}{name.upper()}" if name else "settings"
        said.append(f"{where}: {item['msg'].removeprefix('Value error, ')}")
    return "; ".join(said)


def mistyped(environment: Iterable[str], known: Collection[str]) -> dict[str, str]:
    """Variables that are no setting, with the one that each is nearly.

    They are told, not refused: what starts the program may set variables of its own there.
    """
    found = {}
    for variable in sorted(environment):
        name = variable.removeprefix(PREFIX).lower()
        if not variable.startswith(PREFIX) or name in known or name.upper() in OTHERS:
            continue
        near = _nearest(name, known)
        if near:
            found[variable] = f"{PREFIX}{near.upper()}"
    return found


def _nearest(name: str, known: Collection[str]) -> str:
    return next(iter(difflib.get_close_matches(name.lower(), known, n=1, cutoff=ALIKE)), "")
