"""A review for other programs: SARIF, reviewdog's formats, GitHub's annotations, JUnit XML.

Each format speaks of the posted comments alone and says what was not read. A path that is no
UTF-8 still gives valid output; a suggestion that the format cannot carry exactly is left out.
"""

from bot.review.formats.choice import Format, reaches, render

__all__ = ["Format", "reaches", "render"]
