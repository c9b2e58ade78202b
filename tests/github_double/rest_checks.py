"""Check runs: Apps only, annotations at most fifty a request."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, Response, request

from tests.github_double import render, render_pull
from tests.github_double.errors import ApiError, not_found, simple_422
from tests.github_double.records import CheckRun, Repo, now
from tests.github_double.web import answer, body, caller, find_repo, page, root, world

blueprint = Blueprint("checks", __name__)
_RUN = "/repos/<owner>/<name>/check-runs/<int:which>"


def _apps_only(owner: str, name: str) -> Repo:
    find_repo(owner, name)
    if caller().installation is None:
        raise ApiError(403, "You must authenticate via a GitHub App.")
    return find_repo(owner, name, "write", "checks")


@blueprint.post("/repos/<owner>/<name>/check-runs")
def create_run(owner: str, name: str) -> Response:
    repo = _apps_only(owner, name)
    data = body()
    app = caller().app
    sha = data.get("head_sha") or ""
    if app is None or repo.git.resolve(sha) != sha:
        raise simple_422(f"No commit found for SHA: {sha}")
    run = CheckRun(world().next_id(), repo, app, data.get("name") or "", sha)
    _update(run, data)
    repo.checks[run.id] = run
    return answer(render_pull.check_run(root(), run), 201)


@blueprint.patch(_RUN)
def update_run(owner: str, name: str, which: int) -> Response:
    run = _find(_apps_only(owner, name), which)
    if run.app is not caller().app:
        raise ApiError(403, "Invalid app_id: the check run belongs to another App")
    _update(run, body())
    return answer(render_pull.check_run(root(), run))


@blueprint.get(_RUN)
def get_run(owner: str, name: str, which: int) -> Response:
    run = _find(find_repo(owner, name, "read", "checks"), which)
    return answer(render_pull.check_run(root(), run))


@blueprint.get(f"{_RUN}/annotations")
def list_annotations(owner: str, name: str, which: int) -> Response:
    run = _find(find_repo(owner, name, "read", "checks"), which)
    html = f"{render.web_root(root())}/{run.repo.full_name}/blob/{run.head_sha}"
    return page(
        run.annotations,
        lambda a: {
            "start_column": None,
            "end_column": None,
            "title": None,
            "raw_details": None,
            **a,
            "blob_href": f"{html}/{a['path']}",
        },
    )


@blueprint.get("/repos/<owner>/<name>/commits/<ref>/check-runs")
def runs_of_commit(owner: str, name: str, ref: str) -> Response:
    repo = find_repo(owner, name, "read", "checks")
    sha = repo.git.resolve(ref)
    wanted = request.args.get("check_name")
    found = [
        r for r in reversed(repo.checks.values()) if r.head_sha == sha and wanted in (None, r.name)
    ]
    return page(
        found,
        lambda r: render_pull.check_run(root(), r),
        wrap=lambda rows: {"total_count": len(found), "check_runs": rows},
    )


def _find(repo: Repo, which: int) -> CheckRun:
    run = repo.checks.get(which)
    if run is None:
        raise not_found()
    return run


def _update(run: CheckRun, data: dict[str, Any]) -> None:
    output = data.get("output") or {}
    notes = output.get("annotations") or []
    limit = world().limits.annotations
    if len(notes) > limit:
        raise simple_422(f"Only {limit} annotations are allowed per request")
    for part in ("summary", "text"):
        if len(output.get(part) or "") > world().limits.body_characters - 1:
            raise simple_422(f"Output {part} exceeds a maximum length of 65535 characters")
    if data.get("status") == "completed" and not (data.get("conclusion") or run.conclusion):
        raise simple_422("A completed check run needs a conclusion")
    for key in (
        "name",
        "external_id",
        "details_url",
        "status",
        "conclusion",
        "started_at",
        "completed_at",
        "actions",
    ):
        if data.get(key) is not None:
            setattr(run, key, data[key])
    if data.get("conclusion"):
        run.status = "completed"
        run.completed_at = data.get("completed_at") or now()
    run.started_at = run.started_at or now()
    run.output.update({k: v for k, v in output.items() if k != "annotations"})
    run.annotations.extend(notes)
