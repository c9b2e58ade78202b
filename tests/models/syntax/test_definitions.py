from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.syntax import UnknownLanguage, definitions, enclosing

SOURCES = {
    "python": (
        "import a\n@dec\nclass Box(Base):\n"
        "    def __init__(self, a, b: int = 1, *c, **d):\n        pass\n"
        "    async def run(self) -> str:\n        def inner(): pass\n        return ''\n"
        "\ndef top(): pass\n",
        [
            ("Box", "class", "", 2, 8),
            ("__init__", "constructor", "Box", 4, 5),
            ("run", "method", "Box", 6, 8),
            ("inner", "function", "run", 7, 7),
            ("top", "function", "", 10, 10),
        ],
        {"__init__": ["self", "a", "b:int=1", "*c", "**d"]},
    ),
    "javascript": (
        "export class Box {\n  constructor(a, b = 1, ...c) {}\n  run() {}\n"
        "  on = (e) => { e(); };\n}\n"
        "export const top = async ({ a, b }) => 1;\nexports.other = function (x) {};\n"
        "const o = { key: function (y) {}, short(z) {} };\n",
        [
            ("Box", "class", "", 1, 5),
            ("constructor", "constructor", "Box", 2, 2),
            ("run", "method", "Box", 3, 3),
            ("on", "method", "Box", 4, 4),
            ("top", "function", "", 6, 6),
            ("exports.other", "function", "", 7, 7),
            ("key", "function", "", 8, 8),
            ("short", "method", "", 8, 8),
        ],
        {"constructor": ["a", "b=1", "c"], "top": ["{ a, b }"], "on": ["e"]},
    ),
    "typescript": (
        "interface I {\n  m(a: string): void;\n}\nenum E { A }\ntype T = string;\n"
        "export function f(a?: number, b: string = 'x'): Promise<void> {}\n",
        [
            ("I", "interface", "", 1, 3),
            ("m", "method", "I", 2, 2),
            ("E", "enum", "", 4, 4),
            ("T", "type", "", 5, 5),
            ("f", "function", "", 6, 6),
        ],
        {"f": ["a:number", "b:string='x'"]},
    ),
    "java": (
        "package a;\n@A\npublic class Box<T> extends Base {\n  Box(final int a, String... b) {}\n"
        "  @Override\n  public List<T> run() throws E { return null; }\n}\nenum E { A }\n",
        [
            ("Box", "class", "", 2, 7),
            ("Box", "constructor", "Box", 4, 4),
            ("run", "method", "Box", 5, 6),
            ("E", "enum", "", 8, 8),
        ],
        {"Box": ["a:int", "b"]},
    ),
    "go": (
        "package a\n\ntype S struct {\n\tA int\n}\n\ntype I interface{ M(a int) error }\n\n"
        "func (s *S) Run(a, b int, c ...string) (int, error) { return 0, nil }\n",
        [
            ("S", "struct", "", 3, 5),
            ("I", "interface", "", 7, 7),
            ("M", "method", "I", 7, 7),
            ("Run", "method", "S", 9, 9),
        ],
        {"Run": ["a:int", "b:int", "c:string"]},
    ),
    "rust": (
        "pub struct S { a: u32 }\nimpl T for S {\n"
        "    pub fn run(&mut self, a: &str) -> bool { true }\n}\n"
        "trait T { fn m(&self); }\nmod m { fn inner() {} }\n",
        [
            ("S", "struct", "", 1, 1),
            ("S", "impl", "", 2, 4),
            ("run", "method", "S", 3, 3),
            ("T", "trait", "", 5, 5),
            ("m", "method", "T", 5, 5),
            ("m", "module", "", 6, 6),
            ("inner", "method", "m", 6, 6),
        ],
        {"run": ["self", "a:&str"]},
    ),
    "c": (
        "struct s { int a; };\nstatic int *f(char **a, struct s *b, ...) { return 0; }\n",
        [("s", "struct", "", 1, 1), ("f", "function", "", 2, 2)],
        {"f": ["a:char", "b:struct s", "..."]},
    ),
    "cpp": (
        "namespace n {\nclass A : public B {\n public:\n  A(int a) : x(a) {}\n  ~A() {}\n"
        "  int f(int b = 3) const { return b; }\n};\n"
        "int A::g(const string& s) { return 1; }\n}\n",
        [
            ("n", "namespace", "", 1, 9),
            ("A", "class", "n", 2, 7),
            ("A", "constructor", "A", 4, 4),
            ("~A", "method", "A", 5, 5),
            ("f", "method", "A", 6, 6),
            ("A::g", "method", "n", 8, 8),
        ],
        {"f": ["b:int=3"], "A::g": ["s:string"]},
    ),
    "csharp": (
        'namespace N {\n  public class A : B {\n    public A(int a, string b = "x") {}\n'
        "    public async Task<int> F() { return 1; }\n  }\n  interface I { void M(); }\n"
        "}\n",
        [
            ("N", "namespace", "", 1, 7),
            ("A", "class", "N", 2, 5),
            ("A", "constructor", "A", 3, 3),
            ("F", "method", "A", 4, 4),
            ("I", "interface", "N", 6, 6),
            ("M", "method", "I", 6, 6),
        ],
        {},
    ),
    "ruby": (
        "module M\n  class A < B\n    def f(a, b = 1, *c, k: 2, **o)\n      a\n    end\n"
        "    def self.g; end\n  end\nend\n",
        [
            ("M", "module", "", 1, 8),
            ("A", "class", "M", 2, 7),
            ("f", "method", "A", 3, 5),
            ("g", "method", "A", 6, 6),
        ],
        {"f": ["a", "b=1", "*c", "k=2", "**o"]},
    ),
    "php": (
        "<?php\nclass A extends B {\n"
        "  public function f(int $a, $b = 1, ...$c) { return 1; }\n}\nfunction g() {}\n",
        [("A", "class", "", 2, 4), ("f", "method", "A", 3, 3), ("g", "function", "", 5, 5)],
        {"f": ["$a:int", "$b=1", "$c"]},
    ),
    "kotlin": (
        "class A(val a: Int) {\n  fun f(b: Int = 1, c: String): Int {\n    return b\n"
        "  }\n}\nobject O\nfun top() {}\n",
        [
            ("A", "class", "", 1, 5),
            ("f", "method", "A", 2, 4),
            ("O", "object", "", 6, 6),
            ("top", "function", "", 7, 7),
        ],
        {"f": ["b:Int=1", "c:String"]},
    ),
    "scala": (
        "class A(a: Int) {\n  def f(b: Int = 1): Int = b\n}\nobject O {\n  def g = 1\n}\n",
        [
            ("A", "class", "", 1, 3),
            ("f", "method", "A", 2, 2),
            ("O", "object", "", 4, 6),
            ("g", "method", "O", 5, 5),
        ],
        {"f": ["b:Int=1"]},
    ),
    "bash": (
        "f() {\n  echo 1\n}\nfunction g { :; }\n",
        [("f", "function", "", 1, 3), ("g", "function", "", 4, 4)],
        {},
    ),
}


@pytest.mark.parametrize("language", SOURCES)
def test_definitions(language):
    source, expected, parameters = SOURCES[language]
    found = definitions(source.encode(), language)
    assert [(d.name, d.kind, d.parent, d.start_line, d.end_line) for d in found] == expected
    for name, wanted in parameters.items():
        item = next(d for d in found if d.name == name and not d.is_type)
        shown = [
            p.name + (f":{p.type}" if p.type else "") + (f"={p.default}" if p.default else "")
            for p in item.parameters
        ]
        assert shown == wanted


def test_signature_is_the_head_on_one_line():
    source = b"def f(\n    a,\n    b=1,\n) -> int:\n    return 1\n"
    (item,) = definitions(source, "python")
    assert item.signature == "def f( a, b=1, ) -> int:"
    assert item.returns == "int"
    (item,) = definitions(b"const f = async (a) => { b(); };", "javascript")
    assert item.signature == "const f = async (a) =>"


def test_enclosing_is_the_innermost_that_holds_all_lines():
    source = SOURCES["python"][0].encode()
    assert enclosing(source, "python", 7, 7).name == "inner"
    assert enclosing(source, "python", 7, 8).name == "run"
    assert enclosing(source, "python", 5, 7).name == "Box"
    # the decorator belongs to the class
    assert enclosing(source, "python", 2, 2).name == "Box"
    assert enclosing(source, "python", 1, 1) is None
    assert enclosing(source, "python", 9, 10) is None


def test_broken_code_gives_what_can_still_be_read():
    found = definitions(
        b"def good():\n    pass\n\ndef bad(:\n    pass\n\ndef last():\n    pass\n", "python"
    )
    assert {"good", "last"} <= {d.name for d in found}


def test_an_unknown_language_is_an_error():
    with pytest.raises(UnknownLanguage):
        definitions(b"", "cobol")


@pytest.mark.parametrize("language", ["python", "javascript", "java", "go", "cpp", "rust"])
@settings(max_examples=20, deadline=None)
@given(source=st.text(alphabet="(){}[]:;=,. \nfunction defclass\"'#/*a", max_size=200))
def test_any_text_has_definitions(language, source):
    total = source.count("\n") + 1
    for item in definitions(source.encode(), language):
        assert item.name
        assert 1 <= item.start_line <= item.end_line <= total


def test_deep_nesting_and_wide_lists_are_read_in_time():
    deep = b"".join(b" " * i + b"def f%d():\n" % i for i in range(300)) + b" " * 300 + b"pass\n"
    assert len(definitions(deep, "python")) > 100
    assert definitions(b"{" * 50_000, "java") == []
    wide = b"x = [" + b"1, " * 100_000 + b"]\ndef f(): pass\n"
    assert [d.name for d in definitions(wide, "python")] == ["f"]
