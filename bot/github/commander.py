"""Runs the commands in comments (``bot.jobs.forge.Commander``).

Who may command is asked of GitHub's collaborator-permission endpoint: the
``author_association`` of a payload says who someone is, not what they may do. Every command is
answered once, by its comment's number, however often the delivery comes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from bot.commands.config import describe
from bot.feedback.ledger import Feedback
from bot.feedback.outcome import Event, Kind
from bot.github import requests as rq
from bot.github.auth import Identity
from bot.github.commands import HELP, Command, CommandKind, mentions, parse
from bot.github.errors import Answered
from bot.github.explain import explain_text
from bot.github.markers import answer_marker, is_ours, notice_marker, with_marker
from bot.github.policy import PAUSED, GitHubPolicy, already_said, say_once
from bot.github.text import clip, fence
from bot.jobs.forge import CommandResult, Comment, PullRef, RequestKind, ReviewRequest
from bot.store.ledger import Ledger
from bot.store.memory import pull_scope

WRITERS = frozenset({"admin", "maintain", "write"})


Extra = Callable[[PullRef, Comment, Command], str]
"""Runs one command and gives the answer for the person."""


class GitHubCommander:
    """Commands of people with write permission, their effect on the ledger, one answer each.

    ``shadow`` runs commands and answers nothing.
    """

    def __init__(
        self,
        identity: Identity,
        ledger: Ledger,
        policy: GitHubPolicy,
        shadow: bool = False,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._identity = identity
        self._ledger = ledger
        self._policy = policy
        self._shadow = shadow
        self._now = now
        self._more: dict[CommandKind, Extra] = {}

    def extend(self, more: Mapping[CommandKind, Extra]) -> None:
        """Let another part answer commands of these kinds."""
        self._more.update(more)

    def mentions(self, body: str) -> bool:
        """Whether a text may hold a command."""
        return mentions(body)

    def run(self, ref: PullRef, comment: Comment) -> CommandResult:
        """Run a comment's commands, answer them together, and say what is to be reviewed."""
        if comment.author_type == "Bot" or comment.author.endswith("[bot]"):
            return CommandResult(note="a bot's comment: bots give no commands")
        if is_ours(comment.body) or (
            comment.app_id is not None and comment.app_id == self._identity.app_id
        ):
            return CommandResult(note="our own comment")
        commands = parse(comment.body)
        if not commands:
            return CommandResult(note="no command")
        if not self.may_command(ref, comment.author):
            self._react(ref, comment, "-1")
            return CommandResult(note=f"{comment.author} has no write permission")
        return self._run(ref, comment, commands)

    def may_command(self, ref: PullRef, login: str) -> bool:
        """Whether a person may write to the repository."""
        api = self._identity.api(ref.installation_id)
        try:
            data = api.data(rq.permission(ref.repository, login))
        except Answered as error:
            if error.status in (403, 404):
                return False
            raise
        return data.get("permission") in WRITERS

    def _run(self, ref: PullRef, comment: Comment, commands: tuple[Command, ...]) -> CommandResult:
        answers: list[str] = []
        request: ReviewRequest | None = None
        cancel = False
        for command in commands:
            if command.kind in (CommandKind.REVIEW, CommandKind.FULL_REVIEW, CommandKind.RESUME):
                full = command.kind is CommandKind.FULL_REVIEW or (request and request.full)
                request = ReviewRequest(
                    RequestKind.COMMAND,
                    f"{comment.source}:{comment.id}",
                    bool(full),
                    comment.author,
                )
            if command.kind is CommandKind.PAUSE:
                cancel, request = True, None
            answers.append(self._answer(ref, comment, command))
        said = [answer for answer in answers if answer]
        if said:
            self._say(ref, comment, "\n\n".join(said))
        self._react(ref, comment, "eyes" if request else "+1")
        note = ", ".join(command.kind.value or "unknown" for command in commands)
        return CommandResult(request, cancel, note)

    def _answer(self, ref: PullRef, comment: Comment, command: Command) -> str:
        """Do what a command does to the ledger; the answer for the person, "" for a reaction."""
        memory = self._ledger.memory
        scope = pull_scope(ref.repository_id, ref.number)
        if command.kind in self._more:
            return self._more[command.kind](ref, comment, command)
        match command.kind:
            case CommandKind.PAUSE:
                memory.put(scope, PAUSED, True, self._now(), comment.author)
                return (
                    "Paused: pushes to this pull request are not reviewed until "
                    "`/marginalia resume`. `/marginalia review` still works."
                )
            case CommandKind.RESUME:
                memory.forget(scope, PAUSED)
                return "Resumed."
            case CommandKind.EXPLAIN:
                return self._explain(comment)
            case CommandKind.DISMISS:
                return self._dismiss(ref, comment)
            case CommandKind.CONFIG:
                layered = self._policy.settings(ref)
                text = fence("\n".join(describe(list(layered.layers))), "yaml")
                wrong = [line for error in layered.errors for line in error.lines()]
                return text + (f"\n\nNot used:\n\n{fence(chr(10).join(wrong))}" if wrong else "")
            case CommandKind.HELP:
                return HELP
            case CommandKind.UNKNOWN:
                return self._unknown(ref)
        return ""

    def _explain(self, comment: Comment) -> str:
        found = (
            self._ledger.reviews.explain_comment(comment.in_reply_to)
            if comment.source == rq.REVIEW_COMMENT and comment.in_reply_to
            else None
        )
        if found is None:
            return "`/marginalia explain` belongs in the thread of one of my remarks."
        return explain_text(found)

    def _dismiss(self, ref: PullRef, comment: Comment) -> str:
        row = (
            self._ledger.memory.comment(comment.in_reply_to)
            if comment.source == rq.REVIEW_COMMENT and comment.in_reply_to
            else None
        )
        if row is None or not row.fingerprint:
            return "`/marginalia dismiss` belongs in the thread of one of my remarks."
        self._ledger.memory.dismiss(
            ref.repository_id, ref.number, row.fingerprint, comment.author, self._now()
        )
        at = self._now() if comment.at is None else comment.at
        event = Event(Kind.DISMISS, at, f"{comment.source}:{comment.id}")
        Feedback(self._ledger.database).add_once(row.id, event, self._now())
        return "Dismissed: this remark does not come back in this repository."

    def _unknown(self, ref: PullRef) -> str:
        """Help once a pull request: someone may be quoting us to someone else."""
        if not self._shadow:
            body = f"That is no command of mine. These are:\n\n{HELP}"
            say_once(self._identity, ref, body, notice_marker("help"))
        return ""

    def _say(self, ref: PullRef, comment: Comment, text: str) -> None:
        """Answer where the command stands, unless that was done before."""
        if self._shadow:
            return
        api = self._identity.api(ref.installation_id)
        marker = answer_marker(comment.source, comment.id)
        body = with_marker(clip(text, 60_000), marker)
        if comment.source == rq.REVIEW_COMMENT:
            there = rq.pull_comments(ref.repository, ref.number)
            thread = comment.in_reply_to or comment.id
            write = rq.reply(ref.repository, ref.number, thread, body)
        else:
            there = rq.issue_comments(ref.repository, ref.number)
            write = rq.create_issue_comment(ref.repository, ref.number, body)
        if not already_said(api, self._identity.login, there, marker):
            api.send(write)

    def _react(self, ref: PullRef, comment: Comment, content: str) -> None:
        """A small sign that the command was seen; a review's text takes none over REST."""
        if self._shadow or comment.source == "review":
            return
        try:
            self._identity.api(ref.installation_id).send(
                rq.react(ref.repository, comment.source, comment.id, content)
            )
        except Answered:
            return  # a sign is not worth failing for
