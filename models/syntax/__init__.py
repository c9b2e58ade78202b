"""Reading source code: languages, trees, definitions, and where a text may be split."""

from models.syntax.boundaries import statement_boundaries
from models.syntax.definitions import Definition, Parameter, definitions, enclosing
from models.syntax.detect import guess_language, language_of, language_of_file
from models.syntax.grammar import UnknownLanguage, error_count, parse
from models.syntax.language import Language, Role
from models.syntax.table import LANGUAGES, language_row, supported

__all__ = [
    "LANGUAGES",
    "Definition",
    "Language",
    "Parameter",
    "Role",
    "UnknownLanguage",
    "definitions",
    "enclosing",
    "error_count",
    "guess_language",
    "language_of",
    "language_of_file",
    "language_row",
    "parse",
    "statement_boundaries",
    "supported",
]
