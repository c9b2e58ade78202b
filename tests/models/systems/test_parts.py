import math

import pytest
import torch

from models.systems.beam import beam_search
from models.systems.completion_cases import (
    Category,
    cases_of,
    category_of,
    java_files,
    long_suggestion,
    sample_cases,
    short_suggestion,
)
from models.systems.encoder_decoder import GraphCodeBert
from models.systems.fitting import rate_factor
from models.systems.recipes import TINY, Schedule, Shape
from models.systems.retrieval import Retrieval, subwords, transfer
from models.systems.transformer import END, PAD, START, Transformer
from models.systems.words import Words
from models.tasks import Example, Task

SHAPE = Shape(1, 2, 16, 2, 32, 40, 16, 16, 0.0, 0.0, 0.0)


def test_steps_with_a_cache_give_what_the_whole_pass_gives():
    torch.manual_seed(0)
    model = Transformer(SHAPE, 20, 2).eval()
    sources = [torch.tensor([[5, 6, 7, 2], [8, 2, 0, 0]]), torch.tensor([[9, 2, 0], [4, 5, 2]])]
    target = torch.tensor([[START, 6, 7, 8], [START, 9, 4, 5]])
    from models.systems.transformer import Cache

    memory, cache = model.encode(sources), Cache()
    whole = model.decode(target, memory)
    steps = [model.decode(target[:, i : i + 1], memory, cache, i) for i in range(4)]
    assert torch.allclose(torch.cat(steps, 1), whole, atol=1e-5)


def test_padding_changes_nothing():
    torch.manual_seed(0)
    model = Transformer(SHAPE, 20).eval()
    target = torch.tensor([[START, 6, 7]])
    short = model.decode(target, model.encode([torch.tensor([[5, 6, 2]])]))
    padded = model.decode(target, model.encode([torch.tensor([[5, 6, 2, PAD, PAD]])]))
    assert torch.allclose(short, padded, atol=1e-5)


def test_wide_beams_find_the_best_sequence_of_all():
    torch.manual_seed(3)
    model = Transformer(SHAPE, 7).eval()
    source = torch.tensor([[5, 6, 2]])
    found = beam_search(model, [source], 40, 3)[0]
    best = {}
    memory = model.encode([source])

    def walk(ids, total):
        logits = model.decode(torch.tensor([[START, *ids]]), memory)[0, -1].clone()
        logits[[0, 1, 3]] = -math.inf
        for entry, value in enumerate(logits.log_softmax(-1).tolist()):
            if value == -math.inf:
                continue
            length = len(ids) + 1
            if entry == END:
                best[tuple(ids)] = (total + value) / length
            elif length == 3:
                best[(*ids, entry)] = (total + value) / length
            else:
                walk([*ids, entry], total + value)

    walk([], 0.0)
    expected = max(best.items(), key=lambda item: item[1])
    assert found[0].ids == expected[0]
    assert found[0].score == pytest.approx(expected[1], abs=1e-5)
    assert [h.score for h in found] == sorted((h.score for h in found), reverse=True)


def test_greedy_is_the_first_choice_at_every_step():
    torch.manual_seed(1)
    model = Transformer(SHAPE, 12).eval()
    source = torch.tensor([[5, 6, 2], [7, 2, 0]])
    found = [rows[0].ids for rows in beam_search(model, [source], 1, 5)]
    for row, ids in enumerate(found):
        memory = model.encode([source[row : row + 1]])
        logits = model.decode(torch.tensor([[START, *ids]]), memory)[0]
        logits[:, [0, 1, 3]] = -math.inf
        chosen = logits.argmax(-1).tolist()
        assert tuple(chosen[: len(ids)]) == ids
        assert len(ids) == 5 or chosen[len(ids)] == END


def test_rates_rise_and_fall():
    noam = Schedule(100, 1, 1, 1.0, 4, "noam")
    assert rate_factor(noam, 4, 16) == pytest.approx(0.25 * 0.5)
    assert rate_factor(noam, 2, 16) == pytest.approx(0.25 * 2 * 4**-1.5)
    linear = Schedule(10, 1, 1, 1.0, 2)
    assert rate_factor(linear, 1, 16) == 0.5
    assert rate_factor(linear, 10, 16) == pytest.approx(1 / 8)
    assert rate_factor(Schedule(10, 1, 1, 1.0, 0, "constant"), 9, 16) == 1.0


def test_words_are_ranked_by_frequency(tmp_path):
    words = Words.learn([["b", "a", "b"], ["c", "<unk>"]], 6)
    assert words.entries == ["<pad>", "<s>", "</s>", "<unk>", "b", "a"]
    assert words.encode(["a", "c"]) == [5, 3]
    words.save(tmp_path / "w")
    assert Words.load(tmp_path / "w").decode([4, 5]) == ["b", "a"]


def test_graph_mask_lets_variables_see_what_the_graph_says():
    system = GraphCodeBert(TINY)
    code = "int f(int a) { int b = a; return b; }"
    system.build([code] * 3)
    row = system.encode(Task.CRB, Example("1", code))
    graph = row.extra
    assert len(graph.spans) == 4  # a, b, a, b
    seen = {}

    class Encoder(torch.nn.Module):
        def __init__(self, inner):
            super().__init__()
            self.inner = inner

        def get_input_embeddings(self):
            return self.inner.get_input_embeddings()

        def forward(self, **arguments):
            seen.update(arguments)
            return self.inner(**arguments)

    system.model.encoder = Encoder(system.model.encoder)
    other = system.encode(Task.CRB, Example("2", "int g() { return 1; }"))
    system.inputs([row, other])
    mask, places = seen["attention_mask"][0, 0], seen["position_ids"][0]
    code_ids = len(row.source)
    assert places[:code_ids].tolist() == list(range(2, 2 + code_ids))
    assert places[code_ids : code_ids + 4].tolist() == [0, 0, 0, 0]
    assert mask[1:code_ids, :code_ids].all()
    for variable, (low, high) in enumerate(graph.spans):
        here = code_ids + variable
        sees = {place for place in range(code_ids, code_ids + 4) if mask[here, place]}
        assert sees == {here, *(code_ids + parent for parent in graph.parents[variable])}
        among_code = [place for place in range(1, code_ids - 1) if mask[here, place]]
        assert among_code == list(range(low, high))
    embeddings = system.model.encoder.get_input_embeddings().weight
    low, high = graph.spans[0]
    mean = embeddings[list(row.source[low:high])].mean(0)
    assert torch.allclose(seen["inputs_embeds"][0, code_ids], mean, atol=1e-6)
    # the second row has no variables: its padding is not seen by its code
    assert not seen["attention_mask"][1, 0, 1, len(other.source) :].any()


def test_completion_cases_at_triggers():
    text = "import a.b;\nclass A {\n    // no. comment\n    foo.bar(x);\n    @Get\n}\n"
    cases = cases_of("src/main/AController.java", text)
    assert [(c.line, c.trigger, c.expected) for c in cases] == [
        (2, " ", "A {"),
        (2, " ", "{"),
        (4, ".", "bar(x);"),
        (4, "(", "x);"),
        (5, "@", "Get"),
    ]
    assert cases[2].context.endswith("    foo.")
    assert text.startswith(cases[3].context)
    assert cases[0].category is Category.CONTROLLER


@pytest.mark.parametrize(
    ("path", "category"),
    [
        ("a/UserController.java", Category.CONTROLLER),
        ("a/UserServiceImpl.java", Category.SERVICE),
        ("src/test/java/UserController.java", Category.TEST),
        ("a/UserServiceTest.java", Category.TEST),
        ("a/User.java", Category.GENERIC),
    ],
)
def test_categories(path, category):
    assert category_of(path) is category


def test_suggestions_long_and_short():
    assert long_suggestion("getName();\n}") == "getName();"
    assert short_suggestion("getName();\n}") == "getName"
    assert short_suggestion("(user.name)") == "(user"
    assert short_suggestion("123;") == "123;"


def test_samples_are_fixed_and_files_that_are_no_text_are_left_out(tmp_path):
    (tmp_path / "A.java").write_text("class A { int b; }")
    (tmp_path / "B.java").write_bytes(b"\xff\xfe")
    files = java_files(tmp_path)
    assert [path for path, _ in files] == ["A.java"]
    assert len(sample_cases(files, 2)) == 2
    assert sample_cases(files, 2) == sample_cases(files, 2)


def test_an_edit_moves_where_it_fits_once():
    before, after = "if ( a == null ) return ;", "if ( a == null ) throw x ;"
    assert transfer(before, after, "f ( ) ;  if ( a\n== null ) return ; }") == (
        "f ( ) ;  if ( a\n== null ) throw x ; }"
    )
    assert transfer(before, after, "return ;") is None
    assert transfer(before, after, f"{before} {before}") is None
    assert transfer(before, before, before) is None
    assert transfer("a b c d e", "a b d e", "x a b c d e y") == "x a b d e y"
    assert transfer("a b d e", "a b c c d e", "x a b\n d e y") == "x a b\n c c\n d e y"
    assert transfer("a b", "a b\n  c", "x a b") == "x a b c"
    assert transfer("a b c", "b c", "x\n  a b c") == "x\n  b c"
    assert transfer("go ( a );\n  x", "run ( a );\n  x", "\tgo ( a );\n\tx") == "\trun ( a );\n\tx"
    assert transfer("a b c", "a bc", "ab c") is None
    assert transfer("", "a", "b") is None


def test_retrieval_finds_the_nearest_and_its_comment():
    train = [
        Example("1", "void closeDoor ( Door door )", comment="close it"),
        Example("2", "int countUsers ( )", comment="use size"),
    ]
    system = Retrieval()
    system.fit(Task.RCG, train)
    (answer,) = system.predict([Example("3", "void closeWindow ( Door door )")], 2)
    assert answer.ranked == ("close it", "use size")
    assert 0.5 < answer.confidence < 1
    assert subwords("getHTTPName2 x_y") == ["get", "http", "name", "2", "x", "y"]


def test_retrieval_by_the_encoder_ranks_by_meaning():
    train = [
        Example("1", "delete the file from the disk", comment="a"),
        Example("2", "the disk spins", comment="b"),
    ]
    system = Retrieval("encoder")
    system.fit(Task.RCG, train)
    (answer,) = system.predict([Example("3", "remove a document from the disk")])
    assert answer.text == "a"
