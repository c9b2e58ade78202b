"""End-to-end tests run against the double of GitHub."""

from tests.github_double.fixtures import github, hook, judged, scene

__all__ = ["github", "hook", "judged", "scene"]
