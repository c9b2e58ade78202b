"""PyGithub 2.10 does its work against the double; GitHub's description finds nothing wrong."""

from __future__ import annotations

import base64
from datetime import UTC, datetime

import pytest
from github import Auth, Github, GithubIntegration

from tests.github_double.client import Double
from tests.github_double.fixtures import CALC, CHANGED, Scene


def as_app(scene: Scene) -> Github:
    auth = Auth.AppAuth(scene.app.id, scene.app.pem).get_installation_auth(scene.installation)
    return Github(
        auth=auth,
        base_url=scene.github.url,
        seconds_between_writes=0,
        seconds_between_requests=0,
        retry=None,
    )


def as_person(double: Double, login: str = "alice", base: str = "") -> Github:
    return Github(
        auth=Auth.Token(double.token(login)),
        base_url=base or double.url,
        seconds_between_writes=0,
        seconds_between_requests=0,
        retry=None,
    )


@pytest.fixture
def app(judged: Double, scene: Scene) -> Github:
    return as_app(scene)


def test_a_pull_request_is_read(app: Github, scene: Scene) -> None:
    pull = app.get_repo(scene.repo).get_pull(1)
    assert (pull.title, pull.user.login, pull.head.sha) == (
        "Change two",
        "alice",
        scene.pull.head_sha,
    )
    assert (pull.additions, pull.deletions, pull.changed_files, pull.commits) == (3, 2, 1, 1)
    (found,) = pull.get_files()
    assert (found.filename, found.status) == ("calc.py", "modified")
    assert found.patch.count("@@ -") == 2
    assert [c.sha for c in pull.get_commits()] == [scene.pull.head_sha]
    assert [p.number for p in app.get_repo(scene.repo).get_pulls(state="open")] == [1]
    issue = pull.as_issue()
    assert issue.pull_request is not None


def test_git_objects_are_read(app: Github, scene: Scene) -> None:
    repo = app.get_repo(scene.repo)
    content = repo.get_contents("calc.py", ref=scene.pull.head_sha)
    assert not isinstance(content, list)
    assert content.decoded_content.decode() == CHANGED
    assert base64.b64decode(repo.get_git_blob(content.sha).content).decode() == CHANGED
    listing = repo.get_contents("")
    assert isinstance(listing, list)
    assert sorted(c.name for c in listing) == ["README.md", "calc.py", "src"]
    tree = repo.get_git_tree(scene.pull.head_sha, recursive=True)
    assert [e.path for e in tree.tree if e.type == "blob"] == [
        "README.md",
        "calc.py",
        "src/deep/a file.txt",
    ]
    assert repo.get_git_commit(scene.pull.head_sha).message == "Change two"
    assert repo.get_branch("main").commit.sha == scene.pull.base_sha
    assert {b.name for b in repo.get_branches()} == {"main", "change"}
    deep = repo.get_contents("src/deep/a file.txt", ref="change")
    assert not isinstance(deep, list)
    assert (deep.path, deep.content) == ("src/deep/a file.txt", "eA==\n")
    assert repo.get_git_ref("heads/change").object.sha == scene.pull.head_sha
    assert repo.get_commit("change").files[0].filename == "calc.py"
    compared = repo.compare("main", "change")
    assert (compared.status, compared.ahead_by, compared.behind_by) == ("ahead", 1, 0)
    assert compared.merge_base_commit.sha == scene.pull.merge_base


def test_a_review_is_pending_and_then_submitted(app: Github, scene: Scene) -> None:
    pull = app.get_repo(scene.repo).get_pull(1)
    review = pull.create_review(
        commit=app.get_repo(scene.repo).get_commit(scene.pull.head_sha),
        body="Two remarks",
        comments=[
            {"path": "calc.py", "line": 10, "side": "RIGHT", "body": "Why y?"},
            {
                "path": "calc.py",
                "start_line": 10,
                "start_side": "RIGHT",
                "line": 11,
                "side": "RIGHT",
                "body": "```suggestion\n    return x - 2\n```",
            },
            {"path": "calc.py", "line": 38, "side": "LEFT", "body": "This was right"},
        ],
    )
    assert review.state == "PENDING"
    stranger = as_person(scene.github, "bob").get_repo(scene.repo).get_pull(1)
    assert list(stranger.get_reviews()) == []
    assert list(stranger.get_review_comments()) == []
    assert len(list(pull.get_single_review_comments(review.id))) == 3
    review.edit("Three remarks")
    app.requester.requestJsonAndCheck(
        "POST", f"{pull.url}/reviews/{review.id}/events", input={"event": "COMMENT"}
    )
    (seen,) = stranger.get_reviews()
    assert (seen.state, seen.body, seen.user.login) == (
        "COMMENTED",
        "Three remarks",
        "marginalia[bot]",
    )
    comments = list(stranger.get_review_comments())
    assert [(c.line, c.side, c.start_line) for c in comments] == [
        (10, "RIGHT", None),
        (11, "RIGHT", 10),
        (38, "LEFT", None),
    ]
    assert comments[0].diff_hunk.endswith("+    y = x")


def test_a_pending_review_can_be_thrown_away(app: Github, scene: Scene) -> None:
    pull = app.get_repo(scene.repo).get_pull(1)
    review = pull.create_review(
        body="x", comments=[{"path": "calc.py", "line": 10, "side": "RIGHT", "body": "?"}]
    )
    review.delete()
    assert scene.github.reviews(scene.pull) == []
    assert scene.github.threads(scene.pull) == []


def test_people_talk(app: Github, scene: Scene) -> None:
    pull = app.get_repo(scene.repo).get_pull(1)
    said = pull.create_issue_comment("/marginalia help")
    said.create_reaction("eyes")
    assert [r.content for r in said.get_reactions()] == ["eyes"]
    said.edit("edited")
    assert [c.body for c in pull.get_issue_comments()] == ["edited"]
    commit = app.get_repo(scene.repo).get_commit(scene.pull.head_sha)
    remark = pull.create_review_comment("On a line", commit, "calc.py", line=10, side="RIGHT")
    answer = pull.create_review_comment_reply(remark.id, "Indeed")
    assert answer.in_reply_to_id == remark.id
    remark.create_reaction("+1")
    assert [r.user.login for r in remark.get_reactions()] == ["marginalia[bot]"]
    remark.edit("On this line")
    assert [c.body for c in pull.get_review_comments(sort="created", direction="asc")] == [
        "On this line",
        "Indeed",
    ]
    remark.delete()
    said.delete()
    assert pull.get_issue_comments().totalCount == 0


def test_labels_and_roles(app: Github, scene: Scene) -> None:
    repo = app.get_repo(scene.repo)
    pull = repo.get_pull(1)
    pull.add_to_labels("bot")
    assert [label.name for label in pull.get_labels()] == ["bot"]
    pull.remove_from_labels("bot")
    assert repo.get_collaborator_permission("alice") == "write"
    scene.github.set_permission(scene.repo, "carol", "maintain")
    assert repo.get_collaborator_permission("carol") == "write"
    assert repo.get_collaborator_role_name("carol") == "maintain"
    scene.github.token("dave")
    assert repo.get_collaborator_permission("dave") == "read"


def test_check_runs(app: Github, scene: Scene) -> None:
    repo = app.get_repo(scene.repo)
    run = repo.create_check_run("Marginalia", scene.pull.head_sha, status="in_progress")
    note = {
        "path": "calc.py",
        "start_line": 10,
        "end_line": 10,
        "annotation_level": "notice",
        "message": "y is not needed",
    }
    run.edit(
        status="completed",
        conclusion="neutral",
        completed_at=datetime.now(UTC),
        output={"title": "One", "summary": "One remark", "annotations": [note]},
    )
    (found,) = repo.get_commit(scene.pull.head_sha).get_check_runs()
    assert (found.status, found.conclusion, found.output.annotations_count) == (
        "completed",
        "neutral",
        1,
    )
    assert [a.message for a in found.get_annotations()] == ["y is not needed"]
    assert [p.number for p in found.pull_requests] == [1]


def test_an_app_looks_at_itself(judged: Double, scene: Scene) -> None:
    auth = Auth.AppAuth(scene.app.id, scene.app.pem)
    integration = GithubIntegration(auth=auth, base_url=judged.url)
    assert integration.get_app().slug == "marginalia"
    (installation,) = integration.get_installations()
    assert installation.id == scene.installation
    assert [r.full_name for r in installation.get_repos()] == [scene.repo]
    assert integration.get_repo_installation("acme", "web").id == scene.installation
    assert integration.get_org_installation("acme").id == scene.installation
    token = integration.get_access_token(scene.installation, permissions={"contents": "read"})
    assert token.permissions == {"contents": "read"}
    assert (token.expires_at - datetime.now(UTC)).total_seconds() > 3_500


def test_the_apps_delivery_list(judged: Double, scene: Scene) -> None:
    judged.point_app(scene.app, "http://127.0.0.1:9/webhook")
    judged.deliver("pull_request", "opened", scene.pull, send=False)
    integration = GithubIntegration(
        auth=Auth.AppAuth(scene.app.id, scene.app.pem), base_url=judged.url
    )
    requester = integration.requester
    _, rows = requester.requestJsonAndCheck("GET", "/app/hook/deliveries")
    assert [(r["event"], r["status_code"]) for r in rows] == [("pull_request", 502)]
    _, full = requester.requestJsonAndCheck("GET", f"/app/hook/deliveries/{rows[0]['id']}")
    assert full["request"]["payload"]["pull_request"]["number"] == 1
    requester.requestJsonAndCheck("POST", f"/app/hook/deliveries/{rows[0]['id']}/attempts")
    _, rows = requester.requestJsonAndCheck("GET", "/app/hook/deliveries")
    assert [r["redelivery"] for r in rows] == [True, False]
    assert rows[0]["guid"] == rows[1]["guid"]


def test_a_person_with_a_token(judged: Double, scene: Scene) -> None:
    client = as_person(judged)
    assert client.get_user().login == "alice"
    assert client.get_user("marginalia[bot]").type == "Bot"
    assert client.get_rate_limit().rate.limit == 5000
    assert client.get_repo(scene.repo).permissions.push
    made = client.get_repo(scene.repo)
    judged.push(scene.repo, "more", {"new.py": "a = 1\n"})
    pull = made.create_pull("main", "more", title="More", body="Text", draft=True)
    assert pull.draft
    pull.edit(title="Even more")
    assert judged.pull(scene.repo, pull.number).state == "open"
    assert [e.type for e in made.get_events()] == ["PullRequestEvent"] * 2
    pull.edit(state="closed")
    assert judged.pull(scene.repo, pull.number).state == "closed"


def test_the_address_of_an_enterprise_server(judged: Double, scene: Scene) -> None:
    client = as_person(judged, base=judged.ghes_url)
    pull = client.get_repo(scene.repo).get_pull(1)
    assert pull.url == f"{judged.ghes_url}/repos/acme/web/pulls/1"
    assert pull.html_url == f"{judged.url}/acme/web/pull/1"
    _, data = client.requester.graphql_query("query { viewer { login } }", {})
    assert data["data"]["viewer"]["login"] == "alice"


def test_pages_are_linked(judged: Double, scene: Scene) -> None:
    for n in range(7):
        judged.comment(scene.pull, f"comment {n}")
    client = as_person(judged)
    client.per_page = 3
    pull = client.get_repo(scene.repo).get_pull(1)
    assert [c.body for c in pull.get_issue_comments()] == [f"comment {n}" for n in range(7)]


def test_the_text_of_the_base_is_still_there(app: Github, scene: Scene) -> None:
    content = app.get_repo(scene.repo).get_contents("calc.py", ref=scene.pull.merge_base)
    assert not isinstance(content, list)
    assert content.decoded_content.decode() == CALC
