"""Who wrote a candidate, by its origin: the family's name comes first."""

from __future__ import annotations

_TRAINED = ("t5", "causal", "encoder-decoder")
_OTHERS = ("retrieval", "instructions")


def by_trained_model(origin: str) -> bool:
    """Whether a trained model made it up, whose probability is its own (a candidate's origin, or a
    generator's name). A repository's ``model: off`` means these."""
    return origin.startswith(_TRAINED)


def by_generator(origin: str) -> bool:
    """Whether a generator of any kind wrote it, not an analyzer."""
    return origin.startswith((*_TRAINED, *_OTHERS))
