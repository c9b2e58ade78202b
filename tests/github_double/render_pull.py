"""The JSON of pull requests, reviews, comments, commits, files and checks."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from tests.github_double import pulls
from tests.github_double.auth import association
from tests.github_double.git_store import Commit, FileDiff
from tests.github_double.records import (
    CheckRun,
    IssueComment,
    Pull,
    Reaction,
    Repo,
    Review,
    ReviewComment,
    node_id,
)
from tests.github_double.render import app, maybe_user, repo, user, web_root
from tests.github_double.reviews import comments_of

Json = dict[str, Any]


def _urls(root: str, pull: Pull) -> tuple[str, str, str]:
    base = f"{root}/repos/{pull.repo.full_name}"
    html = f"{web_root(root)}/{pull.repo.full_name}/pull/{pull.number}"
    return f"{base}/pulls/{pull.number}", f"{base}/issues/{pull.number}", html


def label(root: str, record: Repo, name: str) -> Json:
    """A label of a repository."""
    known = record.labels.get(name.lower(), {})
    return {
        "id": known.get("id", 1),
        "node_id": node_id("LA", known.get("id", 1)),
        "url": f"{root}/repos/{record.full_name}/labels/{name}",
        "name": name,
        "color": known.get("color", "ededed"),
        "default": False,
        "description": known.get("description"),
    }


def pull_simple(root: str, pull: Pull) -> Json:
    """A pull-request-simple, as lists have it."""
    url, issue, html = _urls(root, pull)
    base = f"{root}/repos/{pull.repo.full_name}"
    statuses = f"{base}/statuses/{pull.head_sha}"
    links = {
        "self": url,
        "html": html,
        "issue": issue,
        "comments": f"{issue}/comments",
        "review_comments": f"{url}/comments",
        "review_comment": f"{base}/pulls/comments{{/number}}",
        "commits": f"{url}/commits",
        "statuses": statuses,
    }
    owner = pull.head_repo.owner
    return {
        "url": url,
        "id": pull.id,
        "node_id": node_id("PR", pull.id),
        "html_url": html,
        "diff_url": f"{html}.diff",
        "patch_url": f"{html}.patch",
        "issue_url": issue,
        "commits_url": f"{url}/commits",
        "review_comments_url": f"{url}/comments",
        "review_comment_url": f"{base}/pulls/comments{{/number}}",
        "comments_url": f"{issue}/comments",
        "statuses_url": statuses,
        "number": pull.number,
        "state": pull.state,
        "locked": False,
        "title": pull.title,
        "user": user(root, pull.author),
        "body": pull.body,
        "labels": [label(root, pull.repo, name) for name in pull.labels],
        "milestone": None,
        "active_lock_reason": None,
        "created_at": pull.created_at,
        "updated_at": pull.updated_at,
        "closed_at": pull.closed_at,
        "merged_at": pull.merged_at,
        "merge_commit_sha": pull.merge_commit_sha,
        "assignee": None,
        "assignees": [],
        "requested_reviewers": [],
        "requested_teams": [],
        "head": {
            "label": f"{owner.login}:{pull.head_ref}",
            "ref": pull.head_ref,
            "sha": pull.head_sha,
            "user": user(root, owner),
            "repo": repo(root, pull.head_repo),
        },
        "base": {
            "label": f"{pull.repo.owner.login}:{pull.base_ref}",
            "ref": pull.base_ref,
            "sha": pull.base_sha,
            "user": user(root, pull.repo.owner),
            "repo": repo(root, pull.repo),
        },
        "_links": {name: {"href": href} for name, href in links.items()},
        "author_association": association(pull.repo, pull.author),
        "auto_merge": None,
        "draft": pull.draft,
    }


def pull_full(root: str, pull: Pull) -> Json:
    """A pull-request with its counts."""
    diff = pulls.pull_diff(pull)
    merged = pull.merged_at is not None
    return {
        **pull_simple(root, pull),
        "merged": merged,
        "mergeable": None if pull.state == "closed" else True,
        "rebaseable": None if pull.state == "closed" else True,
        "mergeable_state": "unknown" if pull.state == "closed" else "clean",
        "merged_by": maybe_user(root, pull.repo.owner if merged else None),
        "comments": len(pull.comments),
        "review_comments": sum(len(t.comments) for t in pull.threads),
        "maintainer_can_modify": False,
        "commits": len(pull.repo.git.commits(f"{diff.base}..{diff.head}")),
        "additions": sum(f.additions for f in diff.files),
        "deletions": sum(f.deletions for f in diff.files),
        "changed_files": len(diff.files),
    }


def review(root: str, record: Review) -> Json:
    """A pull-request-review; a pending one has no date."""
    url, _, html = _urls(root, record.pull)
    page = f"{html}#pullrequestreview-{record.id}"
    out: Json = {
        "id": record.id,
        "node_id": node_id("PRR", record.id),
        "user": user(root, record.author),
        "body": record.body,
        "state": record.state,
        "html_url": page,
        "pull_request_url": url,
        "author_association": association(record.pull.repo, record.author),
        "_links": {"html": {"href": page}, "pull_request": {"href": url}},
        "commit_id": record.commit_id,
    }
    if record.submitted_at:
        out["submitted_at"] = record.submitted_at
    return out


def review_comment(root: str, record: ReviewComment) -> Json:
    """A pull-request-review-comment."""
    pull = record.thread.pull
    url, _, html = _urls(root, pull)
    own = f"{root}/repos/{pull.repo.full_name}/pulls/comments/{record.id}"
    page = f"{html}#discussion_r{record.id}"
    out: Json = {
        "url": own,
        "pull_request_review_id": record.review.id,
        "id": record.id,
        "node_id": node_id("PRRC", record.id),
        "diff_hunk": record.diff_hunk,
        "path": record.path,
        "commit_id": record.commit_id,
        "original_commit_id": record.original_commit_id,
        "user": user(root, record.author),
        "body": record.body,
        "created_at": record.created_at,
        "updated_at": record.updated_at,
        "html_url": page,
        "pull_request_url": url,
        "author_association": association(pull.repo, record.author),
        "_links": {
            "self": {"href": own},
            "html": {"href": page},
            "pull_request": {"href": url},
        },
        "reactions": reactions(f"{own}/reactions", record.reactions),
        "start_line": record.start_line,
        "original_start_line": record.original_start_line,
        "start_side": record.start_side,
        "line": record.line,
        "original_line": record.original_line,
        "side": record.side,
        "original_position": record.original_position,
        "position": record.position,
        "subject_type": record.subject_type,
    }
    if record.in_reply_to is not None:
        out["in_reply_to_id"] = record.in_reply_to
    return out


def issue_comment(root: str, record: IssueComment) -> Json:
    """An issue-comment."""
    _, issue, html = _urls(root, record.pull)
    own = f"{root}/repos/{record.pull.repo.full_name}/issues/comments/{record.id}"
    return {
        "url": own,
        "html_url": f"{html}#issuecomment-{record.id}",
        "issue_url": issue,
        "id": record.id,
        "node_id": node_id("IC", record.id),
        "user": user(root, record.author),
        "created_at": record.created_at,
        "updated_at": record.updated_at,
        "body": record.body,
        "author_association": association(record.pull.repo, record.author),
        "reactions": reactions(f"{own}/reactions", record.reactions),
        "performed_via_github_app": app(root, record.via_app) if record.via_app else None,
    }


def issue(root: str, pull: Pull) -> Json:
    """The pull request as an issue."""
    url, own, html = _urls(root, pull)
    return {
        "url": own,
        "repository_url": f"{root}/repos/{pull.repo.full_name}",
        "labels_url": f"{own}/labels{{/name}}",
        "comments_url": f"{own}/comments",
        "events_url": f"{own}/events",
        "html_url": html,
        "id": pull.id + 1,
        "node_id": node_id("PR", pull.id),
        "number": pull.number,
        "title": pull.title,
        "user": user(root, pull.author),
        "labels": [label(root, pull.repo, name) for name in pull.labels],
        "state": pull.state,
        "locked": False,
        "assignee": None,
        "assignees": [],
        "milestone": None,
        "comments": len(pull.comments),
        "created_at": pull.created_at,
        "updated_at": pull.updated_at,
        "closed_at": pull.closed_at,
        "author_association": association(pull.repo, pull.author),
        "active_lock_reason": None,
        "draft": pull.draft,
        "pull_request": {
            "url": url,
            "html_url": html,
            "diff_url": f"{html}.diff",
            "patch_url": f"{html}.patch",
            "merged_at": pull.merged_at,
        },
        "body": pull.body,
        "reactions": reactions(f"{own}/reactions", pull.reactions),
    }


_EMOJI = ("+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes")


def reactions(url: str, given: list[Reaction]) -> Json:
    """A reaction-rollup."""
    counts = {name: sum(r.content == name for r in given) for name in _EMOJI}
    return {"url": url, "total_count": len(given), **counts}


def reaction(root: str, record: Reaction) -> Json:
    """One reaction."""
    return {
        "id": record.id,
        "node_id": node_id("REA", record.id),
        "user": user(root, record.account),
        "content": record.content,
        "created_at": record.created_at,
    }


def file_row(root: str, record: Repo, diff: FileDiff, commit: str, *, patch: bool = True) -> Json:
    """A diff-entry; without ``patch`` as GitHub gives the files that were too much."""
    name = quote(diff.path, safe="/")
    html = f"{web_root(root)}/{record.full_name}"
    shown = patch and bool(diff.patch)
    out: Json = {
        "sha": diff.sha,
        "filename": diff.path,
        "status": diff.status,
        "additions": diff.additions if patch else 0,
        "deletions": diff.deletions if patch else 0,
        "changes": diff.additions + diff.deletions if patch else 0,
        "blob_url": f"{html}/blob/{commit}/{name}",
        "raw_url": f"{html}/raw/{commit}/{name}",
        "contents_url": f"{root}/repos/{record.full_name}/contents/{name}?ref={commit}",
    }
    if shown:
        out["patch"] = diff.patch.decode(errors="replace")
    if diff.status in ("renamed", "copied"):
        out["previous_filename"] = diff.old_path
    return out


def commit(root: str, record: Repo, found: Commit) -> Json:
    """A commit of the commits' API."""
    url = f"{root}/repos/{record.full_name}/commits/{found.sha}"
    html = f"{web_root(root)}/{record.full_name}/commit"
    who = {"name": found.author, "email": found.email, "date": found.date}
    git = f"{root}/repos/{record.full_name}/git"
    return {
        "sha": found.sha,
        "node_id": f"C_{found.sha[:20]}",
        "commit": {
            "author": who,
            "committer": who,
            "message": found.message,
            "tree": {"sha": found.tree, "url": f"{git}/trees/{found.tree}"},
            "url": f"{git}/commits/{found.sha}",
            "comment_count": 0,
            "verification": verification(),
        },
        "url": url,
        "html_url": f"{html}/{found.sha}",
        "comments_url": f"{url}/comments",
        "author": None,
        "committer": None,
        "parents": [
            {
                "sha": sha,
                "html_url": f"{html}/{sha}",
                "url": f"{root}/repos/{record.full_name}/commits/{sha}",
            }
            for sha in found.parents
        ],
    }


def verification() -> Json:
    """No signature."""
    return {
        "verified": False,
        "reason": "unsigned",
        "signature": None,
        "payload": None,
        "verified_at": None,
    }


def check_run(root: str, record: CheckRun) -> Json:
    """A check-run."""
    url = f"{root}/repos/{record.repo.full_name}/check-runs/{record.id}"
    html = f"{web_root(root)}/{record.repo.full_name}/runs/{record.id}"
    out = record.output
    return {
        "id": record.id,
        "name": record.name,
        "node_id": node_id("CR", record.id),
        "head_sha": record.head_sha,
        "external_id": record.external_id,
        "url": url,
        "html_url": html,
        "details_url": record.details_url or html,
        "status": record.status,
        "conclusion": record.conclusion,
        "started_at": record.started_at,
        "completed_at": record.completed_at,
        "output": {
            "title": out.get("title"),
            "summary": out.get("summary"),
            "text": out.get("text"),
            "annotations_count": len(record.annotations),
            "annotations_url": f"{url}/annotations",
        },
        "check_suite": {"id": record.id + 1},
        "app": app(root, record.app),
        "pull_requests": [
            {
                "url": _urls(root, p)[0],
                "id": p.id,
                "number": p.number,
                "head": _tip(root, p.head_ref, p.head_sha, p.head_repo),
                "base": _tip(root, p.base_ref, p.base_sha, p.repo),
            }
            for p in record.repo.pulls.values()
            if p.head_sha == record.head_sha and p.state == "open"
        ],
    }


def _tip(root: str, ref: str, sha: str, record: Repo) -> Json:
    url = f"{root}/repos/{record.full_name}"
    return {"ref": ref, "sha": sha, "repo": {"id": record.id, "url": url, "name": record.name}}


def review_with_comments(root: str, record: Review) -> Json:
    """A review as the double's own API shows it: with its comments."""
    return {
        **review(root, record),
        "comments": [review_comment(root, c) for c in comments_of(record)],
    }
