"""Changes: out of diffs, git repositories and GitHub's answers, and back onto text."""

from bot.diff.apply import apply_change, apply_file, apply_replacements
from bot.diff.coverage import Attributes, PathFilter, classify, cover
from bot.diff.errors import ApplyError, DiffError, GitError
from bot.diff.git import GitRepository, GitSources
from bot.diff.github_files import change_from_files
from bot.diff.names import shown
from bot.diff.parse import parse_diff
from bot.diff.range_diff import new_hunks

__all__ = [
    "ApplyError",
    "Attributes",
    "DiffError",
    "GitError",
    "GitRepository",
    "GitSources",
    "PathFilter",
    "apply_change",
    "apply_file",
    "apply_replacements",
    "change_from_files",
    "classify",
    "cover",
    "new_hunks",
    "parse_diff",
    "shown",
]
