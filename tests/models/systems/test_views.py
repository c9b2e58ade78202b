"""Abstracted methods are asked about under several numberings, and the answers put together."""

from __future__ import annotations

from models.preprocess.abstraction import PLACEHOLDER, renumbered
from models.systems.shipped import ShippedSystem
from models.systems.views import views_of
from models.tasks import Example, Task

METHOD = Example(
    "1",
    marked_code=(
        "public int METHOD_1 ( int VAR_1 , int VAR_2 ) { <START> if ( VAR_1 > VAR_2 ) "
        "{ return VAR_1 ; } <END> return VAR_2 ; }"
    ),
    comment="return VAR_2 first",
    abstracted=True,
)


def test_every_view_is_the_same_method_and_its_texts_come_back() -> None:
    views = views_of(METHOD, 3)
    assert len(views) == 3
    assert views[0].example == METHOD
    assert 1 <= len({view.example.marked_code for view in views}) <= 2  # VAR_1 and VAR_2
    for view in views:
        both = [f"{e.marked_code} {e.comment}" for e in (view.example, METHOD)]
        assert renumbered(both[0]) == renumbered(both[1])
        assert view.restored(view.example.unmarked()) == METHOD.unmarked()
        assert view.restored("return VAR_7 ;") is None


def test_code_in_lines_and_code_with_names_have_one_view() -> None:
    lines = Example("1", "int METHOD_1 ( ) {\n  return 1 ; }", abstracted=True)
    assert [view.example for view in views_of(lines, 3)] == [lines]
    named = Example("1", "int sum ( ) { return VAR_1 ; }")
    (view,) = views_of(named, 3)
    assert view.restored("VAR_9") == "VAR_9"


def test_the_shipped_model_names_only_what_the_method_names() -> None:
    for task in (Task.CRA, Task.CRB):
        system = ShippedSystem(task)
        ((first,), (again,)) = (system.predict([METHOD], beams=3) for _ in range(2))
        assert first == again
        assert 1 < len(first.ranked) == len(set(first.ranked)) <= 4
        assert METHOD.unmarked() in first.ranked
        known = set(METHOD.unmarked().split())
        for text in first.ranked:
            assert {token for token in text.split() if PLACEHOLDER.fullmatch(token)} <= known
        assert 0 < first.confidence <= 1
