"""The papers' systems under one interface; see ``models.systems.base``.

``SYSTEMS`` makes a system by its name without importing any other: each entry is a function
without arguments. ``tiny`` entries' recipes are chosen by ``make_system``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from models.systems.base import System
    from models.systems.recipes import Recipe

_PLACES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "default": ("models.systems.shipped", "ShippedSystem"),
        "copy": ("models.systems.baselines", "Copy"),
        "constant": ("models.systems.baselines", "ConstantComment"),
        "retrieval": ("models.systems.retrieval", "Retrieval"),
        "trans_review": ("models.systems.from_scratch", "TransReview"),
        "autotransform": ("models.systems.from_scratch", "AutoTransform"),
        "t5_review": ("models.systems.t5", "T5Review"),
        "codebert": ("models.systems.encoder_decoder", "CodeBert"),
        "graphcodebert": ("models.systems.encoder_decoder", "GraphCodeBert"),
        "codet5": ("models.systems.t5", "CodeT5"),
        "codereviewer": ("models.systems.codereviewer", "CodeReviewer"),
        "java8g": ("models.systems.causal", "Java8G"),
        "codegpt": ("models.systems.causal", "CodeGpt"),
    }
)

WITHOUT_RECIPE = frozenset({"default", "copy", "constant", "retrieval"})
"""Systems that are made without a recipe: there is nothing to size."""


def system_class(name: str) -> type[System]:
    """The class of a system. Raises KeyError for a name outside ``SYSTEMS``."""
    module, attribute = _PLACES[name]
    found: type[System] = getattr(import_module(module), attribute)
    return found


class _Registry(Mapping[str, "Callable[[], System]"]):
    """Name to maker; a maker imports its system when it is called."""

    def __getitem__(self, name: str) -> Callable[[], System]:
        if name not in _PLACES:
            raise KeyError(name)

        def make() -> System:
            return system_class(name)()

        return make

    def __iter__(self) -> Iterator[str]:
        return iter(_PLACES)

    def __len__(self) -> int:
        return len(_PLACES)


SYSTEMS: Mapping[str, Callable[[], System]] = _Registry()


def make_system(name: str, recipe: Recipe | None = None) -> System:
    """A system with a recipe (its paper's where none is given), not fitted yet."""
    found: Any = system_class(name)
    return found() if recipe is None or name in WITHOUT_RECIPE else found(recipe)  # type: ignore[no-any-return]


def tiny_recipe(name: str) -> Recipe:
    """The recipe that shows in seconds that a system works."""
    from models.systems.recipes import TINY, TINY_CAUSAL

    return TINY_CAUSAL if name in ("java8g", "codegpt") else TINY
