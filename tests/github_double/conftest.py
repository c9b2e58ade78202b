"""The double under test is the double that the other tests use."""

from tests.github_double.fixtures import github, hook, judged, scene

__all__ = ["github", "hook", "judged", "scene"]
