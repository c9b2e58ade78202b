"""Reviews and their comments, with the refusals that GitHub answers."""

from __future__ import annotations

from typing import Any

from tests.github_double import anchors, pulls
from tests.github_double.errors import ApiError, invalid, simple_422
from tests.github_double.records import Account, App, Pull, Review, ReviewComment, Thread, now
from tests.github_double.world import World

_STATES = {"APPROVE": "APPROVED", "REQUEST_CHANGES": "CHANGES_REQUESTED", "COMMENT": "COMMENTED"}


class BadAnchor(Exception):
    """A comment that cannot stand where it wants; the field is for the single-comment answer."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


def create(
    world: World, pull: Pull, author: Account, data: dict[str, Any], via_app: App | None
) -> Review:
    """Make a review, PENDING where no event is given; nothing at all if one comment is wrong."""
    event = data.get("event") or ""
    if event and event not in _STATES:
        raise simple_422(f"Invalid event: {event}")
    if any(r.author is author and r.state == "PENDING" for r in pull.reviews):
        raise simple_422("User can only have one pending review per pull request")
    commit = data.get("commit_id") or pull.head_sha
    if pull.repo.git.resolve(commit) != commit or not _in_pull(pull, commit):
        raise simple_422("The commit_id is not part of the pull request")
    body = data.get("body") or ""
    wanted = data.get("comments") or []
    check_body(world, body)
    if event:
        _check_event(pull, author, event, body, bool(wanted))
    review = Review(world.next_id(), pull, author, body, "PENDING", commit, via_app=via_app)
    made = []
    for entry in wanted:
        if not entry.get("body"):
            raise simple_422("Body can't be blank")
        check_body(world, entry["body"])
        try:
            made.append(_comment(world, pull, review, author, entry, commit))
        except BadAnchor as error:
            # GitHub does not say which entry it is.
            raise simple_422(str(error)) from None
    pull.reviews.append(review)
    pull.threads.extend(comment.thread for comment in made)
    pull.updated_at = now()
    if event:
        review.state, review.submitted_at = _STATES[event], now()
    return review


def submit(world: World, review: Review, event: str, body: str | None) -> None:
    """Make a pending review public."""
    if event not in _STATES:
        raise simple_422("Event is required" if not event else f"Invalid event: {event}")
    if review.state != "PENDING":
        raise simple_422("Can not submit a review that has already been submitted")
    text = review.body if body is None else body
    check_body(world, text)
    _check_event(review.pull, review.author, event, text, bool(comments_of(review)))
    review.body, review.state, review.submitted_at = text, _STATES[event], now()
    review.pull.updated_at = now()


def discard(review: Review) -> None:
    """Throw a pending review away with its comments."""
    if review.state != "PENDING":
        raise simple_422("Can not delete a non-pending pull request review")
    pull = review.pull
    pull.reviews.remove(review)
    for thread in list(pull.threads):
        thread.comments = [c for c in thread.comments if c.review is not review]
        if not thread.comments:
            pull.threads.remove(thread)


def comments_of(review: Review) -> list[ReviewComment]:
    """The comments of a review, in order."""
    every = (c for thread in review.pull.threads for c in thread.comments)
    return sorted((c for c in every if c.review is review), key=lambda c: c.id)


def single(
    world: World, pull: Pull, author: Account, data: dict[str, Any], via_app: App | None
) -> ReviewComment:
    """A comment of its own: GitHub wraps it in a submitted review."""
    if any(r.author is author and r.state == "PENDING" for r in pull.reviews):
        raise invalid(
            "PullRequestReview",
            "user_id",
            "user_id can only have one pending review per pull request",
        )
    if data.get("in_reply_to"):
        return reply(world, pull, author, int(data["in_reply_to"]), data.get("body") or "", via_app)
    check_body(world, data.get("body") or "")
    commit = data.get("commit_id") or ""
    if pull.repo.git.resolve(commit) != commit or not _in_pull(pull, commit):
        raise invalid(
            "PullRequestReviewComment",
            "pull_request_review_thread.commit_id",
            "commit_id is not part of the pull request",
        )
    review = Review(world.next_id(), pull, author, "", "COMMENTED", commit, now(), via_app=via_app)
    try:
        comment = _comment(world, pull, review, author, data, commit)
    except BadAnchor as error:
        raise invalid(
            "PullRequestReviewComment",
            f"pull_request_review_thread.{error.field}",
            f"pull_request_review_thread.{error.field} {error}",
        ) from None
    pull.reviews.append(review)
    pull.threads.append(comment.thread)
    return comment


def reply(
    world: World, pull: Pull, author: Account, to: int, body: str, via_app: App | None
) -> ReviewComment:
    """Answer in a thread, named by any of its top comments."""
    check_body(world, body)
    if not body:
        raise invalid("PullRequestReviewComment", "body", "body can't be blank")
    for thread in pull.threads:
        top = thread.comments[0]
        if top.id != to:
            continue
        review = Review(
            world.next_id(), pull, author, "", "COMMENTED", pull.head_sha, now(), via_app=via_app
        )
        comment = ReviewComment(
            id=world.next_id(),
            thread=thread,
            review=review,
            author=author,
            body=body,
            path=top.path,
            side=top.side,
            line=top.line,
            original_line=top.original_line,
            commit_id=top.commit_id,
            original_commit_id=top.original_commit_id,
            diff_hunk=top.diff_hunk,
            position=top.position,
            original_position=top.original_position,
            start_line=top.start_line,
            original_start_line=top.original_start_line,
            start_side=top.start_side,
            subject_type=top.subject_type,
            in_reply_to=top.id,
        )
        pull.reviews.append(review)
        thread.comments.append(comment)
        return comment
    raise ApiError(404, "Not Found")


def check_body(world: World, body: str) -> None:
    """422 for a body longer than GitHub stores."""
    limit = world.limits.body_characters
    if len(body) > limit:
        raise simple_422(f"Body is too long (maximum is {limit} characters)")


def _check_event(pull: Pull, author: Account, event: str, body: str, comments: bool) -> None:
    if event in ("APPROVE", "REQUEST_CHANGES") and author is pull.author:
        verb = "approve" if event == "APPROVE" else "request changes on"
        raise simple_422(f"Can not {verb} your own pull request")
    if event in ("COMMENT", "REQUEST_CHANGES") and not body.strip() and not comments:
        raise simple_422("Body can't be blank")


def _in_pull(pull: Pull, commit: str) -> bool:
    """Whether a review may name this commit: one of the pull request's own."""
    git = pull.repo.git
    return git.is_ancestor(commit, pull.head_sha) and not git.is_ancestor(
        commit, pulls.merge_base(pull)
    )


def _comment(
    world: World, pull: Pull, review: Review, author: Account, entry: dict[str, Any], commit: str
) -> ReviewComment:
    diff = pulls.pull_diff(pull, commit)
    path = entry.get("path") or ""
    found = diff.file(path)
    if found is None:
        raise BadAnchor("path", "Path could not be resolved")
    patch = found.patch.decode(errors="replace")
    lines = anchors.read_patch(patch) if patch else []
    side = entry.get("side") or "RIGHT"
    thread = Thread(world.next_id(), pull)
    if entry.get("subject_type") == "file":
        comment = ReviewComment(
            id=world.next_id(),
            thread=thread,
            review=review,
            author=author,
            body=entry["body"],
            path=path,
            side=side,
            line=None,
            original_line=None,
            commit_id=commit,
            original_commit_id=commit,
            diff_hunk="",
            position=1,
            original_position=1,
            subject_type="file",
        )
        thread.comments.append(comment)
        return comment
    if entry.get("line") is None and entry.get("position") is not None:
        target = anchors.at_position(lines, int(entry["position"]))
        if target is None:
            raise BadAnchor("position", "Position could not be resolved")
        side = "LEFT" if target.sign == "-" else "RIGHT"
    else:
        if entry.get("line") is None:
            raise BadAnchor("line", "Line could not be resolved")
        target = anchors.find(lines, side, int(entry["line"]))
        if target is None:
            raise BadAnchor("line", "Line could not be resolved")
    line = target.old if side == "LEFT" else target.new
    start, start_side = _start(entry, lines, target, side)
    comment = ReviewComment(
        id=world.next_id(),
        thread=thread,
        review=review,
        author=author,
        body=entry["body"],
        path=path,
        side=side,
        line=line,
        original_line=line,
        commit_id=commit,
        original_commit_id=commit,
        diff_hunk=anchors.hunk_to(patch, target),
        position=target.position,
        original_position=target.position,
        start_line=start,
        original_start_line=start,
        start_side=start_side,
    )
    thread.comments.append(comment)
    return comment


def _start(
    entry: dict[str, Any], lines: list[anchors.DiffLine], end: anchors.DiffLine, side: str
) -> tuple[int | None, str | None]:
    start = entry.get("start_line")
    if start is None:
        if entry.get("start_side"):
            raise BadAnchor("start_line", "Start line could not be resolved")
        return None, None
    start_side = entry.get("start_side")
    if start_side is None:
        # Leaving it out is taken as RIGHT on some paths and refused on others: be strict.
        raise BadAnchor("start_side", "Start side could not be resolved")
    first = anchors.find(lines, start_side, int(start))
    if first is None:
        raise BadAnchor("start_line", "Start line could not be resolved")
    if first.position >= end.position:
        raise BadAnchor("start_line", "Start line must precede the end line.")
    if first.hunk != end.hunk:
        raise BadAnchor("start_line", "Start line must be part of the same hunk as the line.")
    return int(start), start_side
