"""A double of GitHub with state, for tests and for trying the App without GitHub.

``Double`` starts it and speaks to it; ``python -m tests.github_double`` runs it alone.
"""

from tests.github_double.client import Double, Pull

__all__ = ["Double", "Pull"]
