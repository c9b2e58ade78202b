"""Posting what a person accepted: exactly once, against the head as it is then.

A batch (``bot.feedback.waiting``) is posted by a job like any other, whose request's key is the
batch's name: claims, leases, the pending review that is the lock and the check of the head before
it is submitted are those of ``bot.jobs.review``. Only what is posted differs: no model runs, the
accepted candidates are put on the lines where they stand now and go through the gate's safety
again. What does not is marked as outdated and named in the review.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping

import sqlalchemy as sa

from bot.feedback.anchors import anchor_of, keep_anchors, read_texts, suggestion_lines
from bot.feedback.approval import TO_POST, ApprovalState
from bot.feedback.region import Fate, follow
from bot.feedback.tables import AnchorRow, ApprovalRow
from bot.feedback.waiting import (
    PULL_CLOSED,
    Batch,
    batches,
    of_batch,
    set_outdated,
    set_posted,
)
from bot.github.compose import review_body
from bot.github.markers import comment_marker, with_marker
from bot.github.text import clip, code_span, fence, one_line, quiet
from bot.jobs.forge import (
    DraftComment,
    Fetched,
    Forge,
    PullRef,
    Refused,
    RequestKind,
    ReviewRequest,
    job_marker,
)
from bot.jobs.queue import JobQueue
from bot.review.gate import Draft, Gate
from bot.review.types import ReviewOptions, Verdict
from bot.store.database import Database
from bot.store.ledger import Ledger
from bot.store.reviews import comment_row
from bot.store.tables import UNFINISHED, Job, JobState, ReviewRow, ReviewRowState
from bot.store.workers import forge_scope
from models.change import Side
from models.review_types import Candidate, CandidateKind, Replacement, Score

log = logging.getLogger(__name__)

APPROVALS_EVERY = 5.0
"""How often, in seconds, a worker looks for what was accepted."""
MOST = 50
"""Comments of one batch at most that the gate lets stand."""
_BODY = 60_000


class Approver:
    """Makes a job for every batch that has none; one a worker process."""

    def __init__(self, ledger: Ledger, queue: JobQueue, forge: Forge) -> None:
        self._ledger = ledger
        self._queue = queue
        self._forge = forge

    def dispatch(self, repository_id: int | None = None) -> int:
        """Look for accepted candidates (of one repository); how many jobs were asked for.

        Idempotent. What the forge does not answer now is asked for again the next time; raises
        only the database's errors and ``Transient``.
        """
        set_posted(self._ledger.database)
        asked = 0
        for batch in batches(self._ledger.database, repository_id):
            ended = self._last_job(batch)
            if ended is not None and ended.state in UNFINISHED:
                continue
            if ended is not None and ended.state in (JobState.FAILED, JobState.PARKED):
                self._give_up(batch, f"it could not be posted: {one_line(ended.reason, 300)}")
                continue
            asked += self._request(batch)
        return asked

    def _request(self, batch: Batch) -> bool:
        ref = PullRef(batch.repository_id, batch.repository, batch.pull, batch.installation_id)
        held, _ = self._ledger.workers.held_for(forge_scope(batch.installation_id))
        if held > 0:
            return False
        try:
            state = self._forge.pull(ref)
        except Refused as error:
            self._give_up(batch, f"the pull request cannot be read: {one_line(str(error), 300)}")
            return False
        if not state.is_open:
            self._give_up(batch, PULL_CLOSED)
            return False
        request = ReviewRequest(RequestKind.APPROVAL, batch.key, by=batch.by[-1])
        made = self._ledger.jobs.request(ref, state, request, None, time.time(), self._queue.review)
        log.info("accepted remarks are to be posted", extra={"id": made.job_id})
        return True

    def _last_job(self, batch: Batch) -> Job | None:
        query = sa.select(Job).where(
            Job.repository_id == batch.repository_id,
            Job.pull == batch.pull,
            Job.key == batch.key,
        )
        with self._ledger.database.read() as session:
            return session.execute(
                query.order_by(Job.queued_at.desc(), Job.created_at.desc()).limit(1)
            ).scalar_one_or_none()

    def _give_up(self, batch: Batch, problem: str) -> None:
        count = set_outdated(self._ledger.database, batch.key, problem, time.time())
        log.warning("accepted remarks are not posted", extra={"count": count, "reason": problem})


def draft_accepted(database: Database, job: Job, fetched: Fetched, now: float) -> None:
    """Write the draft of a batch's job: what still stands, and what does not and why.

    Once a job: a draft that is there already is left as it is.
    """
    there = sa.select(ReviewRow.id).where(ReviewRow.job_id == job.id)
    with database.read() as session:
        if session.execute(there).scalar_one_or_none() is not None:
            return
        rows = of_batch(session, job.key)
        anchors = {row.id: session.get(AnchorRow, row.comment_id) for row in rows}
    # Files are read, and analyzers run, before the ledger is written to: others write meanwhile.
    open_rows = [row for row in rows if row.state in TO_POST]
    placed = {row.id: _placed(row, anchors[row.id], job, fetched) for row in open_rows}
    problems = {row.id: row.problem for row in rows if row.state not in TO_POST}
    problems |= {number: said for number, said in placed.items() if isinstance(said, str)}
    candidates = {number: one for number, one in placed.items() if isinstance(one, Candidate)}
    problems |= _unsafe(candidates, rows, fetched)
    standing = [row for row in rows if row.id not in problems]
    texts = read_texts(((row.path, row.side) for row in standing), fetched.sources)
    marker = job_marker(job.id)
    with database.write() as session:
        if session.execute(there).scalar_one_or_none() is not None:
            return
        review = ReviewRow(
            job_id=job.id, repository_id=job.repository_id, repository=job.repository,
            pull=job.pull, merge_base=job.merge_base, head=job.head,
            state=(ReviewRowState.DRAFTED if rows else ReviewRowState.EMPTY).value,
            body=review_body(_summary(standing, rows, problems), [], marker), marker=marker,
            coverage=[], notes=list(fetched.notes), timings={}, references=[], created_at=now,
        )  # fmt: skip
        session.add(review)
        session.flush()
        made = [
            comment_row(review.id, at, _comment(row, candidates[row.id]), row.candidate_id)
            for at, row in enumerate(standing)
        ]
        session.add_all(made)
        session.flush()
        keep_anchors(session, made, {row.fingerprint: row.suggestion for row in standing}, texts)
        numbers = {row.id: comment.id for row, comment in zip(standing, made, strict=True)}
        for row in of_batch(session, job.key):
            row.posted_id = numbers.get(row.id, row.posted_id)
            if row.id in problems:
                row.state, row.problem = ApprovalState.OUTDATED.value, problems[row.id]


def _placed(
    row: ApprovalRow, kept: AnchorRow | None, job: Job, fetched: Fetched
) -> Candidate | str:
    """The candidate on the lines where the head has them, or why it has them no more."""
    if fetched.change.file(row.path) is None:
        return f"{row.path} is no longer in the change"
    start, end = row.start_line, row.line
    if row.head != job.head:
        found = _followed(row, kept, fetched)
        if isinstance(found, str):
            return found
        start, end = found
    lines = None if row.suggestion is None else tuple(suggestion_lines(row.suggestion))
    kind = CandidateKind(row.kind)
    if row.state == ApprovalState.EDITED and kind is CandidateKind.COMMENT:
        # A person's own words may have a link or a name in them; a model's may not.
        kind = CandidateKind.FINDING
    return Candidate(
        kind=kind,
        origin=row.origin,
        path=row.path,
        side=Side(row.side),
        start_line=start,
        line=end,
        text=row.body,
        replacement=None if lines is None else Replacement(start, end, lines),
        confidence=row.confidence,
    )


def _followed(row: ApprovalRow, kept: AnchorRow | None, fetched: Fetched) -> tuple[int, int] | str:
    if kept is None:
        return "the head has moved, and its lines cannot be found again"
    anchor = anchor_of(kept)
    if anchor.side is Side.LEFT:
        same = fetched.sources.base(row.path) == anchor.text
        return (row.start_line, row.line) if same else "the base has moved"
    head = fetched.sources.head(row.path)
    if head is None:
        return f"{row.path} cannot be read at the head"
    found = follow(anchor, head)
    if found.fate is Fate.UNCHANGED and found.path == row.path:
        return found.start_line, found.line
    if found.fate is Fate.AS_IS:
        return "what it proposes is in the head already"
    return "its lines have changed since it was proposed"


def _unsafe(
    candidates: Mapping[int, Candidate], rows: list[ApprovalRow], fetched: Fetched
) -> dict[int, str]:
    """Which of them the gate's safety refuses at this head, with its words."""
    change = fetched.change
    files = {path: file for one in candidates.values() if (file := change.file(path := one.path))}
    heads = {path: fetched.sources.head(path) for path in files}
    gate = Gate(files, heads, {}, None, ReviewOptions(sure=0, max_comments=MOST))
    scores = {row.id: Score(row.con, row.comp, row.rel, "", row.judge) for row in rows}
    drafts = [Draft(one, scores[number], (), str(number)) for number, one in candidates.items()]
    return {
        int(judged.fingerprint): _words(judged.verdict)
        for judged in gate.judge(drafts)
        if not judged.verdict.posted
    }


def _words(verdict: Verdict) -> str:
    detail = f": {verdict.detail}" if verdict.detail else ""
    return f"it would not be safe at this head ({verdict.reason.value}{detail})"


def _comment(row: ApprovalRow, candidate: Candidate) -> DraftComment:
    parts = [quiet(row.body)]
    if row.suggestion is not None:
        parts.append(fence(row.suggestion, "suggestion"))
    edited = "edited and " if row.state == ApprovalState.EDITED else ""
    proposed = "proposed by Marginalia, " if row.sealed else ""
    said = [*map(str, row.grounds), f"{proposed}{edited}accepted by {code_span(row.by)}"]
    parts.append(f"<sub>{' · '.join(said)}</sub>")
    body = with_marker(clip("\n\n".join(parts), _BODY), comment_marker(row.fingerprint))
    start = candidate.start_line if candidate.start_line != candidate.line else None
    return DraftComment(row.path, candidate.side, candidate.line, body, row.fingerprint, start)


def _summary(
    standing: list[ApprovalRow], rows: list[ApprovalRow], problems: Mapping[int, str]
) -> str:
    people = ", ".join(dict.fromkeys(code_span(row.by) for row in rows))
    remarks = "1 remark" if len(standing) == 1 else f"{len(standing)} remarks"
    lines = [f"{remarks}, accepted by {people}."]
    if problems:
        lines.append("Accepted, but not posted:")
        lines += [
            f"- number {row.id}, {code_span(f'{row.path}:{row.line}')}: "
            f"{quiet(one_line(problems[row.id], 300))}"
            for row in rows
            if row.id in problems
        ]
    return "\n".join(lines)
