"""The reviews of ``pr_reviews/python`` lived again on the double: pull requests, remarks, answers.

A file is what the hunks on it show, one under the other; a pull request holds up to ``MOST``
remarks, made by several people. Beside them every pull request has
what teaches nothing: a bot's remark, a reply, the author's own note. Half of the remarks are
followed by a change of their line, so that the truth of each is known; then all is merged.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.github_double import Double

MOST = 40
"""Remarks of one pull request at most."""
APART = 8
"""Lines between two hunks on one file: more than git shows around a change."""
NAMED = 10
"""One remark in so many names a person who took part in another pull request only."""
FIRST, LAST, OWNER = "first-hand", "last-hand", "past"
REVIEWERS = tuple(f"reviewer-{name}" for name in ("ash", "birch", "cedar", "dogwood", "elm"))
AUTHORS = tuple(f"author-{name}" for name in ("oak", "pine", "rowan"))
BOT = "lint-helper[bot]"
PEOPLE = (FIRST, LAST, *REVIEWERS, *AUTHORS)


@dataclass(frozen=True, slots=True)
class Said:
    """One remark with the two sides of its hunk; ``line`` counts on its side."""

    number: int
    path: str
    side: str
    line: int
    old: tuple[str, ...]
    new: tuple[str, ...]
    words: str
    answered: bool

    @property
    def after(self) -> list[str]:
        """The new side once the remark was answered."""
        lines = list(self.new)
        if self.answered:
            lines[self.line - 1] += "  # done otherwise, as was asked for"
        return lines


class Tree:
    """The files of one pull request: each is what the hunks on it show, far from each other."""

    def __init__(self, remarks: list[Said]) -> None:
        self.lines: list[int] = []
        old: dict[str, list[str]] = defaultdict(list)
        new: dict[str, list[str]] = defaultdict(list)
        after: dict[str, list[str]] = defaultdict(list)
        for one in remarks:
            apart = [f"# part {one.number}, line {at}" for at in range(APART)]
            for lines in (old, new, after):
                lines[one.path] += apart
            self.lines.append(len((old if one.side == "LEFT" else new)[one.path]) + one.line)
            old[one.path] += one.old
            new[one.path] += one.new
            after[one.path] += one.after
        self.old, self.new, self.after = map(_texts, (old, new, after))


def _texts(files: dict[str, list[str]]) -> dict[str, str]:
    return {path: "\n".join(lines) + "\n" for path, lines in files.items()}


@dataclass(slots=True)
class Project:
    """One repository on the double, and what is true of its remarks by GitHub's number."""

    name: str
    pulls: list[list[Said]] = field(default_factory=list)
    truth: dict[int, bool | None] = field(default_factory=dict)
    comments: int = 0


def projects(file: Path, most: int) -> list[Project]:
    """The data set's projects, each with the remarks of its pull requests; ``most`` remarks."""
    found: dict[str, list[Said]] = defaultdict(list)
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for number, text in zip(range(most), lines, strict=False):
            row = json.loads(text)
            found[row["repo"]].append(_said(row, number))
    return [_dealt(name.split("/")[1], said) for name, said in found.items()]


def _dealt(name: str, remarks: list[Said]) -> Project:
    pulls = [remarks[at : at + MOST] for at in range(0, len(remarks), MOST)]
    return Project(f"{OWNER}/{name}", pulls)


def _said(row: dict[str, Any], number: int) -> Said:
    old, new = [], []
    for text in row["diff_hunk"].split("\n")[1:]:
        sign, line = text[:1], text[1:]
        if sign in ("-", " ", ""):
            old.append(line)
        if sign in ("+", " ", ""):
            new.append(line)
    side = row["side"] if (old if row["side"] == "LEFT" else new) else "RIGHT"
    line = len(old if side == "LEFT" else new) or 1
    # a change right below keeps the last line inside git's hunk, as what was cut off here did
    new = [*(new or [""]), f"# what came below, {number}"]
    words = row["comment"]
    if number % NAMED == 0:
        words += f"\n\nSee what {FIRST if number % (2 * NAMED) else LAST} said elsewhere."
    digest = hashlib.sha256(f"{number} {row['path']}".encode()).digest()
    answered = side == "RIGHT" and digest[0] % 2 == 0
    return Said(number, row["path"], side, line, tuple(old), tuple(new), words, answered)


def live(github: Double, project: Project) -> None:
    """Make the repository and its pull requests, one after another; each is merged."""
    people = dict.fromkeys(PEOPLE, "write")
    github.create_repo(project.name, {"README.md": "The past.\n"}, collaborators=people)
    for number, said in enumerate(project.pulls, 1):
        last = number == len(project.pulls)
        _pull(github, project, number, said, [FIRST] * (number == 1) + [LAST] * last)


def recall(github: Double, project: Project) -> None:
    """Find again what ``live`` has made of the project: its remarks by their words and lines."""
    for number, said in enumerate(project.pulls, 1):
        known: dict[tuple[str, int, str], list[Said]] = defaultdict(list)
        for one, line in zip(said, Tree(said).lines, strict=True):
            known[one.path, line, one.words].append(one)
        rows = [
            row
            for review in github.reviews(github.pull(project.name, number))
            for row in review["comments"]
        ]
        project.comments += len(rows)
        for row in sorted(rows, key=lambda row: int(row["id"])):
            same = known.get((row["path"], row["original_line"], row["body"]))
            if same:
                one = same.pop(0)
                project.truth[int(row["id"])] = None if one.side == "LEFT" else one.answered


def _pull(
    github: Double, project: Project, number: int, said: list[Said], guests: list[str]
) -> None:
    repo, base, head = project.name, f"base-{number}", f"change-{number}"
    author = AUTHORS[number % len(AUTHORS)]
    tree = Tree(said)
    github.push(repo, base, tree.old)
    title = f"No. {number}"
    pull = github.open_pr(repo, tree.new, head=head, base=base, author=author, title=title)
    placed = list(zip(said, tree.lines, strict=True))
    for at in range(min(len(REVIEWERS), len(said))):
        group = [one for one, _ in placed[at :: len(REVIEWERS)]]
        comments = [_comment(*one, one[0].words) for one in placed[at :: len(REVIEWERS)]]
        made = github.review(pull, author=REVIEWERS[at], event="COMMENT", comments=comments)
        for one, row in zip(group, sorted(made["comments"], key=lambda r: int(r["id"])),
                            strict=True):  # fmt: skip
            project.truth[int(row["id"])] = None if one.side == "LEFT" else one.answered
        project.comments += len(group)
    first = made["comments"][0]["id"]
    note = _comment(*placed[0], "A note of my own, on how this came to be.")
    github.review_comment(pull, author=author, **note)
    github.review_comment(pull, author=BOT, **_comment(*placed[0], "This line is much too long."))
    github.review_comment(pull, "I see, it is as you say here.", author=author, in_reply_to=first)
    for guest in guests:
        github.review_comment(pull, author=guest, **_comment(*placed[0], "Thanks!"))
    project.comments += 3 + len(guests)
    changed = {path: text for path, text in tree.after.items() if text != tree.new[path]}
    if changed:
        github.push(repo, head, changed)
    github.act(pull, "merge", method="squash")


def _comment(one: Said, line: int, words: str) -> dict[str, Any]:
    return {"path": one.path, "line": line, "side": one.side, "body": words}
