"""The JSON of accounts, repositories, Apps and their kin, as GitHub's description has it."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from tests.github_double.records import Account, App, Delivery, Hook, Installation, Repo, node_id

Json = dict[str, Any]


def web_root(root: str) -> str:
    """The address of the pages, from the address of the API."""
    return root.removesuffix("/api/v3")


def user(root: str, account: Account) -> Json:
    """A simple-user."""
    url = f"{root}/users/{quote(account.login)}"
    web = web_root(root)
    bot = account.type == "Bot"
    page = f"apps/{account.login.removesuffix('[bot]')}" if bot else account.login
    return {
        "login": account.login,
        "id": account.id,
        "node_id": node_id("U", account.id),
        "avatar_url": f"{web}/avatars/u/{account.id}",
        "gravatar_id": "",
        "url": url,
        "html_url": f"{web}/{page}",
        "followers_url": f"{url}/followers",
        "following_url": f"{url}/following{{/other_user}}",
        "gists_url": f"{url}/gists{{/gist_id}}",
        "starred_url": f"{url}/starred{{/owner}}{{/repo}}",
        "subscriptions_url": f"{url}/subscriptions",
        "organizations_url": f"{url}/orgs",
        "repos_url": f"{url}/repos",
        "events_url": f"{url}/events{{/privacy}}",
        "received_events_url": f"{url}/received_events",
        "type": account.type,
        "site_admin": False,
    }


def maybe_user(root: str, account: Account | None) -> Json | None:
    """A simple-user or null."""
    return None if account is None else user(root, account)


def full_user(root: str, account: Account, *, private: bool) -> Json:
    """A public-user, or the caller's own private-user."""
    out = user(root, account)
    out.update(
        name=account.name,
        company=None,
        blog="",
        location=None,
        email=None,
        hireable=None,
        bio=None,
        public_repos=1,
        public_gists=0,
        followers=0,
        following=0,
        created_at=account.created_at,
        updated_at=account.created_at,
    )
    if private:
        out.update(
            private_gists=0,
            total_private_repos=0,
            owned_private_repos=0,
            disk_usage=0,
            collaborators=0,
            two_factor_authentication=True,
        )
    return out


def organization(root: str, account: Account) -> Json:
    """An organization-simple, as deliveries carry it."""
    url = f"{root}/orgs/{account.login}"
    return {
        "login": account.login,
        "id": account.id,
        "node_id": node_id("O", account.id),
        "url": url,
        "repos_url": f"{url}/repos",
        "events_url": f"{url}/events",
        "hooks_url": f"{url}/hooks",
        "issues_url": f"{url}/issues",
        "members_url": f"{url}/members{{/member}}",
        "public_members_url": f"{url}/public_members{{/member}}",
        "avatar_url": f"{web_root(root)}/avatars/u/{account.id}",
        "description": "",
    }


_REPO_URLS = {
    "archive_url": "/{archive_format}{/ref}",
    "assignees_url": "/assignees{/user}",
    "blobs_url": "/git/blobs{/sha}",
    "branches_url": "/branches{/branch}",
    "collaborators_url": "/collaborators{/collaborator}",
    "comments_url": "/comments{/number}",
    "commits_url": "/commits{/sha}",
    "compare_url": "/compare/{base}...{head}",
    "contents_url": "/contents/{+path}",
    "contributors_url": "/contributors",
    "deployments_url": "/deployments",
    "downloads_url": "/downloads",
    "events_url": "/events",
    "forks_url": "/forks",
    "git_commits_url": "/git/commits{/sha}",
    "git_refs_url": "/git/refs{/sha}",
    "git_tags_url": "/git/tags{/sha}",
    "hooks_url": "/hooks",
    "issue_comment_url": "/issues/comments{/number}",
    "issue_events_url": "/issues/events{/number}",
    "issues_url": "/issues{/number}",
    "keys_url": "/keys{/key_id}",
    "labels_url": "/labels{/name}",
    "languages_url": "/languages",
    "merges_url": "/merges",
    "milestones_url": "/milestones{/number}",
    "notifications_url": "/notifications{?since,all,participating}",
    "pulls_url": "/pulls{/number}",
    "releases_url": "/releases{/id}",
    "stargazers_url": "/stargazers",
    "statuses_url": "/statuses/{sha}",
    "subscribers_url": "/subscribers",
    "subscription_url": "/subscription",
    "tags_url": "/tags",
    "teams_url": "/teams",
    "trees_url": "/git/trees{/sha}",
}


def repo(root: str, record: Repo) -> Json:
    """A repository; holds what full-repository needs too."""
    url = f"{root}/repos/{record.full_name}"
    html = f"{web_root(root)}/{record.full_name}"
    open_pulls = sum(p.state == "open" for p in record.pulls.values())
    out: Json = {
        "id": record.id,
        "node_id": node_id("R", record.id),
        "name": record.name,
        "full_name": record.full_name,
        "owner": user(root, record.owner),
        "private": record.private,
        "visibility": "private" if record.private else "public",
        "html_url": html,
        "description": None,
        "fork": record.parent is not None,
        "url": url,
        "git_url": html.replace("http://", "git://") + ".git",
        "ssh_url": f"git@example.test:{record.full_name}.git",
        "clone_url": f"{html}.git",
        "mirror_url": None,
        "svn_url": html,
        "homepage": None,
        "language": None,
        "forks_count": 0,
        "stargazers_count": 0,
        "watchers_count": 0,
        "size": 1,
        "default_branch": record.default_branch,
        "open_issues_count": open_pulls,
        "has_issues": True,
        "has_projects": True,
        "has_wiki": True,
        "has_pages": False,
        "has_downloads": True,
        "has_discussions": False,
        "archived": False,
        "disabled": False,
        "pushed_at": record.pushed_at,
        "created_at": record.created_at,
        "updated_at": record.updated_at,
        "license": None,
        "topics": [],
        "is_template": False,
        "web_commit_signoff_required": False,
        "allow_forking": True,
        "forks": 0,
        "open_issues": open_pulls,
        "watchers": 0,
        "network_count": 0,
        "subscribers_count": 0,
    }
    out.update({name: url + tail for name, tail in _REPO_URLS.items()})
    return out


def app(root: str, record: App) -> Json:
    """An integration."""
    return {
        "id": record.id,
        "slug": record.slug,
        "client_id": record.client_id,
        "node_id": node_id("A", record.id),
        "owner": user(root, record.owner),
        "name": record.name,
        "description": None,
        "external_url": f"{web_root(root)}/apps/{record.slug}",
        "html_url": f"{web_root(root)}/apps/{record.slug}",
        "created_at": record.created_at,
        "updated_at": record.created_at,
        "permissions": record.permissions,
        "events": [e for e in record.events if e != "*"],
    }


def installation(root: str, record: Installation) -> Json:
    """An installation."""
    return {
        "id": record.id,
        "account": user(root, record.account),
        "repository_selection": "all" if record.repo_ids is None else "selected",
        "access_tokens_url": f"{root}/app/installations/{record.id}/access_tokens",
        "repositories_url": f"{root}/installation/repositories",
        "html_url": f"{web_root(root)}/settings/installations/{record.id}",
        "app_id": record.app.id,
        "app_slug": record.app.slug,
        "target_id": record.account.id,
        "target_type": record.account.type,
        "permissions": record.permissions,
        "events": [e for e in record.app.events if e != "*"],
        "created_at": record.created_at,
        "updated_at": record.created_at,
        "single_file_name": None,
        "suspended_by": user(root, record.account) if record.suspended_at else None,
        "suspended_at": record.suspended_at,
    }


def hook_config(hook: Hook) -> Json:
    """A webhook-config; the secret is masked."""
    return {
        "url": hook.url,
        "content_type": hook.content_type,
        "insecure_ssl": "0",
        "secret": "********",
    }


def hook(root: str, full_name: str, record: Hook) -> Json:
    """A repository's webhook."""
    url = f"{root}/repos/{full_name}/hooks/{record.id}"
    made = now_of(record)
    return {
        "type": "Repository",
        "id": record.id,
        "name": "web",
        "active": True,
        "events": record.events,
        "config": hook_config(record),
        "updated_at": made,
        "created_at": made,
        "url": url,
        "test_url": f"{url}/tests",
        "ping_url": f"{url}/pings",
        "deliveries_url": f"{url}/deliveries",
        "last_response": {"code": None, "status": "unused", "message": None},
    }


def now_of(record: Hook) -> str:
    """When a hook first spoke, or a fixed date before that."""
    return record.deliveries[0].delivered_at if record.deliveries else "2024-01-01T00:00:00Z"


def delivery_item(record: Delivery) -> Json:
    """A row of the list of deliveries."""
    return {
        "id": record.id,
        "guid": record.guid,
        "delivered_at": record.delivered_at,
        "redelivery": record.redelivery,
        "duration": round(record.duration, 2),
        "status": record.status,
        "status_code": record.status_code,
        "event": record.event,
        "action": record.action,
        "installation_id": record.installation_id,
        "repository_id": record.repository_id,
        "throttled_at": None,
    }


def delivery(record: Delivery) -> Json:
    """A delivery with its request and its answer."""
    return {
        **delivery_item(record),
        "url": record.hook.url,
        "request": {"headers": record.request_headers, "payload": record.payload},
        "response": {"headers": record.response_headers, "payload": record.response_body},
    }
