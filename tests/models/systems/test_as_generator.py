import pytest

from models.generators.base import Generator, GeneratorError, Window
from models.generators.line_edits import LineEdit, apply_edits
from models.systems.as_generator import SystemGenerator
from models.systems.baselines import ConstantComment, Copy
from models.systems.retrieval import Retrieval
from models.tasks import Example, Task


def retrieval():
    system = Retrieval()
    code = "if (a) {\n    go(a);\n}"
    system.fit(
        Task.CRA, [Example("1", code, revised=code.replace("go(a)", "run(a)"), comment="run")]
    )
    return system


def test_revisions_are_line_edits():
    generator: Generator = SystemGenerator(retrieval(), "1a2b")
    assert (generator.name, generator.tasks) == ("retrieval:1a2b", frozenset({"cra"}))
    window = Window("java", ("if (a) {", "    go(a);", "}"), frozenset({1}), comment="run")
    ((answer,),) = generator.revise([window])
    assert answer.edits == (LineEdit(1, 2, ("    run(a);",)),)
    assert apply_edits(window.lines, answer.edits) == ["if (a) {", "    run(a);", "}"]
    assert 0 < answer.confidence <= 1
    assert answer.nothing == 0.0


def test_code_as_it_is_is_no_revision():
    generator = SystemGenerator(Copy(Task.CRB))
    assert generator.revise([Window("java", ("a",))]) == [[]]


def test_comments_read_both_sides_of_the_hunk():
    system = ConstantComment()
    system.fit(Task.RCG, [Example("1", "a", comment="why?")])
    generator = SystemGenerator(system)
    window = Window("java", ("a", "b", "c"), frozenset({2}), frozenset({1}))
    ((answer,),) = generator.comment([window])
    assert answer.text == "why?"
    with pytest.raises(GeneratorError, match="fitted for rcg, not for crb or cra"):
        generator.revise([window])
    with pytest.raises(GeneratorError, match="not for rcg"):
        SystemGenerator(Copy(Task.CRA)).comment([window])
