"""`/marginalia suggest`: the revision that a reviewer's comment asks for, as a reply.

On command, and where the configuration says so on every comment on a line. A reply without
something to commit is written only on command, and then says why.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from bot.feedback.ledger import Feedback
from bot.github import requests as rq
from bot.github.auth import Identity
from bot.github.commands import Command, CommandKind
from bot.github.errors import Answered
from bot.github.markers import answer_marker, is_ours, with_marker
from bot.github.policy import GitHubPolicy, already_said
from bot.github.text import fence
from bot.jobs.forge import Comment, Forge, PullRef, RequestKind, ReviewRequest
from bot.review.answer import Question, Reply, answer, asked
from bot.review.origins import by_trained_model
from bot.store.database import Database
from models.generators.base import Generator

IN_A_THREAD = "`/marginalia suggest` belongs in the thread of a person's comment on lines."


class GitHubSuggester:
    """Answers comments on lines.

    Args:
        identity: who we are.
        forge: reads the change.
        policy: how sure to be here, and whether every comment is answered.
        database: the ledger's, for what this team's answers taught.
        generators: those that may answer, the most trusted first; asked for when needed.
        quietly: writes nothing to GitHub.
    """

    def __init__(
        self,
        identity: Identity,
        forge: Forge,
        policy: GitHubPolicy,
        database: Database,
        generators: Callable[[], Sequence[Generator]],
        quietly: bool = False,
    ) -> None:
        self._identity = identity
        self._forge = forge
        self._policy = policy
        self._feedback = Feedback(database)
        self._generators = generators
        self._quietly = quietly

    def commands(self) -> dict[CommandKind, Callable[[PullRef, Comment, Command], str]]:
        """The command that is answered here."""
        return {CommandKind.SUGGEST: self.command}

    def command(self, ref: PullRef, comment: Comment, _command: Command) -> str:
        """The suggestion as Markdown, or why there is none."""
        if comment.source != rq.REVIEW_COMMENT:
            return IN_A_THREAD
        row = self._row(ref, comment.in_reply_to or comment.id)
        if row is None or is_ours(row.get("body")):
            return IN_A_THREAD
        # the command's own comment may say what is wanted, else the thread's first does
        words = comment.body if asked(comment.body) else str(row.get("body") or "")
        reply = self._reply(ref, row, words)
        if reply.judged is None:
            return f"Nothing to propose: {reply.silence}."
        return _markdown(reply)

    def unasked(self, ref: PullRef, comment: Comment) -> str:
        """Answer a comment on a line where the configuration wants every one answered.

        What was done, in words for the ledger; idempotent by the comment's number.
        """
        if is_ours(comment.body) or comment.in_reply_to or self._quietly:
            return "not asked for a revision"
        state = self._forge.pull(ref)
        plan = self._policy.plan(ref, state, ReviewRequest(RequestKind.EVENT))
        if plan.answers != "comments" or plan.skip or plan.mode == "shadow" or not state.is_open:
            return "comments are answered on command"
        row = self._row(ref, comment.id)
        if row is None:
            return "the comment is gone"
        reply = self._reply(ref, row, comment.body, unasked=True)
        if reply.judged is None:
            return f"no revision proposed: {reply.silence}"
        api = self._identity.api(ref.installation_id)
        marker = answer_marker(comment.source, comment.id)
        there = rq.pull_comments(ref.repository, ref.number)
        if not already_said(api, self._identity.login, there, marker):
            body = with_marker(_markdown(reply), marker)
            api.send(rq.reply(ref.repository, ref.number, comment.id, body))
        return "a revision was proposed"

    def _reply(
        self, ref: PullRef, row: dict[str, Any], words: str, *, unasked: bool = False
    ) -> Reply:
        line = row.get("line")
        if row.get("subject_type") == "file" or line is None:
            return Reply(silence="the comment is on no line of the head (any more)")
        state = self._forge.pull(ref)
        fetched = self._forge.change(ref, state, None)
        layered = self._policy.settings(ref)
        plan = self._policy.plan(ref, state, ReviewRequest(RequestKind.COMMAND))
        model = self._feedback.model(ref.repository_id, ref.installation_id)
        options = replace(plan.options, learnt=model.to_json() if plan.learn else None)
        question = Question(
            str(row["path"]),
            int(row.get("start_line") or line),
            int(line),
            words,
            rq.sided(str(row.get("side") or "RIGHT")),
        )
        generators = [
            one
            for one in self._generators()
            if layered.config.model != "off" or not by_trained_model(one.name)
        ]
        return answer(
            question, fetched.change, fetched.sources, generators, options, unasked=unasked
        )

    def _row(self, ref: PullRef, comment_id: int) -> dict[str, Any] | None:
        api = self._identity.api(ref.installation_id)
        try:
            data = api.data(rq.pull_comment(ref.repository, comment_id))
        except Answered as error:
            if error.status in (404, 410):
                return None
            raise
        return data if isinstance(data, dict) else None


def _markdown(reply: Reply) -> str:
    if reply.diff:
        block = fence("\n".join(reply.diff), "diff")
        # a suggestion rewrites the thread's lines: it reaches no others, and cannot leave none
        block = f"To be applied by hand, as a suggestion here cannot hold it:\n\n{block}"
    else:
        block = fence(reply.suggestion or "", "suggestion")
    return f"{block}\n\n<sub>{reply.grounds}</sub>"
