"""The pages on a real socket over a real ledger, with the double in GitHub's place."""

from __future__ import annotations

import itertools
import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from flask import Flask
from werkzeug.serving import WSGIRequestHandler, make_server

from bot.app import create_app
from bot.diff import parse_diff
from bot.feedback.tables import ApprovalRow, OutcomeRow
from bot.jobs.forge import DraftComment, DraftReview, PullRef, PullState, RequestKind, ReviewRequest
from bot.jobs.queue import JobQueue
from bot.review.types import (
    FileCoverage,
    JudgedCandidate,
    Reason,
    Review,
    ReviewResult,
    Verdict,
)
from bot.settings import Settings
from bot.store.ledger import Ledger
from bot.store.tables import JobState, ReviewRowState
from bot.web.desk import Desk
from bot.web.pages import dashboard
from models.change import Coverage, Side
from models.review_types import (
    Candidate,
    CandidateKind,
    PseudoReference,
    ReferenceKind,
    Replacement,
    Score,
    Severity,
)
from tests.bot.service import migrate_all
from tests.github_double import Double

NOW = time.time() - 7_200
BASE, HEAD = "4f1d0c9a" * 5, "b52e7716" * 5
REPO, OTHER, THIRD = "acme/checkout", "acme/ledger-of-secrets", "acme/landing"
_WRITTEN = b"""diff --git a/checkout/client.py b/checkout/client.py
--- a/checkout/client.py
+++ b/checkout/client.py
@@ -12,10 +12,14 @@ class Client:
     def __init__(self, base: str) -> None:
         self.base = base
~
-    def fetch(self, path, retries=3):
-        for attempt in range(retries):
-            answer = self.session.get(self.base + path)
+    def fetch(self, path, retries=3, seen=[]):
+        for attempt in range(retries):
+            try:
+                answer = self.session.get(self.base + path, timeout=5)
+            except:
+                continue
             if answer.status_code == 200:
+                seen.append(path)
                 return answer.json()
         raise Unavailable(path)
~
diff --git a/checkout/totals.py b/checkout/totals.py
--- a/checkout/totals.py
+++ b/checkout/totals.py
@@ -1,6 +1,7 @@
 from decimal import Decimal
~
~
-def total(lines):
-    return sum(line.price * line.count for line in lines)
+def total(lines, discount=None):
+    gross = sum(line.price * line.count for line in lines)
+    return gross if discount == None else gross * (1 - discount)
~
"""
DIFF = _WRITTEN.replace(b"~\n", b" \n")  # blank lines of context, which editors would strip
SIGNATURE = "crscore|enc:all-MiniLM-L6-v2:6e7b|tau:0.61|bf16|v:0.1.0"
MODEL = "t5:crb:9f2c41aa"
_comments = itertools.count(1_000_000)


@dataclass(frozen=True, slots=True)
class Site:
    """A running site: its address, its ledger, GitHub's double and the repositories' numbers."""

    url: str
    ledger: Ledger
    github: Double
    ids: dict[str, int]
    settings: Settings
    desk: Desk

    def app(self, settings: Settings) -> Flask:
        """Another application over the same ledger, with other settings."""
        desk = Desk.of(settings, self.ledger, self.desk.queue)
        return create_app(settings, self.ledger, self.desk.queue, [dashboard(desk)])

    def now(self) -> float:
        """The ledger's time."""
        return self.desk.now()

    def forget_access(self) -> None:
        """As if a long time had gone by since GitHub was asked what people may see."""
        self.desk.access.clear()

    def sign_in_as(self, login: str) -> None:
        """Who is at GitHub's consent page from now on; nobody refuses."""
        self.github.settings(signed_in=login)


class _Quiet(WSGIRequestHandler):
    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        return


@contextmanager
def running(github: Double, folder: Path, prefix: str = "") -> Iterator[Site]:
    """The site with three repositories: alice writes one and reads one, bob reads the first.

    With ``prefix`` it is served under that path of its host.
    """
    github.reset()
    for name in (REPO, OTHER, THIRD):
        github.create_repo(name, {"README.md": f"# {name}\n"}, private=True)
    github.set_permission(REPO, "alice", "write")
    github.set_permission(THIRD, "alice", "read")
    github.set_permission(REPO, "bob", "read")
    app = github.create_app()
    github.install(app)
    folder.mkdir(parents=True, exist_ok=True)
    url = f"sqlite:///{folder / 'ledger.db'}"
    migrate_all(url)
    server = make_server("127.0.0.1", 0, Flask("later"), threaded=True, request_handler=_Quiet)
    address = f"http://127.0.0.1:{server.server_port}{prefix}"
    settings = Settings(
        public_url=address if prefix else "",
        database_url=url,
        data_dir=folder,
        webhook_secret="s3cret",  # type: ignore[arg-type]
        app_id=app.id,
        client_id=app.client_id,
        client_secret=app.client_secret,  # type: ignore[arg-type]
        github_url=github.url,
        github_api_url=github.url,
    )
    ledger = Ledger(url)
    queue = JobQueue(url, settings.job_version)
    desk = Desk.of(settings, ledger, queue)
    server.app = create_app(settings, ledger, queue, [dashboard(desk)])
    threading.Thread(target=server.serve_forever, daemon=True).start()
    ids = {name: int(github.repo_id(name)) for name in (REPO, OTHER, THIRD)}
    try:
        yield Site(address, ledger, github, ids, settings, desk)
    finally:
        server.shutdown()
        server.server_close()
        desk.reports.close()
        queue.close()
        ledger.close()


def candidates() -> tuple[JudgedCandidate, ...]:
    """What a reviewer could say of the diff: two posted, the rest held back."""
    nearest = PseudoReference(
        ReferenceKind.SMELL,
        "Do not use mutable data structures for argument defaults",
        (15,),
        "ruff:B006",
        "checkout/client.py",
    )
    rows = [
        (CandidateKind.FINDING, "ruff:B006", "checkout/client.py", 15, 15,
         "The list in `seen=[]` is made once and shared by every call: use `None` and make it "
         "inside.",
         ("    def fetch(self, path, retries=3, seen=None):",), (1.0, 0.5, 0.67, 0.91), 1.0,
         Verdict(Reason.POSTED)),
        (CandidateKind.COMMENT, MODEL, "checkout/client.py", 17, 20,
         "A bare `except:` also swallows `KeyboardInterrupt`. Which errors should be retried?",
         None, (1.0, 0.33, 0.5, 0.84), 0.71, Verdict(Reason.POSTED)),
        (CandidateKind.REVISION, "t5:cra:9f2c41aa", "checkout/totals.py", 6, 6,
         "Compare with `None` by identity.",
         ("    return gross if discount is None else gross * (1 - discount)",),
         (1.0, 0.25, 0.4, 0.58), 0.44, Verdict(Reason.NOT_CONFIDENT, "0.44 < 0.50")),
        (CandidateKind.COMMENT, MODEL, "checkout/totals.py", 5, 5, "This method is renamed.",
         None, (0.0, 0.0, 0.0, 0.12), 0.38, Verdict(Reason.RESTATES_CHANGE)),
        (CandidateKind.FINDING, "ruff:E722", "checkout/client.py", 19, 19, "Do not use bare except",
         None, (1.0, 0.17, 0.29, 0.61), 1.0, Verdict(Reason.DUPLICATE, "of candidate 2")),
    ]  # fmt: skip
    made = []
    for rank, (kind, origin, path, start, line, text, new, numbers, sure, verdict) in enumerate(
        rows, 1
    ):
        replacement = Replacement(start, line, new) if new else None
        candidate = Candidate(
            kind, origin, path, Side.RIGHT, start, line, text, replacement, sure, sure,
            Severity.WARNING,
        )  # fmt: skip
        con, comp, rel, judge = numbers
        score = Score(con, comp, rel, SIGNATURE, judge, nearest if rel else None, rel)
        made.append(JudgedCandidate(candidate, score, verdict, rank, f"{rank:02d}c0ffee{rank:02d}"))
    return tuple(made)


def result(repo: str = REPO) -> ReviewResult:
    """A review of the diff."""
    change = parse_diff(DIFF, repo=repo, base=BASE, head=HEAD)
    judged = candidates()
    references = tuple(one.score.nearest for one in judged if one.score.nearest)[:1]
    return ReviewResult(
        change,
        Review("Two remarks on **retries** and a shared default.", (), "", SIGNATURE),
        judged,
        (
            FileCoverage("checkout/client.py", Coverage.REVIEWED),
            FileCoverage("checkout/totals.py", Coverage.REVIEWED),
            FileCoverage("checkout/logo.png", Coverage.BINARY, "no text"),
        ),
        references,
        ("cppcheck is not installed",),
    )


def add_review(site: Site, repo: str = REPO, pull: int = 7, at: float = NOW) -> int:
    """A posted review with its job; its number in the ledger."""
    ledger = site.ledger
    ref = PullRef(site.ids[repo], repo, pull, 5)
    state = PullState(HEAD, BASE, "main")
    asked = ledger.jobs.request(
        ref, state, ReviewRequest(RequestKind.EVENT), None, at, lambda *_: None
    )
    ledger.jobs.claim(asked.job_id, 1, "test", 5, 50, at)
    job = ledger.jobs.get(asked.job_id)
    assert job is not None
    made = result(repo)
    comments = tuple(
        DraftComment(
            one.candidate.path, Side.RIGHT, one.candidate.line, one.candidate.text, one.fingerprint
        )
        for one in made.candidates
        if one.verdict.posted
    )
    draft = DraftReview("Summary", comments, "<!-- m -->")
    number = ledger.reviews.save_draft(
        job, made, draft, "<!-- m -->", (), ReviewRowState.SUBMITTED, at
    )
    ledger.jobs.finish(asked.job_id, 1, "test", JobState.DONE, "", at)
    return number


def add_parked_job(site: Site, repo: str = REPO, pull: int = 8, at: float = NOW) -> str:
    """A job that was given up."""
    ref = PullRef(site.ids[repo], repo, pull, 5)
    asked = site.ledger.jobs.request(
        ref, PullState(HEAD, BASE, "main"), ReviewRequest(RequestKind.EVENT), None, at,
        lambda *_: None,
    )  # fmt: skip
    site.ledger.jobs.claim(asked.job_id, 1, "test", 5, 50, at)
    site.ledger.jobs.finish(
        asked.job_id, 1, "test", JobState.PARKED, "gave up after 5 tries: no answer", at
    )
    return asked.job_id


BEFORE = """            try:
                answer = self.session.get(self.base + path, timeout=5)
            except:
                continue
            if answer.status_code == 200:
                seen.append(path)
                return answer.json()"""


def add_waiting(site: Site, repo: str = REPO, pull: int = 7, count: int = 3) -> list[int]:
    """Candidates that wait: with a suggestion, then prose, in turn; their numbers."""
    made = []
    with site.ledger.database.write() as session:
        for at in range(count):
            suggestion = None if at % 2 else "            except requests.RequestException:"
            row = ApprovalRow(
                comment_id=next(_comments),
                candidate_id=None,
                repository_id=site.ids[repo],
                repository=repo,
                repository_key=repo.lower(),
                installation_id=5,
                pull=pull,
                head=HEAD,
                path="checkout/client.py",
                side="RIGHT",
                start_line=19,
                line=19,
                kind="revision" if suggestion else "comment",
                origin=MODEL if suggestion is None else "ruff:E722",
                fingerprint=f"f{at}",
                body=(
                    "A bare `except:` also swallows `KeyboardInterrupt`: name the errors that "
                    "are worth another try."
                    if suggestion
                    else "Nothing waits between two tries here. Should it back off?"
                ),
                suggestion=suggestion,
                before=BEFORE,
                before_start=17,
                con=1.0,
                comp=0.4,
                rel=0.57,
                judge=0.83,
                confidence=0.71,
                sure=0.64,
                grounds=[
                    "smell: Do not use bare except (ruff:E722, line 19)",
                    "nothing like it was said on this pull request before",
                ],
                created_at=NOW - 3600 * at,
                state="waiting",
                decided_at=None,
                posted_id=None,
            )
            session.add(row)
            session.flush()
            made.append(row.id)
    return made


def add_outcomes(site: Site, repo: str = REPO, count: int = 240) -> None:
    """Ends of comments over six months: some rules are liked, one is not."""
    chance = {"ruff:B006": 0.9, "ruff:E722": 0.75, "lizard:complexity": 0.15, MODEL: 0.5}
    prior = {"ruff:B006": 0.8, "ruff:E722": 0.7, "lizard:complexity": 0.6, MODEL: 0.55}
    random_ = random.Random(4)
    with site.ledger.database.write() as session:
        for at in range(count):
            origin = random_.choice(list(chance))
            good = random_.random() < chance[origin]
            posted = NOW - 180 * 86_400 * (1 - at / count)
            bad = random_.choice(["dismissed", "dismissed", "open", "outdated"])
            session.add(
                OutcomeRow(
                    comment_id=at + 1 + site.ids[repo] * 1000,
                    repository_id=site.ids[repo],
                    repository=repo,
                    installation_id=5,
                    pull=at // 4 + 1,
                    origin=origin,
                    kind="finding",
                    language="python",
                    prior=min(0.95, max(0.05, prior[origin] + random_.uniform(-0.15, 0.15))),
                    rel=round(random_.random(), 2),
                    confidence=1.0,
                    posted_at=posted,
                    state=random_.choice(["accepted-as-is", "accepted-edited"]) if good else bad,
                    final=at < count - 9,
                    edit_progress=None,
                    ended_at=posted + 86_400 if at < count - 9 else None,
                    changed_at=posted + 86_400,
                )
            )


def furnish(site: Site) -> dict[str, int]:
    """A bit of everything, for the tests and the pictures; numbers of the main things."""
    for at in range(5):
        add_review(site, pull=at + 1, at=NOW - 86_400 * (6 - at))
    shown = add_review(site, pull=7)
    secret = add_review(site, OTHER, pull=3)
    add_parked_job(site)
    waiting = add_waiting(site)
    foreign = add_waiting(site, OTHER, pull=3, count=1)
    readable = add_waiting(site, THIRD, pull=2, count=1)
    add_outcomes(site)
    return {
        "review": shown,
        "secret": secret,
        "waiting": waiting[0],
        "foreign": foreign[0],
        "readable": readable[0],
    }
