"""Where a review's claims come from: read off the change, and written by the operator's models.

The claims that a review is graded by are read off the change itself unless the operator names
further sources: the shipped small generator, a causal model, or a chat endpoint on their own
network. A source that cannot be had costs one line in the log and a note; the review goes on with
what is read off.
"""

from __future__ import annotations

import ipaddress
import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from bot.claims_kept import place_of
from bot.errors import FatalError
from models.change import ChangedFile, Hunk
from models.review_types import (
    Candidate,
    CandidateKind,
    Finding,
    PseudoReference,
    ReferenceKind,
    Target,
)

if TYPE_CHECKING:
    from bot.review.types import Progress
    from models.crscore.claims.by_model import ModelClaims

log = logging.getLogger(__name__)

READ_OFF, MODEL, GENERATOR = "syntax", "model", "generator"
SOURCES = (READ_OFF, MODEL, GENERATOR)
KEY_NAME = "MARGINALIA_CLAIMS_KEY"
"""Environment variable with the endpoint's bearer token, where it wants one."""
WAIT_S = 120.0
"""How long a review waits for written claims unless the operator says otherwise."""
_REASON = 300

Place = tuple[str, int]
"""A hunk of a change: its file's path, and its index among the file's hunks."""
References = Mapping[Place, Sequence[PseudoReference]]


@dataclass(frozen=True, slots=True)
class ClaimChoice:
    """What the operator chose.

    ``sources`` are names of ``SOURCES`` joined by ``+``. ``model`` is a causal model's folder or
    Hub id or, with ``endpoint`` (an OpenAI-compatible one, up to and with ``/v1``), its name
    there; ``key`` is the endpoint's bearer token. ``generator`` is a checkpoint of
    ``marginalia train --mixture claims``; empty is the shipped one. ``cache`` is a folder that
    keeps what was written, by content; ``None`` keeps it in memory. A review waits ``wait_s``
    seconds for written claims, and holds the rest of its hunks against what is read off.
    """

    sources: str = READ_OFF
    model: str = ""
    endpoint: str = ""
    generator: str = ""
    cache: Path | None = None
    key: str = field(default="", repr=False)
    wait_s: float = WAIT_S

    @property
    def written(self) -> tuple[str, ...]:
        """The sources that are models, in their order."""
        return tuple(name for name in self.sources.split("+") if name != READ_OFF)

    @property
    def reads_off(self) -> bool:
        """Whether claims read off the change count beside those of the models."""
        return READ_OFF in self.sources.split("+")

    def problem(self, spell: Callable[[str], str]) -> str:
        """What is wrong with the choice, in one line, "" where nothing is.

        ``spell`` gives the name by which a person knows a setting: of ``claims``,
        ``claims_model``, ``claims_endpoint``, ``claims_generator``.
        """
        return (
            unknown_source(self.sources, spell("claims"))
            or self._missing(spell)
            or _foreign(self.endpoint, spell("claims_endpoint"))
        )

    def _missing(self, spell: Callable[[str], str]) -> str:
        named = self.sources.split("+")
        if (self.model or self.endpoint) and MODEL not in named:
            return f"a model is named but not asked: add {spell('claims')} model (or syntax+model)"
        if self.generator and GENERATOR not in named:
            return f"a generator is named but not asked: add {spell('claims')} syntax+generator"
        if MODEL in named and not self.model:
            return f"{spell('claims')} {self.sources}: name the model by {spell('claims_model')}"
        return ""


def unknown_source(sources: str, name: str) -> str:
    """What is wrong with the names of sources, "" where nothing is."""
    named = sources.split("+")
    if len(set(named)) == len(named) and set(named) <= set(SOURCES):
        return ""
    return f"{name} {sources}: use syntax, model, generator, or some joined by +"


def _foreign(endpoint: str, name: str) -> str:
    """What can be said against an endpoint's address without asking for its host's."""
    if not endpoint:
        return ""
    try:
        parts = urlsplit(endpoint)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host or parts.scheme not in ("http", "https"):
        return f"{name} {endpoint}: not an address; give http://HOST:PORT/v1"
    try:
        number = ipaddress.ip_address(host)
    except ValueError:
        return ""  # a name: its addresses are looked up, and judged, whenever it is asked
    if number.is_private or number.is_loopback or number.is_link_local:
        return ""
    return f"{name} {endpoint}: {number} is not of a private network; changes are not sent out"


def load_writer(source: str, choice: ClaimChoice) -> ModelClaims:
    """What writes claims for a source; raises ``ClaimsError`` where it cannot be had."""
    from models.crscore.claims.by_model import CausalModel, Endpoint, ModelClaims

    if source == GENERATOR:
        from models.crscore.claims.by_generator import generated_claims

        return generated_claims(choice.generator, choice.cache)
    if not choice.endpoint:
        return ModelClaims(CausalModel(choice.model), choice.cache)
    endpoint = Endpoint(
        choice.endpoint, choice.model, choice.key, timeout_s=min(choice.wait_s, WAIT_S)
    )
    endpoint.check()
    return ModelClaims(endpoint, choice.cache)


@dataclass(frozen=True, slots=True)
class Written:
    """Claims by hunk, in the sources' order, and notes on what is missing."""

    claims: Mapping[Place, tuple[PseudoReference, ...]]
    notes: tuple[str, ...] = ()


class ClaimWriters:
    """The operator's models that write claims, each loaded when first asked.

    One is shared by all reviews of a process; raises ``FatalError`` for a wrong choice.
    """

    def __init__(self, choice: ClaimChoice) -> None:
        problem = choice.problem(lambda name: name)
        if problem:
            raise FatalError(problem)
        self.choice = choice
        self._loaded: dict[str, ModelClaims] = {}
        self._lock = Lock()

    def write(
        self, hunks: Mapping[Place, Hunk], progress: Progress, repository: str = ""
    ) -> Written:
        """Claims about each hunk by every source; a source that fails is left for this review.

        ``progress`` may raise to stop. What is written is kept as ``repository``'s (``owner/name``
        where it is known), so that it can be deleted with it.
        """
        from models.crscore.claims.by_model import ClaimsError

        until = time.monotonic() + self.choice.wait_s
        found: dict[Place, list[PseudoReference]] = {}
        notes: list[str] = []
        for source in self.choice.written if hunks else ():
            done = 0
            try:
                with self._lock:
                    if source not in self._loaded:
                        self._loaded[source] = load_writer(source, self.choice)
                    writer = self._loaded[source]
                # as many as the model decodes together, so that a superseded review stops soon
                for start in range(0, len(hunks), writer.lot):
                    lot = list(hunks.items())[start : start + writer.lot]
                    progress("claims", done, len(hunks))
                    if time.monotonic() >= until:
                        raise ClaimsError(f"not done after {self.choice.wait_s:g} s")
                    said = self._ask(
                        source, writer, [hunk_text(hunk) for _, hunk in lot], place_of(repository)
                    )
                    for (place, _), claims in zip(lot, said, strict=True):
                        found.setdefault(place, []).extend(
                            replace(claim, path=place[0]) for claim in claims
                        )
                    done += len(lot)
            except ClaimsError as error:
                log.warning(
                    "claims by %s: %d of %d hunks, the rest are read off the change: %s",
                    source,
                    done,
                    len(hunks),
                    " ".join(str(error).split())[:_REASON],
                )
                # where the model runs is the operator's affair: it is in the log alone
                notes.append(
                    f"claims by the operator's {source} could be had for {done} of {len(hunks)} "
                    "hunks; the others are held against what is read off the change"
                )
        return Written({p: tuple(c) for p, c in found.items()}, tuple(notes))

    def _ask(
        self, source: str, writer: ModelClaims, texts: Sequence[str], under: str
    ) -> list[tuple[PseudoReference, ...]]:
        if self.choice.endpoint and source == MODEL:
            return writer.of_all(texts, under)
        with self._lock:  # a model in this process answers one review at a time
            return writer.of_all(texts, under)


def hunk_text(hunk: Hunk) -> str:
    """A hunk as a model reads it, numbered from 1: where in its file it stands is no content."""
    return replace(hunk, old_start=1, new_start=1).text()


def read_off(
    file: ChangedFile,
    targets: Sequence[Target],
    findings: Sequence[Finding],
    base: bytes | None,
    head: bytes | None,
) -> dict[Place, tuple[PseudoReference, ...]]:
    """Claims and smells of a file by hunk, read off the change: CRScore grades one hunk's review.

    Nothing for a file without targets, of which nobody reads the code.
    """
    from models.crscore.claims import claims_of_hunk

    if not targets:
        return {}
    return {
        (file.path, index): (
            *claims_of_hunk(hunk, targets[0].language, file.path, base, head),
            *_smells(hunk, file.path, findings),
        )
        for index, hunk in enumerate(file.hunks)
    }


def _smells(hunk: Hunk, path: str, findings: Iterable[Finding]) -> list[PseudoReference]:
    """The findings on a hunk's lines as pseudo-references."""
    numbers = {line.new_no for line in hunk.lines}
    return [
        PseudoReference(
            ReferenceKind.SMELL,
            finding.message,
            tuple(range(finding.line, finding.end_line + 1)),
            f"{finding.analyzer}:{finding.rule}",
            path,
        )
        for finding in findings
        if finding.line in numbers
    ]


def hunks_to_ask(
    candidates: Sequence[Candidate], places: Sequence[Place], files: Mapping[str, ChangedFile]
) -> dict[Place, Hunk]:
    """The hunks of which something would be said; those with a model's comment come first.

    Comments stand or fall by their claims, and time may run out.
    """
    ordered = sorted(
        zip(candidates, places, strict=True),
        key=lambda pair: pair[0].kind is not CandidateKind.COMMENT,
    )
    return {
        place: files[place[0]].hunks[place[1]]
        for _, place in ordered
        if place[1] < len(files[place[0]].hunks)
    }


def with_written(at_hand: References, written: Written, choice: ClaimChoice) -> References:
    """The pseudo-references to grade by: those at hand, and what the models wrote.

    Where the operator wants the models' claims alone, a hunk of which they say nothing keeps what
    is read off it: without any claim nothing could be graded.
    """
    result = dict(at_hand)
    for place, claims in written.claims.items():
        own = at_hand.get(place, ())
        if claims and not choice.reads_off:
            own = [one for one in own if one.kind is ReferenceKind.SMELL]
        result[place] = (*claims, *own)
    return result


def writers_of(references: Iterable[PseudoReference]) -> str:
    """Which models wrote some of the references, as a part of a signature; "" where none did."""
    names = {one.origin.partition(":")[2] for one in references if one.origin.startswith("model:")}
    return f"|claims:{'+'.join(sorted(names)).replace('|', '-').replace(':', '-')}" if names else ""


def origin_in_words(origin: str) -> str:
    """A pseudo-reference's origin in words: ``syntax``, ``model:NAME``, ``analyzer:rule``."""
    kind, _, name = origin.partition(":")
    if origin == READ_OFF:
        return "read off the change"
    if kind != MODEL:
        return origin
    if name.startswith("claims-generator@"):
        return "written by the claim generator"
    return f"written by {name.rpartition('/')[0] or name}"
