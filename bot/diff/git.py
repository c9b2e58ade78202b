"""Changes and blobs out of a git repository on disk.

The base of every change is the merge base: what others did since is never the author's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

from bot.diff.apply import apply_file
from bot.diff.errors import ApplyError, GitError
from bot.diff.git_process import BlobReader, Git, complaint, users_settings
from bot.diff.names import encode, shown
from bot.diff.parse import parse_diff
from models.change import Change, ChangedFile, Coverage, FileStatus

MAX_BLOB = 32 * 1024 * 1024
# how many of git's first bytes tell a binary file from text (git's own rule)
_SNIFF = 8000
_PATHS_AT_ONCE = 200

# one form of diff, whatever the user's or the repository's settings say
DIFF = (
    "diff",
    "--patch",
    "--full-index",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--no-relative",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "--find-renames=50%",
    "-l1000",
    "--unified=3",
    "--inter-hunk-context=0",
    "--diff-algorithm=myers",
    "--indent-heuristic",
    "--submodule=short",
    "--ignore-submodules=dirty",
    "-O/dev/null",
)


class Ends(NamedTuple):
    """The two ends of a change: object ids; no head is the working tree."""

    base: str
    head: str | None


class GitRepository:
    """A repository on disk, read only.

    ``path`` may be any folder inside it, or a bare repository. ``name`` is how people call it
    (the folder's name where none is given). ``lazy_fetch`` lets git fetch what a partial clone
    lacks; without it such blobs are not known. Close it, or use it in a ``with``, to end the
    process that reads blobs. Raises :class:`GitError` where there is no repository.
    """

    def __init__(self, path: Path, *, name: str = "", lazy_fetch: bool = False) -> None:
        if not path.is_dir():
            raise GitError(f"no folder {path}: give a git repository's folder")
        self._git = Git(path, lazy_fetch=lazy_fetch)
        probe = self._git.attempt("rev-parse", "--is-bare-repository")
        if b"dubious ownership" in probe.stderr:
            self._git.trust(users_settings("safe.directory"))
            probe = self._git.attempt("rev-parse", "--is-bare-repository")
        if b"dubious ownership" in probe.stderr:
            raise GitError(
                f"the repository in {path} belongs to another user: if you trust it, "
                f"git config --global --add safe.directory {path.resolve()}"
            )
        if probe.returncode != 0:
            raise GitError(f"no git repository in {path}: {complaint(probe.stderr)}")
        self.path = path
        self.bare = probe.stdout.strip() == b"true"
        self.name = name or self._folder_name()
        self._blobs = BlobReader(self._git, limit=MAX_BLOB)

    def _folder_name(self) -> str:
        if self.bare:
            return self.path.resolve().name.removesuffix(".git")
        top = self._git.attempt("rev-parse", "--show-toplevel").stdout.rstrip(b"\n")
        return Path(top.decode("utf-8", "surrogateescape")).name or self.path.resolve().name

    def resolve(self, rev: str) -> str:
        """The commit id that a revision names. Raises :class:`GitError` where it names none."""
        found = self._object(rev, "commit")
        if found is None:
            hint = "; this clone is shallow: fetch it first" if self._shallow() else ""
            raise GitError(f"no commit {shown(rev)!r} in {self.path}{hint}")
        return found

    def _object(self, rev: str, kind: str) -> str | None:
        # a revision that begins with a dash would be read as an option
        if not rev or rev.startswith("-") or any(ord(ch) < 32 for ch in rev):
            return None
        done = self._git.attempt("rev-parse", "--verify", "--quiet", f"{rev}^{{{kind}}}")
        return done.stdout.decode("ascii").strip() if done.returncode == 0 else None

    def _shallow(self) -> bool:
        return self._git.run("rev-parse", "--is-shallow-repository").strip() == b"true"

    def merge_base(self, a: str, b: str) -> str:
        """The id of the best common ancestor of two revisions.

        Raises :class:`GitError` where there is none, or where a shallow clone does not reach it.
        """
        left, right = self.resolve(a), self.resolve(b)
        done = self._git.attempt("merge-base", left, right)
        if done.returncode == 0:
            return done.stdout.decode("ascii").split()[0]
        if self._shallow():
            raise GitError(
                f"this shallow clone does not reach the merge base of {shown(a)!r} and "
                f"{shown(b)!r}: run git fetch --unshallow"
            )
        raise GitError(f"{shown(a)!r} and {shown(b)!r} have no history in common")

    def change(self, range_text: str | None = None) -> Change:
        """What a range changed since its merge base.

        ``A..B`` and ``A...B`` are both what B did since it left A; a side left out is ``HEAD``;
        one revision ``A`` is ``A..HEAD``; ``B^!`` is the one commit B against its first parent.
        A may also name a tree (the empty tree, say), which is then the base itself.

        Without a range it is what a person most likely is at work on: the uncommitted changes
        of tracked files, staged or not (the change then has no ``head``); where there are none,
        what ``HEAD`` did since it left the branch that it will go into (its upstream, if that is
        another branch; else the remote's default branch; else ``main`` or ``master`` here);
        where that is nothing, the last commit. Untracked files are in after ``git add -N``.

        Raises :class:`GitError` for a range that does not exist.
        """
        ends = self._default_ends() if range_text is None else self._ends(range_text.strip())
        change = self._diff(ends)
        return self._reveal(change, ends)

    def _ends(self, text: str) -> Ends:
        if text.endswith("^!"):
            head = self.resolve(text[:-2])
            return Ends(self._parent(head), head)
        for dots in ("...", ".."):
            left, found, right = text.partition(dots)
            if found:
                if ".." in right or not (left or right):
                    raise GitError(f"{shown(text)!r} is no range: write A..B")
                return self._since(left or "HEAD", right or "HEAD")
        if not text:
            raise GitError("the range is empty: write A..B, or leave it out")
        return self._since(text, "HEAD")

    def _since(self, left: str, right: str) -> Ends:
        head = self.resolve(right)
        if self._object(left, "commit") is None:
            tree = self._object(left, "tree")
            if tree is not None:
                return Ends(tree, head)
        return Ends(self.merge_base(left, right), head)

    def _parent(self, commit: str) -> str:
        return self._object(f"{commit}^1", "commit") or self._empty_tree()

    def _empty_tree(self) -> str:
        # its id depends on the repository's hash function
        done = self._git.run("hash-object", "-t", "tree", "--stdin")
        return done.decode("ascii").strip()

    def _default_ends(self) -> Ends:
        head = self._object("HEAD", "commit")
        dirty = None if self.bare else Ends(head or self._empty_tree(), None)
        if dirty and self._is_dirty(dirty.base):
            return dirty
        if head is None:
            raise GitError(f"no commits in {self.path} yet: commit or stage something first")
        for rev in self._bases():
            done = self._git.attempt("merge-base", rev, head)
            base = done.stdout.decode("ascii").strip()
            if base:
                return Ends(self._parent(head) if base == head else base, head)
        return Ends(self._parent(head), head)

    def _is_dirty(self, base: str) -> bool:
        """Whether tracked files differ from the base; filters are off from here on."""
        listed = self._line("config", "-z", "--name-only", "--get-regexp", r"^filter\..*\.")
        names = {name.rpartition(".")[0] for name in listed.split("\0") if name}
        off = dict.fromkeys(
            (f"{name}.{key}" for name in names for key in ("clean", "smudge", "process")), ""
        )
        self._git.override(off | {f"{name}.required": "false" for name in names})
        for key in ("core.autocrlf", "core.eol"):
            # line endings in the working tree are as the user's settings made them
            values = users_settings(key)
            if values and not self._line("config", "--get", key):
                self._git.override({key: values[-1]})
        done = self._git.attempt("diff", "--quiet", "--ignore-submodules=dirty", base, "--")
        if done.returncode > 1:
            raise GitError(f"git cannot compare {self.path}: {complaint(done.stderr)}")
        return done.returncode == 1

    def _bases(self) -> Iterator[str]:
        """What the branch is most likely to be merged into, the likeliest first."""
        branch = self._line("symbolic-ref", "--quiet", "HEAD")
        short = branch.removeprefix("refs/heads/")
        merges = self._line("config", "--local", "--get", f"branch.{short}.merge")
        # a branch that follows its own copy on the remote says nothing of where it will go
        if short and merges not in ("", branch):
            yield "@{upstream}"
        remotes = self._line("remote").split()
        for remote in sorted(remotes, key=lambda name: name != "origin"):
            for name in ("HEAD", "main", "master"):
                yield f"refs/remotes/{remote}/{name}"
        for name in ("refs/heads/main", "refs/heads/master"):
            if name != branch:
                yield name

    def _line(self, *arguments: str) -> str:
        """What git answers, or nothing where it has no answer."""
        done = self._git.attempt(*arguments)
        return done.stdout.decode("utf-8", "surrogateescape").strip()

    def _diff(self, ends: Ends, *more: str) -> Change:
        revisions = [ends.base] if ends.head is None else [ends.base, ends.head]
        options = [part for part in more if part.startswith("--")]
        paths = [part for part in more if not part.startswith("--")]
        data = self._git.run(*DIFF, *options, *revisions, "--", *paths)
        return parse_diff(data, repo=self.name, base=ends.base, head=ends.head or "")

    def _reveal(self, change: Change, ends: Ends) -> Change:
        """Reads again, as text, the files that only an attribute calls binary.

        ``*.py -diff`` in a branch's ``.gitattributes`` would else hide code from its review.
        """
        hidden = [file for file in change if self._hidden(file, ends)]
        if not hidden:
            return change
        read: dict[str, ChangedFile] = {}
        for at in range(0, len(hidden), _PATHS_AT_ONCE):
            group = hidden[at : at + _PATHS_AT_ONCE]
            paths = {path for file in group for path in (file.old_path, file.new_path) if path}
            specs = [f":(top,literal){path}" for path in sorted(paths)]
            again = self._diff(ends, "--text", *specs)
            read.update((file.path, file) for file in again if _is_text(file))
        files = [
            read.get(file.path, file) if file.coverage is Coverage.BINARY else file
            for file in change
        ]
        return replace(change, files=tuple(files))

    def _hidden(self, file: ChangedFile, ends: Ends) -> bool:
        if file.coverage is not Coverage.BINARY:
            return False
        sides = []
        if file.old_path is not None:
            sides.append(self.blob(ends.base, file.old_path))
        if file.new_path is not None and ends.head is not None:
            sides.append(self.blob(ends.head, file.new_path))
        return bool(sides) and all(
            side is not None and b"\0" not in side[:_SNIFF] for side in sides
        )

    def blob(self, rev: str, path: str) -> bytes | None:
        """The content of a file at a revision.

        ``None`` where there is no such file, where it is a folder or a submodule, where it is
        over 32 MiB, or where a partial clone lacks it.
        """
        return self.blobs([(rev, path)])[0]

    def blobs(self, wanted: Sequence[tuple[str, str]]) -> list[bytes | None]:
        """Several files' contents, each asked for by revision and path, as by :meth:`blob`."""
        return [self._blob(rev, path) for rev, path in wanted]

    def _blob(self, rev: str, path: str) -> bytes | None:
        if not rev or not path or rev.startswith("-") or "\0" in path or "\n" in rev:
            return None
        if "\n" in path:
            # the batch process reads one name a line
            done = self._git.attempt("rev-parse", "--verify", "--quiet", f"{rev}:{path}")
            return self._blobs.read(done.stdout.strip()) if done.returncode == 0 else None
        return self._blobs.read(encode(f"{rev}:{path}"))

    def sources(self, change: Change) -> GitSources:
        """Where both sides' texts of a change from this repository are read."""
        return GitSources(self, change)

    def close(self) -> None:
        """Ends the process that reads blobs."""
        self._blobs.close()

    def __enter__(self) -> GitRepository:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _is_text(file: ChangedFile) -> bool:
    lines = (line.text for hunk in file.hunks for line in hunk.lines)
    return file.coverage is not Coverage.BINARY and not any("\0" in text for text in lines)


class GitSources:
    """Both sides' texts of a change, out of git's objects (``bot.review.types.Sources``).

    The head of uncommitted work is the change laid on the base: files of the working tree are
    never opened, so a link there leads nowhere and line endings are those that git compares.
    """

    def __init__(self, repository: GitRepository, change: Change) -> None:
        self._repository = repository
        self._change = change

    def base(self, path: str) -> bytes | None:
        """The file at the merge base."""
        return self._repository.blob(self._change.base, path)

    def head(self, path: str) -> bytes | None:
        """The file at the head, or in the working tree where the change has no head."""
        if self._change.head:
            return self._repository.blob(self._change.head, path)
        file = self._change.file(path)
        if file is not None and file.new_path == path:
            old = b"" if file.old_path is None else self.base(file.old_path)
            try:
                return None if old is None else apply_file(file, old)
            except ApplyError:
                return None
        gone = {
            item.old_path
            for item in self._change
            if item.status in {FileStatus.REMOVED, FileStatus.RENAMED}
        }
        return None if path in gone else self.base(path)
