"""Each kind of claim, by language: small hunks beside the sentences that are said of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.crscore.claims import LIMIT, claims_of_hunk
from models.hunk_text import parse_hunks

GOLDEN = Path(__file__).with_name("claims_golden.txt")


def cases() -> list[tuple[str, str, list[str]]]:
    found = []
    for block in GOLDEN.read_text(encoding="utf-8").split("==== ")[1:]:
        language, _, rest = block.partition("\n")
        diff, _, said = rest.partition("\n----\n")
        found.append((language, diff, said.splitlines()))
    return found


CASES = cases()


@pytest.mark.parametrize(
    ("language", "diff", "said"), CASES, ids=[f"{i}-{case[0]}" for i, case in enumerate(CASES)]
)
def test_claims(language: str, diff: str, said: list[str]):
    (hunk,) = parse_hunks(diff)
    assert [claim.text for claim in claims_of_hunk(hunk, language)] == said


def test_the_golden_file_covers_every_language():
    languages = {language for language, _, _ in CASES}
    assert {"python", "java", "javascript", "typescript", "go", "c", "cpp"} <= languages
    assert {"rust", "csharp", "ruby", "php", "kotlin", "scala", "bash", "unknown"} <= languages


def test_every_sentence_is_one_plain_sentence():
    for _, _, said in CASES:
        assert 1 <= len(said) <= LIMIT
        assert len(said) == len(set(said))
        for text in said:
            assert text.endswith(".")
            assert text[0].isupper() or text[0] in '`"' or text[0].isdigit()
            assert "\n" not in text
            assert "wrapper_" not in text.lower()
            assert text.count("`") % 2 == 0
