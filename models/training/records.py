"""Records of gzipped JSON lines files."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

Record = Mapping[str, Any]


def records(path: Path) -> Iterator[dict[str, Any]]:
    """The records of a (gzipped) JSON lines file.

    Raises:
        ValueError: a line is not JSON; the message names file and line.
    """
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as handle:
        for number, line in enumerate(handle, 1):
            try:
                yield json.loads(line)
            except json.JSONDecodeError as error:
                raise ValueError(f"{path}, line {number}: not JSON ({error.msg})") from error
