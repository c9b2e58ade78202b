"""A toy data set: small Java methods with the revisions that a reviewer would ask for.

It shows that a system runs from end to end where no data set is at hand; what is measured on it
says nothing about reviewing.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from models.tasks import END_MARK, START_MARK, Example

_NOUNS = ("door", "order", "user", "report", "basket", "session", "account", "page")
_VERBS = ("load", "close", "print", "send", "check", "update")

_Revision = tuple[list[str], list[str], int, str]


def _guard(verb: str, noun: str) -> _Revision:
    head = f"public void {verb}{noun.title()}({noun.title()} {noun}) {{"
    call = f"    {noun}.{verb}();"
    guarded = [f"    if ({noun} != null) {{", f"        {noun}.{verb}();", "    }"]
    return [head, call, "}"], [head, *guarded, "}"], 1, f"check {noun} for null before the call"


def _size(verb: str, noun: str) -> _Revision:
    head = f"private boolean {verb}Any(List<{noun.title()}> {noun}s) {{"
    old, new = f"    return {noun}s.size() == 0;", f"    return {noun}s.isEmpty();"
    return [head, old, "}"], [head, new, "}"], 1, "use isEmpty instead of size"


def _local(verb: str, noun: str) -> _Revision:
    head = f"public String {verb}Name({noun.title()} {noun}) {{"
    old = [f"    String name = {noun}.getName();", "    return name;"]
    new = [f"    return {noun}.getName();"]
    return [head, *old, "}"], [head, *new, "}"], 2, "return the name without a variable"


_KINDS: tuple[Callable[[str, str], _Revision], ...] = (_guard, _size, _local)


def toy_examples(size: int, seed: int = 1) -> list[Example]:
    """``size`` examples with everything that any task needs."""
    rng = random.Random(seed)  # noqa: S311 - a sample, not a secret
    examples: list[Example] = []
    for number in range(size):
        before, after, place, comment = rng.choice(_KINDS)(rng.choice(_VERBS), rng.choice(_NOUNS))
        marked = [
            f"{START_MARK} {line} {END_MARK}" if at == place else line
            for at, line in enumerate(before)
        ]
        hunk = [f"@@ -1,0 +1,{len(before)} @@", *("+" + line for line in before)]
        examples.append(
            Example(
                str(number),
                "\n".join(before),
                "\n".join(marked),
                "\n".join(hunk),
                "\n".join(after),
                comment,
                "java",
                "toy",
            )
        )
    return examples


def toy_files(size: int, seed: int = 1) -> list[tuple[str, str]]:
    """``size`` Java files as (path, text), of every category of completion."""
    rng = random.Random(seed)  # noqa: S311 - a sample, not a secret
    ends = ("Controller", "Service", "Test", "")
    files: list[tuple[str, str]] = []
    for number in range(size):
        noun = rng.choice(_NOUNS).title()
        name = f"{noun}{ends[number % len(ends)]}"
        methods = [example.code for example in toy_examples(3, rng.randrange(10_000))]
        body = "\n".join("    " + line for method in methods for line in method.split("\n"))
        path = f"src/{'test' if name.endswith('Test') else 'main'}/java/{name}{number}.java"
        files.append((path, f"package toy;\n\npublic class {name} {{\n{body}\n}}\n"))
    return files
