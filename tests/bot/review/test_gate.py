from __future__ import annotations

from dataclasses import replace

import pytest

from bot.diff import parse_diff
from bot.feedback.calibration import AcceptanceModel, Observed
from bot.github.fingerprints import fingerprint
from bot.review.gate import Draft, Gate
from bot.review.types import Reason, ReviewOptions
from models.change import Side
from models.crscore import CRScore
from models.crscore.claims import claims_of_hunk
from models.review_types import Candidate, CandidateKind, Replacement, Severity

HEAD = b"""\
def fetch(url, timeout=30, retries=3):
    for attempt in range(retries):
        page = get(url, timeout)
        if page:
            return page
    return None
"""
DIFF = b"""\
diff --git a/fetch.py b/fetch.py
--- a/fetch.py
+++ b/fetch.py
@@ -1,2 +1,6 @@
-def fetch(url):
-    return get(url)
+def fetch(url, timeout=30, retries=3):
+    for attempt in range(retries):
+        page = get(url, timeout)
+        if page:
+            return page
+    return None
"""
FILE = parse_diff(DIFF).files[0]


@pytest.fixture(scope="module")
def scorer() -> CRScore:
    return CRScore()


def candidate(kind=CandidateKind.FINDING, line=3, text="Name the timeout.", **other) -> Candidate:
    made = Candidate(kind, "ruff:X1", "fetch.py", Side.RIGHT, line, line, text)
    return replace(made, **other)


def revision(start, end, *lines, confidence=0.9, text="The call changes.") -> Candidate:
    return Candidate(
        CandidateKind.REVISION, "t5-edits:0:crb", "fetch.py", Side.RIGHT, start, end, text,
        Replacement(start, end, lines), confidence=confidence,
    )  # fmt: skip


def judge(scorer, candidates, head=HEAD, card=None, **options):
    claims = claims_of_hunk(FILE.hunks[0], "python", "fetch.py", None, HEAD)
    drafts = [
        Draft(c, scorer.score_references(c.text, claims), claims, fingerprint(c, FILE))
        for c in candidates
    ]
    gate = Gate(
        {"fetch.py": FILE}, {"fetch.py": head}, card or {}, scorer.encoder,
        ReviewOptions(**options),
    )  # fmt: skip
    return gate.judge(drafts)


def reasons(judged):
    return {one.candidate.text: one.verdict.reason for one in judged}


def test_each_claim_of_ours_handed_in_as_a_comment_is_rejected(scorer):
    claims = claims_of_hunk(FILE.hunks[0], "python", "fetch.py", None, HEAD)
    assert len(claims) >= 3
    said = [candidate(CandidateKind.COMMENT, text=c.text, origin="t5-edits:0:rcg") for c in claims]
    for one in judge(scorer, said, sure=0.01):
        assert one.verdict.reason is Reason.RESTATES_CHANGE, one.candidate.text


def test_all_claims_together_are_a_restatement_too(scorer):
    claims = claims_of_hunk(FILE.hunks[0], "python", "fetch.py", None, HEAD)
    said = candidate(
        CandidateKind.COMMENT, text="\n".join(c.text for c in claims[:4]), origin="t5-edits:0:rcg"
    )
    assert judge(scorer, [said], sure=0.01)[0].verdict.reason is Reason.RESTATES_CHANGE


def test_a_comment_about_something_else_is_not_relevant(scorer):
    said = candidate(
        CandidateKind.COMMENT,
        text="Colour schemes in menus look odd on phones.",
        origin="t5-edits:0:rcg",
    )
    assert judge(scorer, [said], sure=0.01)[0].verdict.reason is Reason.NOT_RELEVANT


def test_of_what_the_past_said_one_stands_on_a_line(scorer):
    past = {"kind": CandidateKind.COMMENT, "origin": "retrieval:rcg"}
    first = candidate(text="Raise a clear error when the timeout is over.", confidence=0.9, **past)
    second = candidate(text="Which retries are worth another page?", confidence=0.6, **past)
    elsewhere = candidate(text="Why is fetch not cached here?", line=2, confidence=0.5, **past)
    judged = judge(scorer, [second, elsewhere, first], sure=0)
    found = {one.candidate.text: one.verdict.reason for one in judged}
    assert found == {
        first.text: Reason.POSTED,
        second.text: Reason.DUPLICATE,
        elsewhere.text: Reason.POSTED,
    }


def test_at_zero_only_safety_stands(scorer):
    weak = revision(3, 3, "        page = get(url, timeout=timeout)", confidence=0.0001)
    assert judge(scorer, [weak], sure=0)[0].verdict.posted
    assert judge(scorer, [weak], sure=0.5)[0].verdict.reason is Reason.NOT_CONFIDENT
    broken = revision(3, 3, "        page = get(url, timeout=timeout")
    assert judge(scorer, [broken], sure=0)[0].verdict.reason is Reason.BREAKS_SYNTAX


def test_the_cards_calibration_is_what_sure_means(scorer):
    card = {"calibration": [[0.0, 0.0], [0.4, 0.2], [0.8, 0.9]]}
    one = revision(3, 3, "        page = get(url, timeout=timeout)", confidence=0.6)
    assert judge(scorer, [one], card=card, sure=0.54)[0].verdict.posted
    assert not judge(scorer, [one], card=card, sure=0.56)[0].verdict.posted


def test_a_suggestion_that_brings_in_a_finding_is_held_back(scorer):
    worse = revision(4, 4, "        if page == None:")
    assert judge(scorer, [worse], sure=0)[0].verdict.reason is Reason.ADDS_FINDING


def test_suggestions_never_overlap_and_the_better_one_stays(scorer):
    good = revision(
        3,
        4,
        "        page = get(url, timeout=timeout)",
        "        if page:",
        confidence=0.9,
        text="The timeout is passed by name.",
    )
    worse = revision(
        4,
        4,
        "        if page is not None:",
        confidence=0.7,
        text="Pages that are empty are returned.",
    )
    judged = judge(scorer, [worse, good], sure=0)
    assert [one.candidate for one in judged] == [good, worse]
    assert judged[0].verdict.posted
    assert judged[1].verdict.reason is Reason.OVERLAPS


def test_suggestions_that_only_break_together_are_not_posted_together(scorer):
    # the first opens a comment that ends at the old one; the second would end it too soon
    old = ["bar();", "baz();", "foo();", "qux();", "/* y */ end();"]
    head = "\n".join(old).encode() + b"\n"
    text = f"diff --git a/f.js b/f.js\n--- a/f.js\n+++ b/f.js\n@@ -0,0 +1,{len(old)} @@\n"
    file = parse_diff((text + "".join(f"+{line}\n" for line in old)).encode()).files[0]
    drafts = []
    for number, line, said in ((1, "bar(); /* see", "Opens."), (3, "foo(); // */ )(", "Closes.")):
        made = replace(revision(number, number, line, text=said), path="f.js")
        drafts.append(Draft(made, scorer.score_references(said, ()), (), said))
    gate = Gate({"f.js": file}, {"f.js": head}, {}, scorer.encoder, ReviewOptions(sure=0))
    for draft in drafts:
        assert gate.judge([draft])[0].verdict.posted
    judged = gate.judge(drafts)
    assert [one.verdict.reason for one in judged] == [Reason.POSTED, Reason.BREAKS_SYNTAX]


def test_the_same_remark_is_said_once(scorer):
    first = candidate(text="This timeout should be a keyword argument.", line=3)
    second = candidate(
        text="The timeout here should be passed as a keyword argument.", line=3, origin="ast-grep:x"
    )
    other_line = candidate(text="This timeout should be a keyword argument.", line=5)
    judged = judge(scorer, [first, second, other_line])
    by_text = [(one.candidate.line, one.verdict.reason) for one in judged]
    assert sorted(by_text) == [(3, Reason.DUPLICATE), (3, Reason.POSTED), (5, Reason.POSTED)]


def test_two_rules_about_one_fault_on_one_line_are_one_remark(scorer):
    bare = candidate(text="Name the exceptions that you expect here.", origin="ruff:E722")
    dropped = candidate(text="Log the failure instead of dropping it.", origin="ruff:S110")
    elsewhere = replace(dropped, start_line=5, line=5)
    judged = judge(scorer, [bare, dropped, elsewhere], sure=0.0)
    at = {(one.candidate.origin, one.candidate.line): one.verdict.reason for one in judged}
    on_three = [at["ruff:E722", 3], at["ruff:S110", 3]]
    assert sorted(on_three) == [Reason.DUPLICATE, Reason.POSTED]
    assert at["ruff:S110", 5] is Reason.POSTED


def test_the_limit_keeps_the_best(scorer):
    errors = [
        candidate(text=f"Word {i} is wrong for {i}.", line=i, severity=Severity.ERROR)
        for i in (2, 3)
    ]
    odd = {"text": "Something else altogether is odd.", "origin": "ruff:X2"}
    infos = [candidate(line=5, severity=Severity.INFO, **odd)]
    judged = judge(scorer, infos + errors, max_comments=2)
    assert [one.verdict.reason for one in judged] == [
        Reason.POSTED, Reason.POSTED, Reason.OVER_LIMIT,
    ]  # fmt: skip
    assert judged[2].candidate == infos[0]


def test_known_and_dismissed_remarks_do_not_return(scorer):
    one = candidate()
    mark = fingerprint(one, FILE)
    known = judge(scorer, [one], known_fingerprints=frozenset({mark}))
    dismissed = judge(scorer, [one], dismissed_fingerprints=frozenset({mark}))
    assert known[0].verdict.reason is Reason.ALREADY_SAID
    assert dismissed[0].verdict.reason is Reason.DISMISSED_BEFORE


def test_a_rule_can_be_switched_off(scorer):
    for name in ("X1", "ruff:X1"):
        judged = judge(scorer, [candidate()], disabled_rules=frozenset({name}))
        assert judged[0].verdict.reason is Reason.RULE_OFF


def test_every_candidate_has_a_rank_and_one_verdict(scorer):
    many = [candidate(line=i, text=f"Remark number {i} on something.") for i in range(0, 9)]
    judged = judge(scorer, many)
    assert [one.rank for one in judged] == list(range(1, 10))
    outside = [one.candidate.line for one in judged if one.verdict.reason is Reason.OUTSIDE_HUNK]
    assert sorted(outside) == [0, 7, 8]


def learnt(origin: str, count: int, accepted: bool) -> dict:
    seen = [Observed(f"{origin}{n}", float(n), origin, 0.7, accepted) for n in range(count)]
    return AcceptanceModel.shipped().learn(seen).to_json()


def test_a_rule_that_the_team_keeps_dismissing_is_held_back_and_says_its_counts(scorer):
    (one,) = judge(scorer, [candidate()], learnt=learnt("ruff:X1", 25, False))
    assert one.verdict.reason is Reason.NOT_CONFIDENT
    assert "0 of 25 of this rule were accepted here" in one.verdict.detail
    assert judge(scorer, [candidate()], learnt=learnt("ruff:X1", 2, False))[0].verdict.posted
    assert judge(scorer, [candidate()], learnt=learnt("ruff:X1", 25, False), sure=0)[
        0
    ].verdict.posted


def test_a_team_that_likes_a_rule_hears_more_of_it(scorer):
    options = {"sure": 0.8}
    assert not judge(scorer, [candidate()], **options)[0].verdict.posted
    assert judge(scorer, [candidate()], learnt=learnt("ruff:X1", 60, True), **options)[
        0
    ].verdict.posted


def test_pins_and_bans_of_the_configuration_stand_above_what_was_learnt(scorer):
    faded = learnt("ruff:X1", 25, False)
    pinned = judge(scorer, [candidate()], learnt=faded, pinned=frozenset({"ruff:X1"}))
    assert pinned[0].verdict.posted
    for name in ("ruff:X1", "ruff"):
        banned = judge(scorer, [candidate()], banned=frozenset({name}), sure=0)
        assert banned[0].verdict.reason is Reason.RULE_OFF


def test_one_rule_speaks_twice_in_a_file_and_no_more(scorer):
    said = ["Name the timeout.", "Log the attempt.", "Close the page.", "Check the address."]
    rows = [candidate(line=line, text=text) for line, text in enumerate(said, 1)]
    other = candidate(line=5, text="Return early here.", origin="ruff:X2")
    judged = judge(scorer, [*rows, other], analyzers=frozenset({"lizard"}))
    posted = [one.candidate.origin for one in judged if one.verdict.posted]
    assert sorted(posted) == ["ruff:X1", "ruff:X1", "ruff:X2"]
    held = [one.verdict for one in judged if not one.verdict.posted]
    assert {verdict.reason for verdict in held} == {Reason.RULE_LIMIT}
    assert held[0].detail == "ruff:X1 was said 2 times in this file"
    at_zero = judge(scorer, [*rows, other], sure=0, analyzers=frozenset({"lizard"}))
    assert all(one.verdict.posted for one in at_zero)
