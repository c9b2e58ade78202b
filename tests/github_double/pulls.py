"""What happens to a pull request: opened, pushed, rebased, merged, closed; its diff."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

from tests.github_double import anchors
from tests.github_double.errors import ApiError, invalid
from tests.github_double.file_specs import FileSpec
from tests.github_double.git_store import FileDiff, GitError
from tests.github_double.records import Account, Pull, Repo, now
from tests.github_double.world import World


@dataclass(frozen=True, slots=True)
class PullDiff:
    """The three-dot diff of a pull request: merge base to head."""

    base: str
    head: str
    files: list[FileDiff]

    def file(self, path: str) -> FileDiff | None:
        """The changed file with this (new) path."""
        return next((f for f in self.files if f.path == path), None)


def commit(
    world: World,
    repo: Repo,
    branch: str,
    files: Mapping[str, FileSpec],
    *,
    message: str = "Change",
    start: str | None = None,
    author: str = "Octo Cat",
) -> str:
    """Commit files on a branch; a new branch starts at ``start`` or at the default branch."""
    parent = repo.git.resolve(f"refs/heads/{branch}")
    if parent is None and branch != repo.default_branch:
        parent = repo.git.resolve(start or repo.default_branch)
    sha = repo.git.commit(
        branch, files, message=message, parent=parent, when=seconds(), author=author
    )
    repo.pushed_at = now()
    follow(world, repo, branch)
    return sha


def open_pull(
    world: World,
    repo: Repo,
    *,
    head_ref: str,
    author: Account,
    title: str,
    body: str | None = None,
    base_ref: str | None = None,
    head_repo: Repo | None = None,
    draft: bool = False,
) -> Pull:
    """Open a pull request from a branch that exists."""
    source = head_repo or repo
    base_ref = base_ref or repo.default_branch
    head = source.git.resolve(f"refs/heads/{head_ref}")
    base = repo.git.resolve(f"refs/heads/{base_ref}")
    if head is None:
        raise invalid("PullRequest", "head", "head is not a branch", "invalid")
    if base is None:
        raise invalid("PullRequest", "base", "base is not a branch", "invalid")
    repo.git.fetch_from(source.git, head)
    number = max(repo.pulls, default=0) + 1
    pull = Pull(
        id=world.next_id(),
        number=number,
        repo=repo,
        head_repo=source,
        head_ref=head_ref,
        head_sha=head,
        base_ref=base_ref,
        base_sha=base,
        author=author,
        title=title,
        body=body,
        draft=draft,
    )
    repo.pulls[number] = pull
    repo.git.set_ref(f"refs/pull/{number}/head", head)
    return pull


def follow(world: World, repo: Repo, branch: str) -> None:
    """Let every open pull request from or onto a branch see where the branch stands now."""
    sha = repo.git.resolve(f"refs/heads/{branch}")
    if sha is None:
        return
    for other in world.repos.values():
        for pull in other.pulls.values():
            if pull.state != "open":
                continue
            if pull.head_repo is repo and pull.head_ref == branch and pull.head_sha != sha:
                _new_head(pull, repo, sha)
            if pull.repo is repo and pull.base_ref == branch:
                pull.base_sha = sha


def _new_head(pull: Pull, source: Repo, sha: str) -> None:
    git = pull.repo.git
    git.fetch_from(source.git, sha)
    old, pull.head_sha, pull.updated_at = pull.head_sha, sha, now()
    git.set_ref(f"refs/pull/{pull.number}/head", sha)
    forced = not git.is_ancestor(old, sha)
    reanchor(pull)
    if forced:
        # GitHub re-points the reviews of commits that a force-push threw away.
        for review in pull.reviews:
            if not git.is_ancestor(review.commit_id, sha):
                review.commit_id = sha


def reanchor(pull: Pull) -> None:
    """Move comments along with their lines; those whose lines are gone become outdated."""
    diff = pull_diff(pull)
    for thread in pull.threads:
        for comment in thread.comments:
            if comment.subject_type == "file" or comment.original_line is None:
                continue
            found = diff.file(comment.path)
            target = None
            if found is not None:
                old = comment.original_commit_id
                if comment.side == "LEFT":
                    before = merge_base(pull, old)
                    number = anchors.moved_line(
                        pull.repo.git, before, diff.base, found.old_path, comment.original_line
                    )
                else:
                    number = anchors.moved_line(
                        pull.repo.git, old, diff.head, comment.path, comment.original_line
                    )
                if number is not None:
                    lines = anchors.read_patch(found.patch.decode(errors="replace"))
                    target = anchors.find(lines, comment.side, number)
            if target is None:
                comment.line = comment.start_line = comment.position = None
                continue
            line = target.old if comment.side == "LEFT" else target.new
            if line is None:
                continue
            if comment.original_start_line is not None:
                comment.start_line = line - (comment.original_line - comment.original_start_line)
            comment.line, comment.position = line, target.position
            comment.commit_id = diff.head


def merge_base(pull: Pull, head: str | None = None) -> str:
    """The merge base of the base branch and a head of this pull request."""
    found = pull.repo.git.merge_base(pull.base_sha, head or pull.head_sha)
    return found or pull.base_sha


def pull_diff(pull: Pull, head: str | None = None) -> PullDiff:
    """The diff that GitHub shows for the pull request at a head (the present one by default)."""
    sha = head or pull.head_sha
    base = merge_base(pull, sha)
    return PullDiff(base, sha, pull.repo.git.files(base, sha))


def rewrite_head(world: World, pull: Pull, sha: str) -> None:
    """Point the head branch at any commit: a force-push."""
    source = pull.head_repo
    source.git.fetch_from(pull.repo.git, sha)
    source.git.set_ref(f"refs/heads/{pull.head_ref}", sha)
    source.pushed_at = now()
    follow(world, source, pull.head_ref)


def rebase(world: World, pull: Pull) -> str:
    """Replay the pull request on the present tip of its base branch and force-push it."""
    base = pull.repo.git.resolve(f"refs/heads/{pull.base_ref}") or pull.base_sha
    sha = pull.repo.git.rebase(pull.head_sha, merge_base(pull), base, seconds())
    rewrite_head(world, pull, sha)
    return sha


def merge_base_into_head(world: World, pull: Pull) -> str:
    """Merge the base branch into the pull request's branch ("Update branch")."""
    base = pull.repo.git.resolve(f"refs/heads/{pull.base_ref}") or pull.base_sha
    message = f"Merge branch '{pull.base_ref}' into {pull.head_ref}"
    sha = pull.repo.git.merge(pull.head_sha, base, message, seconds())
    rewrite_head(world, pull, sha)
    return sha


def squash(world: World, pull: Pull, message: str = "Squashed") -> str:
    """Force-push the pull request's change as one commit on its merge base."""
    git = pull.repo.git
    tree = git.run("rev-parse", f"{pull.head_sha}^{{tree}}").decode().strip()
    date = f"{seconds()} +0000"
    sha = (
        git.run(
            "commit-tree",
            tree,
            "-p",
            merge_base(pull),
            "-m",
            message,
            env={"GIT_COMMITTER_DATE": date, "GIT_AUTHOR_DATE": date},
        )
        .decode()
        .strip()
    )
    rewrite_head(world, pull, sha)
    return sha


def merge(world: World, pull: Pull, method: str = "merge") -> str:
    """Merge the pull request into its base: ``merge``, ``squash`` or ``rebase``."""
    if pull.state != "open":
        raise ApiError(405, "Pull Request is not mergeable")
    git = pull.repo.git
    base = git.resolve(f"refs/heads/{pull.base_ref}") or pull.base_sha
    when = seconds()
    title = f"{pull.title} (#{pull.number})"
    try:
        if method == "rebase":
            sha = git.rebase(pull.head_sha, merge_base(pull), base, when)
        else:
            sha = git.merge(base, pull.head_sha, title, when, squash=method == "squash")
    except GitError:
        raise ApiError(405, "Pull Request is not mergeable") from None
    # The closed pull request keeps the base it was merged into.
    pull.state, pull.closed_at, pull.merged_at = "closed", now(), now()
    pull.merge_commit_sha, pull.updated_at = sha, now()
    git.set_ref(f"refs/heads/{pull.base_ref}", sha)
    follow(world, pull.repo, pull.base_ref)
    return sha


def seconds() -> int:
    """The present time for git."""
    return int(time.time())
