from tests.bot.feedback.conftest import github
from tests.bot.service import sqlite_template

__all__ = ["github", "sqlite_template"]
