"""Approval on GitHub: the check run with its buttons, and the commands on what waits.

Who may decide is asked of GitHub every time; the queue itself is ``bot.feedback.approval``.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable

from bot.feedback import approval
from bot.feedback.approval import ApprovalState, BadEdit, Decided, NoSuchCandidate, Waiting
from bot.github import requests as rq
from bot.github.auth import Identity
from bot.github.buttons import ACCEPT_ALL, BUTTONS, OPEN_QUEUE
from bot.github.commands import Command, CommandKind, words_after
from bot.github.errors import Answered
from bot.github.markers import notice_marker
from bot.github.policy import say_once
from bot.github.text import code_span, fence, one_line, quiet
from bot.jobs.forge import Comment, PullRef
from bot.store.database import Database

MOST_LISTED = 30
_NUMBERS = re.compile(r"#?\d+(?:[\s,]+#?\d+)*")


class GitHubApprovals:
    """What people see of the queue on a pull request (``bot.jobs.services.Approvals``).

    Args:
        identity: who we are.
        database: the ledger's.
        may: whether a person may write to the repository.
        public_url: where the web pages are; empty where there are none.
        quietly: writes nothing to GitHub (the operator's shadow).
    """

    def __init__(
        self,
        identity: Identity,
        database: Database,
        may: Callable[[PullRef, str], bool],
        public_url: str = "",
        quietly: bool = False,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._identity = identity
        self._db = database
        self._may = may
        self._url = public_url.rstrip("/")
        self._quietly = quietly
        self._now = now

    def announce(self, ref: PullRef, head: str, job_id: str, count: int) -> tuple[str, ...]:
        """A check run with three buttons; where GitHub does not take one, a comment."""
        if self._quietly:
            return ()
        title = "1 remark waits" if count == 1 else f"{count} remarks wait"
        external = f"marginalia-queue:{ref.number}:{job_id}"
        text = self._listing(ref)
        if self._identity.app_id is not None:
            api = self._identity.api(ref.installation_id)
            try:
                there = api.items(
                    rq.named_checks(ref.repository, head, rq.QUEUE_NAME), "check_runs"
                )
                if not any(run.get("external_id") == external for run in there):
                    api.send(
                        rq.create_queue_check(
                            ref.repository, head, external, title, text, BUTTONS, self._queue_url()
                        )
                    )
                return ()
            except Answered as error:
                note = f"no check run for what waits: {error}"
        else:
            note = "no check run for what waits: only Apps can post one"
        try:
            say_once(
                self._identity, ref, f"{title} for approval.\n\n{text}", notice_marker("queue")
            )
        except Answered as error:
            return (note, f"nor a comment: {error}")
        return (note,)

    def pressed(self, ref: PullRef, button: str, login: str) -> str:
        """A press of one of the three buttons."""
        if not self._may(ref, login):
            return f"{login} has no write permission"
        if button == OPEN_QUEUE:
            body = f"This waits for a decision.\n\n{self._listing(ref)}"
            if not self._quietly:
                say_once(self._identity, ref, body, notice_marker(f"queue-{self._stamp(ref)}"))
            return "said where the queue is"
        return self._all(ref, login, accept=button == ACCEPT_ALL)

    def commands(self) -> dict[CommandKind, Callable[[PullRef, Comment, Command], str]]:
        """The commands that are answered here."""
        kinds = (CommandKind.QUEUE, CommandKind.ACCEPT, CommandKind.REJECT, CommandKind.EDIT)
        return dict.fromkeys(kinds, self.command)

    def command(self, ref: PullRef, comment: Comment, command: Command) -> str:
        """The answer to ``accept``, ``reject``, ``edit`` and ``queue``.

        An edit's new texts stand below its command in the comment. Who may command was asked.
        """
        login, body = comment.author, comment.body
        if command.kind is CommandKind.QUEUE:
            return self._listing(ref)
        accept = command.kind is not CommandKind.REJECT
        argument = command.text[len(command.kind.value) :].strip().lower()
        if argument == "all" and command.kind is not CommandKind.EDIT:
            return f"{self._all(ref, login, accept)}."
        if not _NUMBERS.fullmatch(argument):
            return (
                f"`/marginalia {command.kind.value}` takes numbers of the queue"
                f"{'' if command.kind is CommandKind.EDIT else ' or `all`'}.\n\n"
                f"{self._listing(ref)}"
            )
        numbers = [int(text) for text in re.findall(r"\d+", argument)]
        if command.kind is CommandKind.EDIT:
            if len(numbers) != 1:
                return "`/marginalia edit` takes one number."
            words, suggestion = words_after(body)
            if words is None and suggestion is None:
                return (
                    f"Nothing to change in number {numbers[0]}: write the new words below the "
                    "command, and the new lines in a suggestion block."
                )
            return self._one(ref, numbers[0], login, True, words, suggestion)
        return "\n".join(self._one(ref, number, login, accept) for number in numbers)

    def _all(self, ref: PullRef, login: str, accept: bool) -> str:
        waiting = approval.of_pull(self._db, ref.repository_id, ref.number, [ApprovalState.WAITING])
        done = 0
        for one in waiting:
            try:
                self._decide(one.id, login, accept)
            except Decided:
                continue  # someone else was quicker
            done += 1
        word = "accepted" if accept else "rejected"
        return f"{done} {word}" if waiting else "nothing waits here"

    def _one(
        self,
        ref: PullRef,
        number: int,
        login: str,
        accept: bool,
        words: str | None = None,
        suggestion: str | None = None,
    ) -> str:
        found = approval.get(self._db, number)
        # A number of another pull request says nothing, not even that it exists.
        if found is None or (found.repository_id, found.pull) != (ref.repository_id, ref.number):
            return f"Nothing here has the number {number}."
        try:
            made = self._decide(number, login, accept, words, suggestion)
        except (Decided, BadEdit, NoSuchCandidate) as error:
            return f"{str(error)[0].upper()}{str(error)[1:]}."
        return f"Number {number}: {made.state}."

    def _decide(
        self,
        number: int,
        login: str,
        accept: bool,
        words: str | None = None,
        suggestion: str | None = None,
    ) -> Waiting:
        if accept:
            return approval.accept(self._db, number, login, words, suggestion, self._now())
        return approval.reject(self._db, number, login, self._now())

    def _listing(self, ref: PullRef) -> str:
        waiting = approval.of_pull(self._db, ref.repository_id, ref.number, [ApprovalState.WAITING])
        if not waiting:
            return "Nothing waits here."
        parts = []
        for one in waiting[:MOST_LISTED]:
            place = code_span(f"{one.path}:{one.line}")
            sure = f" ({one.sure:.0%} sure)" if one.sure else ""
            parts.append(f"**{one.id}** {place}{sure}: {quiet(one_line(one.body, 300))}")
            if one.suggestion is not None:
                parts.append(fence(one.suggestion))
        if len(waiting) > MOST_LISTED:
            parts.append(f"and {len(waiting) - MOST_LISTED} more")
        how = "`/marginalia accept N`, `reject N`, `edit N`, or `all` for N"
        if self._url:
            how += f"; [the queue]({self._queue_url()})"
        return "\n\n".join([*parts, f"<sub>{how}</sub>"])

    def _queue_url(self) -> str:
        return f"{self._url}/queue" if self._url else ""

    def _stamp(self, ref: PullRef) -> str:
        """Names what waits now: the same press of a button is answered once."""
        waiting = approval.of_pull(self._db, ref.repository_id, ref.number, [ApprovalState.WAITING])
        return str(max((one.id for one in waiting), default=0))
