"""Who calls and what they may do: tokens, App JWTs, permissions, rate limits."""

from __future__ import annotations

import base64
import time
from dataclasses import dataclass
from datetime import UTC, datetime

import jwt
from flask import Request

from tests.github_double.errors import ApiError, not_found
from tests.github_double.records import Account, App, Installation, Repo, Token
from tests.github_double.world import World

_RANK = {"none": 0, "read": 1, "triage": 2, "write": 3, "maintain": 4, "admin": 5}


@dataclass(frozen=True, slots=True)
class Caller:
    """The one behind a request: a person, an installation, an App by its JWT, or nobody."""

    account: Account | None
    token: Token | None = None
    app: App | None = None
    as_app: bool = False

    @property
    def installation(self) -> Installation | None:
        return self.token.installation if self.token else None

    @property
    def name(self) -> str:
        """A word for the record of requests; never the token itself."""
        if self.as_app and self.app:
            return f"app:{self.app.slug}"
        if self.account is None:
            return "anonymous"
        return self.account.login


def identify(world: World, request: Request) -> Caller:
    """Read the Authorization header; 401 for what is no longer or was never good."""
    header = request.headers.get("Authorization", "")
    if not header:
        return Caller(None)
    scheme, _, value = header.partition(" ")
    if request.path.startswith("/applications/"):
        return _app_by_secret(world, request)
    if scheme.lower() == "basic":
        try:
            value = base64.b64decode(value).decode().split(":", 1)[1]
        except (ValueError, IndexError):
            raise ApiError(401, "Bad credentials") from None
    elif scheme.lower() not in ("token", "bearer"):
        raise ApiError(401, "Bad credentials")
    if value.count(".") == 2:
        return _app_by_jwt(world, value)
    token = world.tokens.get(value)
    if token is None or (token.expires_at and token.expires_at <= datetime.now(UTC)):
        raise ApiError(401, "Bad credentials")
    app = token.installation.app if token.installation else None
    if token.installation and (
        token.installation.suspended_at or token.installation.id not in world.installations
    ):
        raise ApiError(403, "This installation has been suspended")
    token.used += 1
    return Caller(token.account, token, app)


def _app_by_secret(world: World, request: Request) -> Caller:
    """An App by its client's id and secret: what may be done with the tokens it was given."""
    given = request.authorization
    if given is None or given.type != "basic":
        raise ApiError(401, "Requires authentication")
    for app in world.apps.values():
        if (app.client_id, app.client_secret) == (given.username, given.password):
            return Caller(None, None, app)
    raise ApiError(401, "Bad credentials")


def _app_by_jwt(world: World, value: str) -> Caller:
    try:
        claims = jwt.decode(value, options={"verify_signature": False})
    except jwt.InvalidTokenError:
        raise ApiError(401, "A JSON web token could not be decoded") from None
    issuer = str(claims.get("iss", ""))
    app = next((a for a in world.apps.values() if issuer in (str(a.id), a.client_id)), None)
    if app is None:
        raise ApiError(404, "Integration not found")
    try:
        jwt.decode(
            value,
            app.public_key,
            algorithms=["RS256"],
            options={
                "verify_exp": False,
                "verify_iat": False,
                "verify_aud": False,
                "verify_iss": False,
            },
        )
    except jwt.InvalidTokenError:
        raise ApiError(401, "A JSON web token could not be decoded") from None
    moment = time.time()
    if not isinstance(claims.get("exp"), int) or claims["exp"] <= moment:
        raise ApiError(
            401,
            "'Expiration time' claim ('exp') must be a numeric value representing the "
            "future time at which the assertion expires",
        )
    if claims["exp"] > moment + 600:
        raise ApiError(401, "'Expiration time' claim ('exp') is too far in the future")
    if not isinstance(claims.get("iat"), int) or claims["iat"] > moment:
        raise ApiError(
            401,
            "'Issued at' claim ('iat') must be an Integer representing the time that the "
            "assertion was issued",
        )
    return Caller(None, None, app, as_app=True)


def need_app(caller: Caller) -> App:
    """The App behind a JWT; other credentials are refused."""
    if not caller.as_app or caller.app is None:
        raise ApiError(401, "A JSON web token could not be decoded")
    return caller.app


def role(repo: Repo, account: Account | None) -> str:
    """A person's role in a repository: none, read, triage, write, maintain or admin."""
    if account is None:
        return "none" if repo.private else "read"
    if account is repo.owner:
        return "admin"
    given = repo.collaborators.get(account.login.lower())
    if given:
        return given
    return "none" if repo.private else "read"


def can_read(caller: Caller, repo: Repo) -> bool:
    """Whether the repository exists for this caller."""
    installation = caller.installation
    if installation is not None:
        inside = (
            installation.account is repo.owner
            and (installation.repo_ids is None or repo.id in installation.repo_ids)
            and (
                caller.token is None
                or caller.token.repo_ids is None
                or repo.id in caller.token.repo_ids
            )
        )
        return inside or not repo.private
    return role(repo, caller.account) != "none"


def _granted(caller: Caller, repo: Repo, area: str) -> str:
    installation = caller.installation
    if installation is None or caller.token is None:
        return "none"
    if installation.account is not repo.owner or not (
        (installation.repo_ids is None or repo.id in installation.repo_ids)
        and (caller.token.repo_ids is None or repo.id in caller.token.repo_ids)
    ):
        # A public repository outside the installation can be read and nothing more.
        return "none" if repo.private else "read"
    if area == "metadata":
        return "read"
    return (caller.token.permissions or {}).get(area, "none")


def allowed(caller: Caller, repo: Repo, level: str, *areas: str) -> bool:
    """Whether the caller holds ``level`` (read or write) in one of the areas."""
    if caller.installation is not None:
        return any(_RANK[_granted(caller, repo, area)] >= _RANK[level] for area in areas)
    return _RANK[role(repo, caller.account)] >= _RANK[level]


def require(caller: Caller, repo: Repo, level: str, *areas: str) -> None:
    """404 for what cannot be seen, 403 for what may not be done."""
    if caller.as_app or not can_read(caller, repo):
        raise not_found()
    if allowed(caller, repo, level, *areas):
        return
    if caller.installation is not None:
        accepted = "; ".join(f"{area}={level}" for area in areas)
        raise ApiError(
            403,
            "Resource not accessible by integration",
            headers={"X-Accepted-GitHub-Permissions": accepted},
        )
    if caller.account is None:
        raise ApiError(401, "Requires authentication")
    raise ApiError(403, "Must have admin rights to Repository.")


def require_account(caller: Caller) -> Account:
    """The person or bot that writes; anonymous callers may not."""
    if caller.account is None:
        raise ApiError(401, "Requires authentication")
    return caller.account


def association(repo: Repo, account: Account) -> str:
    """GitHub's author_association."""
    if account is repo.owner:
        return "OWNER"
    if account.login.lower() in repo.collaborators:
        return "COLLABORATOR"
    merged = any(p.author is account and p.merged_at for p in repo.pulls.values())
    return "CONTRIBUTOR" if merged else "NONE"
