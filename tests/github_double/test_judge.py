"""The judge: that it judges, that it lets through what is right, and what it cannot see."""

from __future__ import annotations

from typing import Any

import pytest

from tests.github_double import prism
from tests.github_double.asking import bot, person
from tests.github_double.client import Double, Violations
from tests.github_double.fixtures import Scene

AT = "/repos/acme/web/pulls/1/reviews"
SCHEMA = prism.HERE / "node_modules" / "@octokit" / "graphql-schema" / "schema.graphql"


def test_a_wrong_request_fails_the_run(judged: Double, scene: Scene) -> None:
    bot(scene)("POST", AT, {"body": 7, "event": "SHOUT"})
    with pytest.raises(Violations, match=r"POST .*request\.body\.event"):
        judged.check()
    (call,) = judged.forgive()
    assert call["judged"]
    judged.check()


def test_an_unknown_query_value_is_seen(judged: Double, scene: Scene) -> None:
    person(judged)("GET", "/repos/acme/web/pulls?state=ajar")
    assert len(judged.forgive()) == 1


def test_a_large_review_passes_whole(judged: Double, scene: Scene) -> None:
    text = "ü" * 30_000
    comments = [
        {"path": "calc.py", "line": 10, "side": "RIGHT", "body": f"{n} {text}"} for n in range(12)
    ]
    got = bot(scene)("POST", AT, {"body": text, "event": "COMMENT", "comments": comments})
    assert got.status_code == 200
    (review,) = judged.reviews(scene.pull)
    assert [c["body"] for c in review["comments"]] == [c["body"] for c in comments]
    assert review["id"] > 2**31


def test_a_lost_answer_was_judged_all_the_same(judged: Double, scene: Scene) -> None:
    judged.fault("status", "POST", "*/reviews", perform=True, status=502)
    bot(scene)("POST", AT, {"event": "SHOUT"})
    assert len(judged.forgive()) == 1


@pytest.mark.skipif(not SCHEMA.is_file(), reason=f"GitHub's GraphQL schema: {prism.missing()}")
def test_the_graphql_schema_is_a_true_part_of_githubs() -> None:
    from graphql import build_schema
    from graphql.type import (
        GraphQLEnumType,
        GraphQLInputObjectType,
        GraphQLInterfaceType,
        GraphQLObjectType,
    )

    from tests.github_double import graphql_api

    whole = build_schema(SCHEMA.read_text("utf-8"), assume_valid=True)
    types: dict[str, Any] = graphql_api.schema().type_map
    for name, ours in types.items():
        theirs: Any = whole.type_map.get(name)
        assert theirs is not None, name
        assert type(ours) is type(theirs), name
        if isinstance(ours, GraphQLEnumType):
            assert set(ours.values) <= set(theirs.values), name
        if name.startswith("__") or not isinstance(
            ours, GraphQLObjectType | GraphQLInterfaceType | GraphQLInputObjectType
        ):
            continue
        for field_name, field in ours.fields.items():
            other = theirs.fields.get(field_name)
            assert other is not None, f"{name}.{field_name}"
            assert str(field.type) == str(other.type), f"{name}.{field_name}"
            arguments = getattr(field, "args", {})
            for arg_name, arg in arguments.items():
                assert str(arg.type) == str(other.args[arg_name].type), f"{name}.{field_name}"
