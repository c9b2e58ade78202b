"""Which files of a change are worth reading: generated, vendored and unwanted ones are named.

The rules look at the path first and at the head's content where it is at hand. They are
deliberately narrow: a file that is wrongly left out is a bug nobody sees.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from pathspec import GitIgnoreSpec

from bot.diff.names import decode, shown
from models.change import Change, ChangedFile, Coverage

_LOCK_FILES = frozenset(
    [
        "package-lock.json",
        "npm-shrinkwrap.json",
        "yarn.lock",
        "pnpm-lock.yaml",
        "bun.lock",
        "bun.lockb",
        "deno.lock",
        "poetry.lock",
        "Pipfile.lock",
        "uv.lock",
        "pdm.lock",
        "pixi.lock",
        "conda-lock.yml",
        "Cargo.lock",
        "composer.lock",
        "Gemfile.lock",
        "go.sum",
        "go.work.sum",
        "mix.lock",
        "pubspec.lock",
        "Podfile.lock",
        "Cartfile.resolved",
        "Package.resolved",
        "packages.lock.json",
        "paket.lock",
        "gradle.lockfile",
        "buildscript-gradle.lockfile",
        "flake.lock",
        "MODULE.bazel.lock",
        ".terraform.lock.hcl",
        "conan.lock",
        "renv.lock",
        "stack.yaml.lock",
        "cabal.project.freeze",
        "shard.lock",
        "rebar.lock",
        "Chart.lock",
    ]
)
_GENERATED_NAME = re.compile(
    r"(?:[.-]min\.(?:js|mjs|cjs|css)|\.(?:js|mjs|cjs|css)\.map|_pb2(?:_grpc)?\.pyi?"
    r"|\.pb(?:\.gw)?\.go|\.pb\.(?:cc|h)|_grpc\.pb\.go|\.g\.dart|\.freezed\.dart|\.g\.cs"
    r"|\.designer\.cs|\.generated\.[a-z]+|_generated\.go|\.snap)$",
    re.IGNORECASE,
)
# folders that hold other people's code by every tool's habit
_VENDORED = re.compile(
    r"(?:^|/)(?:node_modules|bower_components|jspm_packages|third[_-]party|site-packages|Pods"
    r"|Carthage/Checkouts|Godeps/_workspace|\.yarn/(?:releases|plugins|sdks|cache)"
    r"|vendor/(?:github\.com|golang\.org|google\.golang\.org|gopkg\.in|bundle|cache)"
    # Maven's and Gradle's wrappers are copied in by their own commands
    r"|\.mvn/wrapper|gradle/wrapper)/|^vendor/|(?:^|/)(?:mvnw(?:\.cmd)?|gradlew(?:\.bat)?)$"
)
_COMMENT = r"^\s*(?:#|//|/\*|\*|--|;|<!--|%|rem\b|\"\"\"|')"
# the markers of Go (golang.org/s/generatedcode), of C# and of many code generators
_GENERATED_MARK = re.compile(
    _COMMENT + r".*(?:@generated\b|<auto-?generated|generated\b.*\bdo not (?:edit|modify|change)"
    r"|do not (?:edit|modify|change)\b.*\bgenerated)",
    re.IGNORECASE | re.MULTILINE,
)
_BUNDLED = re.compile(rb"//\s*webpackBootstrap\b|^/\*{6}/ ", re.MULTILINE)
# a published library's file has its version in its name, or a banner that minifiers keep with it
_LIBRARY_NAME = re.compile(
    r"^[a-z][\w.]*[-.]v?\d+\.\d+\.\d+(?:[-.](?:slim|bundle|full|all|esm|umd))*\.(?:js|mjs|cjs|css)$",
    re.IGNORECASE,
)
_BANNER = re.compile(
    rb"^(?:@charset[^\n]*\n)?\s*/\*!(?=.{0,200}?\bv?\d+\.\d+\.\d+\b)"
    rb"(?=.{0,600}?(?:licen[sc]e|copyright|\(c\)))",
    re.DOTALL | re.IGNORECASE,
)
_COMPILED = re.compile(rb"^var __\w+ = \(this && this\.__\w+\)", re.MULTILINE)
_HEAD_LINES = 15
_HEAD_BYTES = 8000
_MINIFIABLE = re.compile(r"\.(?:js|mjs|cjs|css)$", re.IGNORECASE)
# a hand-written style sheet or script stays far below this mean length of line, in bytes
_MINIFIED_MEAN = 250
_LFS = b"version https://git-lfs.github.com/spec/"
_ATTRIBUTE = re.compile(r"(?P<off>-)?linguist-(?P<what>generated|vendored)(?:=(?P<value>\S+))?$")


class Texts(Protocol):
    """What is needed of a change's sources: the head's bytes by path."""

    def head(self, path: str) -> bytes | None:
        """The file's bytes at the head, ``None`` where not known."""
        ...


def classify(path: str, head: bytes | None) -> Coverage:
    """What a file is, by its path and by its content at the head where that is known.

    ``generated`` for lock files, minified files, and files whose name or first comment says so;
    ``ignored`` for vendored ones; ``binary`` for content with a NUL byte among git's first
    8,000 or a Git LFS pointer; ``undecodable`` for what is no UTF-8; else ``reviewed``.
    """
    return _judge(path, head)[0]


def _judge(path: str, head: bytes | None) -> tuple[Coverage, str]:
    name = path.rpartition("/")[2]
    if name in _LOCK_FILES:
        return Coverage.GENERATED, "a lock file"
    if _VENDORED.search(path):
        return Coverage.IGNORED, "vendored: other people's code"
    if _GENERATED_NAME.search(name):
        return Coverage.GENERATED, "generated, by its name"
    if _LIBRARY_NAME.search(name):
        return Coverage.IGNORED, "a library's file, by the version in its name"
    if head is None:
        return Coverage.REVIEWED, ""
    if b"\0" in head[:_HEAD_BYTES]:
        return Coverage.BINARY, "binary content"
    if head.startswith(_LFS):
        return Coverage.BINARY, "a Git LFS pointer"
    if _MINIFIABLE.search(name) and _is_minified(head):
        return Coverage.GENERATED, "minified, by its length of line"
    if _MINIFIABLE.search(name) and _BUNDLED.search(head[:_HEAD_BYTES]):
        return Coverage.GENERATED, "put together by a bundler"
    if _MINIFIABLE.search(name) and _BANNER.match(head[:_HEAD_BYTES]):
        return Coverage.IGNORED, "a library's file, by its banner"
    if _MINIFIABLE.search(name) and _COMPILED.search(head[:_HEAD_BYTES]):
        return Coverage.GENERATED, "compiled from TypeScript"
    if _says_generated(head):
        return Coverage.GENERATED, "generated, by its first comment"
    try:
        head.decode("utf-8")
    except UnicodeDecodeError as error:
        return Coverage.UNDECODABLE, f"byte {error.start} is no UTF-8"
    return Coverage.REVIEWED, ""


def _is_minified(head: bytes) -> bool:
    return len(head) > 2 * _MINIFIED_MEAN and len(head) > _MINIFIED_MEAN * (head.count(b"\n") + 1)


def _says_generated(head: bytes) -> bool:
    first = decode(b"\n".join(head[:_HEAD_BYTES].split(b"\n")[:_HEAD_LINES]))
    return bool(_GENERATED_MARK.search(first))


class PathFilter:
    """Which paths a configuration wants, in ``.gitignore``'s patterns.

    With ``include``, only paths that match it are wanted; of those, none that ``exclude``
    matches. A later pattern beats an earlier one, ``!`` turns one round. Raises
    :class:`ValueError` naming a pattern that is none.
    """

    def __init__(self, include: Sequence[str] = (), exclude: Sequence[str] = ()) -> None:
        self._include = _spec(include) if include else None
        self._exclude = _spec(exclude)

    def wants(self, path: str) -> bool:
        """Whether the path is to be read."""
        if self._include is not None and not self._include.match_file(path):
            return False
        return not self._exclude.match_file(path)


def _spec(patterns: Sequence[str]) -> GitIgnoreSpec:
    for pattern in patterns:
        try:
            GitIgnoreSpec.from_lines([pattern])
        except (ValueError, re.error) as error:
            raise ValueError(f"the path pattern {pattern!r} is not valid: {error}") from None
    return GitIgnoreSpec.from_lines(patterns)


class Attributes:
    """``linguist-generated`` and ``linguist-vendored`` of a root ``.gitattributes``.

    Give the base's file, never the head's: a branch must not take its own code out of its
    review. Other attributes, macros and quoted patterns are passed over.
    """

    def __init__(self, text: bytes = b"") -> None:
        self._rules: list[tuple[GitIgnoreSpec, str, bool]] = []
        for line in decode(text).split("\n"):
            fields = line.split()
            if not fields or fields[0].startswith(("#", "[", "!", '"')):
                continue
            for field in fields[1:]:
                match = _ATTRIBUTE.match(field)
                if match:
                    on = not match["off"] and match["value"] not in ("false", "0")
                    self._add(fields[0], match["what"], on)

    def _add(self, pattern: str, what: str, on: bool) -> None:
        try:
            self._rules.append((_spec([pattern]), what, on))
        except ValueError:
            return  # git too passes over a pattern that it cannot read

    def value(self, path: str, what: str) -> bool | None:
        """``True`` or ``False`` as the last matching line sets it, ``None`` where none does."""
        found: bool | None = None
        for spec, attribute, on in self._rules:
            if attribute == what and spec.match_file(path):
                found = on
        return found


def cover(
    change: Change,
    texts: Texts | None = None,
    *,
    paths: PathFilter | None = None,
    attributes: Attributes | None = None,
) -> Change:
    """The change with generated, vendored and unwanted files marked, and why, in ``note``.

    Only files that the diff itself leaves to be read are judged; hunks are kept. ``texts``
    gives head contents (``bot.review.types.Sources`` fits); without it paths alone decide.
    """
    files = tuple(
        _cover(file, texts, paths or PathFilter(), attributes or Attributes()) for file in change
    )
    return replace(change, files=files)


def _cover(
    file: ChangedFile, texts: Texts | None, paths: PathFilter, attributes: Attributes
) -> ChangedFile:
    if file.coverage not in {Coverage.REVIEWED, Coverage.CLIPPED}:
        return file
    path = file.path
    if not paths.wants(path):
        note = "left out by the configuration's paths"
        return replace(file, coverage=Coverage.IGNORED, note=note)
    generated = attributes.value(path, "generated")
    vendored = attributes.value(path, "vendored")
    if generated:
        return replace(file, coverage=Coverage.GENERATED, note="generated, by .gitattributes")
    if vendored:
        return replace(file, coverage=Coverage.IGNORED, note="vendored, by .gitattributes")
    head = texts.head(path) if texts is not None and file.new_path is not None else None
    coverage, note = _judge(path, head)
    if coverage is Coverage.REVIEWED:
        return file
    if (coverage is Coverage.GENERATED and generated is False) or (
        coverage is Coverage.IGNORED and vendored is False
    ):
        return file
    return replace(file, coverage=coverage, note=shown(note))
