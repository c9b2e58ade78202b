"""A person's token is taken back as GitHub's description says, by the App's client alone."""

from __future__ import annotations

import requests

from bot.github.sign_out import revoke
from bot.settings import Settings
from bot.web.oauth import Attempt, exchange, login_of
from tests.github_double.client import Double

CALLBACK = "http://127.0.0.1:9/auth/callback"


def test_a_token_is_taken_back_by_its_own_app(judged: Double) -> None:
    judged.create_repo("acme/web", {"a.py": "x"}, collaborators={"alice": "write"})
    first, other = judged.create_app("One"), judged.create_app("Other")

    def settings(app: object) -> Settings:
        return Settings(
            client_id=app.client_id,  # type: ignore[attr-defined]
            client_secret=app.client_secret,  # type: ignore[attr-defined]
            github_url=judged.url,
            github_api_url=judged.url,
        )

    mine, theirs = settings(first), settings(other)
    attempt = Attempt.new("/queue")
    judged.settings(signed_in="alice")
    address = attempt.address(mine, CALLBACK)
    back = requests.get(address, allow_redirects=False, timeout=60).headers["Location"]
    code = back.partition("code=")[2].partition("&")[0]
    token = exchange(mine, attempt, code, CALLBACK)
    assert login_of(mine, token) == "alice"
    assert revoke(theirs, token)  # answered 404: not one of theirs
    assert login_of(mine, token) == "alice"
    wrong = mine.model_copy(update={"client_secret": theirs.client_secret})
    assert not revoke(wrong, token)
    assert revoke(mine, token)
    answer = requests.get(
        f"{judged.url}/user", headers={"Authorization": f"Bearer {token}"}, timeout=60
    )
    assert answer.status_code == 401
    statuses = [call["status"] for call in judged.calls("DELETE", "/applications/")]
    assert statuses == [404, 401, 204]
