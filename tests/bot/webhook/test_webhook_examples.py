"""Every payload that GitHub publishes an example of, whole and broken: none costs a traceback."""

from __future__ import annotations

import copy
import hashlib
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from bot.app import create_app
from bot.jobs.queue import JobQueue
from bot.settings import Settings
from bot.store.ledger import Ledger
from bot.store.tables import Delivery
from tests.bot.webhook.deliveries import headers, post
from tests.github_double.examples import every_example

# every payload that GitHub publishes an example of

EXAMPLES = every_example()
needs_examples = pytest.mark.skipif(
    not EXAMPLES, reason="the example payloads are not installed: npm ci in tests/github_double"
)


@pytest.fixture(scope="module")
def one_client(
    sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[FlaskClient, Ledger]]:
    """One application for many payloads."""
    import shutil

    folder = tmp_path_factory.mktemp("examples")
    shutil.copy(sqlite_template, folder / "ledger.db")
    settings = Settings(
        database_url=f"sqlite:///{folder / 'ledger.db'}", webhook_secret="s3cret", app_id=29310
    )  # type: ignore[call-arg]
    ledger = Ledger(settings.database)
    queue = JobQueue(settings.database, "1")
    yield create_app(settings, ledger, queue).test_client(), ledger
    queue.close()
    ledger.close()


@needs_examples
def test_every_example_is_taken(one_client: tuple[FlaskClient, Ledger]) -> None:
    client, ledger = one_client
    outcomes: dict[str, int] = {}
    for number, (event, payload) in enumerate(EXAMPLES):
        answer = post(client, payload, event=event, guid=f"example-{number}")
        outcome = f"{answer.status_code} {answer.json['status']}"
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
    assert set(outcomes) == {"200 ping", "202 ignored", "202 received"}, outcomes
    assert sum(outcomes.values()) == len(EXAMPLES) >= 329
    with ledger.database.read() as session:
        kept = session.execute(sa.select(sa.func.count()).select_from(Delivery)).scalar_one()
    assert kept == len(EXAMPLES) - outcomes["200 ping"]


READ = frozenset(
    ("action", "number", "id", "full_name", "repository", "pull_request", "installation", "comment",
     "review", "thread", "check_run", "head", "sha", "user", "login", "body", "node_id", "issue",
     "repositories", "repositories_added", "repositories_removed", "permissions", "account")
)  # fmt: skip
"""Names of the fields that the handlers read."""
WRONG_VALUES = (
    None,
    True,
    0,
    -1,
    2**63,
    10**400,
    1.5,
    "",
    "x",
    "\ud800",
    "\x00",
    [],
    [1],
    [{}],
    {},
    {"a": {}},
)
WRONG = st.sampled_from(WRONG_VALUES)
MISSING = object()


def paths(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to every field of a JSON value."""
    found: list[tuple[Any, ...]] = []
    if isinstance(value, dict):
        items: Any = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    else:
        return found
    for key, item in items:
        found += [(*at, key), *paths(item, (*at, key))]
    return found


def change(payload: Any, path: tuple[Any, ...], value: Any) -> Any:
    """A copy with one field replaced, or taken away."""
    changed = copy.deepcopy(payload)
    holder = changed
    for key in path[:-1]:
        holder = holder[key]
    if value is MISSING:
        del holder[path[-1]]
    else:
        holder[path[-1]] = value
    return changed


@needs_examples
def test_every_example_is_answered_with_a_field_gone_or_wrong(
    one_client: tuple[FlaskClient, Ledger],
) -> None:
    """Each of the 329: once with a field that something reads taken away, once with it wrong."""
    client, _ = one_client
    chance = random.Random(329)
    answers: dict[int, int] = {}
    for number, (event, payload) in enumerate(EXAMPLES):
        every = sorted(paths(payload), key=len)
        read = [path for path in every if path[-1] in READ and len(path) <= 3] or every
        for value in (MISSING, chance.choice(WRONG_VALUES)):
            broken = change(payload, chance.choice(read), value)
            body = json.dumps(broken).encode()
            guid = f"broken-{number}-{value is MISSING}"
            status = client.post(
                "/webhook", data=body, headers=headers(body, event=event, guid=guid)
            ).status_code
            answers[status] = answers.get(status, 0) + 1
            assert 200 <= status < 300 or 400 <= status < 500, (status, event)
    assert sum(answers.values()) == 2 * len(EXAMPLES)
    assert answers.keys() >= {202, 400}, "some still tell enough, some do not"


@needs_examples
@hypothesis_settings(
    max_examples=250,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data())
def test_broken_examples_are_answered(
    one_client: tuple[FlaskClient, Ledger], data: st.DataObject
) -> None:
    client, _ = one_client
    event, payload = data.draw(st.sampled_from(EXAMPLES))
    for _ in range(data.draw(st.integers(1, 3))):
        # Shallow fields more often: they are the ones that something reads.
        every = sorted(paths(payload), key=len)
        shallow = [path for path in every if len(path) <= 2] or every
        chosen = data.draw(st.sampled_from(shallow if data.draw(st.booleans()) else every))
        payload = change(payload, chosen, data.draw(st.one_of(st.just(MISSING), WRONG)))
    body = json.dumps(payload).encode()
    guid = hashlib.sha256(body + event.encode()).hexdigest()
    status = client.post(
        "/webhook", data=body, headers=headers(body, event=event, guid=guid)
    ).status_code
    assert 200 <= status < 300 or 400 <= status < 500, (status, event)
