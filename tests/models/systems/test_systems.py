"""Every system by its tiny recipe: fit, predict, save, load, and predict the same again."""

import random
from dataclasses import replace

import pytest

from models.benchmark.toy import toy_examples
from models.systems import SYSTEMS, WITHOUT_RECIPE, make_system, system_class, tiny_recipe
from models.systems.base import SystemFault
from models.systems.from_scratch import AutoTransform, TransReview
from models.systems.recipes import TINY, Recipe
from models.systems.t5 import T5Review
from models.tasks import Example, Task

CASES = [
    ("copy", Task.CRA),
    ("constant", Task.RCG),
    ("retrieval", Task.CRB),
    ("trans_review", Task.CRB),
    ("trans_review", Task.CRA),
    ("autotransform", Task.CRB),
    ("t5_review", Task.CRA),
    ("codebert", Task.CRA),
    ("graphcodebert", Task.CRA),
    ("codet5", Task.RCG),
    ("codereviewer", Task.CRA),
    ("java8g", Task.CRB),
    ("codegpt", Task.RCG),
]


@pytest.mark.parametrize(("name", "task"), CASES)
def test_fit_predict_save_load(name, task, toys, tmp_path):
    recipe = None if name in WITHOUT_RECIPE else tiny_recipe(name)
    system = make_system(name, recipe)
    steps = []
    report = system.fit(task, toys, toys[:3], steps.append)
    assert report.examples == len(toys)
    empty = Example("none")
    asked = [toys[0], empty, toys[1]]
    answers = system.predict(asked, 2)
    assert len(answers) == 3
    if name != "constant":
        assert (answers[1].text, answers[1].confidence) == ("", 0.0)
    assert all(0.0 <= answer.confidence <= 1.0 for answer in answers)
    assert all(answer.ranked[0] == answer.text for answer in answers)
    if recipe is not None:
        assert [step.step for step in steps] == list(range(1, report.steps + 1))
        assert report.validation == min(s.validation for s in steps if s.validation is not None)
        assert report.loss < steps[0].loss
    system.trained_on = "toy"
    system.save(tmp_path)
    again = system_class(name).load(tmp_path)
    assert (again.task, again.trained_on, again.report) == (task, "toy", report)
    assert again.predict(asked, 2) == answers


def test_the_registry_makes_what_it_names():
    assert set(SYSTEMS) == {"default", *(name for name, _ in CASES)}
    assert SYSTEMS["copy"]().kind == "copy"
    with pytest.raises(KeyError):
        SYSTEMS["none"]


def learner(task, kind=TransReview, width=64, steps=220):
    shape = replace(TINY.shape, width=width, heads=4, feed_forward=128, source_tokens=128,
                    target_tokens=96)  # fmt: skip
    schedule = replace(TINY.schedule, steps=steps, epochs=1000, rate=3e-3, warmup=20)
    return kind(Recipe("test", shape, schedule, merges=200))


def test_trans_review_learns_raw_java_and_restores_it_in_its_layout():
    examples = toy_examples(60, 3)
    system = learner(Task.CRB)
    system.fit(Task.CRB, examples)
    answers = system.predict(examples[:12])
    right = sum(
        answer.text.split() == example.revised.split()
        for answer, example in zip(answers, examples, strict=False)
    )
    assert right >= 10
    kept = [a for a, e in zip(answers, examples, strict=False) if "isEmpty" in e.revised]
    assert any("\n    return " in answer.text for answer in kept)


def test_a_name_that_stands_for_nothing_becomes_the_source():
    system = TransReview(TINY)
    example = Example("1", "int sum() { return total; }")
    read = system.pieces(Task.CRB, example, None)[2]
    assert read(["int", "METHOD_1", "(", ")", "{", "return", "VAR_7", ";", "}"]) == example.code
    assert (
        read(["int", "METHOD_1", "(", ")", "{", "return", "0", ";", "}"])
        == "int sum() { return 0; }"
    )


def test_trans_review_reads_the_comment_as_a_second_source():
    example = Example("1", "int sum() { return total; }", comment="Rename total", abstracted=False)
    sources, _, _ = TransReview(TINY).pieces(Task.CRA, example, None)
    assert sources[0] == ["rename", "VAR_1"]
    assert len(sources) == 2


def test_autotransform_writes_names_that_it_never_saw_whole():
    examples = toy_examples(60, 4)
    system = learner(Task.CRB, AutoTransform, 32, 60)
    system.fit(Task.CRB, examples)
    texts = {answer.text for answer in system.predict(examples[:6])}
    assert len(texts) > 1


def test_fits_are_equal_and_go_on_after_a_kill(toys, tmp_path, monkeypatch):
    class Killed(Exception):
        pass

    def killer(step):
        if step.step == 7:
            raise Killed

    import models.systems.fitting as fitting

    monkeypatch.setattr(fitting, "STATE_SECONDS", 0.0)
    whole = TransReview(TINY)
    report = whole.fit(Task.CRB, toys, toys[:4])
    broken = TransReview(TINY)
    with pytest.raises(Killed):
        broken.fit(Task.CRB, toys, toys[:4], killer, tmp_path)
    resumed = TransReview(TINY)
    seen = []
    later = resumed.fit(Task.CRB, toys, toys[:4], seen.append, tmp_path)
    assert seen[0].step == 7  # the state of step 6 was the last one written
    assert (later.loss, later.validation) == (report.loss, report.validation)
    same = whole.model.state_dict()
    assert all(
        bool((value == same[name]).all()) for name, value in resumed.model.state_dict().items()
    )


def test_t5_reviews_denoising_gives_no_reviewer(toys):
    system = T5Review(TINY)
    report = system.pretrain([example.code for example in toys])
    assert report.steps == 12
    ids = system._ids(toys[0].code)
    row = system._spans(ids, random.Random(1))
    first = system.tokenizer.convert_tokens_to_ids("<extra_id_0>")
    assert row.target[0] == first
    assert first in row.source
    # every id of the text is either still in the source or in the answer
    marks = set(range(first, first + 100))
    kept = [n for n in row.source if n not in marks] + [n for n in row.target if n not in marks]
    assert sorted(kept) == sorted([*ids, *[system.tokenizer.eos_token_id] * 2])
    with pytest.raises(SystemFault, match="has no weights"):
        system.predict(toys[:1])


def test_wrong_tasks_and_empty_data_are_refused(toys):
    with pytest.raises(SystemFault, match="autotransform does crb, not rcg"):
        AutoTransform(TINY).fit(Task.RCG, toys)
    with pytest.raises(SystemFault, match="no example holds what cra needs"):
        TransReview(TINY).fit(Task.CRA, [Example("1", "a", revised="b")])
