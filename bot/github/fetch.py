"""A pull request's change read from GitHub, and what to do where its API stops.

The files list is read first: it costs one file, not the whole change, where something is wrong.
What it leaves out is asked for again: in smaller pages (a page's patches together have a limit),
then in the raw diff (it says what is binary or only a mode), then by git. What is missing even
then is said in that file's coverage.
"""

from __future__ import annotations

import base64
import binascii
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from bot.diff.errors import DiffError
from bot.diff.github_files import change_from_files
from bot.diff.parse import parse_diff
from bot.diff.range_diff import new_hunks
from bot.github import requests as rq
from bot.github.client import Api
from bot.github.errors import Answered
from bot.github.gitfetch import FetchedByGit
from bot.jobs.forge import Fetched, ForgeError, PullRef, PullState, Reviewed, Superseded
from bot.review.types import Sources
from models.change import Change, Coverage

PAGE_SIZES = (100, 20, 4)
"""Files a page, from the usual to where a page's limit of patch lines seldom bites."""
COMPARED_FILES = 300
"""A comparison names at most 300 files."""
MOST_BLOB = 32 * 1024 * 1024

GitFetch = Callable[[PullRef, str, str], FetchedByGit]
"""Fetches the change from a merge base to a head of a repository by git."""


@dataclass(frozen=True, slots=True)
class _Rows:
    """The files list with what GitHub says the pull request has."""

    rows: list[dict[str, Any]]
    announced: int


class Fetcher:
    """Reads changes through ``api`` (called on the using thread), with git as the last resort.

    ``by_git`` of ``None`` never uses git.
    """

    def __init__(self, api: Callable[[PullRef], Api], by_git: GitFetch | None = None) -> None:
        self._api = api
        self._by_git = by_git

    def change(self, ref: PullRef, state: PullState, since: Reviewed | None) -> Fetched:
        """The patch of ``state``, or with ``since`` only its hunks that were not there before.

        Raises ``Superseded`` where the head moved while it was read.
        """
        notes: list[str] = []
        api = self._api(ref)
        listed = self._rows(api, ref)
        change = self._from_rows(listed.rows, ref, state)
        blobs = ApiSources(lambda: self._api(ref), ref.repository, change, _blob_ids(listed.rows))
        sources: Sources = blobs
        missing = _missing(change)
        if missing and len(listed.rows) >= listed.announced:
            change = self._with_raw_diff(api, ref, change)
            missing = _missing(change)
        short = len(listed.rows) < listed.announced
        if missing or short:
            what = (
                f"GitHub listed {len(listed.rows)} of {listed.announced} files"
                if short
                else f"GitHub showed no patch for {_named(missing)}"
            )
            fetched = self._fetched(ref, state, what, notes)
            if fetched is not None:
                change, sources = fetched.change, GitFirst(fetched, blobs)
        self._check_head(api, ref, state)
        if since is not None:
            change = self._news(ref, since, change, notes)
        return Fetched(change, sources, tuple(notes))

    def compared(self, ref: PullRef, base: str, head: str) -> Change | None:
        """The patch between two commits, or ``None`` where GitHub does not show it whole."""
        try:
            data = self._api(ref).data(rq.compare(ref.repository, base, head))
        except Answered:
            return None
        rows = data.get("files") or []
        if len(rows) >= COMPARED_FILES:
            return None
        change = change_from_files(rows, repo=ref.repository, base=base, head=head)
        return None if _missing(change) else change

    def _news(self, ref: PullRef, since: Reviewed, change: Change, notes: list[str]) -> Change:
        before = self.compared(ref, since.merge_base, since.head)
        if before is None and self._by_git is not None:
            try:
                fetched = self._by_git(ref, since.merge_base, since.head)
            except ForgeError:
                pass
            else:
                before = fetched.change
                fetched.close()
        if before is None:
            notes.append(
                f"the patch reviewed before ({since.head[:12]}) cannot be read any more: "
                "the whole change was reviewed"
            )
            return change
        return new_hunks(before, change)

    def _rows(self, api: Api, ref: PullRef) -> _Rows:
        announced = int(api.data(rq.pull(ref.repository, ref.number)).get("changed_files") or 0)
        rows = list(api.items(rq.pull_files(ref.repository, ref.number, PAGE_SIZES[0])))
        for smaller in PAGE_SIZES[1:]:
            if not self._reread(api, ref, rows, smaller):
                break
        return _Rows(rows, announced)

    def _reread(self, api: Api, ref: PullRef, rows: list[dict[str, Any]], smaller: int) -> bool:
        """Ask again, ``smaller`` files a page, for pages whose rows lack patches.

        Whether that brought a patch: where it did not, still smaller pages will not either.
        """
        pages = sorted({at // smaller for at, row in enumerate(rows) if _cut_off(row)})
        if len(rows) <= smaller or not pages:
            return False
        helped = False
        for page in pages:
            request = rq.pull_files(ref.repository, ref.number, smaller)
            request = replace(request, params={**request.params, "page": page + 1})
            again = {row.get("filename"): row for row in api.data(request)}
            for at in range(page * smaller, min((page + 1) * smaller, len(rows))):
                better = again.get(rows[at].get("filename"))
                if better is not None and "patch" in better and "patch" not in rows[at]:
                    rows[at] = better
                    helped = True
        return helped

    def _from_rows(self, rows: list[dict[str, Any]], ref: PullRef, state: PullState) -> Change:
        return change_from_files(rows, repo=ref.repository, base=state.merge_base, head=state.head)

    def _with_raw_diff(self, api: Api, ref: PullRef, change: Change) -> Change:
        """Take the files without a patch from the raw diff, where GitHub gives one."""
        try:
            text = api.text(rq.pull_diff(ref.repository, ref.number))
            raw = parse_diff(text.encode("utf-8", "surrogateescape"))
        except (Answered, DiffError):
            return change
        better = {file.path: file for file in raw}
        return replace(
            change,
            files=tuple(
                better.get(file.path, file) if file.coverage is Coverage.PATCH_MISSING else file
                for file in change
            ),
        )

    def _fetched(
        self, ref: PullRef, state: PullState, why: str, notes: list[str]
    ) -> FetchedByGit | None:
        if self._by_git is None:
            notes.append(f"{why}: they were not read")
            return None
        try:
            fetched = self._by_git(ref, state.merge_base, state.head)
        except ForgeError as error:
            notes.append(f"{why}, and git could not fetch them: {error}")
            return None
        notes.append(f"{why}: the change was read by git instead")
        return fetched

    def _check_head(self, api: Api, ref: PullRef, state: PullState) -> None:
        now = str(api.data(rq.pull(ref.repository, ref.number))["head"]["sha"])
        if now != state.head:
            raise Superseded(f"the head moved from {state.head[:12]} to {now[:12]}")


class ApiSources:
    """Both sides' texts from GitHub's blobs, each read once, from any thread."""

    def __init__(
        self, api: Callable[[], Api], repo: str, change: Change, blob_ids: Mapping[str, str]
    ) -> None:
        self._api = api
        self._repo = repo
        self._base, self._head = change.base, change.head
        self._blob_ids = blob_ids
        self._kept: dict[tuple[str, str], bytes | None] = {}
        self._lock = threading.Lock()

    def base(self, path: str) -> bytes | None:
        """The file at the merge base, ``None`` where there is none or it cannot be read."""
        return self._once("base", path, lambda: self._content(path, self._base))

    def head(self, path: str) -> bytes | None:
        """The file at the head, ``None`` where there is none or it cannot be read.

        A changed file is read by its blob's id: the contents would follow a symbolic link.
        """
        blob_id = self._blob_ids.get(path)
        if blob_id:
            return self._once("head", path, lambda: self._blob(blob_id))
        return self._once("head", path, lambda: self._content(path, self._head))

    def _once(self, side: str, path: str, read: Callable[[], bytes | None]) -> bytes | None:
        with self._lock:
            if (side, path) in self._kept:
                return self._kept[side, path]
        found = read()
        with self._lock:
            return self._kept.setdefault((side, path), found)

    def _content(self, path: str, commit: str) -> bytes | None:
        try:
            data = self._api().data(rq.contents(self._repo, path, commit))
        except Answered:
            return None
        if not isinstance(data, dict) or data.get("type") != "file":
            return None
        if data.get("encoding") == "base64" and data.get("content"):
            return _decoded(data)
        if data.get("size") == 0:
            return b""
        # above 1 MB the content is left out; the blob has it
        return self._blob(str(data.get("sha"))) if int(data.get("size") or 0) <= MOST_BLOB else None

    def _blob(self, blob_id: str) -> bytes | None:
        try:
            return _decoded(self._api().data(rq.blob(self._repo, blob_id)))
        except Answered:
            return None


class GitFirst:
    """Texts out of what git fetched, and GitHub's blobs for files that the change leaves alone."""

    def __init__(self, fetched: FetchedByGit, rest: ApiSources) -> None:
        self._fetched = fetched
        self._rest = rest

    def base(self, path: str) -> bytes | None:
        """The file at the merge base."""
        found = self._fetched.base(path)
        return found if found is not None else self._rest.base(path)

    def head(self, path: str) -> bytes | None:
        """The file at the head."""
        found = self._fetched.head(path)
        return found if found is not None else self._rest.head(path)


def _decoded(data: Any) -> bytes | None:
    try:
        return base64.b64decode(str(data["content"]))
    except (binascii.Error, KeyError, TypeError):
        return None


def _blob_ids(rows: list[dict[str, Any]]) -> dict[str, str]:
    return {
        str(row["filename"]): str(row["sha"])
        for row in rows
        if row.get("sha") and row.get("status") != "removed"
    }


def _cut_off(row: Mapping[str, Any]) -> bool:
    """Whether a row may have lost its patch to the limit of its page: no patch and no counts."""
    return "patch" not in row and not row.get("changes") and row.get("status") != "renamed"


def _missing(change: Change) -> list[str]:
    return [file.path for file in change if file.coverage is Coverage.PATCH_MISSING]


def _named(paths: list[str]) -> str:
    return paths[0] if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1} more"
