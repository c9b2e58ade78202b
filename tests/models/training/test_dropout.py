"""Dropout from a pool of masks drops as much as it says, and only in training."""

from __future__ import annotations

import torch

from models.training.dropout import POOL, PooledDropout, set_dropout
from tests.models.training.test_grow import small


def layer(share: float = 0.3, seed: int = 0) -> PooledDropout:
    model = small()
    set_dropout(model, share, seed)
    found = model.encoder.dropout
    assert isinstance(found, PooledDropout)
    return found


def test_the_share_is_dropped_and_the_mean_stays():
    drop = layer().train()
    out = drop(torch.ones(200, 500))
    assert abs(float(out.eq(0).float().mean()) - 0.3) < 0.01
    assert abs(float(out.mean()) - 1) < 0.02
    assert torch.allclose(out[out.ne(0)], torch.tensor(1 / 0.7))


def test_masks_differ_and_follow_from_the_seed():
    drop, again, other = (layer(seed=seed).train() for seed in (0, 0, 1))
    ones = torch.ones(40, 50)
    first, second = drop(ones), drop(ones)
    assert not torch.equal(first, second)
    assert torch.equal(again(ones), first)
    assert torch.equal(again(ones), second)
    assert not torch.equal(other(ones), first)


def test_types_and_sizes_stay():
    drop = layer().train()
    half = drop(torch.ones(3, 7, dtype=torch.bfloat16))
    assert half.dtype == torch.bfloat16
    assert half.shape == (3, 7)
    large = drop(torch.ones(POOL + 5))
    assert len(large) == POOL + 5
    assert abs(float(large[-5:].mean()) - 1) < 1


def test_nothing_is_dropped_when_asked_or_taken_away():
    ones = torch.ones(40, 50)
    assert torch.equal(layer().eval()(ones), ones)
    model = small()
    set_dropout(model, 0.3)
    set_dropout(model, 0.0)
    assert not any(isinstance(m, PooledDropout | torch.nn.Dropout) for m in model.modules())


def test_gradients_pass_where_nothing_was_dropped():
    drop = layer().train()
    states = torch.ones(40, 50, requires_grad=True)
    out = drop(states)
    out.sum().backward()
    assert states.grad is not None
    assert torch.equal(states.grad, out.detach())
