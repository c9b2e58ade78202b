"""The HTML comments by which this program knows its own words on GitHub.

A marker counts only as the last line of a text and only in texts of our own account: code and
prose quoted further up may contain anything, and so may other people's comments.
"""

from __future__ import annotations

import re

from bot.jobs.forge import MARKER_PREFIX

OURS = "<!-- marginalia:"
_COMMENT = re.compile(r"<!-- marginalia:comment (\S{1,200}) -->")


def comment_marker(fingerprint: str) -> str:
    """The marker of an inline comment: it carries the remark's fingerprint."""
    return f"{OURS}comment {fingerprint} -->"


def probe_marker(marker: str) -> str:
    """The marker of a review that only tests which comments GitHub takes.

    It must not be the job's own: a probe left by a crash would be adopted as the whole review.
    """
    return f"{OURS}probe {marker.removeprefix(MARKER_PREFIX)}"


def answer_marker(source: str, comment_id: int) -> str:
    """The marker of the one answer to a command."""
    return f"{OURS}answer {source}:{comment_id} -->"


def notice_marker(key: str) -> str:
    """The marker of something told once a pull request."""
    return f"{OURS}notice {key} -->"


def last_line(body: str | None) -> str:
    """The last line of a text that is not blank, without surrounding spaces."""
    lines = (body or "").rstrip().splitlines()
    return lines[-1].strip() if lines else ""


def has_marker(body: str | None, marker: str) -> bool:
    """Whether a text ends in this marker, or in one that starts so."""
    return last_line(body).startswith(marker)


def is_ours(body: str | None) -> bool:
    """Whether a text ends in any marker of this program."""
    return has_marker(body, OURS)


def comment_fingerprint(body: str | None) -> str:
    """The fingerprint in an inline comment's marker, or "" where it has none."""
    match = _COMMENT.fullmatch(last_line(body))
    return match[1] if match else ""


def with_marker(body: str, marker: str) -> str:
    """``body`` with ``marker`` as its last line, once."""
    if last_line(body) == marker:
        return body
    return f"{body.rstrip()}\n\n{marker}"
