"""Every system by its tiny recipe on toy data: that it runs, not how well."""

from __future__ import annotations

from typing import Any

from models.benchmark.completion import evaluate_completions
from models.benchmark.run import Result, run_system
from models.benchmark.toy import toy_examples, toy_files
from models.systems import SYSTEMS, WITHOUT_RECIPE, make_system, system_class, tiny_recipe
from models.systems.completion_cases import sample_cases
from models.tasks import Task

DATA = "toy"


def tiny_results(train: int = 24, test: int = 4) -> list[Result]:
    """Fit every system but the shipped one to ``train`` toy examples of each of its tasks."""
    learnt, asked = toy_examples(train, 1), toy_examples(test, 2)
    results: list[Result] = []
    for name in SYSTEMS:
        if name == "default":
            continue
        for task in sorted(system_class(name).tasks):
            recipe = None if name in WITHOUT_RECIPE else tiny_recipe(name)
            system = make_system(name, recipe)
            system.fit(Task(task), learnt, asked)
            label = "tiny" if recipe is not None else "toy"
            results.append(run_system(system, Task(task), asked, DATA, name, label)[0])
    return results + [tiny_completion(name) for name in ("java8g", "codegpt")]


def tiny_completion(name: str, files: int = 4, cases: int = 8) -> Result:
    """One completion model on toy files."""
    model: Any = make_system(name, tiny_recipe(name))
    model.train_on_files([text for _, text in toy_files(files, 1)])
    drawn = sample_cases(toy_files(4, 2), cases)
    scored = evaluate_completions(drawn, model.complete(drawn))
    return Result(name, "completion", DATA, len(drawn), scored, "tiny", beams=2)
