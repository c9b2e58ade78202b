"""Claims: what a change does, read off its two sides and said in plain sentences.

CRScore (section 3.1) lets a large model write claims about a change. Here they are read off the
syntax trees of the two sides, so that each is a true restatement of the change: what it adds,
removes, renames, guards, returns, and what follows for those who call it.
"""

from models.crscore.claims.read import LIMIT, claims_of_diff, claims_of_hunk

__all__ = ["LIMIT", "claims_of_diff", "claims_of_hunk"]
