"""Who took part is taken out of what is learnt, and the words of the language stay."""

from __future__ import annotations

import gzip
import json
import re
from collections import defaultdict
from pathlib import Path

import pytest

from bot.learn.export import batches
from bot.learn.ordinary_words import LEAST_PROJECTS, ORDINARY
from bot.learn.people import without_people
from tests.bot.learn.test_learn import row, write

LOGINS = ["al", "bo", "zoe-late", "main", "Client", "torvalds", "ann_acme", "x"]
NAMES = ["Zoe Late", "Will Mark", "Ann", "José Núñez", "李小龍", "王", "Main", "kim"]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        # mentions of any length, however they are joined; packages and decorators are none
        ("cc @al, @bo and @x.", "cc @someone, @someone and @someone."),
        ("cc/@al (cc:@bo) @al/@bo", "cc/@someone (cc:@someone) @someone"),
        ("ask @Ann_Acme or @main", "ask @someone or @someone"),
        ("@q/@r know; cc/@s", "@someone know; cc/@someone"),
        ("see @babel/core and `@al`", "see @babel/core and `@al`"),
        ("mail a@b.io, not @alpha-team", "mail someone, not @someone"),
        # short logins alone are words; ordinary words are words; any other login goes
        ("al dente, bo, x = 1", "al dente, bo, x = 1"),
        ("merge main into the client", "merge main into the client"),
        ("As zoe-late and Torvalds said", "As @someone and @someone said"),
        # whole names in any case, but for names made of ordinary words
        ("zoe  late knows", "someone knows"),
        ("will mark it; Will Mark knows", "will mark it; someone knows"),
        ("José Núñez, josé núñez", "someone, someone"),
        ("請問李小龍先生; 王 is short", "請問someone先生; 王 is short"),
        # parts of names where they stand as names
        ("I agree with Zoe here", "I agree with someone here"),
        ("Ann wrote this. Zoe's too", "someone wrote this. someone's too"),
        ("as Will said, ask Mark", "as someone said, ask someone"),
        ("Will, could you? Mark's idea", "someone, could you? someone's idea"),
        ("Will this work? Mark it done.", "Will this work? Mark it done."),
        ("it will. The Mark class and a new Will", "it will. The Mark class and a new Will"),
        ("Late binding, too late; Annotate", "Late binding, too late; Annotate"),
        ("call Ann.run() and Mark(x), `Zoe`", "call Ann.run() and Mark(x), `Zoe`"),
        ("kim is lower case: kimono", "kim is lower case: kimono"),
    ],
)
def test_people_go_and_words_stay(text: str, left: str) -> None:
    assert without_people(text, LOGINS, NAMES) == left


def test_without_anybody_only_what_is_always_a_person_goes() -> None:
    text = "Zoe asked @zoe; see main. Will it?"
    assert without_people(text) == "Zoe asked @someone; see main. Will it?"
    assert without_people(text, [""], ["", "-", "🦊"]) == without_people(text)


def test_an_exports_names_are_taken_out_of_all_of_its_lines(tmp_path: Path) -> None:
    rows = [
        row(1, author="zl", comment="As Zoe Late said, this is for Zoe and the main branch."),
        row(2, author="main", author_name="Zoe Late"),
    ]
    folder = write(tmp_path / "export", rows)
    (first, _) = [one for some, _, _ in batches(folder) for one in some]
    assert first.comment == "As someone said, this is for someone and the main branch."


def test_the_ordinary_words_are_those_of_the_data(data_folder: Path) -> None:
    word = re.compile(r"(?<![\w@./`-])[a-z]{3,20}(?![\w@/`-])")
    code = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|https?://\S+", re.DOTALL)
    projects: dict[str, set[str]] = defaultdict(set)
    for path in (data_folder / "pr_reviews").glob("*.jsonl.gz"):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                one = json.loads(line)
                for said in word.findall(code.sub(" ", one.get("comment") or "")):
                    projects[said].add(one.get("repo") or path.name)
    assert {said for said, where in projects.items() if len(where) >= LEAST_PROJECTS} == ORDINARY
