"""Times of the web pages over a ledger with 100,000 candidates: median and p95 of each.

``python -m tests.bench.web_pages [--candidates N] [--times N] [--database URL]``

The ledger is filled by plain inserts: reviews of 25 candidates with their diffs, a comment and an
outcome for the three posted of each, a queue, jobs. One person sees all repositories, as a
maintainer does: the worst case for the lists. GitHub's double answers the sign-in; what the person
may see is then kept for its minute, as in service. Requests go through the WSGI application
without a socket, each in the wall's time and in its own thread's processor time, which a busy
machine does not stretch.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import requests
import sqlalchemy as sa
from werkzeug.test import Client

from bot.feedback.tables import ApprovalRow, OutcomeRow
from bot.store.diffs import pack
from bot.store.tables import Base, CandidateRow, CommentRow, Job, ReviewDiff, ReviewRow
from models.change import Change, ChangedFile, FileStatus, Hunk, Line, LineKind
from tests.bot.web.site import BASE, BEFORE, HEAD, SIGNATURE, Site, running
from tests.github_double import Double

AIM_MS = 100.0
EACH = 25
DIFF_LINES = 300
REPOSITORIES = 12
WAITING_SHARE = 0.05
RULES = ("ruff:B006", "ruff:E722", "bandit:B110", "lizard:complexity", "t5:crb:9f2c41aa",
         "t5:cra:9f2c41aa", "oxlint:no-unused-vars", "retrieval:crb")  # fmt: skip
HELD = ("not-confident", "restates-change", "not-relevant", "duplicate", "over-limit", "no-change")
STATES = ("accepted-as-is", "accepted-edited", "addressed-otherwise", "dismissed", "open")


def main() -> int:
    """Fill, ask, print; the exit code says whether every page met the aim."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.web_pages")
    parser.add_argument("--candidates", type=int, default=100_000)
    parser.add_argument("--times", type=int, default=100, help="requests of each page")
    args = parser.parse_args()
    with (
        Double(judge="never") as github,
        tempfile.TemporaryDirectory(prefix="web-pages-") as folder,
        running(github, Path(folder)) as site,
    ):
        ids = _repositories(site)
        began = time.perf_counter()
        _fill(site, ids, args.candidates)
        size = (Path(folder) / "ledger.db").stat().st_size / 1e6
        print(
            f"{args.candidates} candidates, {args.candidates // EACH} reviews in "
            f"{len(ids)} repositories, {size:.0f} MB, filled in {time.perf_counter() - began:.0f} s"
        )
        return _measure(site, ids, args.times)


def _repositories(site: Site) -> dict[str, int]:
    ids = {}
    for at in range(REPOSITORIES):
        name = f"acme/service-{at:02d}"
        site.github.create_repo(name, {"README.md": "x"}, private=True)
        site.github.set_permission(name, "alice", "write")
        ids[name] = site.github.repo_id(name)
    return ids


def _measure(site: Site, ids: dict[str, int], times: int) -> int:
    client = site.app(site.settings).test_client()
    site.sign_in_as("alice")
    address = client.get("/auth/github").headers["Location"]
    back = requests.get(address, allow_redirects=False, timeout=60).headers["Location"]
    assert client.get("/auth/callback?" + back.partition("?")[2]).status_code == 302
    name = next(iter(ids))
    reviews = _numbers(site)
    began = time.perf_counter()
    while "being worked out" in client.get(f"/feedback?repo={name}").text:
        time.sleep(0.1)
    print(
        f"the first feedback report of {name} took {time.perf_counter() - began:.1f} s beside "
        f"the requests; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    )
    pages = {
        "queue": lambda _: "/queue",
        "queue, last page": lambda _: "/queue?page=1000000",
        "queue of one repository": lambda _: f"/queue?repo={name}",
        "reviews": lambda _: "/reviews",
        "reviews, far back": lambda _: f"/reviews?before={reviews[len(reviews) // 10]}",
        "reviews of one repository": lambda _: f"/reviews?repo={name}",
        "reviews of one pull request": lambda at: f"/reviews?repo={name}&pull={at + 1}",
        "one review": lambda at: f"/reviews/{reviews[-1 - 7 * at]}",
        "feedback, all": lambda _: "/feedback",
        "feedback of one repository": lambda _: f"/feedback?repo={name}",
        "jobs": lambda _: "/jobs",
        "jobs, parked": lambda _: "/jobs?state=parked",
        "set-up": lambda _: "/connections",
    }
    print(f"{'page':30} {'median':>8} {'p95':>8}   {'cpu median':>10} {'cpu p95':>8}   (ms)")
    late = 0
    for page, path in pages.items():
        wall, cpu = _ask(client, [path(at) for at in range(times)])
        row = (_median(wall), _p95(wall), _median(cpu), _p95(cpu))
        late += row[1] > AIM_MS
        print("{:30} {:8.1f} {:8.1f}   {:10.1f} {:8.1f}".format(page, *row))
    print(f"aim: under {AIM_MS:.0f} ms each; p95 over it: {late} of {len(pages)}")
    return 1 if late else 0


def _ask(client: Client, paths: list[str]) -> tuple[list[float], list[float]]:
    client.get(paths[0])
    wall, cpu = [], []
    for path in paths:
        began, used = time.perf_counter(), time.thread_time()
        answer = client.get(path)
        cpu.append(1000 * (time.thread_time() - used))
        wall.append(1000 * (time.perf_counter() - began))
        assert answer.status_code == 200, (path, answer.status_code)
    return wall, cpu


def _median(values: list[float]) -> float:
    return statistics.median(values)


def _p95(values: list[float]) -> float:
    return sorted(values)[int(0.95 * (len(values) - 1))]


def _numbers(site: Site) -> list[int]:
    with site.ledger.database.read() as session:
        return list(session.execute(sa.select(ReviewRow.id).order_by(ReviewRow.id)).scalars())


# -- filling -----------------------------------------------------------------------------------


def _fill(site: Site, ids: dict[str, int], candidates: int) -> None:
    rows: dict[type[Base], list[dict[str, Any]]] = {}
    for table, row in _rows(ids, candidates):
        rows.setdefault(table, []).append(row)
        if len(rows[table]) == 2_000:
            _insert(site, table, rows.pop(table))
    for table, left in rows.items():
        _insert(site, table, left)


def _insert(site: Site, table: type[Base], rows: list[dict[str, Any]]) -> None:
    with site.ledger.database.write() as session:
        session.execute(sa.insert(table), rows)


def _rows(ids: dict[str, int], candidates: int) -> Iterator[tuple[type[Base], dict[str, Any]]]:
    chance = random.Random(7)
    now, names = time.time(), list(ids)
    total = candidates // EACH
    diff = pack(_change())
    for number in range(1, total + 1):
        repo = names[number % len(names)]
        at = now - 180 * 86_400 * (1 - number / total)
        where = {"repository_id": ids[repo], "repository": repo, "pull": number // len(names) // 3}
        job = f"{ids[repo]}:{number}"
        yield Job, _job(job, where, at, chance)
        yield ReviewRow, _review(number, job, where, at)
        yield ReviewDiff, {"review_id": number, "files": diff}
        for rank in range(1, EACH + 1):
            key = number * EACH + rank
            yield CandidateRow, _candidate(key, number, rank, chance)
            if rank <= 3:
                yield CommentRow, _comment(key, number, rank)
                yield OutcomeRow, _outcome(key, where, at, chance)
            if chance.random() < WAITING_SHARE:
                yield ApprovalRow, _approval(key, where, at, "waiting", chance)
            elif rank <= 3:
                yield ApprovalRow, _approval(key, where, at, "posted", chance)


def _change() -> Change:
    lines = tuple(
        Line(LineKind.ADDED if n % 3 == 0 else LineKind.CONTEXT, n, n, f"    value_{n} = f({n})")
        for n in range(1, DIFF_LINES // 3 + 1)
    )
    hunk = Hunk(1, len(lines), 1, len(lines), lines)
    files = tuple(
        ChangedFile(f"src/m{n}.py", f"src/m{n}.py", FileStatus.MODIFIED, (hunk,)) for n in range(3)
    )
    return Change("acme/x", BASE, HEAD, files)


def _job(name: str, where: dict[str, Any], at: float, chance: random.Random) -> dict[str, Any]:
    return {
        "id": name, **where, "installation_id": 5, "merge_base": BASE, "head": HEAD,
        "request_number": 0, "kind": "event", "key": "", "full": False, "requested_by": "",
        "delivery_id": None, "reason": "", "step": "publish", "dispatch": 1, "tries": 1,
        "defers": 0, "holder": "", "created_at": at, "queued_at": at, "started_at": at,
        "finished_at": at, "state": "parked" if chance.random() < 0.02 else "done",
    }  # fmt: skip


def _review(number: int, job: str, where: dict[str, Any], at: float) -> dict[str, Any]:
    claim = {"kind": "claim", "text": "The loop retries on any error", "lines": [3, 4],
             "origin": "syntax", "path": "src/m1.py"}  # fmt: skip
    return {
        "id": number, "job_id": job, **where, "merge_base": BASE, "head": HEAD,
        "state": "submitted", "body": "Three remarks. " * 20, "marker": f"<!-- {number} -->",
        "summary": "Three remarks.", "signature": SIGNATURE, "timings": {"all": 1.0},
        "coverage": [{"path": f"src/m{n}.py", "status": "reviewed", "note": ""} for n in range(3)],
        "notes": [], "references": [claim] * 40, "github_id": number, "single": False, "url": "",
        "created_at": at, "submitted_at": at,
    }  # fmt: skip


def _candidate(key: int, review: int, rank: int, chance: random.Random) -> dict[str, Any]:
    line = chance.randint(1, DIFF_LINES // 3)
    return {
        "id": key, "review_id": review, "rank": rank, "kind": "comment",
        "origin": chance.choice(RULES), "path": f"src/m{rank % 3}.py", "side": "RIGHT",
        "start_line": line, "line": line, "text": "A bare `except:` also swallows interrupts. " * 3,
        "replacement": None, "confidence": 0.7, "weakest": 0.4, "severity": "warning", "url": "",
        "con": 0.5, "comp": 0.4, "rel": round(chance.random(), 3), "judge": 0.6,
        "similarity": 0.66, "nearest": {"kind": "smell", "text": "Do not use bare except"},
        "signature": SIGNATURE, "reason": "posted" if rank <= 3 else chance.choice(HELD),
        "detail": "", "fingerprint": f"{key:016x}",
    }  # fmt: skip


def _comment(key: int, review: int, rank: int) -> dict[str, Any]:
    return {
        "id": key, "review_id": review, "candidate_id": key, "position": rank,
        "path": f"src/m{rank % 3}.py", "side": "RIGHT", "start_line": None, "line": 5,
        "body": "A bare `except:`.", "fingerprint": f"{key:016x}", "moved": False,
        "github_id": key, "url": "", "state": "posted", "changed_at": None,
    }  # fmt: skip


def _outcome(key: int, where: dict[str, Any], at: float, chance: random.Random) -> dict[str, Any]:
    return {
        "comment_id": key, **where, "installation_id": 5, "origin": chance.choice(RULES),
        "kind": "comment", "language": "python", "prior": round(chance.uniform(0.4, 0.9), 2),
        "rel": 0.5, "confidence": 1.0, "posted_at": at, "state": chance.choice(STATES),
        "final": chance.random() < 0.95, "edit_progress": None, "ended_at": at + 86_400,
        "changed_at": at + 86_400,
    }  # fmt: skip


def _approval(
    key: int, where: dict[str, Any], at: float, state: str, chance: random.Random
) -> dict[str, Any]:
    return {
        "comment_id": key, "candidate_id": key, **where, "repository_key": where["repository"],
        "installation_id": 5, "head": HEAD, "path": "src/m1.py", "side": "RIGHT",
        "start_line": 19, "line": 19, "kind": "revision", "origin": chance.choice(RULES),
        "fingerprint": f"{key:016x}", "body": "A bare `except:` also swallows interrupts.",
        "suggestion": "            except OSError:", "before": BEFORE, "before_start": 17,
        "con": 0.5, "comp": 0.4, "rel": 0.44, "judge": 0.7, "confidence": 0.7, "sure": 0.6,
        "grounds": ["smell: Do not use bare except"], "created_at": at, "state": state, "by": "",
        "decided_at": None, "batch": "", "posted_id": None, "problem": "",
    }  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
