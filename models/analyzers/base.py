"""The frame around every analyzer: files in, findings and one-line notes out.

An analyzer sees a fresh temporary folder that holds nothing but the files it asked for. Failures
are local: one that is absent, crashes, runs too long or answers nonsense costs a note, and the
others' findings stay.
"""

from __future__ import annotations

import fnmatch
import re
import tempfile
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import ClassVar, Protocol

from models.analyzers.introduced import SYNTAX_RULE, introduced
from models.analyzers.process import (
    AnalyzerFailure,
    Budget,
    Output,
    batches,
    execute,
    find_tool,
    tool_version,
)
from models.analyzers.scripts import by_own_name, shown_names
from models.review_types import Finding

__all__ = [
    "AnalysisReport",
    "Analyzer",
    "AnalyzerFailure",
    "CommandAnalyzer",
    "Work",
    "analyze",
    "introduced",
    "run_analyzers",
]

DEFAULT_TIME_LIMIT_S = 30.0
"""Seconds of processor time; by the clock an analyzer may take ``WALL_FACTOR`` times as long."""
MAX_FILE_BYTES = 1_000_000
PARALLEL = 2


@dataclass(frozen=True, slots=True)
class Work:
    """One analyzer's job.

    ``folder`` holds ``files`` (relative POSIX paths) and nothing else; ``scratch`` is an empty
    folder for the tool's own configuration; ``budget`` is what all of its commands may use.
    ``enable`` names rules that are off by default but wanted; ``extra_rules`` is the operator's
    own rule folder. ``altered`` names files whose content is not quite the original's, so that no
    fix can be made for them. ``notes`` takes lines on files that it had to leave out.
    """

    folder: Path
    scratch: Path
    files: tuple[str, ...]
    budget: Budget
    enable: frozenset[str] = frozenset()
    extra_rules: Path | None = None
    altered: frozenset[str] = frozenset()
    notes: list[str] = field(default_factory=list)

    def execute(self, argv: Sequence[str | Path], ok: Sequence[int] = (0, 1)) -> Output:
        """Run a command in ``folder`` within what is left (see ``process.execute``)."""
        return execute(argv, cwd=self.folder, scratch=self.scratch, budget=self.budget, ok=ok)

    def batches(self) -> Iterable[list[str]]:
        """``files`` as safe command-line arguments, in lots that fit one command."""
        return batches(self.files)

    def text(self, path: str) -> str | None:
        """The text of one file with its line endings, or ``None`` where it was altered."""
        if path in self.altered:
            return None
        return (self.folder / path).read_bytes().decode("utf-8")

    def relative(self, path: str) -> str:
        """The key in ``files`` for a path as a tool printed it (absolute or with ``./``)."""
        pure = PurePosixPath(path)
        for root in (self.folder, self.folder.resolve()):
            if pure.is_relative_to(root):
                return str(pure.relative_to(root))
        return str(pure)


class Analyzer(Protocol):
    """A maker of findings. Implementations hold no state, so threads may share one."""

    @property
    def name(self) -> str:
        """The id in ``Finding.analyzer`` and in settings."""

    @property
    def how_to_get(self) -> str:
        """What a person does to install it, as one command or sentence."""

    def version(self) -> str | None:
        """The version of the tool, or ``None`` where it is absent."""

    def available(self) -> str | None:
        """``None`` where it can run, else the reason why not, in one line."""

    def wants(self, path: str, content: bytes) -> bool:
        """Whether it reads this file."""

    def run(self, work: Work) -> list[Finding]:
        """Analyze ``work.files``; raises ``AnalyzerFailure`` where there is no usable answer."""

    def worsened(self, head: Finding, bases: Sequence[Finding]) -> Finding | None:
        """For a measure of a whole definition: what to say of ``head``.

        ``bases`` are the base's findings of the same rule in the file. ``None`` where one of them
        is about the same definition and not notably better (see ``introduced``).
        """

    def measures_definition(self, rule: str) -> bool:
        """Whether the rule's finding lies on a definition but is caused by its body."""


@dataclass(frozen=True)
class CommandAnalyzer:
    """What analyzers that are a command have in common; ``tool`` is its name or absolute path."""

    tool: str
    name: ClassVar[str]
    globs: ClassVar[tuple[str, ...]]
    how_to_get: ClassVar[str]

    @property
    def executable(self) -> Path:
        """Where the tool is; raises ``AnalyzerFailure`` where it is not installed."""
        path = find_tool(self.tool)
        if path is None:
            raise AnalyzerFailure(f"{self.tool} is not installed; to get it: {self.how_to_get}")
        return path

    def version(self) -> str | None:
        """The version that the tool prints, or ``None`` where it is absent."""
        path = find_tool(self.tool)
        return tool_version(path) if path else None

    def available(self) -> str | None:
        """``None`` where the tool is installed, else what is missing."""
        try:
            _ = self.executable
        except AnalyzerFailure as failure:
            return str(failure)
        return None

    def wants(self, path: str, content: bytes) -> bool:
        """Whether a glob fits the file's name (or, for a glob with a slash, its path)."""
        return matches(path, self.globs)

    def measures_definition(self, rule: str) -> bool:
        """No rule is a measure of a whole definition unless an analyzer says so."""
        return False

    def worsened(self, head: Finding, bases: Sequence[Finding]) -> Finding | None:
        """No rule is a measure of a whole definition unless an analyzer says so."""
        return head


@dataclass(frozen=True, slots=True)
class AnalysisReport:
    """All findings (by path, line, analyzer, rule), notes on what could not run, and times.

    Equal findings on one line stay apart: their number tells whether a change added one.
    ``seconds_by_analyzer`` has an entry for each analyzer that was started; ``broke_off`` names
    those that did not come to their end, so that a finding which is not here may yet be there.
    """

    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    seconds_by_analyzer: Mapping[str, float] = field(default_factory=dict)
    broke_off: frozenset[str] = frozenset()


def matches(path: str, globs: Iterable[str]) -> bool:
    """Whether any glob fits: without a slash the file's name, with one the whole path."""
    name = PurePosixPath(path).name
    return any(fnmatch.fnmatchcase(path if "/" in glob else name, glob) for glob in globs)


def unreadable(path: str, content: bytes) -> str | None:
    """Why no analyzer is shown this file, or ``None`` where all is well."""
    pure = PurePosixPath(path)
    shown = ascii(path)
    if not path or pure.is_absolute() or ".." in pure.parts or "\0" in path or "\\" in path:
        return f"{shown}: not analyzed: the path is not a plain relative path"
    if str(pure) != path or not path.isprintable():
        return f"{shown}: not analyzed: the path is not in plain form or has unprintable characters"
    if len(content) > MAX_FILE_BYTES:
        size = len(content) / 1e6
        return f"{shown}: not analyzed: {size:.1f} MB, the limit is {MAX_FILE_BYTES / 1e6:.0f} MB"
    if b"\0" in content:
        return f"{shown}: not analyzed: binary content"
    return None


def _as_utf8(content: bytes) -> bytes:
    """``content`` with a question mark for each byte that is not UTF-8.

    Tools disagree about other encodings (some give up on all files); lines and columns stay.
    """
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        text = content.decode("utf-8", "surrogateescape")
        return re.sub("[\udc80-\udcff]", "?", text).encode("utf-8")
    return content


def _one_syntax_error(findings: Iterable[Finding]) -> list[Finding]:
    """``findings`` with only the first syntax error of a file: the others follow from it."""
    broken: set[str] = set()
    kept: list[Finding] = []
    for finding in sorted(findings, key=lambda one: (one.path, one.line)):
        if finding.rule == SYNTAX_RULE:
            if finding.path in broken:
                continue
            broken.add(finding.path)
        kept.append(finding)
    return kept


def _write(folder: Path, files: Mapping[str, bytes]) -> tuple[list[str], list[str]]:
    """Write each file below the (new, empty) folder; the paths written, and notes on the others."""
    written: list[str] = []
    notes: list[str] = []
    for path, content in files.items():
        target = folder / path
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            # "x": two spellings of one path on a case-folding disk must not overwrite each other.
            with target.open("xb") as stream:
                stream.write(content)
        except (OSError, ValueError) as error:
            notes.append(f"{path!a}: not analyzed: can't be written: {error}")
        else:
            written.append(path)
    return written, notes


def _run_one(
    analyzer: Analyzer,
    files: Mapping[str, bytes],
    altered: Collection[str],
    limits: tuple[float, float | None],
    enable: frozenset[str],
    extra_rules: Path | None,
) -> tuple[list[Finding], list[str], float, bool]:
    """One analyzer over its own files in its own folder: findings, notes, seconds, if it ended."""
    began = time.monotonic()
    reason = analyzer.available()
    if reason is not None:
        return [], [f"{analyzer.name}: not run: {reason}"], 0.0, False
    ended = True
    notes: list[str] = []
    findings: list[Finding] = []
    with tempfile.TemporaryDirectory(prefix="marginalia-") as top:
        folder, scratch = Path(top, "tree"), Path(top, "scratch")
        folder.mkdir()
        scratch.mkdir()
        written, notes = _write(folder, files)
        work = Work(
            folder,
            scratch,
            tuple(written),
            Budget.of(*limits),
            enable,
            extra_rules,
            frozenset(path for path in written if path in altered),
        )
        known = set(written)
        try:
            if written:
                findings = [found for found in analyzer.run(work) if found.path in known]
        except AnalyzerFailure as failure:
            ended = False
            findings = [found for found in failure.findings if found.path in known]
            notes.append(f"{analyzer.name}: broke off: {failure}")
        except (ValueError, TypeError, LookupError, AttributeError, OSError) as error:
            # An answer of another shape than the adapter knows ends here (json errors are
            # ValueErrors): the tool's version changed or it broke off in the middle.
            ended = False
            kind = type(error).__name__
            notes.append(f"{analyzer.name}: broke off: unreadable output ({kind}: {error})")
        notes += [f"{analyzer.name}: {note}" for note in work.notes]
    return _one_syntax_error(findings), notes, time.monotonic() - began, ended


def analyze(
    analyzers: Sequence[Analyzer],
    files: Mapping[str, bytes],
    *,
    time_limit_s: float = DEFAULT_TIME_LIMIT_S,
    wall_limit_s: float | None = None,
    extra_rules: Path | None = None,
    enable: Collection[str] = (),
) -> AnalysisReport:
    """``run_analyzers`` with the analyzers themselves instead of their names."""
    notes: list[str] = []
    readable: dict[str, bytes] = {}
    altered: set[str] = set()
    for path, content in files.items():
        note = unreadable(path, content)
        if note is None:
            readable[path] = _as_utf8(content)
            if readable[path] != content:
                altered.add(path)
        elif any(analyzer.wants(path, b"") for analyzer in analyzers):
            notes.append(note)
    names = shown_names(readable)
    paths = {name: path for path, name in names.items()}
    shown = {names.get(path, path): text for path, text in readable.items()}
    altered = {names.get(path, path) for path in altered}
    jobs: list[tuple[Analyzer, dict[str, bytes]]] = []
    for analyzer in analyzers:
        wanted = {name: text for name, text in shown.items() if analyzer.wants(name, text)}
        if wanted:
            jobs.append((analyzer, wanted))
    findings: list[Finding] = []
    seconds: dict[str, float] = {}
    broke_off: set[str] = set()
    with ThreadPoolExecutor(max_workers=PARALLEL, thread_name_prefix="analyzer") as pool:
        futures = [
            pool.submit(
                _run_one,
                analyzer,
                wanted,
                altered,
                (time_limit_s, wall_limit_s),
                frozenset(enable),
                extra_rules,
            )
            for analyzer, wanted in jobs
        ]
        for (analyzer, _), future in zip(jobs, futures, strict=True):
            found, said, took, ended = future.result()
            findings.extend(replace(one, path=paths.get(one.path, one.path)) for one in found)
            notes.extend(by_own_name(note, paths) for note in said)
            seconds[analyzer.name] = took
            if not ended:
                broke_off.add(analyzer.name)
    findings.sort(key=lambda one: (one.path, one.line, one.end_line, one.analyzer, one.rule))
    unique = tuple(dict.fromkeys(notes))
    return AnalysisReport(tuple(findings), unique, seconds, frozenset(broke_off))


def run_analyzers(
    files: Mapping[str, bytes],
    *,
    names: Collection[str] | None = None,
    time_limit_s: float = DEFAULT_TIME_LIMIT_S,
    wall_limit_s: float | None = None,
    extra_rules: Path | None = None,
    enable: Collection[str] = (),
) -> AnalysisReport:
    """Analyze ``files`` (relative POSIX path -> content) by every analyzer that reads them.

    ``names`` keeps only these analyzers (an optional one that is absent is a note only where it is
    named); ``time_limit_s`` (of processor time) and ``wall_limit_s`` (by the clock; ``None`` is
    ``WALL_FACTOR`` times the other) are for each of them; ``extra_rules`` is a folder of the
    operator's own ast-grep rules; ``enable`` turns on rules that are off by
    default (as ``analyzer:rule``). Files with unsafe paths or over ``MAX_FILE_BYTES`` are left
    out with a note. Raises ``ValueError`` for a name that no analyzer has.
    """
    from models.analyzers import ANALYZERS, OPTIONAL

    unknown = sorted(set(names or ()) - set(ANALYZERS))
    if unknown:
        raise ValueError(
            f"no analyzer named {', '.join(unknown)}; there are {', '.join(ANALYZERS)}"
        )
    chosen = [
        one
        for name, one in ANALYZERS.items()
        if (name in names if names is not None else name not in OPTIONAL or not one.available())
    ]
    return analyze(
        chosen,
        files,
        time_limit_s=time_limit_s,
        wall_limit_s=wall_limit_s,
        extra_rules=extra_rules,
        enable=enable,
    )
