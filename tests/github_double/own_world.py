"""The double's own API, repositories and pull requests."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

from flask import Blueprint, Response, g

from tests.github_double import pulls, render, render_pull
from tests.github_double.deliveries import announce
from tests.github_double.errors import ApiError, not_found
from tests.github_double.file_specs import FileSpec
from tests.github_double.records import (
    Pull,
    Repo,
    now,
)
from tests.github_double.web import answer, body, world

blueprint = Blueprint("own_world", __name__, url_prefix="/_double")
_REPO = "/repos/<owner>/<name>"
_PULL = f"{_REPO}/pulls/<int:number>"
Json = dict[str, Any]


@blueprint.before_request
def hold() -> None:
    """Take the world's lock for the whole request."""
    world().lock.acquire()
    g.own_locked = True


@blueprint.teardown_request
def let_go(_error: BaseException | None) -> None:
    """Give the lock back."""
    if g.pop("own_locked", False):
        world().lock.release()


def repo_of(owner: str, name: str) -> Repo:
    """The repository of a path."""
    found = world().repos.get(f"{owner}/{name}".lower())
    if found is None:
        raise not_found()
    return found


def pull_of_path(owner: str, name: str, number: int) -> Pull:
    """The pull request of a path."""
    found = repo_of(owner, name).pulls.get(number)
    if found is None:
        raise not_found()
    return found


def _files(given: Json) -> dict[str, FileSpec]:
    out: dict[str, FileSpec] = {}
    for path, spec in given.items():
        only = isinstance(spec, dict) and set(spec) == {"base64"}
        out[path] = base64.b64decode(spec["base64"]) if only else spec
    return out


@blueprint.post("/repos")
def make_repo() -> Response:
    data = body()
    name = data["full_name"]
    if name.lower() in world().repos:
        raise ApiError(422, f"{name} is there already")
    repo = world().create_repo(
        name, private=bool(data.get("private")), owner_type=data.get("owner_type", "Organization")
    )
    for login, level in (data.get("collaborators") or {}).items():
        repo.collaborators[world().account(login).login.lower()] = level
    sha = pulls.commit(
        world(), repo, repo.default_branch, _files(data.get("files") or {}), message="Start"
    )
    return answer({"id": repo.id, "full_name": repo.full_name, "sha": sha}, 201)


@blueprint.get(_REPO)
def show_repo(owner: str, name: str) -> Response:
    repo = repo_of(owner, name)
    return answer({"id": repo.id, "full_name": repo.full_name})


@blueprint.patch(_REPO)
def rename_repo(owner: str, name: str) -> Response:
    """Another name for the same repository; nothing is redirected, for the old one may be taken."""
    repo = repo_of(owner, name)
    new = body()["name"]
    if f"{owner}/{new}".lower() in world().repos:
        raise ApiError(422, f"{owner}/{new} is there already")
    del world().repos[repo.full_name.lower()]
    old, repo.name, repo.updated_at = repo.name, new, now()
    world().repos[repo.full_name.lower()] = repo
    changes = {"changes": {"repository": {"name": {"from": old}}}}
    announce(world(), "repository", "renamed", repo, repo.owner, changes)
    return answer({"id": repo.id, "full_name": repo.full_name})


@blueprint.post(f"{_REPO}/forks")
def make_fork(owner: str, name: str) -> Response:
    fork = world().fork_repo(repo_of(owner, name), body()["owner"])
    return answer({"id": fork.id, "full_name": fork.full_name}, 201)


@blueprint.put(f"{_REPO}/collaborators/<login>")
def set_collaborator(owner: str, name: str, login: str) -> Response:
    repo_of(owner, name).collaborators[world().account(login).login.lower()] = body()["permission"]
    return answer({})


@blueprint.post(f"{_REPO}/commits")
def make_commit(owner: str, name: str) -> Response:
    data, repo = body(), repo_of(owner, name)
    before = repo.git.resolve(f"refs/heads/{data['branch']}")
    sha = pulls.commit(
        world(),
        repo,
        data["branch"],
        _files(data.get("files") or {}),
        message=data.get("message", "Change"),
        start=data.get("start"),
        author=data.get("author", "Octo Cat"),
    )
    _synchronized(repo, data["branch"], before, sha)
    return answer({"sha": sha, "before": before}, 201)


def _synchronized(repo: Repo, branch: str, before: str | None, after: str) -> None:
    for other in world().repos.values():
        for pull in other.pulls.values():
            if pull.state == "open" and pull.head_repo is repo and pull.head_ref == branch:
                extra = {"before": before, "after": after}
                announce(world(), "pull_request", "synchronize", pull, pull.author, extra)


@blueprint.post(f"{_REPO}/pulls")
def make_pull(owner: str, name: str) -> Response:
    data, repo = body(), repo_of(owner, name)
    source = repo_of(*data["head_repo"].split("/")) if data.get("head_repo") else repo
    if data.get("files") is not None:
        pulls.commit(
            world(),
            source,
            data["head"],
            _files(data["files"]),
            message=data.get("message") or data.get("title") or "Change",
            start=data.get("base"),
        )
    pull = pulls.open_pull(
        world(),
        repo,
        head_ref=data["head"],
        base_ref=data.get("base"),
        head_repo=source,
        author=world().account(data.get("author", "alice")),
        title=data.get("title") or "A change",
        body=data.get("body"),
        draft=bool(data.get("draft")),
    )
    announce(world(), "pull_request", "opened", pull, pull.author)
    return _shown(pull, 201)


def _shown(pull: Pull, status: int = 200) -> Response:
    url = f"{render.web_root(world().root)}/{pull.repo.full_name}/pull/{pull.number}"
    return answer(
        {
            "id": pull.id,
            "repo": pull.repo.full_name,
            "number": pull.number,
            "url": url,
            "head_ref": pull.head_ref,
            "head_sha": pull.head_sha,
            "base_ref": pull.base_ref,
            "base_sha": pull.base_sha,
            "merge_base": pulls.merge_base(pull),
            "state": pull.state,
            "draft": pull.draft,
            "merged": pull.merged_at is not None,
        },
        status,
    )


@blueprint.get(_PULL)
def show_pull(owner: str, name: str, number: int) -> Response:
    return _shown(pull_of_path(owner, name, number))


def _moving(change: Callable[[Pull], Any]) -> Callable[[Pull, Json], None]:
    def act(pull: Pull, _data: Json) -> None:
        before = pull.head_sha
        change(pull)
        extra = {"before": before, "after": pull.head_sha}
        announce(world(), "pull_request", "synchronize", pull, pull.author, extra)

    return act


def _force(pull: Pull, data: Json) -> None:
    before, repo = pull.head_sha, pull.head_repo
    sha = data.get("sha")
    if sha is None:
        start = pulls.merge_base(pull)
        repo.git.fetch_from(pull.repo.git, start)
        sha = repo.git.commit(
            f"{pull.head_ref}--next",
            _files(data.get("files") or {}),
            message=data.get("message", "Again"),
            parent=start,
            when=pulls.seconds(),
        )
        repo.git.delete_ref(f"refs/heads/{pull.head_ref}--next")
    pulls.rewrite_head(world(), pull, sha)
    extra = {"before": before, "after": sha}
    announce(world(), "pull_request", "synchronize", pull, pull.author, extra)


def _merge(pull: Pull, data: Json) -> None:
    pulls.merge(world(), pull, data.get("method", "merge"))
    announce(world(), "pull_request", "closed", pull, pull.author)


def _state(state: str) -> Callable[[Pull, Json], None]:
    def act(pull: Pull, _data: Json) -> None:
        pull.state = "open" if state == "open" else "closed"
        pull.closed_at = None if state == "open" else now()
        pull.updated_at = now()
        word = "reopened" if state == "open" else "closed"
        if state == "open":
            pulls.follow(world(), pull.head_repo, pull.head_ref)
        announce(world(), "pull_request", word, pull, pull.author)

    return act


def _draft(draft: bool) -> Callable[[Pull, Json], None]:
    def act(pull: Pull, _data: Json) -> None:
        pull.draft = draft
        word = "converted_to_draft" if draft else "ready_for_review"
        announce(world(), "pull_request", word, pull, pull.author)

    return act


def _edit(pull: Pull, data: Json) -> None:
    changes: Json = {}
    for key in ("title", "body"):
        if key in data:
            changes[key] = {"from": getattr(pull, key)}
            setattr(pull, key, data[key])
    if "base" in data:
        changes["base"] = {"ref": {"from": pull.base_ref}, "sha": {"from": pull.base_sha}}
        tip = pull.repo.git.resolve(f"refs/heads/{data['base']}")
        if tip is None:
            raise ApiError(422, f"no branch {data['base']}")
        pull.base_ref, pull.base_sha = data["base"], tip
    announce(world(), "pull_request", "edited", pull, pull.author, {"changes": changes})


def _label(pull: Pull, data: Json) -> None:
    name, off = data["label"], bool(data.get("remove"))
    known = pull.repo.labels.setdefault(name.lower(), {"id": world().next_id()})
    if off:
        pull.labels = [old for old in pull.labels if old != name]
    elif name not in pull.labels:
        pull.labels.append(name)
    shown = {**render_pull.label(world().root, pull.repo, name), "id": known["id"]}
    word = "unlabeled" if off else "labeled"
    announce(world(), "pull_request", word, pull, pull.author, {"label": shown})


_VERBS: dict[str, Callable[[Pull, Json], None]] = {
    "rebase": _moving(lambda pull: pulls.rebase(world(), pull)),
    "update-branch": _moving(lambda pull: pulls.merge_base_into_head(world(), pull)),
    "squash": _moving(lambda pull: pulls.squash(world(), pull)),
    "force-push": _force,
    "merge": _merge,
    "close": _state("closed"),
    "reopen": _state("open"),
    "draft": _draft(True),
    "ready": _draft(False),
    "edit": _edit,
    "label": _label,
}


@blueprint.post(f"{_PULL}/<any({','.join(repr(v) for v in _VERBS)}):verb>")
def act(owner: str, name: str, number: int, verb: str) -> Response:
    pull = pull_of_path(owner, name, number)
    _VERBS[verb](pull, body())
    return _shown(pull)


@blueprint.get("/")
def summary() -> Response:
    return answer(
        {
            "api": world().root,
            "pulls": [
                f"{render.web_root(world().root)}/{r.full_name}/pull/{p.number}"
                for r in world().repos.values()
                for p in r.pulls.values()
            ],
        }
    )
