"""A change as the JSON that the golden files hold: one short row a line of a hunk."""

from __future__ import annotations

from pathlib import Path

from models.change import Change, ChangedFile, LineKind

FIXTURES = Path(__file__).parents[2] / "fixtures" / "diffs"
SIGN = {LineKind.CONTEXT: " ", LineKind.ADDED: "+", LineKind.DELETED: "-"}


def as_json(change: Change) -> list[dict[str, object]]:
    return [_file(file) for file in change]


def _file(file: ChangedFile) -> dict[str, object]:
    row: dict[str, object] = {
        "old": file.old_path,
        "new": file.new_path,
        "status": file.status.value,
        "coverage": file.coverage.value,
        "note": file.note,
        "modes": [file.old_mode, file.new_mode],
        "hunks": [
            {
                "header": hunk.header,
                "lines": [
                    [SIGN[line.kind], line.old_no, line.new_no, line.text]
                    + (["no newline"] if line.no_newline else [])
                    for line in hunk.lines
                ],
            }
            for hunk in file.hunks
        ],
    }
    return row
