"""What a simulation asks of GitHub, judged by GitHub's own description where Node is there."""

from __future__ import annotations

from bot.github.auth import AppIdentity
from bot.review.pipeline import ReviewPipeline
from bot.review.remote import find_pull, pull_url
from bot.service.simulation import Simulation
from bot.settings import Settings


def silent(stage: str, done: int, total: int) -> None:
    """No progress."""


def test_an_app_s_simulation_reads_and_writes_nothing(scene):
    settings = Settings(
        github_api_url=scene.github.url,
        github_url=scene.github.url,
        app_id=scene.app.id,
        private_key=scene.app.pem,
        use_model=False,
    )
    identity = AppIdentity(scene.app.id, scene.app.pem, scene.github.url)
    since = len(scene.github.calls())
    url = pull_url(f"{scene.github.url}/{scene.ref.repository}/pull/1", settings)
    ref = find_pull(identity, url)
    assert ref == scene.ref
    done = Simulation(settings, identity, None, ReviewPipeline).run(ref, silent)
    assert done.draft is not None
    assert "Read 1 of 1 changed files" in done.draft.body
    assert scene.bot_reviews() == []
    calls = scene.github.calls()[since:]
    written = {call["path"].rpartition("/")[2] for call in calls if call["method"] != "GET"}
    assert written == {"access_tokens"}
    assert not [v for call in calls for v in call["violations"]]
