"""The double's own API, second half: deliveries, trouble, records, limits."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from flask import Blueprint, Response, current_app, request

from tests.github_double import deliveries, render
from tests.github_double.errors import ApiError, not_found
from tests.github_double.examples import Subject, short_repo
from tests.github_double.own_people import comment_by_id, review_by_id
from tests.github_double.own_world import pull_of_path, repo_of
from tests.github_double.records import Delivery, Limits, ReviewComment
from tests.github_double.web import answer, body, world

blueprint = Blueprint("own_control", __name__, url_prefix="/_double")
Json = dict[str, Any]


def _gateway() -> Any:
    return current_app.extensions["gateway"]


def _subject(data: Json) -> Subject:
    """The record that a delivery is about, by the most particular id given."""
    if data.get("thread_of"):
        comment = comment_by_id(data["thread_of"])
        if isinstance(comment, ReviewComment):
            return comment.thread
    if data.get("comment_id"):
        return comment_by_id(data["comment_id"])
    if data.get("review_id"):
        return review_by_id(data["review_id"])
    if data.get("installation_id"):
        found = world().installations.get(data["installation_id"])
        if found is None:
            raise not_found()
        return found
    repo = repo_of(*data["repo"].split("/"))
    if data.get("check_run_id"):
        return repo.checks[data["check_run_id"]]
    if data.get("number"):
        return pull_of_path(repo.owner.login, repo.name, data["number"])
    return repo


@blueprint.post("/deliver")
def deliver() -> Response:
    """Make deliveries of an event, one a hook, and send them unless ``send`` is false."""
    data = body()
    with world().lock:
        subject = _subject(data)
        extra = dict(data.get("extra") or {})
        for key in ("repositories_added", "repositories_removed", "repositories"):
            if key in extra:
                extra[key] = [short_repo(repo_of(*n.split("/"))) for n in extra[key]]
        made = deliveries.prepare(
            world(),
            data["event"],
            data.get("action"),
            subject,
            world().account(data.get("sender", "alice")),
            guid=data.get("guid"),
            extra=extra,
        )
    if data.get("send", True):
        for one in made:
            deliveries.send(one)
    return answer([_shown(d) for d in made], 201)


@blueprint.post("/deliveries/<int:which>/again")
def deliver_again(which: int) -> Response:
    with world().lock:
        made = deliveries.again(world(), _find(which))
    return answer(_shown(deliveries.send(made)), 201)


@blueprint.post("/deliveries/<int:which>/send")
def deliver_now(which: int) -> Response:
    return answer(_shown(deliveries.send(_find(which))))


@blueprint.get("/deliveries")
def list_deliveries() -> Response:
    with world().lock:
        found = [d for hook in world().all_hooks() for d in hook.deliveries]
        return answer([_shown(d) for d in sorted(found, key=lambda d: d.id)])


@blueprint.get("/deliveries/<int:which>")
def show_delivery(which: int) -> Response:
    with world().lock:
        return answer({**render.delivery(_find(which))})


def _find(which: int) -> Delivery:
    for hook in world().all_hooks():
        for found in hook.deliveries:
            if found.id == which:
                return found
    raise not_found()


def _shown(delivery: Delivery) -> Json:
    return {
        **render.delivery_item(delivery),
        "hook_id": delivery.hook.id,
        "response": delivery.response_body,
    }


# -- trouble -----------------------------------------------------------------------------------


@blueprint.post("/faults")
def make_fault() -> Response:
    try:
        return answer(_gateway().faults.add(**body()).show(), 201)
    except (ValueError, TypeError) as error:
        raise ApiError(422, str(error)) from None


@blueprint.get("/faults")
def list_faults() -> Response:
    return answer([rule.show() for rule in _gateway().faults.all()])


@blueprint.delete("/faults")
def clear_faults() -> Response:
    _gateway().faults.clear()
    return answer({})


@blueprint.get("/faults/<int:which>")
def show_fault(which: int) -> Response:
    """The rule; with ``wait=SECONDS`` first wait until a call has met it."""
    rule = _gateway().faults.get(which)
    if rule is None:
        raise not_found()
    rule.reached.wait(float(request.args.get("wait", "0")))
    return answer(rule.show())


@blueprint.post("/faults/<int:which>/release")
def release_fault(which: int) -> Response:
    rule = _gateway().faults.get(which)
    if rule is None:
        raise not_found()
    rule.let_go.set()
    return answer(rule.show())


# -- records and settings ----------------------------------------------------------------------


@blueprint.get("/calls")
def list_calls() -> Response:
    since = int(request.args.get("since", "0"))
    return answer([call.show() for call in list(_gateway().calls) if call.number > since])


@blueprint.get("/violations")
def list_violations() -> Response:
    """The calls that broke GitHub's description, on our side or on the double's."""
    since = int(request.args.get("since", "0"))
    found = [c for c in list(_gateway().calls) if c.violations and c.number > since]
    return answer([call.show() for call in found])


@blueprint.delete("/violations")
def forget_violations() -> Response:
    for call in list(_gateway().calls):
        call.violations.clear()
    return answer({})


@blueprint.patch("/limits")
def set_limits() -> Response:
    data, known = body(), {f.name for f in fields(Limits)}
    for name, value in data.items():
        if name not in known:
            raise ApiError(422, f"no limit {name}; there are {', '.join(sorted(known))}")
        setattr(world().limits, name, int(value))
    return answer({name: getattr(world().limits, name) for name in sorted(known)})


@blueprint.post("/reset")
def reset() -> Response:
    """Forget everything: repositories, Apps, tokens, faults, recorded calls, limits."""
    _gateway().faults.clear()
    with world().lock:
        world().reset()
    _gateway().calls.clear()
    return answer({})


@blueprint.patch("/settings")
def change_settings() -> Response:
    data = body()
    if "auto_deliver" in data:
        world().auto_deliver = bool(data["auto_deliver"])
    if "root" in data:
        world().root = data["root"]
    if "signed_in" in data:
        world().signed_in = str(data["signed_in"])
    judged = _gateway().prism is not None
    return answer(
        {
            "auto_deliver": world().auto_deliver,
            "root": world().root,
            "judged": judged,
            "signed_in": world().signed_in,
        }
    )
