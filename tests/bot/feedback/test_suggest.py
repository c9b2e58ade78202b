"""`/marginalia suggest` on the double of GitHub: one reply, or one reason, or silence."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.review.local import load_generator
from tests.bot.feedback.life import Life, MarkedLines, a_life
from tests.github_double import Double, Pull

BASE = {"a.py": "first = 1\nthird = 3\n"}
CHANGED = {"a.py": "first = 1\nsecnd = 2\nthird = 3\n"}


def replies(life: Life, pull: Pull) -> list[str]:
    rows = [c for t in life.github.threads(pull) for c in t["comments"]]
    return [str(c["body"]) for c in rows if c["user"]["login"] == life.app.bot]


def say(life: Life, pull: Pull, body: str, author: str = "alice", **at: object) -> int:
    place = at or {"path": "a.py", "line": 2, "side": "RIGHT"}
    made = life.github.review_comment(pull, body, author=author, **place)
    life.live()
    return int(made["id"])


def test_on_command_a_suggestion_or_the_reason(
    github: Double, tmp_path: Path, sqlite_template: Path
) -> None:
    life = a_life(github, tmp_path, sqlite_template, BASE)
    pull = life.open(CHANGED, "one")
    life.live()
    first = say(life, pull, "Typo: rename `secnd` to `second`.")
    assert replies(life, pull) == []  # nobody asked
    say(life, pull, "/marginalia suggest", "bob", in_reply_to=first)
    assert replies(life, pull) == []  # may not write
    say(life, pull, "/marginalia suggest", in_reply_to=first)
    (reply,) = replies(life, pull)
    assert "```suggestion\nsecond = 2\n```" in reply
    life.take(life.kept)
    assert len(replies(life, pull)) == 1
    why = say(life, pull, "Is this right?\n/marginalia suggest")
    assert why
    assert "Nothing to propose: I have no revision to propose." in replies(life, pull)[-1]


def test_every_comment_by_configuration_and_silence_otherwise(
    github: Double, tmp_path: Path, sqlite_template: Path
) -> None:
    config = "feedback:\n  answers: comments\n"
    life = a_life(github, tmp_path, sqlite_template, BASE, config)
    pull = life.open(CHANGED, "two")
    life.live()
    say(life, pull, "What is this?")
    assert replies(life, pull) == []
    say(life, pull, "Typo: rename `secnd` to `second`.", "bob")
    (reply,) = replies(life, pull)
    assert "```suggestion\nsecond = 2\n```" in reply


JAVA = """\
class A {
    public String first() {
        String result = names.get(0);
        System.out.println(result);
        return result;
    }
}
"""


def test_comments_on_java_methods_are_answered_by_the_shipped_models(
    github: Double, tmp_path: Path, sqlite_template: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(MarkedLines, "generator", load_generator(None), raising=False)
    life = a_life(github, tmp_path, sqlite_template, {"a.txt": "1\n"})
    pull = life.open({"A.java": JAVA}, "three")
    life.live()
    at = {"path": "A.java", "line": 2, "side": "RIGHT"}
    first = say(life, pull, "This should be private.", **at)
    say(life, pull, "/marginalia suggest", in_reply_to=first)
    assert "```suggestion\n    private String first() {\n```" in replies(life, pull)[-1]
    assert "model's own probability" in replies(life, pull)[-1]
    # what no suggestion can hold, to take lines away, is shown
    at = {"path": "A.java", "line": 4, "side": "RIGHT"}
    first = say(life, pull, "Remove this println", **at)
    say(life, pull, "/marginalia suggest", in_reply_to=first)
    assert "To be applied by hand" in replies(life, pull)[-1]
    assert "\n-        System.out.println(result);\n" in replies(life, pull)[-1]


def test_chat_about_a_java_method_is_not_answered_unasked(
    github: Double, tmp_path: Path, sqlite_template: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(MarkedLines, "generator", load_generator(None), raising=False)
    config = "feedback:\n  answers: comments\n"
    life = a_life(github, tmp_path, sqlite_template, {"a.txt": "1\n"}, config)
    pull = life.open({"A.java": JAVA}, "four")
    life.live()
    for chat in ("Nice work here!", "I agree with Bob.", "Did you run the benchmarks?"):
        say(life, pull, chat, path="A.java", line=5, side="RIGHT")
    assert replies(life, pull) == []
    say(life, pull, "This should be private.", path="A.java", line=2, side="RIGHT")
    (reply,) = replies(life, pull)
    assert "```suggestion\n    private String first() {\n```" in reply
