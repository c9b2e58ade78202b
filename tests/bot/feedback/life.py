"""The App's whole life in one process, against the double of GitHub, without a queue's clock.

Deliveries are the double's own payloads, recorded by the real recorder and carried out by the
real ``Deliverer``; jobs run through the real steps of ``ReviewRunner`` one after the other (the
job library only adds durability, which the crash matrix tests). The reviewer remarks on lines
that ask for it, so that every truth is known.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bot.github.auth import AppIdentity, Pace
from bot.github.fingerprints import fingerprint
from bot.github.in_person import InPerson
from bot.handlers import router
from bot.jobs.approve import Approver
from bot.jobs.deliver import Deliverer
from bot.jobs.forge import PullRef, Reviewer
from bot.jobs.outcome import Outcome, end
from bot.jobs.queue import JobQueue
from bot.jobs.review import STEP_NAMES, ReviewRunner
from bot.metrics_export import Metrics
from bot.review.render import render_comment
from bot.review.types import (
    FileCoverage,
    JudgedCandidate,
    Progress,
    Reason,
    Review,
    ReviewOptions,
    ReviewResult,
    Sources,
    Verdict,
)
from bot.settings import Settings
from bot.store.deliveries import NewDelivery
from bot.store.ledger import Ledger
from bot.store.recorder import Recorder
from bot.store.tables import Job, JobState
from bot.wiring import build_services
from models.change import Change, ChangedFile, Coverage, Line, Side
from models.review_types import Candidate, CandidateKind, Replacement, Score, Severity
from tests.github_double import Double, Pull

PACE = Pace(between_requests=0, between_writes=0, timeout=10, max_wait=2, backoff=0.02)
_names = itertools.count(1)


class MarkedLines:
    """Remarks on added lines: ``old_`` gets a suggestion (``new_``), ``unclear`` a remark."""

    def review(
        self, change: Change, sources: Sources, options: ReviewOptions, progress: Progress
    ) -> ReviewResult:
        judged = tuple(
            one
            for file in change
            for hunk in file.hunks
            for line in hunk.added
            if (one := _remark(file, line, options)) is not None
        )
        comments = tuple(render_comment(one) for one in judged if one.verdict.posted)
        return ReviewResult(
            change,
            Review("Read.", comments, "", "marked"),
            judged,
            tuple(FileCoverage(file.path, Coverage.REVIEWED) for file in change),
        )


def _remark(file: ChangedFile, line: Line, options: ReviewOptions) -> JudgedCandidate | None:
    number = line.new_no or 0
    replacement = None
    if "old_" in line.text:
        replacement = Replacement(number, number, (line.text.replace("old_", "new_"),))
    elif "unclear" not in line.text:
        return None
    text = f"Say this otherwise: {line.text.strip()}."
    origin = "ruff:B006" if replacement else "ruff:E501"
    candidate = Candidate(
        CandidateKind.FINDING, origin, file.path, Side.RIGHT, number, number, text,
        replacement=replacement, severity=Severity.WARNING,
    )  # fmt: skip
    name = fingerprint(candidate, file)
    reason = Reason.POSTED
    if name in options.known_fingerprints:
        reason = Reason.ALREADY_SAID
    elif name in options.dismissed_fingerprints:
        reason = Reason.DISMISSED_BEFORE
    score = Score(0.5, 0.5, 0.5, "marked")
    return JudgedCandidate(candidate, score, Verdict(reason), 1, name, 0.7)


class Inline(ReviewRunner):
    """The same steps in the same order, run here and now."""

    def _run_steps(self, job: Job) -> str:
        data: Mapping[str, Any] = {}
        steps = (self._fetch, self._review, self._create, self._submit, self._record)
        for name, step in zip(STEP_NAMES, steps, strict=True):
            outcome = Outcome.from_json(self._guarded(name, step, job, data))
            if not outcome.goes_on:
                return self._conclude(job, outcome)
            data = {**data, **(outcome.data or {})}
        return self._conclude(job, end(JobState.DONE, ""))


@dataclass
class Life:
    """One repository, the App installed on it, and everything that the App does."""

    github: Double
    ledger: Ledger
    settings: Settings
    repo: str
    files: dict[str, str]
    config: str = ""
    seen: int = 0
    clock: float = field(default_factory=lambda: float(int(time.time())))
    kept: list[NewDelivery] = field(default_factory=list)
    reviewer: Reviewer = field(default_factory=lambda: MarkedLines())

    def __post_init__(self) -> None:
        owner = self.repo.split("/")[0]
        files = dict(self.files)
        if self.config:
            files[".github/marginalia.yml"] = self.config
        people = {"alice": "write", "bob": "read", "carol": "write"}
        self.github.create_repo(self.repo, files, collaborators=people)
        self.app = self.github.create_app(f"Marginalia {owner}", owner=owner)
        # Nobody listens there: deliveries are taken from the double's list, in the order wanted.
        self.github.point_app(self.app, "http://127.0.0.1:9/webhook", "s3cret")
        self.installation = self.github.install(self.app, owner)
        self.identity = AppIdentity(self.app.id, self.app.pem, self.github.url, PACE)
        self.repository_id = self.github.repo_id(self.repo)
        self.listen_with(self.ledger)
        self.guids = itertools.count(1)
        self.github.settings(auto_deliver=True)

    def listen_with(self, ledger: Ledger) -> None:
        """Put the App together over this ledger."""
        self.ledger = ledger
        settings = self.settings.model_copy(
            update={
                "database_url": str(ledger.database.url),
                "app_id": self.app.id,
                "github_url": self.github.url,
                "github_api_url": self.github.url,
            }
        )
        self.queue = JobQueue(settings.database, settings.job_version)
        services = build_services(settings, ledger, self.reviewer, identity=self.identity)
        in_person = InPerson(ledger.database, settings, self.identity, PACE)
        self.services = replace(services, in_person=in_person)
        self.deliverer = Deliverer(settings, ledger, self.queue, self.services, router())
        self.runner = Inline(settings, ledger, self.queue, self.services, "here", Metrics())
        self.approver = Approver(ledger, self.queue, self.services.forge)
        self.recorder = Recorder(ledger.database, self.queue.deliver_new)

    def ref(self, pull: Pull) -> PullRef:
        return PullRef(self.repository_id, self.repo, pull.number, self.installation)

    def open(self, files: Mapping[str, str], head: str) -> Pull:
        return self.github.open_pr(self.repo, files, head=head)

    def fresh(self) -> list[NewDelivery]:
        """What the double has delivered since the last time."""
        new = [row for row in self.github.deliveries() if int(row["id"]) > self.seen]
        new.sort(key=lambda row: int(row["id"]))
        self.seen = max([self.seen, *(int(row["id"]) for row in new)])
        made = []
        for row in new:
            whole = self.github.delivery(row["id"])
            payload = whole["request"]["payload"]
            if (payload.get("repository") or {}).get("full_name") != self.repo:
                continue
            self._set_clock(payload)
            made.append(self.delivery(str(row["event"]), payload))
        self.kept += made
        return made

    def _set_clock(self, payload: dict[str, Any]) -> None:
        """Hours pass between two things that happen: seconds are too coarse to order a test's."""
        self.clock += 3_600
        at = datetime.fromtimestamp(self.clock, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        pull = payload.get("pull_request") or {}
        if pull.get("updated_at"):
            pull["updated_at"] = at
        if pull.get("closed_at"):
            pull["closed_at"] = at
        for name in ("comment", "review"):
            if payload.get("action") == "created" and name in payload:
                payload[name]["created_at"] = payload[name]["updated_at"] = at
        if "thread" in payload:
            payload["updated_at"] = at

    def delivery(self, event: str, payload: Mapping[str, Any]) -> NewDelivery:
        body = json.dumps(payload).encode()
        return NewDelivery(
            target=f"integration:{self.app.id}",
            guid=f"{self.repo}-{next(self.guids)}",
            event=event,
            body=body,
            body_sha256=hashlib.sha256(body).hexdigest(),
            installation_id=self.installation,
        )

    def take(self, deliveries: list[NewDelivery]) -> list[str]:
        """Record deliveries and carry them out; what the ledger says of each."""
        said = []
        for new in deliveries:
            made = self.recorder.record(new)
            self.deliverer.run(made.id, 0)
            row = self.ledger.deliveries.get(made.id)
            assert row is not None
            said.append(f"{row.state}: {row.reason}")
        return said

    def work(self) -> None:
        """Run jobs until none is left."""
        for _ in range(20):
            jobs = [job for job in self.ledger.jobs.unfinished() if job.repository == self.repo]
            if not jobs:
                return
            for job in jobs:
                self.runner.run(job.id, job.dispatch)
        raise AssertionError(f"jobs that do not end: {[(j.id, j.reason) for j in jobs]}")

    def live(self) -> list[str]:
        """Everything that happened is delivered, and every job done."""
        said = self.take(self.fresh())
        self.work()
        self.approver.dispatch(self.repository_id)
        self.work()
        self.approver.dispatch(self.repository_id)
        return said

    def comments(self, pull: Pull) -> list[dict[str, Any]]:
        """Our inline comments on a pull request, oldest first."""
        reviews = self.github.reviews(pull, author=self.app.bot)
        return [one for review in reviews for one in review["comments"]]


def a_life(
    github: Double,
    folder: Path,
    template: Path,
    files: Mapping[str, str],
    config: str = "",
    **settings: Any,
) -> Life:
    """A new repository with its own ledger."""
    import shutil

    number = next(_names)
    database = folder / f"life{number}.db"
    shutil.copy(template, database)
    made = Settings(
        database_url=f"sqlite:///{database}", data_dir=folder, webhook_secret="s3cret",
        **settings,
    )  # fmt: skip
    return Life(github, Ledger(made.database), made, f"life{number}/shop", dict(files), config)


def shuffled(deliveries: list[NewDelivery], life: Life, seed: int) -> list[NewDelivery]:
    """The same deliveries in another order, under other names."""
    again = [
        life.delivery(one.event, {**json.loads(one.body), "again": f"{seed}-{at}"})
        for at, one in enumerate(deliveries)
    ]
    random.Random(seed).shuffle(again)
    return again
