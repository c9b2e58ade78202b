"""What a review does beside a change: asks, reports, approves, warns, and against it or not."""

from __future__ import annotations

import time

import pytest

from models.crscore.change_text import read_change
from models.crscore.proposals import proposal_columns
from models.crscore.sentences import split_sentences
from models.crscore.words import Rarity, quoted_code

CHANGE = read_change("""@@ -3,4 +3,4 @@ class Container
 public Container(ContainerId id) {
-    LOG.info("Created container " + id);
+    LOG.finest("Created container " + id);
     this.id = id;
 }
""")
RARITY = Rarity({}, 5.0)


def of(review: str) -> dict[str, float]:
    return proposal_columns(split_sentences(review), CHANGE, RARITY)


@pytest.mark.parametrize(
    ("review", "reports", "approves", "well"),
    [
        ("Please keep the level that was changed.", 0.0, 0.0, 0.0),
        ("The level was changed", 1.0, 0.0, 0.0),
        ("Looks good. The level was changed.", 0.5, 1.0, 1.0),
        ("The level was changed. It looks good.", 0.5, 1.0, 0.0),
        ("It would be good to have a test.", 0.0, 0.0, 0.0),
        ("Nice, but consider adding a test.", 0.0, 0.0, 0.0),
        ("rename what was added", 0.0, 0.0, 0.0),
        ("Hm", 0.0, 0.0, 0.0),
    ],
)
def test_what_sentences_do(review: str, reports: float, approves: float, well: float) -> None:
    columns = of(review)
    assert columns["text_reports"] == reports
    assert columns["text_approves"] == approves
    assert columns["text_opens_well"] == well


def test_instead_of_has_a_direction() -> None:
    against = of("Use info instead of finest.")["pair_instead"]
    along = of("Use finest rather than info.")["pair_instead"]
    assert against > 0.0 > along
    assert against == -along
    assert of("Use a lock instead of a flag.")["pair_instead"] == 0.0
    assert of("info instead of finest. " * 9)["pair_instead"] == 2.0


def test_quotes_of_added_lines_alone_count() -> None:
    assert of("`LOG.finest` is new.")["pair_quoted_fresh"] == 1 / 3
    assert of("`LOG.info` and `ContainerId` are not.")["pair_quoted_fresh"] == 0.0
    assert quoted_code("`a  b c`, 'x', fooBar and fooBar") == ["a b c", "fooBar"]


def test_a_warning_weighs_by_what_was_taken_away() -> None:
    assert of("This breaks backward compatibility.")["pair_breaks"] == len(CHANGE.gone) ** 0.5 > 0.0
    added = read_change("@@ -0,0 +1,1 @@\n+a = 1\n")
    assert proposal_columns(["A breaking change."], added, RARITY)["pair_breaks"] == 0.0


@pytest.mark.parametrize("piece", ["nit: ", "is slowly ", "(", "'a ", "`", "_a", "should be "])
def test_hostile_reviews_take_no_longer_than_others(piece: str) -> None:
    start = time.perf_counter()
    proposal_columns([piece * 5000], CHANGE, RARITY)
    # a pattern that goes back over its text would take minutes
    assert time.perf_counter() - start < 5.0
