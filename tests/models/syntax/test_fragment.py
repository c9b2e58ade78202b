from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.syntax.fragment import read_fragments


def read(text, language):
    (piece,) = read_fragments((text,), language)
    return piece


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("python", "            a = 1\n        b = 2\n    c = 3\nd = 4"),
        ("python", "        return 1\n    else:\n        return 2"),
        ("python", "        a()\n    except ValueError:\n        b()\n"),
        ("python", "             timeout=1,\n             retries=2):\n    return 1"),
        ("python", "    'a',\n    'b']\n\nx = 1"),
        ("python", "    'a': 1,\n    'b': 2,\n}\nx = 1"),
        ("python", "def f(\n    a,\n    b=1,"),
        ("python", "if a:"),
        ("python", "@dec\n@other"),
        ("python", '    of a docstring.\n    """\n    return 1'),
        ("python", 'def f():\n    """A docstring\n    that goes on'),
        ("python", "    author='a',\n    maintainer='b',"),
        ("javascript", "  run(a) {\n    return a;\n  }\n"),
        ("javascript", "  a: 1,\n  b: 2,\n"),
        ("javascript", "      total: 0\n    })\n    check(a)\n  })\n\n  it('b', () => {"),
        ("javascript", "    return 1;\n  }\n}\n\nfunction g() {"),
        ("javascript", " * A comment\n * that goes on\n */\nfunction f() {}"),
        ("javascript", "  .then(a => b)\n  .catch(c);"),
        ("tsx", "  title={a}\n  label={b}\n"),
        ("java", "    }\n  }\n\n  @Override\n  public int f() {\n    return 1;"),
        ("java", "      case A:\n        f();\n        break;\n      case B:\n"),
        ("java", "    } catch (IOException e) {\n      g();\n    }\n"),
        ("java", "  private int a;\n  abstract int f(int b);\n"),
        ("go", "\treturn err\n\t}\n\treturn nil\n}\n\nfunc g() {"),
        ("cpp", "  int a;\n  virtual void f() const = 0;\n"),
        ("csharp", "  public int F() {\n    return 1;\n  }\n"),
        ("php", "  return $a;\n}\n"),
    ],
)
def test_pieces_read_without_errors(language, text):
    piece = read(text, language)
    assert piece.errors == 0
    assert piece.lines == text.count("\n") + 1


def test_rows_of_the_piece_are_found_behind_the_frame():
    piece = read("             timeout=1):\n    return 1\n", "python")
    source = piece.tree.root_node.text.decode().split("\n")
    assert source[piece.offset].strip() == "timeout=1):"
    assert piece.offset == 1


def test_whole_code_has_no_frame():
    assert read("def f():\n    pass\n", "python").offset == 0


def test_unknown_languages_are_not_read():
    assert read_fragments(("a",), "cobol") is None


@pytest.mark.parametrize("language", ["python", "javascript", "java", "bash", "tsx"])
@settings(max_examples=25, deadline=None)
@given(text=st.text(alphabet="(){}[]:;=,.*/\"'`#@ \nacedfils", max_size=120))
def test_any_piece_is_read(language, text):
    piece = read(text, language)
    root = piece.tree.root_node
    rows = [""] * root.start_point.row + root.text.decode().split("\n") + [""] * piece.lines
    found = [row.strip() for row in rows[piece.offset : piece.offset + piece.lines]]
    assert found == [line.strip() for line in text.split("\n")]


@pytest.mark.parametrize(
    "text", ["(" * 9_000 + "}" * 9_000, "/*" * 9_000, '"""' * 5_000, "\n" * 39_000]
)
def test_hostile_pieces_are_read_in_time(text):
    assert read(text, "python").lines == text.count("\n") + 1
    assert read(text, "java").lines == text.count("\n") + 1
