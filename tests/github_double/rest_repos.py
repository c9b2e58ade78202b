"""Repositories: branches, commits, comparisons, contents, git objects, people."""

from __future__ import annotations

import base64
import urllib.parse
from typing import Any

from flask import Blueprint, Response, request

from tests.github_double import render, render_pull
from tests.github_double.auth import role
from tests.github_double.errors import ApiError, not_found
from tests.github_double.records import Account, Repo
from tests.github_double.web import (
    accepts,
    answer,
    caller,
    find_repo,
    number,
    page,
    raw,
    root,
    world,
)

blueprint = Blueprint("repos", __name__)


@blueprint.get("/repos/<owner>/<name>")
def get_repo(owner: str, name: str) -> Response:
    repo = find_repo(owner, name, "read", "metadata")
    out = render.repo(root(), repo)
    if repo.parent is not None:
        out["parent"] = out["source"] = render.repo(root(), repo.parent)
    out["permissions"] = permissions_of(repo, caller().account)
    return answer(out)


def permissions_of(repo: Repo, account: Account | None) -> dict[str, bool]:
    """What a person may do in a repository, as repositories carry it."""
    level = role(repo, account)
    ranks = ["read", "triage", "write", "maintain", "admin"]
    at = ranks.index(level) if level in ranks else -1
    names = ["pull", "triage", "push", "maintain", "admin"]
    return {n: i <= at for i, n in enumerate(names)}


@blueprint.get("/repos/<owner>/<name>/branches")
def list_branches(owner: str, name: str) -> Response:
    repo = find_repo(owner, name, "read", "contents")
    url = f"{root()}/repos/{repo.full_name}"
    return page(
        sorted(repo.git.branches().items()),
        lambda b: {
            "name": b[0],
            "commit": {"sha": b[1], "url": f"{url}/commits/{b[1]}"},
            "protected": False,
        },
    )


@blueprint.get("/repos/<owner>/<name>/branches/<path:branch>")
def get_branch(owner: str, name: str, branch: str) -> Response:
    repo = find_repo(owner, name, "read", "contents")
    sha = repo.git.resolve(f"refs/heads/{branch}")
    if sha is None:
        raise ApiError(404, "Branch not found")
    url = f"{root()}/repos/{repo.full_name}/branches/{branch}"
    html = f"{render.web_root(root())}/{repo.full_name}/tree/{branch}"
    return answer(
        {
            "name": branch,
            "commit": _commit(repo, sha),
            "_links": {"self": url, "html": html},
            "protected": False,
            "protection": {"enabled": False},
            "protection_url": f"{url}/protection",
        }
    )


@blueprint.get("/repos/<owner>/<name>/commits")
def list_commits(owner: str, name: str) -> Response:
    repo = find_repo(owner, name, "read", "contents")
    sha = repo.git.resolve(request.args.get("sha") or repo.default_branch)
    if sha is None:
        raise not_found()
    found = repo.git.commits(sha, 1000)
    return page(found, lambda c: render_pull.commit(root(), repo, c))


@blueprint.get("/repos/<owner>/<name>/commits/<path:ref>")
def get_commit(owner: str, name: str, ref: str) -> Response:
    repo = find_repo(owner, name, "read", "contents")
    sha = repo.git.resolve(ref)
    if sha is None:
        raise ApiError(422, f"No commit found for SHA: {ref}")
    if accepts("sha"):
        return raw(sha.encode(), "application/vnd.github.sha; charset=utf-8")
    one = repo.git.commits(sha, 1)[0]
    parent = one.parents[0] if one.parents else _EMPTY_TREE
    if accepts("diff"):
        return raw(repo.git.diff(parent, sha), "application/vnd.github.diff; charset=utf-8")
    files = repo.git.files(parent, sha)
    out = render_pull.commit(root(), repo, one)
    added, deleted = sum(f.additions for f in files), sum(f.deletions for f in files)
    out["stats"] = {"total": added + deleted, "additions": added, "deletions": deleted}
    out["files"] = [render_pull.file_row(root(), repo, f, sha) for f in files[:300]]
    return answer(out)


_EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


@blueprint.get("/repos/<owner>/<name>/commits/<sha>/pulls")
def pulls_of_commit(owner: str, name: str, sha: str) -> Response:
    repo = find_repo(owner, name, "read", "pull_requests", "contents")
    found = [p for p in repo.pulls.values() if repo.git.is_ancestor(sha, p.head_sha)]
    return page(found, lambda p: render_pull.pull_simple(root(), p))


@blueprint.get("/repos/<owner>/<name>/compare/<path:basehead>")
def compare(owner: str, name: str, basehead: str) -> Response:
    repo = find_repo(owner, name, "read", "contents")
    if "..." not in basehead:
        raise not_found()
    base_name, head_name = basehead.split("...", 1)
    base, head = _tip(repo, base_name), _tip(repo, head_name)
    if base is None or head is None:
        raise not_found()
    common = repo.git.merge_base(base, head)
    if common is None:
        raise ApiError(404, f"No common ancestor between {base_name} and {head_name}.")
    if accepts("diff"):
        return raw(repo.git.diff(common, head), "application/vnd.github.diff; charset=utf-8")
    ahead = list(reversed(repo.git.commits(f"{base}..{head}", 10_000)))
    behind = len(repo.git.git("rev-list", f"{head}..{base}").split())
    status = (
        "diverged"
        if ahead and behind
        else "ahead"
        if ahead
        else "behind"
        if behind
        else "identical"
    )
    url = f"{root()}/repos/{repo.full_name}/compare/{urllib.parse.quote(basehead, safe='/')}"
    html = f"{render.web_root(root())}/{repo.full_name}/compare/{basehead}"
    size, which = number("per_page", 250, 250), number("page", 1)
    out: dict[str, Any] = {
        "url": url,
        "html_url": html,
        "permalink_url": html,
        "diff_url": f"{html}.diff",
        "patch_url": f"{html}.patch",
        "base_commit": _commit(repo, base),
        "merge_base_commit": _commit(repo, common),
        "status": status,
        "ahead_by": len(ahead),
        "behind_by": behind,
        "total_commits": len(ahead),
        "commits": [
            render_pull.commit(root(), repo, c) for c in ahead[(which - 1) * size : which * size]
        ],
    }
    if which == 1:
        files = repo.git.files(common, head)[: world().limits.diff_files]
        out["files"] = [render_pull.file_row(root(), repo, f, head) for f in files]
    return answer(out)


def _tip(repo: Repo, name: str) -> str | None:
    """A commit of a comparison; ``owner:branch`` names a fork's branch."""
    if ":" in name:
        owner, branch = name.split(":", 1)
        for other in world().repos.values():
            if other.owner.login == owner and (other is repo or other.parent is repo):
                sha = other.git.resolve(branch)
                if sha:
                    repo.git.fetch_from(other.git, sha)
                return sha
        return None
    return repo.git.resolve(name)


@blueprint.get("/repos/<owner>/<name>/contents/", defaults={"path": ""})
@blueprint.get("/repos/<owner>/<name>/contents", defaults={"path": ""})
@blueprint.get("/repos/<owner>/<name>/contents/<path:path>")
def contents(owner: str, name: str, path: str) -> Response:
    repo = find_repo(owner, name, "read", "contents")
    ref = request.args.get("ref") or repo.default_branch
    sha = repo.git.resolve(ref)
    if sha is None:
        raise ApiError(404, f"No commit found for the ref {ref}")
    entry = repo.git.entry(sha, path.strip("/"))
    if entry is None:
        raise not_found()
    if entry["type"] == "tree":
        prefix = f"{path.strip('/')}/" if path.strip("/") else ""
        rows = repo.git.tree(f"{sha}:{path.strip('/')}", recursive=False)
        return answer(
            [_content(repo, ref, {**r, "path": prefix + r["path"]}, listing=True) for r in rows]
        )
    if entry["type"] == "blob" and accepts("raw"):
        return raw(repo.git.blob(entry["sha"]) or b"", "application/vnd.github.raw; charset=utf-8")
    return answer(_content(repo, ref, entry, listing=False))


def _content(repo: Repo, ref: str, entry: dict[str, Any], *, listing: bool) -> dict[str, Any]:
    path = entry["path"]
    quoted = urllib.parse.quote(path, safe="/")
    base = f"{root()}/repos/{repo.full_name}"
    html = f"{render.web_root(root())}/{repo.full_name}"
    kinds = {"tree": "dir", "commit": "submodule"}
    kind = "symlink" if entry["mode"] == "120000" else kinds.get(entry["type"], "file")
    url = f"{base}/contents/{quoted}?ref={ref}"
    git = f"{base}/git/{'trees' if kind == 'dir' else 'blobs'}/{entry['sha']}"
    page_url = f"{html}/{'tree' if kind == 'dir' else 'blob'}/{ref}/{quoted}"
    out: dict[str, Any] = {
        "name": path.rsplit("/", 1)[-1],
        "path": path,
        "sha": entry["sha"],
        "size": entry.get("size", 0),
        "url": url,
        "html_url": page_url,
        "git_url": git,
        "download_url": f"{html}/raw/{ref}/{quoted}" if kind == "file" else None,
        "type": kind,
        "_links": {"self": url, "git": git, "html": page_url},
    }
    if listing:
        return out
    data = repo.git.blob(entry["sha"]) or b"" if entry["type"] == "blob" else b""
    if kind == "file":
        large = len(data) > world().limits.contents_bytes
        out["content"] = "" if large else base64.encodebytes(data).decode()
        out["encoding"] = "none" if large else "base64"
    elif kind == "symlink":
        out["target"] = data.decode(errors="replace")
    else:
        out["submodule_git_url"] = f"{html}.git"
    return out


@blueprint.get("/repos/<owner>/<name>/git/blobs/<sha>")
def get_blob(owner: str, name: str, sha: str) -> Response:
    repo = find_repo(owner, name, "read", "contents")
    data = repo.git.blob(sha)
    if data is None:
        raise not_found()
    if accepts("raw"):
        return raw(data, "application/vnd.github.raw; charset=utf-8")
    return answer(
        {
            "sha": sha,
            "node_id": f"B_{sha[:20]}",
            "size": len(data),
            "url": f"{root()}/repos/{repo.full_name}/git/blobs/{sha}",
            "content": base64.encodebytes(data).decode(),
            "encoding": "base64",
        }
    )


@blueprint.get("/repos/<owner>/<name>/git/trees/<path:sha>")
def get_tree(owner: str, name: str, sha: str) -> Response:
    repo = find_repo(owner, name, "read", "contents")
    tree = repo.git.resolve(sha) or sha
    rows = repo.git.tree(tree, recursive="recursive" in request.args)
    base = f"{root()}/repos/{repo.full_name}/git"
    for row in rows:
        kind = {"tree": "trees", "blob": "blobs"}.get(row["type"])
        if kind:
            row["url"] = f"{base}/{kind}/{row['sha']}"
    oid = repo.git.git("rev-parse", f"{tree}^{{tree}}").decode().strip()
    return answer({"sha": oid, "url": f"{base}/trees/{oid}", "tree": rows, "truncated": False})


@blueprint.get("/repos/<owner>/<name>/git/commits/<sha>")
def get_git_commit(owner: str, name: str, sha: str) -> Response:
    repo = find_repo(owner, name, "read", "contents")
    if repo.git.resolve(sha) != sha:
        raise not_found()
    full = _commit(repo, sha)
    inner = full["commit"]
    return answer(
        {
            "sha": sha,
            "node_id": full["node_id"],
            "url": inner["url"],
            "html_url": full["html_url"],
            "author": inner["author"],
            "committer": inner["committer"],
            "tree": inner["tree"],
            "message": inner["message"],
            "parents": full["parents"],
            "verification": render_pull.verification(),
        }
    )


@blueprint.get("/repos/<owner>/<name>/git/ref/<path:ref>")
def get_ref(owner: str, name: str, ref: str) -> Response:
    repo = find_repo(owner, name, "read", "contents")
    sha = repo.git.resolve(f"refs/{ref}")
    if sha is None:
        raise not_found()
    base = f"{root()}/repos/{repo.full_name}/git"
    return answer(
        {
            "ref": f"refs/{ref}",
            "node_id": f"REF_{sha[:16]}",
            "url": f"{base}/refs/{ref}",
            "object": {"type": "commit", "sha": sha, "url": f"{base}/commits/{sha}"},
        }
    )


@blueprint.get("/repos/<owner>/<name>/collaborators/<login>/permission")
def permission(owner: str, name: str, login: str) -> Response:
    repo = find_repo(owner, name, "read", "metadata")
    account = world().accounts.get(login.lower())
    if account is None:
        raise not_found()
    level = role(repo, account)
    names = {"maintain": "write", "triage": "read"}
    me = render.user(root(), account)
    me["role_name"] = level
    return answer({"permission": names.get(level, level), "role_name": level, "user": me})


@blueprint.get("/repos/<owner>/<name>/labels")
def list_labels(owner: str, name: str) -> Response:
    repo = find_repo(owner, name, "read", "issues", "pull_requests")
    return page(sorted(repo.labels), lambda n: render_pull.label(root(), repo, n))


@blueprint.get("/repos/<owner>/<name>/events")
def list_events(owner: str, name: str) -> Response:
    repo = find_repo(owner, name, "read", "metadata")
    return page(list(reversed(repo.events)), lambda e: e)


@blueprint.get("/repos/<owner>/<name>/installation")
def repo_installation(owner: str, name: str) -> Response:
    app = caller().app
    repo = world().repos.get(f"{owner}/{name}".lower())
    found = world().installation_for(app, repo) if app and repo and caller().as_app else None
    if found is None:
        raise not_found()
    return answer(render.installation(root(), found))


def _commit(repo: Repo, sha: str) -> dict[str, Any]:
    return render_pull.commit(root(), repo, repo.git.commits(sha, 1)[0])
