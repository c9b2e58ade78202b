"""Training examples for the claim generator: a change in, claims about it out, one a line.

``crscore/claims_silver`` are changes with claims by a large model; a commit's subject is a weak
claim about its edits. A change's records are in one part as a whole, by a hash of its text, and
changes of the human study (``crscore/pseudo_refs``) are in none.
"""

from __future__ import annotations

import hashlib
import random
import re
from dataclasses import replace
from pathlib import Path

from models.crscore.claims.window import claim_windows
from models.crscore.words import identifiers, named_code
from models.training.examples import Example
from models.training.mixture import Edits, Sources
from models.training.records import records

RENAMED = 0.7
"""Share of the drawn examples whose names are exchanged, in change and claims alike: what a claim
names must be copied, never remembered."""
MOST_CHARS = 420
"""Of a change's claims; later ones are left out."""
_NUMBERED = re.compile(r"^\s*\d+[.)]\s*")
_IMPLIED = re.compile(r"^\W*implications?\W*$", re.I)
_SENTENCE = re.compile(r"(?<=[.])\s+(?=[A-Z`'\"])")
_GIT = re.compile(r"\s*(?:represented by|represented in|shown in|in|from) th(?:e|is) GIT DIFF\b")
_SHOWS = re.compile(r"^Th(?:e|is) GIT DIFF (?:shows|represents|indicates) (?:that )?")


def held(diff: str) -> bool:
    """Whether a change is kept from training, to choose and to measure: one in ten."""
    return int(hashlib.sha256(f"claims-{diff.strip()}".encode()).hexdigest(), 16) % 10 == 0


def split_claims(text: str) -> list[str]:
    """The claims of an answer in ``claims_silver``: a list or plain prose, without implications.

    Implications are mostly guesses ("may affect callers"), which people marked as unverifiable.
    """
    found: list[str] = []
    for line in text.splitlines():
        if _IMPLIED.match(line):
            break
        for sentence in _SENTENCE.split(_NUMBERED.sub("", line).strip()):
            said = _SHOWS.sub("", _GIT.sub("", sentence)).strip()
            if len(said.split()) >= 3:
                found.append(said[0].upper() + said[1:])
    return list(dict.fromkeys(found))


class Silver:
    """``crscore/claims_silver``: one part of it, ``train`` or ``held``."""

    def __init__(self, folder: Path, part: str) -> None:
        study = {_body(row["diff"]) for row in records(folder / "crscore" / "pseudo_refs.jsonl.gz")}
        self.diffs: list[str] = []
        self.claims: list[list[str]] = []
        self.examples: list[Example] = []
        for row in records(folder / "crscore" / "claims_silver.jsonl.gz"):
            diff = row["diff"]
            if (part == "held") != held(diff) or _body(diff) in study:
                continue
            windows = claim_windows(diff)
            claims = split_claims(row["claims"])
            if len(windows) != 1 or not claims:
                continue
            self.diffs.append(diff)
            self.claims.append(claims)
            (window,) = windows
            self.examples.append(
                Example(
                    "claims",
                    window.language,
                    window.lines,
                    window.changed,
                    window.removed,
                    reply="\n".join(_first(claims)),
                    origin="claims_silver",
                )
            )
        self._names = sorted(
            {name for example in self.examples for name in _shared(example) if 4 <= len(name) <= 24}
        )

    def plain(self, rng: random.Random) -> Example | None:
        """A change and its claims."""
        return rng.choice(self.examples)

    def drawn(self, rng: random.Random) -> Example | None:
        """A change and its claims, mostly with other names."""
        example = rng.choice(self.examples)
        if rng.random() > RENAMED or not self._names:
            return example
        names = {name: rng.choice(self._names) for name in sorted(_shared(example))}
        if not names:
            return example
        pattern = re.compile(rf"(?<![\w$])(?:{'|'.join(map(re.escape, names))})(?![\w$])")

        def exchange(text: str) -> str:
            return pattern.sub(lambda match: names[match.group()], text)

        return replace(
            example,
            lines=tuple(map(exchange, example.lines)),
            reply=exchange(example.reply or ""),
        )


def _first(claims: list[str]) -> list[str]:
    kept: list[str] = []
    for claim in claims:
        if kept and sum(map(len, kept)) + len(claim) > MOST_CHARS:
            break
        kept.append(claim)
    return kept


def _shared(example: Example) -> set[str]:
    """Names that the claims say as code and the change has."""
    return named_code(example.reply or "") & identifiers("\n".join(example.lines))


def _body(diff: str) -> str:
    """A diff without its ``@@`` lines, which may differ between copies of one change."""
    return "\n".join(line for line in diff.strip().splitlines() if not line.startswith("@@"))


class Messages:
    """``edits``: a commit's subject as a weak claim about one of its edits."""

    def __init__(self, edits: Edits) -> None:
        self.edits = edits

    def claim(self, rng: random.Random) -> Example | None:
        """An edit and the subject; merges, version bumps and bare words are left out."""
        example = self.edits.described(rng)
        return None if example is None else replace(example, task="claims", origin="edits-claim")


def claims_mixture(folder: Path, limit: int | None = None) -> Sources:
    """For a model that writes claims about a change."""
    silver = Silver(folder, "train")
    messages = Messages(Edits(folder, "train", limit))
    return [(0.75, silver.drawn), (0.25, messages.claim)]
