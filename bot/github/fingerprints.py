"""What makes a remark the same remark at the next push, wherever its lines have moved.

A fingerprint is made of the path, the text of the lines it is about with the nearest changed line
around them, and the finding; line numbers play no part (trouble 7 of the field's list).
"""

from __future__ import annotations

import hashlib
import re

from models.change import ChangedFile, Side
from models.review_types import Candidate

_NUMBER = re.compile(r"\b\d+\b")


def fingerprint(candidate: Candidate, file: ChangedFile | None) -> str:
    """The remark's name: 24 hexadecimal digits, stable over rebases and moved lines.

    The finding is the analyzer's rule for a finding, else the words of the text without numbers;
    the context is the anchored lines, or without them nothing.
    """
    lines: list[str] = []
    if file is not None:
        for number in range(candidate.start_line, candidate.line + 1):
            line = file.line_at(candidate.side, number)
            if line is not None:
                lines.append(" ".join(line.text.split()))
    said = _NUMBER.sub("#", " ".join(candidate.text.lower().split()))
    side = "" if candidate.side is Side.RIGHT else "left"
    parts = (candidate.path, side, "\n".join(lines), candidate.origin.split(":")[0], said)
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:24]
