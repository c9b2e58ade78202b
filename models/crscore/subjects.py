"""What a review speaks of, and whether the change has it: comments, imports, null, exceptions, ...

"The comment is outdated" names nothing that stands in the change, so no word is shared with it;
yet it is grounded where the change touches a comment, and not where it does not. Each subject has
a pattern of how reviewers speak of it and one of how it looks in code. Hand-written, from how
people and languages speak; nothing was fitted on scores.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

SPACE, NAMING = "space", "naming"
"""Subjects that a change has by its form: it moves white space only, it renames something."""

# Patterns of code run over hostile text: each matches in time linear in the text.
_PATTERNS: dict[str, tuple[str, str]] = {
    "comment": (
        r"\bcomment|docstring|javadoc|documentation|\bdocs?\b|\btodo\b",
        r"^\s*(?:#|\*|\"\"\")|//|/\*",
    ),
    "import": (
        r"\bimport|dependenc|\bpackages?\b|\bmodules?\b|librar",
        r"^\s*(?:import|from|#include|package|using)\b|\brequire\(",
    ),
    "null": (
        r"\bnull|\bnone\b|undefined|\bnil\b|\bnpe\b|optional|falsy",
        r"\bnull\b|\bNone\b|undefined|\bnil\b|Optional|nullable|nullptr",
    ),
    "exception": (
        r"exception|\berrors?\b|\bthrow|\braise|\bcatch|\btry\b|fail",
        r"\btry\b|\bcatch\b|\bexcept\b|\bthrows?\b|\braise\b|Error|Exception|fail|\berr\b",
    ),
    "test": (
        r"\btests?\b|\bassert|\bmock|coverage|testing",
        r"[tT]est|assert|mock|expect\(|\bit\(",
    ),
    "logging": (
        r"\blog(?:s|ger|ging|ged)?\b|\bprint|\bdebug",
        r"\blog(?:ger)?\.|\bLOG|print|console\.|logging|\blog",
    ),
    "text": (
        r"\bstring|\btext\b|\bquotes?\b|literal|f-string|\bwording|\bmessage|typo",
        r"[\"'`]",
    ),
    "constant": (
        r"constant|magic|hard-?cod|\bvalues?\b|\bnumbers?\b|default",
        r"\b\d+\b|\b[A-Z][A-Z_]{3,}\b",
    ),
    "condition": (
        r"\bcondition|\bif[ -](?:statement|block|clause|condition|else)|\bchecks?\b|\belse\b"
        r"|\bbranch|ternary|\bcases?\b",
        r"\bif\b|\belse\b|\belif\b|\bswitch\b|\bcase\b|&&|\|\|",
    ),
    "loop": (
        r"\bloops?\b|iterat|for each|comprehension",
        r"\bfor\b|\bwhile\b|forEach|\.map\(",
    ),
    "type": (
        r"\btypes?\b|\bcast|generics?\b|annotat|\bhints?\b|instanceof",
        r"<\w+>|@\w+|instanceof|isinstance|typeof|->|\)\s?: ?\w",
    ),
    "parameter": (
        r"\bparam|\bargument|\bsignature|kwarg|\boptions?\b",
        r"\bdef \w+\(|\bfunction\b|\bfunc \w|\(\w[^(),]{0,60},|=>",
    ),
    "return": (r"\breturn", r"\breturn\b|\byield\b"),
    "class": (
        r"\bclass(?:es)?\b|inherit|subclass|interface",
        r"\bclass\b|\binterface\b|\bextends\b|\bimplements\b|\bstruct\b",
    ),
    "function": (
        r"\bmethods?\b|\bfunctions?\b",
        r"\bdef\b|\bfunction\b|\bfunc\b|=>|\w \w+\([^()\n]{0,120}\) ?(?:throws [\w, ]{0,60})?\{",
    ),
    "variable": (
        r"\bvariables?\b|\bvar\b|\blet\b|\bconst\b|\bfinal\b|\bfields?\b|attribut|propert",
        r"\bvar\b|\blet\b|\bconst\b|\bfinal\b|\bthis\.|\bself\.|\w ?=[^=]",
    ),
    "version": (r"\bversions?\b|upgrade|\bbump|\brelease", r"[vV]ersion|\b\d+\.\d+\.\d"),
    "path": (
        r"\burls?\b|\blinks?\b|\bpaths?\b|\bfiles?\b|director|folder",
        r"https?:|[pP]ath|[fF]ile|\burl|\bdir|/\w{1,40}/",
    ),
    "concurrency": (
        r"\basync|await|promise|thread|\block|concurren|callback|\brace\b|synchron",
        r"async|await|[pP]romise|[tT]hread|[lL]ock|then\(|callback|synchron|Future",
    ),
    "configuration": (
        r"config|setting|environment|\bflag",
        r"[cC]onfig|[sS]etting|environ|\benv\b|option|flag",
    ),
    "security": (
        r"secur|permission|authenticat|authoriz|password|credential|inject|sanitiz|escap|token",
        r"auth|permission|password|secret|token|credential|escape|[sS]ecur",
    ),
    "speed": (
        r"\bcach|perform|efficien|\bmemory|\bfaster",
        r"[cC]ache|memo|buffer|batch",
    ),
    "interface": (
        r"\bapis?\b|deprecat|\bpublic\b|\bprivate\b|visib|backward|compatib|breaking",
        r"deprecat|\bpublic\b|\bprivate\b|\bprotected\b|\bexport|\bapi",
    ),
    "time": (
        r"\btime|\bdates?\b|timeout|second|duration|\bdelay",
        r"[tT]ime|[dD]ate|[dD]uration|delay|sleep",
    ),
    "collection": (
        r"\blists?\b|\bdict|\bmaps?\b|\barrays?\b|collection|\bsets?\b|\bkeys?\b|element",
        r"\[|\bList|\bMap|\bSet\b|\bdict|\{ ?['\"\w]{1,40}:|Array|\bkeys",
    ),
    "pattern": (
        r"\bregex|regular expression|pattern",
        r"\bre\.|[rR]egex|Pattern|\\[dws]|/\^|\bmatch\(",
    ),
    "truth": (
        r"\bboolean|\btrue\b|\bfalse\b",
        r"\b[tT]rue\b|\b[fF]alse\b|\b[bB]oolean\b|\bbool\b",
    ),
    "query": (
        r"\bquer(?:y|ies)|database|\bsql\b|\btables?\b|\bcolumn|migration",
        r"[qQ]uery|SELECT|select|table|column|\bsql|migrat|\bdb\b",
    ),
    "build": (
        r"\bbuild|\bscript|\bci\b|\bpip\b|\bnpm\b|makefile|docker",
        r"build|script|\bpip\b|\bnpm\b|docker|gradle|\bmvn\b",
    ),
    "comparison": (
        r"\bcompar|equal|===|\bis not\b|operator",
        r"==|!=|\.equals\(|\bis\b|<=|>=",
    ),
    "punctuation": (r"bracket|parenthes|\bbrace|semicolon|comma\b", r"[()\[\]{};,]"),
    "construction": (
        r"overrid|\bsuper\b|\bconstructor|\binit",
        r"@Override|\bsuper\b|__init__|constructor|\bnew \w+\(",
    ),
    "request": (
        r"\brequest|\bresponse|\bheader|\bendpoint|status code|\bserver|\bclient",
        r"[rR]equest|[rR]esponse|[hH]eader|http|[sS]erver|[cC]lient",
    ),
}
_SAID_BY_FORM = {
    SPACE: r"blank line|empty line|white ?space|\bspaces?\b|indent|new ?line|formatting|\balign",
    NAMING: r"\brenam|\bnam(?:e|es|ed|ing)\b|spell|typo|misspel",
}
_SAID = {
    name: re.compile(pattern, re.I)
    for name, pattern in (
        *((name, pair[0]) for name, pair in _PATTERNS.items()),
        *_SAID_BY_FORM.items(),
    )
}
_SHOWN = {name: re.compile(pair[1], re.M) for name, pair in _PATTERNS.items()}
SUBJECTS = tuple(_SAID)
"""All subjects, in a fixed order."""
_WORD = re.compile(r"\w+")
_GAPS = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Shown:
    """Subjects of a change's changed lines, and those that only its unchanged lines have."""

    changed: frozenset[str]
    kept: frozenset[str]


@lru_cache(maxsize=4096)
def said_subjects(review: str) -> frozenset[str]:
    """The subjects that a review speaks of."""
    return frozenset(name for name, pattern in _SAID.items() if pattern.search(review))


def shown_subjects(added: Sequence[str], deleted: Sequence[str], context: Sequence[str]) -> Shown:
    """The subjects of a change by its lines, blank ones among them."""
    text, around = "\n".join((*added, *deleted)), "\n".join(context)
    changed = {name for name, pattern in _SHOWN.items() if pattern.search(text)}
    kept = {name for name, pattern in _SHOWN.items() if pattern.search(around)}
    blank = any(not line.strip() for line in (*added, *deleted))
    if (blank and len(added) + len(deleted) < 5) or _squeezed(added) & _squeezed(deleted):
        changed.add(SPACE)
    elif blank:
        kept.add(SPACE)
    fresh, gone = set(_WORD.findall(" ".join(added))), set(_WORD.findall(" ".join(deleted)))
    if fresh - gone and gone - fresh:
        changed.add(NAMING)
    return Shown(frozenset(changed), frozenset(kept - changed))


def _squeezed(lines: Iterable[str]) -> set[str]:
    return {_GAPS.sub("", line) for line in lines} - {""}


def subject_columns(review: str, shown: Shown, rarity: Mapping[str, float]) -> dict[str, float]:
    """How far the change has what the review speaks of.

    ``rarity`` weighs a subject by how few changes have it: who speaks of a regular expression
    where there is one says more than who speaks of a value.
    """
    said = said_subjects(review)
    here = [rarity.get(name, 0.0) for name in sorted(said & shown.changed)]
    whole = sum(rarity.get(name, 0.0) for name in sorted(shown.changed))
    absent = len(said - shown.changed - shown.kept)
    return {
        "pair_subjects_here": min(sum(here), 4.0) / 4,
        "pair_subjects_absent": min(absent, 4) / 4,
        "pair_subjects_near": min(len(said & shown.kept), 3) / 3,
        "pair_subjects_said": sum(here) / (whole + 1.0),
        "pair_subjects_rarest": max(here, default=0.0),
    }
