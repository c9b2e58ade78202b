"""What a review does: ask for something, report, approve, warn; and against the change or not?

"Use `warn` instead of `info`" names the very words of a change, but is of no use where the change
has just done that, and of much use where it did the opposite. Words that are shared cannot tell
the two apart, so each sentence is read for what it does, and what it wants is looked for in added
and deleted lines apart. Hand-written patterns; which of them to keep was chosen on development
diffs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from models.crscore.change_text import ChangeText
from models.crscore.words import Rarity, quoted_code, sub_words

# Patterns run over hostile text: each matches in time linear in the text.
_PROPOSES = re.compile(
    r"\b(?:should|shouldn'?t|could|can|can'?t|consider|please|suggest\w*|recommend\w*|better"
    r"|instead|needs? to|must|let'?s|would|why not|how about|what about|maybe|perhaps|prefer\w*"
    r"|nit|missing|want)\b|->|=>|\?"
    r"|^\W{0,9}(?:nit:?\s{0,9})?(?:use|rename|add|remove|avoid|replace|move|change|make|put|drop"
    r"|delete|revert|keep)\b",
    re.I,
)
_REPORTS = re.compile(
    r"\b(?:(?:this|the) (?:code )?(?:change|diff|patch|commit|update|pr)\b|has been|have been"
    r"|previously|now\b|(?:is|are|was|were) (?:\w{1,20}ly )?(?:added|removed|changed|replaced"
    r"|modified|updated|introduced|renamed|moved)|changed|replaced|renamed|moved|added|removed"
    r"|introduces?|adds|removes|changes|updates|replaces|modifies)\b",
    re.I,
)
_APPROVES = re.compile(
    r"\b(?:looks? (?:good|fine|ok|okay|great|correct)|lgtm|is (?:good|fine|correct|clear|ok|okay"
    r"|appropriate|valid|unnecessary)|well[- ](?:written|structured|documented)"
    r"|no (?:further )?(?:changes?|issues?|improvements?|problems?|corrections?)"
    r"|good (?:change|practice|improvement|catch))\b",
    re.I,
)
_PRAISES = re.compile(
    r"\b(?:good (?:practice|change|improvement|idea|addition|start|catch|job|work|to see)"
    r"|looks? (?:good|fine|ok|okay|great|correct|like a good)|lgtm|great|nice(?:ly)?"
    r"|(?:is|are|seems?) (?:clear|appropriate|correct|fine|valid|reasonable|good|well"
    r"|straightforward)|makes? sense|well[- ](?:written|structured|documented)|improves?"
    r"|no (?:further |other |immediate )?(?:changes?|issues?|improvements?|problems?"
    r"|corrections?))\b",
    re.I,
)
_ASKS = re.compile(
    r"\b(?:missing|lacks?|lacking|forgot|should (?:also )?(?:have|include|add|contain|use|be)"
    r"|needs? (?:to|a|an)|(?:consider|suggest|recommend)\w* (?:adding|using|to add|to use)"
    r"|(?:good|better|useful|helpful|nice|great|best|idea|recommended) to (?:have|add|use|include"
    r"|check)|can (?:add|use)|could (?:add|use|be)|add an?|use (?:a|an|the)|why not|what about"
    r"|how about|should(?:n'?t)? (?:this|it|we|that|these))\b",
    re.I,
)
_BREAKS = re.compile(
    r"breaking|backward|compatib|deprecat|public api|break (?:any|exist|the|user|client)", re.I
)
_INSTEAD_OF = re.compile(r"\binstead of\b|\brather than\b", re.I)
_RARE = 2.5
"""Words less rare than this (in ``Rarity``) say nothing of what "instead of" sets apart."""
_MOST = 3


def proposal_columns(
    sentences: Sequence[str], change: ChangeText, rarity: Rarity
) -> dict[str, float]:
    """Numbers of a review's sentences beside a change.

    ``text_reports``: the share of sentences that only tell what was done and ask for nothing;
    ``text_approves``: one finds the change in order (0 or 1); ``text_opens_well``: the first one
    praises and asks for nothing (0 or 1). ``pair_breaks``: the review fears for compatibility,
    times the root of how many words the change took away.
    ``pair_quoted_fresh``: quoted pieces that only added lines have (three or more are 1);
    ``pair_instead``: whether "A instead of B" goes against the change (positive: it asks for what
    was taken away, or away from what was added) or along with it, from -2 to 2.
    """
    plus, minus = (" ".join(" ".join(lines).split()) for lines in (change.added, change.deleted))
    reports = approvals = breaks = fresh = 0
    instead = 0.0
    for sentence in sentences:
        reports += bool(_REPORTS.search(sentence)) and not _PROPOSES.search(sentence)
        approvals += bool(_APPROVES.search(sentence))
        breaks += bool(_BREAKS.search(sentence))
        fresh += sum(piece in plus and piece not in minus for piece in quoted_code(sentence))
        cut = _INSTEAD_OF.search(sentence)
        if cut:
            wanted, other = sentence[: cut.start()], sentence[cut.end() :]
            instead += _lean(wanted, change, rarity) - _lean(other, change, rarity)
    return {
        "text_reports": reports / max(1, len(sentences)),
        "text_approves": float(approvals > 0),
        "text_opens_well": float(
            bool(sentences and _PRAISES.search(sentences[0]) and not _ASKS.search(sentences[0]))
        ),
        "pair_breaks": float(breaks > 0) * len(change.gone) ** 0.5,
        "pair_quoted_fresh": min(fresh, _MOST) / _MOST,
        "pair_instead": min(2.0, max(-2.0, instead / 6.0)),
    }


def _lean(text: str, change: ChangeText, rarity: Rarity) -> float:
    """How much more of what was taken away than of what was added a text speaks of, in rarity."""
    words = set(sub_words(text))
    return _rare(words & change.gone, rarity) - _rare(words & change.fresh, rarity)


def _rare(words: Iterable[str], rarity: Rarity) -> float:
    return sum(weight for weight in map(rarity.of, words) if weight >= _RARE)
