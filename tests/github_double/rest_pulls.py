"""Pull requests: lists, one with its diff, files, commits; the pull request as an issue."""

from __future__ import annotations

from flask import Blueprint, Response, request

from tests.github_double import pulls, render_pull
from tests.github_double.auth import require, require_account
from tests.github_double.deliveries import announce
from tests.github_double.errors import ApiError, invalid
from tests.github_double.records import Pull, now
from tests.github_double.web import (
    accepts,
    answer,
    body,
    caller,
    find_pull,
    find_repo,
    number,
    page,
    raw,
    root,
    world,
)

blueprint = Blueprint("pulls", __name__)
_AREA = "pull_requests"


@blueprint.get("/repos/<owner>/<name>/pulls")
def list_pulls(owner: str, name: str) -> Response:
    repo = find_repo(owner, name, "read", _AREA)
    state = request.args.get("state", "open")
    head, base = request.args.get("head"), request.args.get("base")
    found = [
        p
        for p in repo.pulls.values()
        if (state == "all" or p.state == state)
        and (not base or p.base_ref == base)
        and (not head or f"{p.head_repo.owner.login}:{p.head_ref}" == head)
    ]
    key = "updated_at" if request.args.get("sort") == "updated" else "created_at"
    found.sort(key=lambda p: (getattr(p, key), p.number))
    if request.args.get("direction", "desc" if "sort" not in request.args else "asc") == "desc":
        found.reverse()
    return page(found, lambda p: render_pull.pull_simple(root(), p))


@blueprint.post("/repos/<owner>/<name>/pulls")
def create_pull(owner: str, name: str) -> Response:
    repo = find_repo(owner, name, "write", _AREA)
    data = body()
    pull = pulls.open_pull(
        world(),
        repo,
        head_ref=str(data.get("head", "")).split(":")[-1],
        base_ref=data.get("base"),
        author=require_account(caller()),
        title=data.get("title") or "",
        body=data.get("body"),
        draft=bool(data.get("draft")),
    )
    announce(world(), "pull_request", "opened", pull, caller().account)
    return answer(render_pull.pull_full(root(), pull), 201)


@blueprint.get("/repos/<owner>/<name>/pulls/<int:which>")
def get_pull(owner: str, name: str, which: int) -> Response:
    pull = find_pull(owner, name, which, "read", _AREA)
    if accepts("diff") or accepts("patch"):
        return raw(_whole_diff(pull), "application/vnd.github.diff; charset=utf-8")
    return answer(render_pull.pull_full(root(), pull))


def _whole_diff(pull: Pull) -> bytes:
    """The raw diff, or GitHub's 406 where it is too much of anything."""
    limits = world().limits
    diff = pulls.pull_diff(pull)
    if len(diff.files) > limits.diff_files:
        raise _too_large(f"the diff exceeded the maximum number of files ({limits.diff_files})")
    lines = sum(f.patch.count(b"\n") + 1 for f in diff.files if f.patch)
    if lines > limits.diff_lines:
        raise _too_large(f"the diff exceeded the maximum number of lines ({limits.diff_lines})")
    text = pull.repo.git.diff(diff.base, diff.head)
    if len(text) > limits.diff_bytes:
        raise _too_large("the diff is too large to display")
    return text


def _too_large(what: str) -> ApiError:
    advice = "Consider using 'List pull requests files' API or locally cloning the repository."
    entry = {"resource": "PullRequest", "field": "diff", "code": "too_large"}
    return ApiError(406, f"Sorry, {what}. {advice}", [entry])


@blueprint.patch("/repos/<owner>/<name>/pulls/<int:which>")
def edit_pull(owner: str, name: str, which: int) -> Response:
    pull = find_pull(owner, name, which, "write", _AREA)
    data = body()
    pull.title = data.get("title", pull.title)
    pull.body = data.get("body", pull.body)
    if data.get("base"):
        tip = pull.repo.git.resolve(f"refs/heads/{data['base']}")
        if tip is None:
            raise invalid("PullRequest", "base", "base is not a branch", "invalid")
        pull.base_ref, pull.base_sha = data["base"], tip
    if data.get("state") in ("open", "closed") and data["state"] != pull.state:
        pull.state = data["state"]
        pull.closed_at = now() if pull.state == "closed" else None
    pull.updated_at = now()
    return answer(render_pull.pull_full(root(), pull))


@blueprint.get("/repos/<owner>/<name>/pulls/<int:which>/files")
def list_files(owner: str, name: str, which: int) -> Response:
    pull = find_pull(owner, name, which, "read", _AREA)
    limits = world().limits
    diff = pulls.pull_diff(pull)
    files = diff.files[: limits.listed_files]
    size, at = number("per_page", 30, 100), number("page", 1)
    # Patches are given until a page holds too many lines; the rows after that come bare.
    shown: set[str] = set()
    lines = 0
    for found in files[(at - 1) * size : at * size]:
        lines += found.patch.count(b"\n") + 1 if found.patch else 0
        if lines <= limits.page_patch_lines:
            shown.add(found.path)
    one_line = limits.file_diff_bytes
    return page(
        files,
        lambda f: (
            render_pull.file_row(root(), pull.repo, f, diff.head, patch=f.path in shown)
            if len(f.patch) <= one_line or f.path not in shown
            else {
                k: v
                for k, v in render_pull.file_row(root(), pull.repo, f, diff.head).items()
                if k != "patch"
            }
        ),
    )


@blueprint.get("/repos/<owner>/<name>/pulls/<int:which>/commits")
def list_pull_commits(owner: str, name: str, which: int) -> Response:
    pull = find_pull(owner, name, which, "read", _AREA)
    diff = pulls.pull_diff(pull)
    found = list(reversed(pull.repo.git.commits(f"{diff.base}..{diff.head}")))
    return page(found, lambda c: render_pull.commit(root(), pull.repo, c))


@blueprint.put("/repos/<owner>/<name>/pulls/<int:which>/merge")
def merge_pull(owner: str, name: str, which: int) -> Response:
    pull = find_pull(owner, name, which)
    require(caller(), pull.repo, "write", "contents")
    data = body()
    if data.get("sha") and data["sha"] != pull.head_sha:
        raise ApiError(409, "Head branch was modified. Review and try the merge again.")
    sha = pulls.merge(world(), pull, data.get("merge_method") or "merge")
    return answer({"sha": sha, "merged": True, "message": "Pull Request successfully merged"})


@blueprint.get("/repos/<owner>/<name>/issues/<int:which>")
def get_issue(owner: str, name: str, which: int) -> Response:
    pull = find_pull(owner, name, which, "read", "issues", _AREA)
    return answer(render_pull.issue(root(), pull))


@blueprint.get("/repos/<owner>/<name>/issues/<int:which>/labels")
def get_labels(owner: str, name: str, which: int) -> Response:
    pull = find_pull(owner, name, which, "read", "issues", _AREA)
    return page(pull.labels, lambda n: render_pull.label(root(), pull.repo, n))


@blueprint.post("/repos/<owner>/<name>/issues/<int:which>/labels")
def add_labels(owner: str, name: str, which: int) -> Response:
    pull = find_pull(owner, name, which, "write", "issues", _AREA)
    sent = request.get_json(force=True, silent=True)
    for label in sent if isinstance(sent, list) else body().get("labels", []):
        if label not in pull.labels:
            pull.labels.append(label)
            pull.repo.labels.setdefault(label.lower(), {"id": world().next_id()})
    return answer([render_pull.label(root(), pull.repo, n) for n in pull.labels])


@blueprint.delete("/repos/<owner>/<name>/issues/<int:which>/labels/<label>")
def remove_label(owner: str, name: str, which: int, label: str) -> Response:
    pull = find_pull(owner, name, which, "write", "issues", _AREA)
    if label not in pull.labels:
        raise ApiError(404, "Label does not exist")
    pull.labels.remove(label)
    return answer([render_pull.label(root(), pull.repo, n) for n in pull.labels])
