"""Threads: resolving by GraphQL, outdated comments, lines that move."""

from __future__ import annotations

from typing import Any

import pytest

from tests.github_double.asking import Asker, bot, person
from tests.github_double.fixtures import CHANGED, Scene

THREADS = """
query ($number: Int!, $after: String) {
  repository(owner: "acme", name: "web") {
    pullRequest(number: $number) {
      reviewThreads(first: 2, after: $after) {
        pageInfo { hasNextPage endCursor }
        nodes {
          id isResolved isOutdated path line viewerCanResolve resolvedBy { login }
          comments(first: 10) { nodes { fullDatabaseId body author { login __typename } } }
        }
      }
    }
  }
}
"""
RESOLVE = """
mutation ($id: ID!) {
  resolveReviewThread(input: {threadId: $id}) { thread { isResolved resolvedBy { login } } }
}
"""


def graphql(ask: Asker, query: str, **variables: Any) -> Any:
    got = ask("POST", "/graphql", {"query": query, "variables": variables})
    assert got.status_code == 200
    return got.json()


def review(scene: Scene, *lines: int) -> None:
    comments = [{"path": "calc.py", "line": n, "side": "RIGHT", "body": f"on {n}"} for n in lines]
    got = bot(scene)(
        "POST",
        "/repos/acme/web/pulls/1/reviews",
        {"body": "b", "event": "COMMENT", "comments": comments},
    )
    assert got.status_code == 200, got.text


def lines(scene: Scene) -> list[int | None]:
    return [t["comments"][0]["line"] for t in scene.github.threads(scene.pull)]


def test_threads_are_listed_in_pages(scene: Scene) -> None:
    review(scene, 9, 10, 39)
    ask = bot(scene)
    first = graphql(ask, THREADS, number=1)["data"]["repository"]["pullRequest"]["reviewThreads"]
    assert [t["line"] for t in first["nodes"]] == [9, 10]
    assert first["pageInfo"]["hasNextPage"]
    rest = graphql(ask, THREADS, number=1, after=first["pageInfo"]["endCursor"])
    (last,) = rest["data"]["repository"]["pullRequest"]["reviewThreads"]["nodes"]
    (comment,) = last["comments"]["nodes"]
    assert comment["author"] == {"login": "marginalia", "__typename": "Bot"}
    shown = scene.github.threads(scene.pull)[2]["comments"][0]
    assert int(comment["fullDatabaseId"]) == shown["id"]


def test_trouble_27_resolving_needs_contents_write(scene: Scene) -> None:
    review(scene, 10)
    node = scene.github.threads(scene.pull)[0]["node_id"]
    refused = graphql(bot(scene), RESOLVE, id=node)
    assert refused["data"] == {"resolveReviewThread": None}
    assert [e["type"] for e in refused["errors"]] == ["FORBIDDEN"]
    scene.github.change_installation(scene.installation, permissions={"contents": "write"})
    done = graphql(bot(scene), RESOLVE, id=node)
    assert done["data"]["resolveReviewThread"]["thread"] == {
        "isResolved": True,
        "resolvedBy": {"login": "marginalia"},
    }
    assert scene.github.threads(scene.pull)[0]["resolved"]


def test_the_author_resolves_and_a_stranger_does_not(scene: Scene) -> None:
    review(scene, 10)
    node = scene.github.threads(scene.pull)[0]["node_id"]
    assert "errors" in graphql(person(scene.github, "bob"), RESOLVE, id=node)
    assert "errors" not in graphql(person(scene.github, "alice"), RESOLVE, id=node)


def test_a_query_outside_the_schema_is_an_error(scene: Scene) -> None:
    got = graphql(bot(scene), "query { viewer { logon } }")
    assert "Cannot query field 'logon'" in got["errors"][0]["message"]


def test_comments_move_with_their_lines(scene: Scene) -> None:
    review(scene, 10, 39)
    scene.github.push(scene.repo, "change", {"calc.py": "# one\n# two\n" + CHANGED})
    assert lines(scene) == [12, 41]
    assert [t["outdated"] for t in scene.github.threads(scene.pull)] == [False, False]


def test_a_comment_whose_line_changed_is_outdated(scene: Scene) -> None:
    review(scene, 10, 39)
    text = CHANGED.replace("    y = x\n", "    why = x\n")
    sha = scene.github.push(scene.repo, "change", {"calc.py": text})
    assert lines(scene) == [None, 39]
    first, second = (t["comments"][0] for t in scene.github.threads(scene.pull))
    assert (first["original_line"], first["original_commit_id"]) == (10, scene.pull.head_sha)
    assert (second["commit_id"], second["original_commit_id"]) == (sha, scene.pull.head_sha)


@pytest.mark.parametrize("verb", ["rebase", "update-branch", "squash"])
def test_comments_survive_rewriting(scene: Scene, verb: str) -> None:
    review(scene, 10)
    scene.github.push(scene.repo, "main", {"other.py": "a = 1\n"})
    pull = scene.github.act(scene.pull, verb)
    assert pull.head_sha != scene.pull.head_sha
    assert lines(scene) == [10]


def test_merging_closes(scene: Scene) -> None:
    pull = scene.github.act(scene.pull, "merge", method="squash")
    assert (pull.state, pull.merged) == ("closed", True)
    ask = bot(scene)
    text = ask("GET", "/repos/acme/web/contents/calc.py", Accept="application/vnd.github.raw")
    assert text.text == CHANGED
