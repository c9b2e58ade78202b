"""The one error that a command ends with: a line for a person, and an exit code.

Exit codes: 0 all is well; 1 the command did its work and the answer is "no" (``doctor`` found
something missing, a ``--fail-on`` level was reached); 2 the input or the usage is wrong.
"""

from __future__ import annotations

import errno

FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
"""What a write to a full disk fails with. The command line tells it, in one place."""


class FatalError(Exception):
    """What is wrong, where, and what to do, in one line; ``code`` is the exit code."""

    def __init__(self, message: str, code: int = 2) -> None:
        super().__init__(" ".join(message.split()))
        self.code = code
