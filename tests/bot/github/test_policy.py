"""Which settings count, and what is told when a file is wrong."""

from __future__ import annotations

import pytest

from bot.github.policy import PAUSED, GitHubPolicy, Operator, skip_reason
from bot.jobs.forge import PullState, RequestKind, ReviewRequest
from bot.repo_config import CONFIG_PATH, Limits
from bot.repo_config_reader import read_config
from bot.store.ledger import Ledger
from bot.store.memory import pull_scope

EVENT = ReviewRequest()


@pytest.fixture
def ledger(tmp_path):
    ledger = Ledger(f"sqlite:///{tmp_path}/ledger.db")
    ledger.migrate()
    yield ledger
    ledger.close()


@pytest.fixture
def policy(scene, ledger):
    return GitHubPolicy(scene.identity, ledger.memory)


def put(scene, text, repo=None, branch="main"):
    scene.github.push(repo or scene.ref.repository, branch, {CONFIG_PATH: text})


def test_operator_then_organisation_then_default_branch(scene, ledger):
    owner = scene.ref.repository.split("/")[0]
    scene.github.create_repo(f"{owner}/.github", {CONFIG_PATH: "sure: 0.2\nmax_comments: 3\n"})
    scene.github.install(scene.app, owner)
    put(scene, "max_comments: 4\npaths: {exclude: [vendor/]}\n")
    operator = Operator(read_config("sure: 0.9\nsummary: long\n"), Limits(min_sure=0.1))
    policy = GitHubPolicy(scene.identity, ledger.memory, lambda: operator)
    config = policy.settings(scene.ref).config
    assert (config.sure, config.max_comments, config.summary) == (0.2, 4, "long")
    plan = policy.plan(scene.ref, scene.forge.pull(scene.ref), EVENT)
    assert (plan.options.sure, plan.options.max_comments) == (0.2, 4)
    assert plan.options.exclude == ("vendor/",)
    assert plan.skip == ""


def test_trouble_23_the_pull_requests_own_branch_never_configures(scene, policy):
    put(scene, "sure: 0\nenabled: false\n", branch="change")
    state = scene.forge.pull(scene.ref)
    plan = policy.plan(scene.ref, state, EVENT)
    assert (plan.options.sure, plan.skip) == (0.5, "")


def test_a_wrong_file_is_told_once_and_the_last_good_one_counts(scene, policy):
    put(scene, "sure: 0.3\n")
    state = scene.forge.pull(scene.ref)
    assert policy.plan(scene.ref, state, EVENT).options.sure == 0.3
    put(scene, "sure: 0.4\nmax_coments: 3\n")
    for _ in range(2):
        plan = policy.plan(scene.ref, state, EVENT)
        assert plan.options.sure == 0.3
        assert "1 problems" in plan.notes[0]
    told = [c["body"] for c in scene.github.comments(scene.pull)]
    assert len(told) == 1
    assert f'{CONFIG_PATH}:2:1: unknown key "max_coments": did you mean "max_comments"?' in told[0]
    put(scene, "sure: 0.4\n")
    plan = policy.plan(scene.ref, state, EVENT)
    assert (plan.options.sure, plan.notes) == (0.4, ())


def test_told_once_even_where_the_ledger_forgot(scene, ledger, tmp_path):
    put(scene, "sure: much\n")
    state = scene.forge.pull(scene.ref)
    GitHubPolicy(scene.identity, ledger.memory).plan(scene.ref, state, EVENT)
    other = Ledger(f"sqlite:///{tmp_path}/other.db")
    other.migrate()
    GitHubPolicy(scene.identity, other.memory).plan(scene.ref, state, EVENT)
    other.close()
    assert len(scene.github.comments(scene.pull)) == 1


def test_in_shadow_nothing_is_written(scene, ledger):
    put(scene, "sure: much\n")
    policy = GitHubPolicy(scene.identity, ledger.memory, lambda: Operator(shadow=True))
    assert policy.plan(scene.ref, scene.forge.pull(scene.ref), EVENT).notes
    assert scene.github.comments(scene.pull) == []


def test_what_the_operator_does_not_offer_is_an_error(scene, ledger):
    put(scene, "model: huge\n")
    operator = Operator(limits=Limits(models=("small",)))
    policy = GitHubPolicy(scene.identity, ledger.memory, lambda: operator)
    layered = policy.settings(scene.ref)
    assert "choose from default, off, small" in str(layered.errors[0])
    assert layered.config.model == "default"


def test_paused_means_events_are_skipped_and_commands_are_not(scene, ledger, policy):
    ledger.memory.put(pull_scope(scene.ref.repository_id, 1), PAUSED, True, 1.0, "alice")
    state = scene.forge.pull(scene.ref)
    assert policy.plan(scene.ref, state, EVENT).skip == "paused"
    command = ReviewRequest(RequestKind.COMMAND, "issue_comment:1")
    assert policy.plan(scene.ref, state, command).skip == ""


def test_check_runs_are_for_apps(scene, person, ledger):
    put(scene, "check_run: true\n")
    state = scene.forge.pull(scene.ref)
    app = GitHubPolicy(scene.identity, ledger.memory)
    assert app.plan(scene.ref, state, EVENT).check_run
    token = GitHubPolicy(person.identity, ledger.memory)
    assert not token.plan(scene.ref, state, EVENT).check_run


@pytest.mark.parametrize(
    ("text", "state", "reason"),
    [
        ("", {}, ""),
        ("enabled: false", {}, "switched off"),
        ("", {"draft": True}, "a draft"),
        ("when: {drafts: true}", {"draft": True}, ""),
        ("when: {bots: false}", {"author_is_bot": True}, "by a bot"),
        ("when: {skip_authors: [Dave]}", {"author": "dave"}, "by dave"),
        ("when: {skip_labels: [wip]}", {"labels": ("wip", "x")}, 'has the label "wip"'),
        ("when: {only_labels: [ask]}", {"labels": ("x",)}, "has none of the labels ask"),
        ("when: {only_labels: [ask]}", {"labels": ("ask",)}, ""),
        ("when: {base_branches: [main, 'v*']}", {"base_ref": "dev"}, "goes into dev"),
        ("when: {base_branches: [main, 'v*']}", {"base_ref": "v1/x"}, ""),
    ],
)
def test_skip_reason(text, state, reason):
    pull = PullState(**{"head": "h", "merge_base": "b", "base_ref": "main", **state})
    found = skip_reason(read_config(text), pull)
    assert found.startswith(reason)
    assert bool(found) == bool(reason)
