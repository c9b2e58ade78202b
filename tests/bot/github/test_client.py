"""Tokens, limits and pages against the double."""

from __future__ import annotations

import pytest

from bot.github import requests as rq
from bot.github.auth import AppIdentity, Pace, TokenIdentity
from bot.github.client import Api
from bot.jobs.forge import LostAnswer, Refused, Transient
from tests.bot.github.conftest import PACE


def test_one_token_an_installation(scene):
    before = len(scene.github.calls("POST", "access_tokens"))
    identity = AppIdentity(scene.app.id, scene.app.pem, scene.github.url, PACE)
    first = identity.token(scene.ref.installation_id)
    assert identity.token(scene.ref.installation_id) == first
    identity.api(scene.ref.installation_id).data(rq.pull(scene.ref.repository, 1))
    assert len(scene.github.calls("POST", "access_tokens")) == before + 1
    assert identity.login == scene.app.bot
    assert identity.app_id == scene.app.id


def test_a_token_that_github_no_longer_takes_is_renewed(scene):
    scene.forge.head_sha(scene.ref)
    scene.github.expire_tokens()
    assert scene.forge.head_sha(scene.ref) == scene.pull.head_sha
    scene.github.expire_tokens()
    made = scene.forge.create_pending_review(scene.ref, scene.pull.head_sha, scene.draft())
    assert [r["id"] for r in scene.bot_reviews()] == [made.id]


def test_an_app_with_a_wrong_key_or_without_installation():
    with pytest.raises(Refused, match=r"give the \.pem file"):
        AppIdentity(1, "no key")
    with pytest.raises(Refused, match="token is empty"):
        TokenIdentity("  ")


def test_an_app_needs_its_installation(scene):
    with pytest.raises(Refused, match="installation"):
        scene.identity.api(None)


def test_whose_a_token_is(scene, person):
    assert person.identity.login == "alice"
    assert person.identity.app_id is None
    bad = TokenIdentity("ghp_wrong", scene.github.url, PACE)
    with pytest.raises(Refused, match="401"):
        _ = bad.login
    workflow = TokenIdentity(
        scene.github.installation_token(scene.ref.installation_id), scene.github.url, PACE
    )
    assert workflow.login == "github-actions[bot]"


def test_trouble_20_a_limit_without_retry_after_is_backed_off(scene):
    fault = scene.github.fault("secondary-limit", "POST", "*/reviews", seconds=0)
    with pytest.raises(Transient) as caught:
        scene.forge.create_pending_review(scene.ref, scene.pull.head_sha, scene.draft())
    assert not isinstance(caught.value, LostAnswer)
    assert caught.value.retry_after == 60
    assert scene.github.fault_hits(fault) == 1


def test_trouble_20_retry_after_is_honoured(scene):
    scene.github.fault("secondary-limit", "POST", "*/reviews", seconds=42)
    with pytest.raises(Transient) as caught:
        scene.forge.create_pending_review(scene.ref, scene.pull.head_sha, scene.draft())
    assert caught.value.retry_after == 42


def test_a_short_limit_on_a_read_is_slept_through_and_a_long_one_is_not(scene):
    fault = scene.github.fault("secondary-limit", "GET", "*/pulls/1", seconds=1)
    assert scene.forge.head_sha(scene.ref) == scene.pull.head_sha
    assert scene.github.fault_hits(fault) == 1
    scene.github.fault("secondary-limit", "GET", "*/pulls/1", seconds=50)
    with pytest.raises(Transient) as caught:
        scene.forge.head_sha(scene.ref)
    assert caught.value.retry_after == 50


def test_a_read_cut_off_again_and_again_is_transient(scene):
    scene.github.fault("drop", "GET", "*/pulls/1", times=20)
    with pytest.raises(Transient, match="no answer from GitHub"):
        scene.forge.head_sha(scene.ref)


def test_an_answer_that_does_not_come_in_time(scene):
    scene.forge.head_sha(scene.ref)  # what the judge prepares once is not to count below
    pace = Pace(0, 0, timeout=5, max_wait=1, backoff=0.01)
    identity = AppIdentity(scene.app.id, scene.app.pem, scene.github.url, pace)
    api = identity.api(scene.ref.installation_id)
    scene.github.fault("hold-before", "POST", "*/issues/1/comments", seconds=120)
    with pytest.raises(LostAnswer):
        api.send(rq.create_issue_comment(scene.ref.repository, 1, "late"))


def test_pages_are_followed_to_the_last(scene):
    for number in range(5):
        scene.github.comment(scene.pull, f"comment {number}")
    api: Api = scene.identity.api(scene.ref.installation_id)
    request = rq.listing(f"/repos/{scene.ref.repository}/issues/1/comments", 2)
    pages = list(api.pages(request))
    assert [len(page) for page in pages] == [2, 2, 1]
    assert [row["body"][-1] for page in pages for row in page] == list("01234")


def test_graphql_errors_are_told_apart(scene):
    api: Api = scene.identity.api(scene.ref.installation_id)
    with pytest.raises(Refused, match="Could not resolve"):
        api.graphql('query Q { repository(owner: "no", name: "no") { id } }', {})


def test_the_quota_is_told(scene):
    told: list[tuple[int, int, float]] = []
    identity = AppIdentity(
        scene.app.id, scene.app.pem, scene.github.url, PACE, lambda *q: told.append(q)
    )
    identity.api(scene.ref.installation_id).data(rq.pull(scene.ref.repository, 1))
    (left, limit, reset), *_ = told
    assert 0 < left <= limit
    assert reset > 0


def test_ghes_by_its_own_base_url(scene):
    identity = AppIdentity(scene.app.id, scene.app.pem, scene.github.ghes_url, PACE)
    api = identity.api(scene.ref.installation_id)
    assert api.data(rq.pull(scene.ref.repository, 1))["number"] == 1
    name = scene.ref.repository.split("/")
    query = "query Q($o: String!, $n: String!) { repository(owner: $o, name: $n) { id } }"
    assert api.graphql(query, {"o": name[0], "n": name[1]})["repository"]["id"]
