"""Scripts whose name has no ending: tools see them under a name that tells their language.

Most tools go by the ending alone. A script without one says in its first line (``#!``) what it is
written in, so it is written into the tools' folder with the ending of that language; what they find
is told of the file's own name.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath

from models.syntax.detect import language_of, language_of_file
from models.syntax.table import language_row


def shown_names(files: Mapping[str, bytes]) -> dict[str, str]:
    """The names that tools see, by path, of those files that need another one than their own.

    No such name is another file's.
    """
    names: dict[str, str] = {}
    taken = set(files)
    for path, content in files.items():
        ending = _ending(path, content)
        if not ending:
            continue
        name = f"{path}{ending}"
        while name in taken:
            name = f"{name.removesuffix(ending)}_{ending}"
        taken.add(name)
        names[path] = name
    return names


def by_own_name(note: str, paths: Mapping[str, str]) -> str:
    """A note with the files' own names for those that the tools saw."""
    for name, path in paths.items():
        note = note.replace(f"{name!a}", f"{path!a}")
    return note


def _ending(path: str, content: bytes) -> str:
    """The ending of a script's language, "" for a file that has one or is no script."""
    if PurePosixPath(path).suffix or not content.startswith(b"#!") or language_of(path):
        return ""
    row = language_row(language_of_file(path, content))
    return row.extensions[0] if row is not None else ""
