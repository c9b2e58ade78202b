"""JUnit XML: a suite for each file, a failed case for each warning or error.

A remark that is only for information passes, with its text as output; a file without remarks is
one passed case, an unread one is skipped with the reason.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import defaultdict

from bot.review.formats.remarks import TOOL, Remark, plain, remarks
from bot.review.types import FileCoverage, ReviewResult
from models.change import Coverage
from models.review_types import Severity

_READ = (Coverage.REVIEWED, Coverage.CLIPPED)


def to_junit(result: ReviewResult) -> str:
    """The review as an XML document (ASCII with character references) and a final line feed."""
    by_path: dict[str, list[Remark]] = defaultdict(list)
    for one in remarks(result):
        by_path[one.path].append(one)
    root = ET.Element("testsuites", name=TOOL)
    for file in result.coverage:
        _suite(root, file, by_path[file.path])
    for key in ("tests", "failures", "skipped"):
        root.set(key, str(sum(int(suite.get(key, "0")) for suite in root)))
    root.set("errors", "0")
    root.set("time", f"{sum(result.timings.values()):.3f}")
    if result.notes:
        suite = ET.SubElement(root, "testsuite", name="notes", tests="0", failures="0")
        suite.set("skipped", "0")
        suite.set("errors", "0")
        ET.SubElement(suite, "system-out").text = "\n".join(plain(note) for note in result.notes)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + _ascii(root) + "\n"


def _suite(root: ET.Element, file: FileCoverage, found: list[Remark]) -> None:
    path = plain(file.path)
    suite = ET.SubElement(root, "testsuite", name=path)
    for one in found:
        _case(suite, path, one)
    skipped = 0
    if not found:
        case = ET.SubElement(suite, "testcase", name="review", classname=path, file=path)
        if file.status not in _READ:
            skipped = 1
            note = plain(file.note)
            message = f"{file.status.value}: {note}" if note else file.status.value
            ET.SubElement(case, "skipped", message=message)
    if file.status is Coverage.CLIPPED:
        ET.SubElement(suite, "system-out").text = f"read in part: {plain(file.note)}"
    suite.set("tests", str(max(1, len(found))))
    suite.set("failures", str(sum(one.severity is not Severity.INFO for one in found)))
    suite.set("skipped", str(skipped))
    suite.set("errors", "0")


def _case(suite: ET.Element, path: str, one: Remark) -> None:
    line = "" if one.start is None else f":{one.start}"
    case = ET.SubElement(suite, "testcase", name=f"{one.rule} {path}{line}", classname=path)
    case.set("file", path)
    if one.start is not None:
        case.set("line", str(one.start))
    text = one.text if one.fix is None else f"{one.text}\n\nSuggested:\n{plain(one.fix)}"
    if one.severity is Severity.INFO:
        ET.SubElement(case, "system-out").text = text
        return
    first = one.text.partition("\n")[0]
    ET.SubElement(case, "failure", type=one.severity.value, message=first).text = text


def _ascii(root: ET.Element) -> str:
    made: bytes = ET.tostring(root, encoding="us-ascii", xml_declaration=False)
    return made.decode("ascii")
