"""Sentences that say nothing of a change, and what a review is without them.

"Good code should be easy to read." is true of every change, so it tells nothing of this one. A
small classifier finds such sentences by how near they are to this change compared with other
changes, by the rare words that they share with it, and by their likeness to known fillings. The
judge then asks for the review's score without them, so that adding one never pays (see
``models.crscore.judge``).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from models.crscore.change_text import ChangeText
from models.crscore.encoder import Vectors
from models.crscore.words import Rarity, named_code, sub_words

Matrix = npt.NDArray[np.float64]

FILLINGS = (
    "This is a small change.",
    "The change modifies existing code.",
    "Some lines were added and some were removed.",
    "The diff shows what was changed.",
    "The file has several lines.",
    "Code is read more often than it is written.",
    "Programs should do what their users expect.",
    "Bugs are expensive once they reach production.",
    "Documentation helps new people on the project.",
    "Names matter in programming.",
    "Developers should think before they write code.",
    "Reviews help teams to find mistakes early.",
    "Simple solutions are usually the best ones.",
    "It is important to follow best practices.",
    "Consistency across the code base is a good thing.",
    "Performance can matter in some applications.",
    "Security is always a concern.",
    "Version control keeps track of every change.",
    "The project has many files.",
    "I have read this change.",
    "This comment is about the code above.",
    "This is what the change does.",
    "The code does what it is supposed to do.",
    "There may be other places like this.",
    "Every function should have a single purpose.",
    "Comments explain why something was done.",
    "Computers run code.",
    "A compiler or an interpreter will process this file.",
    "The author changed the code for a reason.",
    "Others may have a different opinion.",
    "This could affect other parts of the system.",
    "Remember to run the test suite before merging.",
    "Make sure that everything still works.",
    "It is good to keep dependencies up to date.",
    "Quality is everyone's responsibility.",
    "The repository contains source files.",
    "Errors should be handled with care.",
    "Maintainability is a goal of every software project.",
    "There are many ways to write the same thing.",
    "Users rely on this software.",
    "Variables hold values.",
    "Functions can be called from elsewhere.",
    "A class groups data and behaviour.",
    "Refactoring improves the structure of code.",
    "Clean code saves time in the long run.",
    "This pull request was opened by a developer.",
    "The new version replaces the old version.",
    "The change was made in one place.",
    "Readable code helps the next developer.",
    "Continuous integration runs on every push.",
    "It would be good to discuss this with the team.",
    "Overall the change is fine.",
    "Thank you for your work on this.",
    "As always, be careful with changes like this.",
    "The code has been updated.",
    "Best practices exist for good reasons.",
    "Please keep the style guide in mind.",
    "Technical debt grows if nobody pays attention.",
    "Logging is useful when something goes wrong.",
    "This part of the program is used at run time.",
)
"""What a person adds to look thorough: true of any change. None is used by the tests' attacks."""

MOST_SUBSETS = 4
"""Up to so many idle sentences every subset of them is left out in turn; of more, only chains."""
PARTS = 10
"""Principal components of sentence vectors that the finder reads."""
COLUMNS = 17 + PARTS
SURE = 0.5
"""Log-odds from which a sentence counts as idle."""
_CUT = re.compile(r"\n+|(?<=[.?!]) +")
_UNMARKED = re.compile(r"(?<![.?!:;,\s]) (?=[A-Z][a-z]* [a-z])")
_POINTING = re.compile(r"\b(?:this|that|it|these|here|why|you)\b")


def pieces(review: str) -> list[str]:
    """The review cut into sentences, each with the white space that follows it.

    Unlike ``split_sentences`` (the published rule) "!" ends a sentence too, and so does a missing
    full stop before a last sentence that begins with a capital letter and ends with a full stop.
    """
    found: list[str] = []
    start = 0
    for match in _CUT.finditer(review):
        if any(map(str.isalnum, review[start : match.start()])):
            found.append(review[start : match.end()])
            start = match.end()
    found.append(review[start:])
    last = found[-1]
    if last.rstrip().endswith("."):
        cuts = [m.end() for m in _UNMARKED.finditer(last) if len(last[m.end() :].split()) >= 4]
        if cuts:
            found[-1:] = [last[: cuts[-1]], last[cuts[-1] :]]
    return [piece for piece in found if any(map(str.isalnum, piece))]


def keys(review: str) -> list[str]:
    """The text of each of ``pieces`` as the encoder gets it.

    That of a middle sentence has no end mark, as in ``split_sentences``: so the two mostly share
    their vectors.
    """
    texts = [piece.strip() for piece in pieces(review)]
    return [re.sub(r"[.?]$", "", text) or text for text in texts[:-1]] + texts[-1:]


@dataclass(frozen=True, slots=True)
class Landmarks:
    """What sentences are compared with, as unit vectors (n, width).

    ``fillings`` are those of ``FILLINGS``, ``bank`` other changes' changed lines, ``comments``
    typical review comments; ``center`` (width,) and ``basis`` (width, ``PARTS``) give principal
    components.
    """

    fillings: Vectors
    bank: Vectors
    comments: Vectors
    center: Vectors
    basis: Vectors


@dataclass(frozen=True, slots=True)
class IdleFinder:
    """A logistic regression over ``COLUMNS`` numbers of a sentence beside a change.

    ``mean``, ``spread`` and ``weights`` have shape (COLUMNS,).
    """

    mean: Matrix
    spread: Matrix
    weights: Matrix
    offset: float
    landmarks: Landmarks

    def odds(self, columns: Matrix) -> Matrix:
        """Log-odds (n,) that a sentence says nothing of its change."""
        return np.asarray((columns - self.mean) / self.spread @ self.weights + self.offset)

    def flags(
        self,
        sentences: Sequence[str],
        change: ChangeText,
        rarity: Rarity,
        vectors: Mapping[str, Vectors],
    ) -> list[bool]:
        """Whether each sentence says nothing of the change."""
        if not sentences:
            return []
        table = sentence_columns(sentences, change, rarity, vectors, self.landmarks)
        return [bool(odds > SURE) for odds in self.odds(table)]


def sentence_columns(
    sentences: Sequence[str],
    change: ChangeText,
    rarity: Rarity,
    vectors: Mapping[str, Vectors],
    marks: Landmarks,
) -> Matrix:
    """What the finder looks at, shape (sentences, ``COLUMNS``).

    A sentence that is itself one of the fillings is compared with the others (so that fitting
    teaches likeness, not identity), and a change that lies in the bank is no other change.
    """
    said = np.stack([vectors[sentence] for sentence in sentences])
    block = vectors[change.block]
    others = marks.bank[marks.bank @ block < 0.995]
    near = said @ block
    away = said @ others.T if len(others) else np.zeros((len(said), 1))
    standing = (near - away.mean(axis=1)) / (away.std(axis=1) + 0.02)
    lines = [*change.added, *change.deleted]
    line = (said @ np.stack([vectors[text] for text in lines]).T).max(axis=1) if lines else near * 0
    likeness = said @ marks.fillings.T
    likeness = np.sort(np.where(likeness > 0.999, -1.0, likeness), axis=1)
    few, some = likeness[:, -3:].mean(axis=1), likeness[:, -5:].mean(axis=1)
    usual = np.sort(said @ marks.comments.T, axis=1)[:, -5:].mean(axis=1)
    parts = (said - marks.center) @ marks.basis
    table = []
    for i, sentence in enumerate(sentences):
        words = set(sub_words(sentence))
        shared = [rarity.of(word) for word in words & (change.changed | change.kept)]
        rare = sorted((rarity.of(word) for word in words), reverse=True)[:3]
        named = named_code(sentence)
        table.append(
            [
                sum(shared),
                max(shared, default=0.0),
                sum(shared) / (rarity.total(words) + 1.0),
                float(bool(named)),
                float(bool(named & change.all_names)),
                standing[i],
                near[i],
                line[i],
                few[i],
                float(np.mean(rare)) if rare else 0.0,
                min(len(sentence.split()), 30),
                float("?" in sentence),
                float(bool(_POINTING.search(sentence.lower()))),
                float("`" in sentence or "(" in sentence),
                usual[i],
                some[i],
                some[i] - usual[i],
                *parts[i],
            ]
        )
    return np.array(table, dtype=np.float64).reshape(len(sentences), COLUMNS)


def reductions(review: str, idle: Sequence[bool]) -> list[tuple[str, int]]:
    """What the review is without some of its idle sentences: (text, how many are missing).

    ``idle`` has an entry for each of ``pieces(review)``. At least one sentence always stays.
    """
    parts = pieces(review)
    places = [i for i, flag in enumerate(idle) if flag]
    if len(places) <= MOST_SUBSETS:
        subsets = [
            subset
            for size in range(1, len(places) + 1)
            for subset in itertools.combinations(places, size)
        ]
    else:
        subsets = [tuple(places[i:]) for i in range(len(places))]
    found: dict[str, int] = {}
    for subset in subsets:
        text = "".join(part for i, part in enumerate(parts) if i not in subset).strip()
        if text:
            found.setdefault(text, len(subset))
    return list(found.items())
