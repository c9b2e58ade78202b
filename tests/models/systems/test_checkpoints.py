import json

import pytest
import torch

from models.systems import make_system, tiny_recipe
from models.systems.base import SystemFault
from models.systems.baselines import Copy
from models.systems.card import UnusableCheckpoint, read_card
from models.systems.checkpoints import checkpoint_folder, open_checkpoint, starting_point
from models.systems.codereviewer import CodeReviewer, quality_head
from models.tasks import Example, Task
from tests.models.systems import published


def test_raw_codet5_is_refused_with_the_command_that_fine_tunes_it(tmp_path):
    published.codet5(tmp_path)
    with pytest.raises(UnusableCheckpoint, match="marginalia train --from") as caught:
        open_checkpoint(str(tmp_path))
    assert str(tmp_path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("layout", "kind", "task"),
    [
        ("codet5", "codet5", Task.CRA),
        ("t5_review", "t5_review", Task.CRB),
        ("codebert", "codebert", Task.CRB),
        ("codebert", "graphcodebert", Task.CRB),
        ("codereviewer", "codereviewer", Task.RCG),
        ("codegpt", "codegpt", Task.CRB),
    ],
)
def test_published_weights_load_whole_and_are_fine_tuned(tmp_path, toys, layout, kind, task):
    model = getattr(published, layout)(tmp_path)
    asked = "graphcodebert" if kind == "graphcodebert" else ""
    system = starting_point(str(tmp_path), asked, tiny_recipe(kind))
    assert system.kind == kind
    loaded = system.model.get_input_embeddings() if kind != "codebert" else None
    if loaded is not None and kind not in ("graphcodebert", "codegpt"):
        assert torch.equal(loaded.weight, model.get_input_embeddings().weight)
    with pytest.raises(SystemFault, match="has no weights"):
        system.predict(toys[:1])
    report = system.fit(task, toys, toys[:4])
    assert report.steps == 12
    assert len(system.predict(toys[:2])) == 2


def test_codeberts_encoder_is_the_published_one_and_its_decoder_is_fresh(tmp_path):
    model = published.codebert(tmp_path)
    system = starting_point(str(tmp_path), recipe=tiny_recipe("codebert"))
    encoder, decoder = system.model.get_encoder(), system.model.get_decoder()
    stored = model.roberta.state_dict()
    assert all(torch.equal(value, stored[name]) for name, value in encoder.state_dict().items())
    assert decoder.config.add_cross_attention
    assert decoder.config.is_decoder


def test_codereviewers_weights_review_as_published(tmp_path):
    published.codereviewer(tmp_path)
    system = open_checkpoint(str(tmp_path))
    assert isinstance(system, CodeReviewer)
    system.recipe = tiny_recipe("codereviewer")  # a model of random weights never ends by itself
    example = Example("1", diff="@@ -1 +1 @@\n-\tint a;\n+\tint b;\n c")
    assert len(system.predict([example])) == 1
    row = system.encode(Task.RCG, example)
    assert system.tokenizer.decode(row.source) == "<s><del>int a;<add>int b;<keep>c</s>"
    head = quality_head(str(tmp_path), 32)
    (needed,) = system.needs_comment([example], head)
    assert needed == pytest.approx(0.5)


def test_codereviewers_refinement_gives_lines_their_indentation_back(tmp_path):
    published.codereviewer(tmp_path)
    system = open_checkpoint(str(tmp_path), Task.CRA)
    example = Example("1", "    if (a) {\n        go(a);\n    }", comment="use b", revised="x")
    row = system.encode(Task.CRA, example)
    text = system.tokenizer.decode(row.source)
    assert text == "<s><add>if (a) {<add>go(a);<add>}<msg>use b</s>"
    ids = system.encode_target(Task.CRA, example, "if (b) {\n  go(b);\n}")[:-1]
    assert system.decode(Task.CRA, example, ids) == "    if (b) {\n        go(b);\n    }"


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("/no/such/folder", "no such folder"),
        ("nothing", "no such folder"),
        ("some/where", "cannot be loaded"),
    ],
)
def test_what_is_not_there_is_one_clear_line(place, words):
    with pytest.raises(UnusableCheckpoint, match=words) as caught:
        open_checkpoint(place)
    assert "\n" not in str(caught.value)


def test_cards_that_are_broken_or_of_another_system(tmp_path):
    Copy(Task.CRB).save(tmp_path)
    assert read_card(tmp_path).system == "copy"
    with pytest.raises(SystemFault, match="answers crb, not cra"):
        open_checkpoint(str(tmp_path), Task.CRA)
    with pytest.raises(UnusableCheckpoint, match="ask for --system copy"):
        CodeReviewer.load(tmp_path)
    card = json.loads((tmp_path / "task_card.json").read_text())
    (tmp_path / "task_card.json").write_text(json.dumps({**card, "system": "other"}))
    with pytest.raises(UnusableCheckpoint, match="made by other"):
        open_checkpoint(str(tmp_path))
    (tmp_path / "task_card.json").write_text("{")
    with pytest.raises(UnusableCheckpoint, match="not a task card"):
        open_checkpoint(str(tmp_path))


def test_a_checkpoint_of_another_architecture_is_refused(tmp_path):
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    with pytest.raises(UnusableCheckpoint, match="neither a T5"):
        starting_point(str(tmp_path))
    (tmp_path / "config.json").unlink()
    with pytest.raises(UnusableCheckpoint, match=r"config\.json cannot be loaded"):
        starting_point(str(tmp_path))
    with pytest.raises(UnusableCheckpoint, match="starts from no published weights"):
        starting_point(str(tmp_path), "trans_review")


def test_a_system_that_was_never_fitted_is_not_saved(tmp_path):
    with pytest.raises(SystemFault, match="not fitted yet"):
        make_system("codet5", tiny_recipe("codet5")).save(tmp_path)


def test_a_hub_id_is_read_from_the_local_cache(tmp_path, monkeypatch):
    import huggingface_hub.constants

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    place = tmp_path / "models--Salesforce--codet5-base"
    snapshot = place / "snapshots" / ("0" * 40)
    snapshot.mkdir(parents=True)
    (place / "refs").mkdir()
    (place / "refs" / "main").write_text("0" * 40)
    published.codet5(snapshot)
    assert checkpoint_folder("Salesforce/codet5-base") == snapshot
    assert starting_point("Salesforce/codet5-base").kind == "codet5"
    with pytest.raises(UnusableCheckpoint, match="marginalia train --from Salesforce/codet5-base"):
        open_checkpoint("Salesforce/codet5-base")
