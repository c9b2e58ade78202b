"""``explain``: a comment, a review and a candidate, from what the ledger has."""

from __future__ import annotations

import json

from bot.commands.explain import explain
from tests.bot.commands.pulls import (
    CLAIM,
    Place,
    call,
    empty_ledger,
    github,
    keep_again_with,
    keep_review,
    place,
    said,
)

__all__ = ["empty_ledger", "github", "place"]


# explain


def test_a_comment_and_a_review_are_explained_by_their_addresses(place: Place) -> None:
    ledger = place.ledger()
    _, _, result = keep_review(place, ledger)
    ledger.close()
    (review,) = place.github.reviews(place.pull)
    comment = min(review["comments"], key=lambda one: one["line"])
    for address in (comment["html_url"], f"{place.url}/files#r{comment['id']}"):
        text = call(explain, address).stdout
        assert "> Say why: items.append(item)" in text
        assert "t5:crb (comment, warning)" in text
        assert "verdict            posted" in text
        assert "conciseness        0.50" in text
        assert "comprehensiveness  0.25" in text
        assert "relevance          0.33" in text
        assert "claim, cosine 0.88: add gets a list by default" in text
        assert "probability of 0.62" in text
        assert "0.75; its least likely word 0.25" in text
        assert "2 of 3: src/a.py, line 13 of the head" in text
        assert "[src/a.py:13; syntax]" in text
        assert comment["html_url"] in text
        assert "def add(item" not in text
    for address in (review["html_url"], place.url):
        text = call(explain, address).stdout
        assert "3 candidates, 1 of them held back" in text
        assert "held back: not-confident (0.40 sure; 0.50 asked for)" in text
        assert "note: a note" in text
    found = json.loads(call(explain, review["html_url"], "--json").stdout)
    assert [one["fingerprint"] for one in found["candidates"]] == [
        one.fingerprint for one in result.candidates
    ]
    assert found["review"]["github_id"] == review["id"]
    assert found["references"][0]["text"] == CLAIM.text
    one = json.loads(call(explain, comment["html_url"], "--json").stdout)
    assert [c["judge"] for c in one["candidates"]] == [0.625]
    assert [c["github_id"] for c in one["comments"]] == [comment["id"]]


def test_a_candidate_is_explained_by_its_fingerprint(place: Place) -> None:
    ledger = place.ledger()
    _, _, result = keep_review(place, ledger)
    ledger.close()
    held = result.candidates[0].fingerprint
    for name in (held, held[:8]):
        text = call(explain, name).stdout
        assert "> Say why: def add(item" in text
        assert "held back: not-confident" in text
    assert "is no address and no fingerprint" in said(call(explain, "0" * 24))
    assert "is no address and no fingerprint" in said(call(explain, held[:3]))
    assert "is no address and no fingerprint" in said(call(explain, "%%%%%%%%"))


def test_a_prefix_of_several_fingerprints_names_none(place: Place) -> None:
    ledger = place.ledger()
    keep_review(place, ledger)
    _, _, result = keep_again_with(place, ledger, ("abcdef01", "abcdef02"))
    ledger.close()
    assert "begins several fingerprints: abcdef01, abcdef02" in said(call(explain, "abcdef0"))
    assert result.candidates[1].candidate.text in call(explain, "abcdef02").stdout


def test_what_the_ledger_does_not_have_is_said(place: Place) -> None:
    assert "there is no ledger in" in said(call(explain, place.url))
    place.ledger().close()
    for tail, thing in (
        ("", "no such review"),
        ("#pullrequestreview-5", "no such review 5"),
        ("#discussion_r6", "no such review comment 6"),
        ("#issuecomment-7", "no such comment in the conversation 7"),
    ):
        assert thing in said(call(explain, place.url + tail))
    data = place.folder / "data" / "marginalia.db"
    data.write_bytes(b"")
    assert "start marginalia serve" in said(call(explain, place.url))
    data.write_bytes(b"no database at all" * 100)
    assert "cannot be read" in said(call(explain, place.url))
