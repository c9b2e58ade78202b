from tests.bot.feedback.conftest import github

__all__ = ["github"]
