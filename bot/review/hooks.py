"""Changes as git's hooks see them: what is staged, and what is about to be pushed."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from bot.diff import GitError, GitRepository, parse_diff
from bot.diff.git import DIFF
from bot.diff.git_process import Git, complaint, environment, users_settings
from models.change import Change

# as for ranges (bot.diff.git), one form of diff whatever the settings say
# the one form of diff, of the index
_DIFF = ("diff", "--cached", *DIFF[1:])


def staged_change(repository: GitRepository) -> Change:
    """What the index adds to ``HEAD`` (to nothing, before the first commit).

    In a hook of ``git commit -a`` or ``git commit FILE`` the index is the one that git names in
    ``GIT_INDEX_FILE``. Raises :class:`GitError` for a bare repository.
    """
    if repository.bare:
        raise GitError(f"the repository in {repository.path} is bare: it has nothing staged")
    git = Git(repository.path)
    git.trust(users_settings("safe.directory"))
    head = git.attempt("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    base = head.stdout if head.returncode == 0 else git.run("hash-object", "-t", "tree", "--stdin")
    base_id = base.decode("ascii").strip()
    env = environment(lazy_fetch=False) | _index(git)
    done = subprocess.run(
        git.command(*_DIFF, base_id, "--"),
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    if done.returncode != 0:
        raise GitError(f"git cannot read what is staged: {complaint(done.stderr)}")
    return parse_diff(done.stdout, repo=repository.name, base=base_id, head="")


def _index(git: Git) -> dict[str, str]:
    """The caller's index, where it is one of this very repository."""
    named = os.environ.get("GIT_INDEX_FILE")
    if not named:
        return {}
    folder = os.fsdecode(git.run("rev-parse", "--absolute-git-dir").rstrip(b"\n"))
    index = Path(named).resolve()
    return {"GIT_INDEX_FILE": str(index)} if Path(folder).resolve() in index.parents else {}


def pushed_range(env: Mapping[str, str]) -> str | None:
    """The range that pre-commit says is pushed; ``None`` where it is a history from its root.

    pre-commit sets ``PRE_COMMIT_FROM_REF`` and ``PRE_COMMIT_TO_REF`` at the pre-push stage, and
    neither where the push holds a root commit (then it runs over all files). Raises
    :class:`GitError` outside of pre-commit.
    """
    start, end = env.get("PRE_COMMIT_FROM_REF"), env.get("PRE_COMMIT_TO_REF")
    if start and end:
        return f"{start}...{end}"
    if env.get("PRE_COMMIT"):
        return None
    raise GitError(
        "--pushed is for pre-commit's pre-push stage: PRE_COMMIT_FROM_REF and PRE_COMMIT_TO_REF "
        "are not set; give a range A..B instead"
    )
