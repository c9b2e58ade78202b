"""The model card as text: the checks of ``judge_card`` run once, their numbers in tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from models.crscore import CRScore
from models.crscore.agreement import (
    Numbers,
    bootstrap,
    bootstrap_gain,
    kendall,
    partial_spearman,
    spearman,
    system_agreement,
)
from models.crscore.encoder import Encoder, file_sha256
from models.crscore.features import Background
from models.crscore.fit_judge import Material, Table
from models.crscore.judge_card import (
    ATTACK_KINDS,
    Check,
    attack_rates,
    attacks_of,
    check_head,
    expected_error,
    graded,
    rel_of,
    split,
)
from models.crscore.study import Study

_INTRO = """# The judge: how relevant would a person find this review?

A kernel regression over {columns} numbers about a review and a change, fitted on people's scores
from 1 to 5: sentence similarities of all-MiniLM-L6-v2, words and identifiers that are really in the
change, what the review speaks of (comments, null, tests, names and thirty others) and whether the
change has it, what its sentences do (report, approve, warn, ask for the opposite of the change or
for what it does already), each sentence by itself, pieces that it quotes, claims read off the
change, form of the text. It gives the calibrated probability that a person scores the review 3 or
more for relevance, and expected relevance, conciseness and comprehensiveness. Head `diff` reads the
change alone, head `claims` also given pseudo-references.

**Fitted on** `crscore/annotations` (CRScore's human study, MIT): {rows} scored reviews of
{diffs} diffs by ten systems. `pr_reviews/python` gave unlabelled comments and changes (rarity of
words, typical comments, how many changes touch tests and so on). Nothing else of that study was
used. Added, marked irrelevant: each review that people gave 2 or more, set against five other diffs
of its language (each with .1 of a row's weight), and texts that only please a grader (.3).
**Made by** `python -m models.crscore.fit_judge`, seed {seed}; encoder {encoder}.
**Data** (SHA-256): {hashes}.

A fifth of the diffs ({held}), chosen by hash, took no part in any choice; *last look* is the look
at it after all choices (the fifth in all: earlier fits had .594 and .632 there with no guard
against filling, then .590 and .624 with it, .591 and .627 with numbers on subjects, sentences and
quotes, .591 and .624 with numbers on what sentences do). *Development* is out of fold on the
other {development} diffs: five folds by diff, one system left out, one language left out. The
shipped weights are then fitted on all diffs with the same settings. Intervals are 95 %, by
resampling diffs.

A classifier, fitted on sixty fillings and the sentences of good reviews (development diffs only),
finds sentences that say nothing of the change; the least score with and without them counts. The
fillings of the attack test are others, but its form and threshold were chosen with them in view.
"""

_OUTRO = """
## What helped since the fit before this one
More irrelevant rows, and then a looser fit. Development, after the length correction (to .09): by
diff, with a system left out, with a language left out; then the same with claims.

| irrelevant rows | ridge, width | diff | system | language | claims: diff | system | language |
|---|---|---|---|---|---|---|---|
| one foreign diff a review (before) | .5, .6 | .622 | .590 | .610 | .640 | .617 | .630 |
| the same, twice the weight | .5, .6 | .622 | .596 | .609 | .640 | .621 | .629 |
| three of any language, twice the weight | .5, .6 | .622 | .605 | .610 | .640 | .628 | .630 |
| three of its own language, twice the weight | .5, .6 | .623 | .605 | .610 | .641 | .628 | .630 |
| six of its own language | .5, .6 | .623 | .607 | .610 | .641 | .629 | .631 |
| the same, three times the weight | .5, .6 | .617 | .609 | .607 | .636 | .630 | .628 |
| five, of good ones (.06), and remarks * | .5, .6 | .625 | .604 | .611 | .642 | .628 | .631 |
| the same * | .25, .6 | .629 | .614 | .612 | .646 | .635 | .634 |
| the same * | .25, .8 | .630 | .616 | .610 | .648 | .638 | .633 |
| the same, weight .1 * | .25, .8 | .629 | .619 | .611 | .648 | .640 | .634 |
| the same, weight .1 and .3 * | .18, .8 | .629 | .621 | .610 | .648 | .642 | .633 |
| five, of good ones, weight .1 (used) | .25, .8 | .629 | .617 | .610 | .647 | .639 | .633 |

Rows with a star also have six remarks of `pr_reviews` set against every diff (.2): they add .002 at
most, which is not worth rows that are not the study's.

A fit that sees a voice only beside changes that it speaks of learns the voice; set against
changes that it does not speak of, it teaches what is common to review and change. Weighing the
rows by how good people found the review at its own change: no better (-.001).
With the system and the diff both left out it is .599 after .572 (.580 by the looser fit alone),
and .622 after .602 with claims, so that it is not the diffs' other reviews that are learnt. On new
diffs by known systems it gains less (.629 after .622), and the last look shows none.

A fit before had gained .011 by diff by six numbers on what sentences do ("Looks good" with a
reason, a report of the change, "A instead of B" against its direction, fear for compatibility
where names went, pieces quoted from added lines), which came from reading errors of two of the
five folds and 28 others; on the three folds that were not read they gave .007, and the last look
showed none, so at most half of that gain is real. Some sixty sets of columns and rows were
compared by now; differences of .002 among them are noise.

On all 200 diffs, out of fold (`python -m tests.bench.judge_agreement`): .610 [.577, .641] by diff,
.604 with a system left out, .580 with both, .607 with a language left out (.611, .587, not measured
and .610 before this fit), ranking of the ten systems .988 (.964 with the system left out), length
.090 (.134); with claims .633 by diff, .630 with a system left out, .609 with both (.633 and .618
before), ranking .988 and .964. So by diff the gain of development is noise, and that for systems
that it has not seen is not. The choices saw four fifths of these.

## What did not help
Measured out of fold on development, Spearman with people before the length correction.
- Soft matching of tokens instead of sentences: +.001 from the diff alone, +.003 with claims.
- A model of which claim a review addresses, fitted on `claims_addressed` (AUC .86 against .82 for
  the cosine): +.003 from the diff, +.004 with claims.
- Which words of a remark a change's words call for (IBM model 1 on 28,000 comments and commit
  messages beside changed lines; alone .495): -.001 to -.003. Shared runs of four letters,
  weighed by rarity (alone .506): 0. Likeness of sentences and claims as sets of words: -.001.
- Numbers of the change alone (subjects, share of comments, imports, literals): -.004 to -.006.
- A random effect of the diff in the regression: 0. Other kernels (rational quadratic, sums over
  groups of columns) and other targets (ranks, sums, relevance twice): .002 at most.
- Gradient-boosted trees averaged with the kernel: +.002, not worth a second model.
- Principal components of the review's vector, or of its product with the change's: 0 to -.009.
- Laplacian kernel: -.004 to -.009. Scaling columns by their correlation: -.002 to -.010.
  Quantile-normal columns and averaging several kernel widths: .001 at most.
- Dropping the words for form and style: -.009 by diff, -.002 with a system left out: what is lost
  is mostly knowing the system's voice.
- Fitting on relevance alone instead of all three scores: the same order, but more for length.
- How near a review is to this change compared with other changes (alone .49): +.01 in a linear
  model, -.002 in the kernel. Removing said of what was removed, as numbers: -.005 in the kernel.
- Ridge regression instead of the kernel: -.04; averaged with it: -.009.
- Against filling (a useless sentence added to a good review): filled reviews as training rows with
  a lower aim: .742 to .756 of pairs lower. What is used now, the least of the review's score and
  of its scores without idle sentences, lowers nearly all of them; it costs .006.
- A causal language model (SmolLM2-135M, float32), on all 1,590 development reviews: its mean
  log-probability of the review given the change has a partial correlation of .10 with people's
  score (.14 with a system left out), given the judge's own and length; what the change adds to it
  .06 (.13); likeness of hidden states 0. Stacked on the judge by a ridge regression, five such
  numbers give +.004 by diff and +.003 with a system left out, twenty principal components of its
  hidden states +.002 and -.030. (On the first 350 reviews the gain with a system left out had
  looked like .014.) It takes 0.8 seconds of one core a review, far more than all of the judge, so
  it was not followed.
- More numbers on what a review wants, beside those kept: calls of "unused" or "wrong", what it
  misses and the change already has, descriptions, requests to explain: 0 to +.004 by diff, 0 to
  -.004 with a system left out; all of them together +.003 and -.020. A proposal that quotes only
  what the change adds (-.06 given the score) and quotes of deleted lines: 0.
- The encoder trained further to tell a change's own remark from 47 others of its repository
  (`pr_reviews` and one commit message in six of `edits`, 38 steps of 48 pairs, both ways): on seven
  held projects the mean reciprocal rank of a remark's own change among 48 rose from .349 to .403,
  nearly all of it in the first twenty steps. Its likeness of change and review alone has .483 with
  people (.463 before; among the retrieved reviews .119 instead of .013); as more columns 0 to
  -.001, in place of the encoder -.003 by diff and -.004 with a system left out (-.004 and -.006
  with claims).
- A stricter finder of idle sentences (log-odds 1.0 instead of .5; 50 instead of 63 of 548 good
  reviews touched): +.001, and filling is lower in .960 instead of .984 of pairs.

## Where it fails
- It takes a sentence in twenty of good reviews for one that says nothing of the change, and then
  scores the review lower than a person would.
- Two people agree at .82; this is far from it. It cannot tell a false remark that names the right
  things from a true one, and does not know whether advice is good.
- Fitted on Python, Java and JavaScript hunks and on ten systems of 2023 and 2024, most of their
  reviews poor. Other voices are scored less well (see "system left out").
- The ranking of ten systems in the last look rests on 41 diffs: a few of them move it by .05.
- The length correction makes a long and good review score a little lower than its content deserves.
- It ranks and gates one remark about one hunk; on whole pull requests it was never checked.
"""

_AIMS = {"diff": (0.65, 0.60), "claims": (0.70, 0.60)}
"""By head: Spearman aimed at by diff, and with a system left out."""


def write_card(
    out: Path,
    data: Path,
    material: Material,
    table: Table,
    known: Background,
    encoder: Encoder,
    seed: int,
) -> None:
    """Check both heads and write ``README.md`` beside the weights."""
    development, held = split(material)
    attacks = attacks_of(development, table, seed)
    scorer = CRScore(encoder)
    parts = [
        _INTRO.format(
            columns=len(table.names),
            rows=len(material.study.rows),
            diffs=len(set(material.study.diffs)),
            seed=seed,
            encoder=f"{encoder.name}@{encoder.sha256[:12]}, {encoder.dtype}",
            hashes=", ".join(
                f"`{name}` {file_sha256(data / f'{name}.jsonl.gz')[:16]}"
                for name in ("crscore/annotations", "crscore/pseudo_refs", "pr_reviews/python")
            ),
            held=len(set(held.study.diffs)),
            development=len(set(development.study.diffs)),
        )
    ]
    for name, title in (("diff", "From the change alone"), ("claims", "With the authors' claims")):
        check = check_head(name, table.names, development, held)
        parts.append(f"\n## {title} (head `{name}`)\n")
        parts.append(_agreement(check, name, development, held, scorer))
        parts.append(_other(check, development, held))
        rates = attack_rates(check, development, attacks)
        parts.append(
            "\nAttacks below a real review that people gave 3 or more, share of pairs "
            "(out of fold): "
            + ", ".join(f"{k} {rates[k][0]:.3f} ({rates[k][1]})" for k in ATTACK_KINDS)
            + ".\n"
            + _missed(name, check, development, held)
        )
        if name == "diff":
            auc, rank, count = graded(data, table, check)
            parts.append(
                f"\n`graded_reviews`, every fourth method ({count} grades, whole methods, never "
                f"fitted on): AUC of grade 3 or more {auc:.3f}, Spearman {rank:.3f}. Those are "
                "one-sentence advice on whole methods, graded by likeness to the reviewer's own "
                "remark; nine in ten have grade 1.\n"
            )
    out.joinpath("README.md").write_text("".join(parts) + _OUTRO, encoding="utf-8")


def _line(title: str, study: Study, scores: Numbers, rel: Numbers | None) -> str:
    human = study.human[:, 0]
    keep = np.array(study.systems) != "msg"
    gain = str(bootstrap_gain(scores, rel, human, study.diffs)) if rel is not None else ""
    return (
        f"| {title} | {len(human)} | {bootstrap(spearman, scores, human, study.diffs)} "
        f"| {kendall(scores, human):.3f} | {spearman(scores[keep], human[keep]):.3f} | {gain} |\n"
    )


def _agreement(
    check: Check, name: str, development: Material, held: Material, scorer: CRScore
) -> str:
    study = development.study
    rel = rel_of(scorer, study.rows, name)
    last = rel_of(scorer, held.study.rows, name)
    size = np.array([len(row.review) for row in study.rows], dtype=np.float64)
    rows = [
        "| scores | rows | Spearman | Kendall | without `msg` | gain over Rel |\n"
        "|---|---|---|---|---|---|\n",
        _line("judge, development, by diff", study, check.by_diff, rel),
        _line("judge, development, system left out", study, check.by_system, rel),
        _line("judge, development, system and diff left out", study, check.by_both, rel),
        _line("judge, development, language left out", study, check.by_language, rel),
        _line("**judge, last look**", held.study, check.held, last),
        _line("CRScore Rel, development", study, rel, None),
        _line("CRScore Rel, last look", held.study, last, None),
        _line("length, development", study, size, None),
    ]
    return "".join(rows)


def _other(check: Check, development: Material, held: Material) -> str:
    lines = []
    for title, material, scores in (
        ("development", development, check.by_diff),
        ("last look", held, check.held),
    ):
        study = material.study
        human = study.human[:, 0]
        size = np.array([len(row.review) for row in study.rows], dtype=np.float64)
        keep = np.array(study.systems) != "msg"
        systems = [name for name in study.systems if name != "msg"]
        probability = check.head.probability(scores)
        good = human >= 3
        lines.append(
            f"| {title} | {partial_spearman(scores, size, human):.3f} "
            f"| {system_agreement(scores, human, study.systems):.3f} "
            f"| {system_agreement(scores[keep], human[keep], systems):.3f} "
            f"| {float(np.mean((probability - good) ** 2)):.3f} "
            f"({float(good.mean() * (1 - good.mean())):.3f}) "
            f"| {expected_error(probability, good):.3f} |\n"
        )
    head = (
        "\n| rows | length, score held fixed | systems | systems without `msg` "
        "| Brier (of the base rate) | calibration error |\n|---|---|---|---|---|---|\n"
    )
    return head + "".join(lines) + "\n" + _groups("language", development, check)


def _missed(name: str, check: Check, development: Material, held: Material) -> str:
    """Which aims these numbers miss, in a sentence."""

    def numbers(material: Material, scores: Numbers) -> tuple[float, float, float]:
        human = material.study.human[:, 0]
        size = np.array([len(row.review) for row in material.study.rows], dtype=np.float64)
        return (
            spearman(scores, human),
            partial_spearman(scores, size, human),
            system_agreement(scores, human, material.study.systems),
        )

    by_diff, by_system = _AIMS[name]
    last = numbers(held, check.held)
    apart = numbers(development, check.by_system)[0]
    rows = (
        ("Spearman in the last look", last[0], by_diff, last[0] >= by_diff),
        ("with a system left out", apart, by_system, apart >= by_system),
        ("length in the last look", last[1], 0.15, last[1] <= 0.15),
        ("ranking of systems in the last look", last[2], 0.95, last[2] >= 0.95),
    )
    found = [f"{what} {value:.3f} (aim {aim})" for what, value, aim, met in rows if not met]
    return f"\nMissed: {'; '.join(found) or 'no aim'}.\n"


def _groups(title: str, development: Material, check: Check) -> str:
    study = development.study
    parts = []
    for kind, values in ((title, study.languages), ("system", study.systems)):
        parts.append(f"By {kind}, development: " + _by(values, study, check.by_diff) + ".\n")
    return "\n".join(parts)


def _by(values: Sequence[str], study: Study, scores: Numbers) -> str:
    owner = np.array(values)
    human = study.human[:, 0]
    return ", ".join(
        f"{name} {spearman(scores[owner == name], human[owner == name]):.3f}"
        for name in sorted(set(values))
    )
