"""A grown model begins where the smaller one ended, and has more to learn with."""

from __future__ import annotations

import pytest
import torch
from transformers import T5Config, T5ForConditionalGeneration

from models.training.grow import grown, widened
from models.training.trainer import TrainOptions, train


def small(
    gated: bool = False, *, seed: int = 3, vocabulary: int = 50, width: int = 16
) -> T5ForConditionalGeneration:
    torch.manual_seed(seed)
    config = T5Config(
        vocab_size=vocabulary,
        d_model=width,
        d_kv=8,
        num_heads=2,
        d_ff=32,
        num_layers=2,
        num_decoder_layers=2,
        feed_forward_proj="gated-gelu" if gated else "relu",
        dropout_rate=0.0,
        decoder_start_token_id=0,
    )
    return T5ForConditionalGeneration(config).eval()


def logits(model: T5ForConditionalGeneration) -> torch.Tensor:
    ids = torch.randint(2, 50, (3, 12), generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        return model(input_ids=ids, labels=ids[:, :6].contiguous()).logits


def test_every_old_weight_stays_and_the_answers_are_close():
    model = small()
    large = grown(model, 1, 48).eval()
    assert (large.config.num_layers, large.config.num_decoder_layers) == (3, 3)
    assert large.config.d_ff == 48
    old, new = model.state_dict(), large.state_dict()
    for name, weight in old.items():
        corner = new[name][tuple(slice(size) for size in weight.shape)]
        assert torch.equal(corner, weight), name
    assert len(new) > len(old)
    before, after = logits(model), logits(large)
    assert float((after - before).norm() / before.norm()) < 0.3
    # a model of the same shape with other weights has nothing to do with it
    torch.manual_seed(4)
    other = logits(T5ForConditionalGeneration(large.config).eval())
    assert float((other - before).norm() / before.norm()) > 0.8


def test_new_parts_can_learn():
    large = grown(small(), 1, 48)
    ids = torch.randint(2, 50, (3, 12), generator=torch.Generator().manual_seed(1))
    large(input_ids=ids, labels=ids[:, :6].contiguous()).loss.backward()
    for name, weight in large.named_parameters():
        assert float(weight.detach().abs().max()) > 0, name
        assert weight.grad is not None, name
        assert float(weight.grad.abs().max()) > 0, name


def test_a_wider_model_answers_exactly_as_before():
    model = small()
    model.decoder.final_layer_norm.weight.data.uniform_(0.5, 1.5)
    large = widened(model)
    assert (large.config.d_model, large.config.num_heads, large.config.d_ff) == (32, 4, 64)
    assert torch.allclose(logits(large.eval()), logits(model), atol=1e-5)
    twice = widened(large)
    assert twice.config.d_model == 64
    assert torch.allclose(logits(twice.eval()), logits(model), atol=1e-5)
    # and once more with another block, close as a grown one is
    both = grown(large, 1, 64).eval()
    assert float((logits(both) - logits(model)).norm() / logits(model).norm()) < 0.3


def test_the_halves_of_a_wider_model_learn_different_things():
    large = widened(small()).train()
    ids = torch.randint(2, 50, (3, 12), generator=torch.Generator().manual_seed(1))
    large(input_ids=ids, labels=ids[:, :6].contiguous()).loss.backward()
    query = large.encoder.block[0].layer[0].SelfAttention.q.weight
    assert query.grad is not None
    left, right = query.detach().chunk(2, 1)
    assert not torch.allclose(left, right, rtol=0.05)
    into = large.encoder.block[0].layer[1].DenseReluDense.wo.weight
    assert into.grad is not None
    left, right = into.grad.chunk(2, 0)
    assert not torch.allclose(left, right, rtol=0.01)


def test_a_model_with_an_output_layer_of_its_own_cannot_be_widened():
    model = small()
    model.config.tie_word_embeddings = False
    with pytest.raises(ValueError, match="cannot be widened"):
        widened(model)


def test_nothing_to_add_is_the_same_model():
    model = small()
    assert torch.equal(logits(grown(model, 0, 32).eval()), logits(model))


@pytest.mark.parametrize(("gated", "blocks", "units"), [(True, 1, 48), (False, 1, 16)])
def test_what_cannot_grow_is_refused(gated, blocks, units):
    with pytest.raises(ValueError, match="cannot"):
        grown(small(gated), blocks, units)


@pytest.mark.parametrize("how", [{"grow": (1, 64)}, {"widen": True}])
def test_only_a_checkpoint_can_be_grown(tmp_path, how):
    options = TrainOptions(data=tmp_path, folder=tmp_path / "run", **how)
    with pytest.raises(ValueError, match="name one to start from"):
        train(options)
