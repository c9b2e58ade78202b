"""The gate: every candidate gets exactly one verdict, the best few pass.

Order: safety of words and place, safety of the replacement, worth, what was said before, the file
after the replacement (parser, analyzers), then ranking, one remark once, no overlaps, the limit,
and last that all suggestions of a file together still parse.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bot.feedback.calibration import AcceptanceModel, Choices, names_of, rule_of
from bot.learn.store import ORIGIN as PAST
from bot.review.safety import (
    check_anchor,
    check_replacement,
    check_syntax,
    check_text,
    revised,
    text_at_hand,
)
from bot.review.types import JudgedCandidate, Reason, ReviewOptions, Verdict
from bot.review.worth import (
    Calibration,
    check_worth,
    is_model,
    restating,
    same_remarks,
    same_words,
    sureness,
)
from models.analyzers.base import run_analyzers
from models.analyzers.rule_table import same_fault
from models.change import ChangedFile
from models.crscore.encoder import Encoder
from models.crscore.sentences import split_sentences
from models.review_types import (
    Candidate,
    CandidateKind,
    PseudoReference,
    Replacement,
    Score,
    Severity,
)
from models.syntax import language_of_file

RULE_IN_FILE = 2
"""Remarks of one rule in one file: who reads two knows the rest. Not where ``sure`` is 0."""
RULE_IN_CHANGE = 5
"""Remarks of one rule in one change; the summary names where else it speaks. Not at 0 either."""

_SEVERITY = {Severity.ERROR: 2, Severity.WARNING: 1, Severity.INFO: 0}


@dataclass(frozen=True, slots=True)
class Draft:
    """A graded candidate before its verdict; ``references`` are those of its hunk."""

    candidate: Candidate
    score: Score
    references: tuple[PseudoReference, ...]
    fingerprint: str


class Gate:
    """Gives verdicts on the candidates of one change.

    Args:
        files: the changed files by path.
        heads: their bytes at the head, ``None`` where unknown.
        card: the generator's task card, for its calibration.
        encoder: of the sentences; ``None`` tells two remarks apart by their words alone.
        options: the operator's and the repository's choices.
        rules: the operator's folder of own ast-grep rules, as in the review's own analysis.
    """

    def __init__(
        self,
        files: Mapping[str, ChangedFile],
        heads: Mapping[str, bytes | None],
        card: Mapping[str, object],
        encoder: Encoder | None,
        options: ReviewOptions,
        rules: Path | None = None,
    ) -> None:
        self.files = files
        self.heads = heads
        self.calibration = Calibration.from_card(card)
        self.encoder = encoder
        self.options = options
        self.rules = rules
        self.acceptance = acceptance_of(options)

    def judge(self, drafts: Sequence[Draft]) -> tuple[JudgedCandidate, ...]:
        """Verdicts on all drafts, best first; those posted come before the rest."""
        ordered = sorted(drafts, key=self._rank)
        verdicts: list[Verdict | None] = [self._alone(draft) for draft in ordered]
        self._files_after(ordered, verdicts)
        self._together(ordered, verdicts)
        judged = [
            JudgedCandidate(
                d.candidate,
                d.score,
                v or Verdict(Reason.POSTED),
                0,
                d.fingerprint,
                self.sureness(d),
            )
            for d, v in zip(ordered, verdicts, strict=True)
        ]
        judged.sort(key=lambda one: not one.verdict.posted)
        return tuple(replace(one, rank=i) for i, one in enumerate(judged, 1))

    def _rank(self, draft: Draft) -> tuple[float, int, float, str, int, str]:
        candidate = draft.candidate
        # the fix of a finding goes before the bare finding, which then is the same remark
        fix_first = 0 if candidate.replacement is not None else 1
        return (
            -self.sureness(draft) - 0.1 * draft.score.rel,
            fix_first,
            -_SEVERITY[candidate.severity],
            candidate.path,
            candidate.line,
            candidate.text,
        )

    def sureness(self, draft: Draft) -> float:
        """The probability that this team accepts the candidate: the prior, moved by its answers."""
        prior = sureness(draft.candidate, draft.score, self.calibration)
        return self.acceptance.probability(draft.candidate, draft.score, prior)

    def _alone(self, draft: Draft) -> Verdict | None:
        """What can be said of a draft without looking at the others or running a tool."""
        candidate, options = draft.candidate, self.options
        file = self.files[candidate.path]
        verdict = (
            check_text(candidate)
            or check_anchor(candidate, file)
            or check_replacement(candidate, file, self.heads[candidate.path])
        )
        if verdict is not None:
            return verdict
        if candidate.origin in options.disabled_rules or (
            candidate.origin.partition(":")[2] in options.disabled_rules
        ):
            return Verdict(Reason.RULE_OFF, f"{candidate.origin} is switched off")
        if names_of(candidate.origin) & options.banned:
            return Verdict(Reason.RULE_OFF, f"{candidate.origin} is banned by the configuration")
        if draft.fingerprint in options.dismissed_fingerprints:
            return Verdict(Reason.DISMISSED_BEFORE, "a person dismissed it")
        if draft.fingerprint in options.known_fingerprints:
            return Verdict(Reason.ALREADY_SAID, "it was posted at an earlier head")
        restated = 0.0
        if candidate.kind is CandidateKind.COMMENT and options.sure > 0 and self.encoder:
            restated = restating(split_sentences(candidate.text), draft.references, self.encoder)
        verdict = check_worth(candidate, draft.score, restated, self.sureness(draft), options.sure)
        return self._with_counts(draft, verdict)

    def _with_counts(self, draft: Draft, verdict: Verdict | None) -> Verdict | None:
        """Where the team's answers, not the prior, held it back: say so, with the counts."""
        if verdict is None or verdict.reason is not Reason.NOT_CONFIDENT:
            return verdict
        prior = sureness(draft.candidate, draft.score, self.calibration)
        rule = rule_of(draft.candidate.origin)
        standing = next((s for s in self.acceptance.standings if s.rule == rule), None)
        if prior < self.options.sure or standing is None:
            return verdict
        counts = f"{standing.accepted} of {standing.total} of this rule were accepted here"
        return Verdict(verdict.reason, f"{verdict.detail}; {counts}")

    def _files_after(self, drafts: Sequence[Draft], verdicts: list[Verdict | None]) -> None:
        """Parse and analyze each file as it would be after each replacement that is left."""
        after: dict[int, bytes] = {}
        for index, draft in enumerate(drafts):
            replacement = draft.candidate.replacement
            if verdicts[index] is not None or replacement is None:
                continue
            path = draft.candidate.path
            before = text_at_hand(self.files[path], self.heads[path], replacement)
            text = None if before is None else revised(before, [replacement])
            if before is None or text is None:
                verdicts[index] = Verdict(Reason.DOES_NOT_APPLY, "the head has no such lines")
                continue
            verdicts[index] = check_syntax(before, text, language_of_file(path, self.heads[path]))
            if verdicts[index] is None and self.heads[path] is not None:
                after[index] = text
        if not after:
            return
        # every variant is a file of its own in one run; the folder keeps the file's own path
        variants = {
            f"v{index}/{drafts[index].candidate.path}": text for index, text in after.items()
        }
        paths = {drafts[index].candidate.path for index in after}
        heads = {f"head/{path}": self.heads[path] or b"" for path in paths}
        report = run_analyzers(
            {**variants, **heads},
            names=self.options.analyzers,
            extra_rules=self.rules,
            enable=self.options.enabled_rules,
        )
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        for finding in report.findings:
            counts[finding.path][f"{finding.analyzer}:{finding.rule}"] += 1
        for index in after:
            path = drafts[index].candidate.path
            fresh = counts[f"v{index}/{path}"] - counts[f"head/{path}"]
            if fresh:
                rule = min(fresh)
                verdicts[index] = Verdict(Reason.ADDS_FINDING, f"it would bring in {rule}")

    def _together(self, drafts: Sequence[Draft], verdicts: list[Verdict | None]) -> None:
        """One remark once, no overlapping suggestions, at most so many, and all of them parse."""
        open_drafts = [i for i, verdict in enumerate(verdicts) if verdict is None]
        texts = [drafts[i].candidate.text for i in open_drafts]
        same = same_words(texts) if self.encoder is None else same_remarks(texts, self.encoder)
        taken: list[int] = []
        for row, index in enumerate(open_drafts):
            candidate = drafts[index].candidate
            for other_row, other in enumerate(open_drafts[:row]):
                if other not in taken:
                    continue
                verdicts[index] = _clash(
                    candidate, drafts[other].candidate, bool(same[row, other_row])
                )
                if verdicts[index] is not None:
                    break
            if verdicts[index] is None and self.options.sure > 0:
                verdicts[index] = _often_enough(candidate, [drafts[i].candidate for i in taken])
            if verdicts[index] is None and len(taken) >= self.options.max_comments:
                verdicts[index] = Verdict(
                    Reason.OVER_LIMIT, f"the limit is {self.options.max_comments} comments"
                )
            if verdicts[index] is None and not self._parses_with(drafts, taken, index):
                verdicts[index] = Verdict(
                    Reason.BREAKS_SYNTAX, "with the other suggestions the file would not parse"
                )
            if verdicts[index] is None:
                taken.append(index)

    def _parses_with(self, drafts: Sequence[Draft], taken: Sequence[int], index: int) -> bool:
        candidate = drafts[index].candidate
        head = self.heads[candidate.path]
        if candidate.replacement is None or head is None:
            return True
        together: list[Replacement] = [candidate.replacement]
        for other in taken:
            replacement = drafts[other].candidate.replacement
            if drafts[other].candidate.path == candidate.path and replacement is not None:
                together.append(replacement)
        if len(together) == 1:
            return True
        text = revised(head, together)
        language = language_of_file(candidate.path, head)
        return text is not None and check_syntax(head, text, language) is None


def _often_enough(candidate: Candidate, taken: Sequence[Candidate]) -> Verdict | None:
    """Whether an analyzer's rule was said so often already that a reader knows it."""
    if is_model(candidate):
        return None
    said = [one for one in taken if one.origin == candidate.origin]
    here = [one for one in said if one.path == candidate.path]
    if len(here) >= RULE_IN_FILE:
        text = f"{candidate.origin} was said {len(here)} times in this file"
        return Verdict(Reason.RULE_LIMIT, text)
    if len(said) >= RULE_IN_CHANGE:
        text = f"{candidate.origin} was said {len(said)} times in this change"
        return Verdict(Reason.RULE_LIMIT, text)
    return None


def acceptance_of(options: ReviewOptions) -> AcceptanceModel:
    """The team's calibration under its pins and bans; the prior alone for a new team."""
    model = AcceptanceModel.shipped()
    if options.learnt is not None:
        model = AcceptanceModel.from_json(options.learnt)
    return model.with_choices(Choices(options.pinned, options.banned))


def _clash(candidate: Candidate, other: Candidate, same_words: bool) -> Verdict | None:
    """Whether a candidate must give way to one already taken."""
    if candidate.path != other.path or candidate.side is not other.side:
        return None
    apart = candidate.line < other.start_line or other.line < candidate.start_line
    if apart:
        return None
    # one rule on one line is one remark; a model's origin says nothing of what it remarks on
    same_rule = same_fault(candidate.origin, other.origin) and not is_model(candidate)
    if candidate.origin == other.origin == PAST:
        return Verdict(Reason.DUPLICATE, "a better ranked remark from the past stands here")
    if same_words or same_rule:
        return Verdict(Reason.DUPLICATE, "a better ranked remark on these lines says the same")
    if candidate.replacement is not None and other.replacement is not None:
        return Verdict(Reason.OVERLAPS, "it would change lines of another suggestion")
    if is_model(candidate) and not is_model(other):
        return Verdict(Reason.DUPLICATE, "an analyzer already speaks of these lines")
    return None
