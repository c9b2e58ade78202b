"""What the folder of written claims (``MARGINALIA_CLAIMS_CACHE``) holds: seen, taken away, deleted.

A review of ``owner/name`` keeps what models wrote under a folder of that repository. What a change
without such a name left (a diff, a local folder, ``marginalia score``, earlier versions) lies at
the top, where nothing tells whose it is: it goes with every deletion, for it can be written again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bot.errors import FatalError

REPOSITORIES = "repositories"
_ENTRY = re.compile(r"[0-9a-f]{64}\.json|\w+\.part")
_LOT = re.compile(r"[0-9a-f]{2}")


def place_of(repository: str) -> str:
    """The part of the folder for a repository's claims; "" where ``owner/name`` is not known."""
    owner, slash, name = repository.lower().partition("/")
    if not slash or not all(re.fullmatch(r"[\w.-]*\w[\w.-]*", part) for part in (owner, name)):
        return ""
    return f"{REPOSITORIES}/{owner}/{name}"


def exported(folder: Path | None, names: Sequence[str] | None) -> Iterator[dict[str, Any]]:
    """What is kept of a repository by its names, or all (``None``), as the ledger is exported."""
    for place in _places(folder, names):
        whose = "/".join(place.parts[-2:]) if place != folder else ""
        if names is not None and not whose:
            continue
        for path in _entries(place):
            try:
                held = json.loads(path.read_text("utf-8"))
            except (OSError, ValueError):
                continue  # cut short: no model's words can be read off it
            if isinstance(held, dict):
                yield {"kind": "claims", "repository": whose, **held}


def deleted(folder: Path | None, names: Sequence[str] | None) -> list[dict[str, Any]]:
    """Delete what is kept of a repository by its names, or all, and what is nobody's.

    One row with how many answers they were, ``unnamed`` those of no known repository; none where
    no folder is set. Other files in it are left. Raises ``FatalError`` where one cannot be deleted.
    """
    if folder is None:
        return []
    counts = {"deleted": 0, "unnamed": 0}
    for place in _places(folder, names):
        for path in _entries(place):
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise FatalError(f"MARGINALIA_CLAIMS_CACHE: {path}: {error.strerror}") from error
            counts["deleted"] += 1
            counts["unnamed"] += place == folder
        _tidy(place, folder)
    return [{"kind": "claims", **{k: n for k, n in counts.items() if n or k == "deleted"}}]


def _places(folder: Path | None, names: Sequence[str] | None) -> list[Path]:
    """The folders whose entries are meant: the top itself, and those of repositories."""
    if folder is None or not folder.is_dir():
        return []
    if names is None:
        found = sorted(folder.glob(f"{REPOSITORIES}/*/*"))
    else:
        found = [folder / place for place in map(place_of, names) if place]
    return [folder, *(path for path in found if path.is_dir())]


def _entries(place: Path) -> Iterator[Path]:
    """The answers that lie straight in a place, and what writing one has left."""
    for lot in sorted(place.iterdir()):
        if _LOT.fullmatch(lot.name) and lot.is_dir():
            yield from (path for path in sorted(lot.iterdir()) if _ENTRY.fullmatch(path.name))


def _tidy(place: Path, folder: Path) -> None:
    """Take away folders that are empty now; a worker may be filling one."""
    lots = [lot for lot in place.iterdir() if _LOT.fullmatch(lot.name)]
    for empty in (*lots, *((place, place.parent) if place != folder else ())):
        try:
            empty.rmdir()
        except OSError:
            continue
