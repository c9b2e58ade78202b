"""One review in a workflow run: ``python -m bot.github.action`` (see ``deploy/action``).

Everything is read through GitHub's API; the pull request's code is never checked out and never
run. Without a ledger, what was said before is read from GitHub itself: the last review's marker
says which patch it was of, the comments' markers which remarks stand already. A token that may not
write (a fork's) leads to the run's summary and annotations instead of a review.

The step's inputs are the operator's settings, by their names in the environment.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bot.errors import FatalError
from bot.github import requests as rq
from bot.github.auth import TokenIdentity
from bot.github.compose import GitHubComposer
from bot.github.errors import Answered
from bot.github.forge import GitHubForge
from bot.github.markers import comment_fingerprint, comment_marker, last_line
from bot.github.policy import GitHubPolicy, Operator
from bot.github.text import one_line
from bot.jobs.forge import (
    MARKER_PREFIX,
    DraftReview,
    Fetched,
    ForgeError,
    Plan,
    PullRef,
    PullState,
    Reviewed,
    Reviewer,
    ReviewRequest,
    ReviewState,
    Superseded,
    job_marker,
)
from bot.jobs.publish import Publisher
from bot.settings import Settings, SettingsError, SettingsOfRun, load
from models.change import Side

# repository, pull request, merge base, head, request: a job's id as it stands in its marker
_JOB = re.compile(r"\d+:\d+:([0-9a-f]{40,64}):([0-9a-f]{40,64}):\d+")
_SETTING = re.compile(r"\bMARGINALIA_([A-Z_]+)")
GITHUB_FAILED = 1


@dataclass(frozen=True, slots=True)
class Run:
    """What a workflow run tells its steps."""

    token: str
    ref: PullRef
    api_url: str
    github_url: str
    summary_file: Path | None = None

    @classmethod
    def of(cls, env: Mapping[str, str]) -> Run:
        """The run that these environment variables describe; ``FatalError`` for none."""
        token = env.get("GITHUB_TOKEN", "").strip()
        if not token:
            raise FatalError("GITHUB_TOKEN: not set; give the step the workflow's github.token")
        event = _event(env.get("GITHUB_EVENT_PATH", ""))
        try:
            ref = PullRef(
                int(event["repository"]["id"]),
                str(event["repository"]["full_name"]),
                int(event["pull_request"]["number"]),
            )
        except (KeyError, TypeError, ValueError):
            raise FatalError(
                "the workflow's event is no pull request's: run this on pull_request"
            ) from None
        summary = env.get("GITHUB_STEP_SUMMARY", "")
        return cls(
            token,
            ref,
            env.get("GITHUB_API_URL", "https://api.github.com").rstrip("/"),
            env.get("GITHUB_SERVER_URL", "https://github.com").rstrip("/"),
            Path(summary) if summary else None,
        )


class NoMemory:
    """Stands for the ledger's settings where there is no ledger: remembers for this run alone."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], Any] = {}

    def get(self, scope: str, key: str, default: Any = None) -> Any:
        """A value kept in this run."""
        return self._kept.get((scope, key), default)

    def put(self, scope: str, key: str, value: Any, now: float, by: str = "") -> None:
        """Keep a value for this run."""
        self._kept[scope, key] = value

    def forget(self, scope: str, key: str) -> None:
        """Drop a value."""
        self._kept.pop((scope, key), None)


class ActionReview:
    """One review of one pull request with a workflow's token."""

    def __init__(self, run: Run, reviewer: Reviewer, operator: Operator | None = None) -> None:
        self._run = run
        self._ref = run.ref
        self._reviewer = reviewer
        self._operator = operator or Operator()
        self._identity = TokenIdentity(run.token, run.api_url)
        self._forge = GitHubForge(self._identity, run.github_url)

    def review(self) -> str:
        """Review and post; one line on what was done. Raises ``ForgeError``."""
        state = self._forge.pull(self._ref)
        if not state.is_open:
            return "the pull request is closed: nothing to do"
        # a notice in the conversation would need a token that may write: notes are told instead
        quiet = replace(self._operator, quiet=True)
        policy = GitHubPolicy(self._identity, NoMemory(), lambda: quiet)
        plan = policy.plan(self._ref, state, ReviewRequest())
        if plan.skip:
            return f"not reviewed: {plan.skip}"
        marker = job_marker(
            f"{self._ref.repository_id}:{self._ref.number}:{state.merge_base}:{state.head}:0"
        )
        if any(
            found.state is ReviewState.SUBMITTED
            for found in self._forge.find_reviews(self._ref, marker)
        ):
            return "this head was reviewed already"
        draft = self._draft(state, plan, marker)
        if draft is None:
            return "nothing to say"
        if plan.mode != "post":
            # there is no queue here in which a person could decide
            self._show(draft)
            return f"mode: {plan.mode}: the review is in the run's summary and annotations only"
        return self._post(state, draft, marker)

    def _draft(self, state: PullState, plan: Plan, marker: str) -> DraftReview | None:
        fetched = self._fetched(state, plan)
        options = replace(plan.options, known_fingerprints=self._known())
        result = self._reviewer.review(fetched.change, fetched.sources, options, _silent)
        plan = replace(plan, notes=(*plan.notes, *fetched.notes))
        return GitHubComposer().compose(result, plan, marker)

    def _fetched(self, state: PullState, plan: Plan) -> Fetched:
        since: Reviewed | None = None
        if plan.incremental:
            for found in self._forge.find_reviews(self._ref, MARKER_PREFIX):
                match = _JOB.search(last_line(found.body))
                if match and found.state is ReviewState.SUBMITTED:
                    since = Reviewed(match[1], match[2])
        return self._forge.change(self._ref, state, since)

    def _known(self) -> frozenset[str]:
        """The fingerprints of the remarks that we made on this pull request."""
        login = self._identity.login.lower()
        rows = self._identity.api(None).items(
            rq.pull_comments(self._ref.repository, self._ref.number)
        )
        return frozenset(
            comment_fingerprint(row.get("body"))
            for row in rows
            if str((row.get("user") or {}).get("login")).lower() == login
        ) - {""}

    def _post(self, state: PullState, draft: DraftReview, marker: str) -> str:
        publisher = Publisher(self._forge, self._ref, state.head, marker, lambda: True)
        try:
            made = publisher.create(draft)
            if made.state is ReviewState.SUBMITTED:
                return f"posted: {made.url}"
            posted = publisher.submit(made.id)
        except Superseded as error:
            return f"not posted: {error}"
        except Answered as error:
            if error.status not in (403, 404):
                raise
            self._show(draft)
            return "this token may not write: the review is in the run's summary and annotations"
        if posted is None:
            return "not posted: the head moved meanwhile"
        return f"posted: {posted.url}"

    def _show(self, draft: DraftReview) -> None:
        """The review as the run's summary, its comments as annotations."""
        for comment in draft.comments:
            text = comment.body.removesuffix(comment_marker(comment.fingerprint)).rstrip()
            if comment.side is Side.RIGHT:
                sys.stdout.write(f"{workflow_notice(comment.path, comment.line, text)}\n")
        if self._run.summary_file is not None:
            parts = [draft.body]
            parts += [f"### {c.path}:{c.line}\n\n{c.body}" for c in draft.comments]
            with self._run.summary_file.open("a", encoding="utf-8") as file:
                file.write("\n\n".join(parts) + "\n")


def workflow_notice(path: str, line: int, text: str) -> str:
    """The workflow command that shows ``text`` at a line; nothing in it can be another command."""

    def data(value: str) -> str:
        return value.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")

    def name(value: str) -> str:
        return data(value).replace(":", "%3A").replace(",", "%2C")

    return f"::notice file={name(path)},line={line},title=Marginalia::{data(text)}"


def main(env: Mapping[str, str] | None = None) -> int:
    """Review the run's pull request; the exit code: 0 done, 1 GitHub failed, 2 wrong input."""
    # the workspace may be the pull request's: nothing in it may be imported
    sys.path[:] = [entry for entry in sys.path if entry not in ("", ".")]
    try:
        run = Run.of(os.environ if env is None else env)
        settings = settings_of_run()
        from bot.wiring import load_reviewer, operator_of

        said = ActionReview(run, load_reviewer(settings), operator_of(settings)).review()
    except FatalError as error:
        sys.stderr.write(f"marginalia: {error}\n")
        return error.code
    except ForgeError as error:
        sys.stderr.write(f"marginalia: {error}\n")
        return GITHUB_FAILED
    sys.stdout.write(f"marginalia: {one_line(said, 500)}\n")
    return 0


def settings_of_run() -> Settings:
    """The settings that the step's inputs make; ``FatalError`` in one line that names an input."""
    try:
        return load(SettingsOfRun)
    except SettingsError as error:
        said = _SETTING.sub(lambda m: f"input {m[1].lower().replace('_', '-')}", str(error))
        raise FatalError(said) from error


def _event(path: str) -> Mapping[str, Any]:
    if not path:
        raise FatalError("GITHUB_EVENT_PATH: not set; this runs as a step of a workflow")
    try:
        event = json.loads(Path(path).read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise FatalError(f"GITHUB_EVENT_PATH: {path}: cannot be read ({error})") from error
    return event if isinstance(event, dict) else {}


def _silent(stage: str, done: int, total: int) -> None:
    """No progress: a workflow's log is no terminal."""


if __name__ == "__main__":
    raise SystemExit(main())
