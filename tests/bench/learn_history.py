"""``marginalia learn`` over the whole of ``pr_reviews/python``, killed hard and started again.

    MARGINALIA_DATA=... python -m tests.bench.learn_history [--most N] [--seed N] [--at URL]

The data set's reviews are lived again on the double (``tests.bench.past_reviews``; ``--at`` names
one on which they are already). Every project is learnt twice by the command's own function in a
process of its own, over HTTP at its own pace, by two Apps at once: in peace, and with kill -9 some
moments after a pull request was read, and while the index is made. The two ledgers and training
sets must be the same, with nothing there twice and nobody's name in a text.
"""

from __future__ import annotations

import argparse
import gzip
import os
import pickle
import random
import re
import signal
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, field
from pathlib import Path
from typing import NoReturn

import bot.github.heads
import bot.learn.github
import bot.learn.harvest
import bot.service.prepare
import bot.wiring
import models.systems.retrieval
from bot.commands.learn import learn
from bot.learn.harvest import TRAINING, folder_of
from bot.learn.remarks import Remark, key_of
from bot.learn.store import Learnt
from bot.store.ledger import Ledger
from tests.bench.past_reviews import FIRST, LAST, OWNER, PEOPLE, Project, live, projects, recall
from tests.github_double import Double
from tests.github_double.process import AppKeys

WARM = (
    bot.github.heads,
    bot.learn.github,
    bot.learn.harvest,
    bot.service.prepare,
    bot.wiring,
    models.systems.retrieval,
)
"""What the command asks for when it needs it: read once here, not by every process anew."""
KILLS = (0.25, 0.6)
"""After which shares of a project's pull requests it is killed; once more while it is indexed."""
LEAST_PULLS = 4
"""Projects of fewer pull requests are not killed."""
_READ = re.compile(r": #(\d+) read, ")
_TALLY = re.compile(r"(?m)^learn: \S+: (\d+) comments read, (\d+) kept(?:; dropped: (.*))?$")


def forked(work: Callable[[], None], error_to: int | None = None) -> int:
    """Run ``work`` in a process of its own; its number."""
    number = os.fork()
    if number == 0:
        _run(work, error_to)
    return number


def _run(work: Callable[[], None], error_to: int | None) -> NoReturn:
    code = 1
    try:
        if error_to is not None:
            os.dup2(error_to, 2)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        work()
        code = 0
    finally:
        if code:
            traceback.print_exc()
        os._exit(code)


@dataclass
class Learner:
    """The command under one App, for one data folder; what it took and said."""

    app: AppKeys
    github: str
    folder: Path
    seed: int
    kills: int = 0
    seconds: float = 0.0
    tally: Counter[str] = field(default_factory=Counter)

    def run(self, project: Project, after: int | None = None) -> None:
        """Learn; with ``after`` until soon after that pull request was read."""
        draw = random.Random(f"{self.seed} {project.name} {after}")
        reads, writes = os.pipe()
        child = forked(lambda: self._learn(project), writes)
        os.close(writes)
        said = []
        killed = False
        with os.fdopen(reads, encoding="utf-8") as lines:
            for line in lines:
                said.append(line)
                found = _READ.search(line)
                done = int(found[1]) >= after if found and after is not None else False
                if not killed and (done or (after is not None and "comments read, " in line)):
                    time.sleep(draw.uniform(0.0, 0.4))
                    os.kill(child, signal.SIGKILL)
                    killed = True
        _, status = os.waitpid(child, 0)
        code = os.waitstatus_to_exitcode(status)
        self.kills += code == -signal.SIGKILL
        if code not in (0, -signal.SIGKILL if killed else 0):
            raise SystemExit(f"learn {project.name} ended with {code}: {''.join(said[-9:])}")
        count("".join(said), self.tally)

    def _learn(self, project: Project) -> None:
        os.environ |= {
            "MARGINALIA_APP_ID": str(self.app.id),
            "MARGINALIA_PRIVATE_KEY": self.app.pem,
            "MARGINALIA_GITHUB_API_URL": self.github,
            "MARGINALIA_GITHUB_URL": self.github,
        }
        learn(project.name, None, self.folder, quiet=False)

    def remarks(self) -> list[Remark]:
        """All that is in the ledger."""
        ledger = Ledger(f"sqlite:///{self.folder / 'marginalia.db'}")
        found = list(Learnt(ledger.database).remarks())
        ledger.close()
        return found

    def training(self, project: Project) -> bytes:
        """A project's training set."""
        return gzip.decompress((folder_of(self.folder, project.name) / TRAINING).read_bytes())

    def all(self, found: Sequence[Project], kill: bool) -> None:
        """Learn every project, killed on the way if asked for."""
        began = time.monotonic()
        for project in found:
            many = len(project.pulls)
            if kill and many >= LEAST_PULLS:
                for share in KILLS:
                    self.run(project, max(1, int(share * many)))
                self.run(project, many + 1)
            self.run(project)
        self.seconds = time.monotonic() - began

    @property
    def login(self) -> str:
        """As which it asks GitHub."""
        return self.app.bot


def main() -> None:
    """Print what was read, kept and dropped, and how the two ways differ."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--most", type=int, default=10**9, help="remarks of the data set at most")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--at", metavar="URL", help="a double on which these reviews are already")
    given = parser.parse_args()
    file = Path(os.environ["MARGINALIA_DATA"]) / "pr_reviews" / "python.jsonl.gz"
    found = projects(file, given.most)
    double = Double.at(given.at) if given.at else Double(judge="never")
    with tempfile.TemporaryDirectory() as folder, double as github:
        began = time.monotonic()
        for project in found:
            if given.at:
                recall(github, project)
            else:
                live(github, project)
        print(
            f"on the double: {len(found)} repositories, {sum(len(p.pulls) for p in found)} merged "
            f"pull requests, {sum(p.comments for p in found)} review comments, "
            f"{sum(len(p.truth) for p in found)} of them the data set's "
            f"({time.monotonic() - began:.0f} s)",
            flush=True,
        )
        before = github.calls()[-1]["number"] if github.calls() else 0
        peace, killed = (learner(github, name, folder, given.seed) for name in ("peace", "killed"))
        result = Path(folder) / "result"

        def in_peace() -> None:
            peace.all(found, kill=False)
            result.write_bytes(pickle.dumps((peace.seconds, peace.tally)))

        other = forked(in_peace)
        killed.all(found, kill=True)
        if os.waitpid(other, 0)[1] != 0:
            raise SystemExit("the run in peace ended badly")
        peace.seconds, peace.tally = pickle.loads(result.read_bytes())
        requests = Counter(call["caller"] for call in github.calls(since=before))
        print(f"in peace: {told(peace)}; {peace.seconds:.0f} s, {requests[peace.login]} requests")
        print(
            f"killed: {killed.seconds:.0f} s, {requests[killed.login]} requests, kills survived: "
            f"{killed.kills}",
        )
        compare(peace, killed, found)


def learner(github: Double, name: str, folder: str, seed: int) -> Learner:
    """A learner with an App and a data folder of its own."""
    app = github.create_app(f"Marginalia {name} {seed}", owner=OWNER)
    github.install(app, OWNER)
    return Learner(app, github.url, Path(folder) / name, seed)


def count(said: str, tally: Counter[str]) -> None:
    """Add what a run said of what it read."""
    for read, kept, dropped in _TALLY.findall(said):
        tally["read"] += int(read)
        tally["kept"] += int(kept)
        for part in filter(None, dropped.split(", ")):
            reason, _, number = part.rpartition(" ")
            tally[reason] += int(number)


def told(learner: Learner) -> str:
    """What a learner said that it read, kept and dropped."""
    tally = learner.tally
    reasons = [f"{reason} {n}" for reason, n in tally.items() if reason not in ("read", "kept")]
    return f"{tally['read']} comments read, {tally['kept']} kept; dropped: {', '.join(reasons)}"


def compare(peace: Learner, killed: Learner, found: Sequence[Project]) -> None:
    """Print what is there twice, what differs, what is wrong."""
    one, two = peace.remarks(), killed.remarks()
    for name, rows in (("in peace", one), ("killed", two)):
        doubles = len(rows) - len({(row.repository, row.key) for row in rows})
        named = sum(any(who in row.comment for who in PEOPLE) for row in rows)
        print(f"{name}: {len(rows)} rows, there twice: {doubles}, with a name in them: {named}")
    differing = Counter(map(astuple, one))
    differing.subtract(Counter(map(astuple, two)))
    sets = sum(peace.training(project) != killed.training(project) for project in found)
    print(f"rows that differ: {sum(map(abs, differing.values()))}, training sets: {sets}")
    truth = {(p.name, key_of(number)): said for p in found for number, said in p.truth.items()}
    right = Counter((truth[row.repository, row.key], row.followed) for row in two)
    known = {pair: n for pair, n in right.items() if pair[0] is not None}
    agree = sum(n for (true, seen), n in known.items() if true is seen)
    unknown = sum(n for (true, _), n in right.items() if true is None)
    print(
        f"followed or not: {agree} of {sum(known.values())} as it was, {unknown} on deleted lines "
        f"not told; named elsewhere and taken out: {FIRST}, {LAST}"
    )


if __name__ == "__main__":
    main()
