"""JavaScript and TypeScript smells by oxlint, beyond what our own rules say.

Only a configuration of ours is read; ``oxlint-disable`` and ``eslint-disable`` comments are
honoured. Type information is not used, since nothing but the changed files is there.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, ClassVar

from models.analyzers.base import AnalyzerFailure, CommandAnalyzer, Work
from models.analyzers.fixes import LineIndex
from models.analyzers.introduced import SYNTAX_RULE
from models.review_types import Finding, Severity

ERRORS = (
    "no-const-assign,no-dupe-keys,no-dupe-else-if,no-duplicate-case,no-dupe-class-members,"
    "no-unsafe-negation,no-unsafe-optional-chaining,no-self-assign,no-obj-calls,no-setter-return,"
    "getter-return,for-direction,no-compare-neg-zero,no-invalid-regexp,no-this-before-super,"
    "constructor-super,no-import-assign,no-func-assign,no-class-assign,no-ex-assign,"
    "no-global-assign,no-new-native-nonconstructor,no-loss-of-precision,no-sparse-arrays,"
    "oxc/bad-comparison-sequence,oxc/bad-min-max-func,oxc/bad-char-at-comparison,"
    "oxc/bad-array-method-on-arguments,oxc/bad-replace-all-arg,oxc/const-comparisons,"
    "oxc/missing-throw,oxc/number-arg-out-of-range,oxc/uninvoked-array-callback,"
    "oxc/erasing-op,oxc/misrefactored-assign-op,"
    "typescript/no-duplicate-enum-values,typescript/no-misused-new,"
    "typescript/no-non-null-asserted-optional-chain,typescript/no-unsafe-declaration-merging,"
    "unicorn/no-await-in-promise-methods,unicorn/no-invalid-fetch-options,"
    "unicorn/no-array-fill-with-reference-type,unicorn/no-accessor-recursion,"
    "unicorn/no-invalid-remove-event-listener,unicorn/no-thenable,"
    "jest/valid-expect,react/no-direct-mutation-state,react/jsx-no-duplicate-props,"
    "react/rules-of-hooks,react/void-dom-elements-no-children"
)
WARNINGS = (
    "no-unreachable,no-constant-binary-expression,no-constant-condition,no-unused-vars,"
    "no-misleading-character-class,no-empty-character-class,no-empty-pattern,no-delete-var,"
    "no-shadow-restricted-names,no-unused-private-class-members,no-useless-backreference,"
    "no-unmodified-loop-condition,no-extra-boolean-cast,require-yield,"
    "oxc/double-comparisons,oxc/only-used-in-recursion,oxc/approx-constant,"
    "typescript/no-extra-non-null-assertion,typescript/no-wrapper-object-types,"
    "unicorn/no-single-promise-in-promise-methods,unicorn/no-unnecessary-await,"
    "unicorn/no-useless-spread,unicorn/prefer-set-size,"
    "react/jsx-key,react/no-children-prop,react/no-find-dom-node,jsx-a11y/alt-text"
)
_PLUGINS = ("typescript", "unicorn", "oxc", "react", "jest", "jsx-a11y")
_CHAIN = re.compile(
    r"\)\s*\.(?:not\.)?(?:to|be|been|is|that|which|and|has|have|with|at|of|same|but|does|still"
    r"|also|deep|eventually)\s*\."
)
"""A chain of words after ``expect(...)``: Chai's way to assert, also in Vitest and Cypress."""
_MODULE = re.compile(
    r"^\s*(?:import|export)\b|\brequire\s*\(|\bmodule\.exports\b|^\s*exports\.", re.MULTILINE
)
_TOP_LEVEL = re.compile(r"(?:var|let|const|class|(?:async\s+)?function)\b")
_REACT = re.compile(r"""["'](?:react|preact|next)(?:[-/][^"'\n]*)?["']""")
_OTHER_JSX = re.compile(r"""["'](?:vue|solid-js|lit|svelte|@builder\.io/qwik)(?:/[^"'\n]*)?["']""")
_METHOD = re.compile(r"""(?<!\()\bmethod\s*(?:[,}\n]|:\s*[^"'\s])""")
_UNUSED_OPTIONS = {"args": "none", "caughtErrors": "none", "ignoreRestSiblings": True}


class Oxlint(CommandAnalyzer):
    """Adapter of ``oxlint --format json``."""

    name: ClassVar[str] = "oxlint"
    globs: ClassVar[tuple[str, ...]] = (
        "*.js",
        "*.jsx",
        "*.mjs",
        "*.cjs",
        "*.ts",
        "*.tsx",
        "*.mts",
        "*.cts",
    )
    how_to_get: ClassVar[str] = "pip install oxlint"

    def run(self, work: Work) -> list[Finding]:
        """Findings of all files; see ``Analyzer.run``."""
        config = work.scratch / "oxlint.json"
        config.write_text(json.dumps(_config()), "utf-8")
        command: list[str | Path] = [self.executable, "--config", config]
        command += ["--disable-nested-config", "--no-ignore", "--format=json", "--"]
        findings: list[Finding] = []
        for batch in work.batches():
            # 3 is its answer to a file that doesn't parse.
            output = work.execute([*command, *batch], ok=(0, 1, 3))
            start = output.stdout.find(b"{")
            if start < 0:
                raise AnalyzerFailure("oxlint: no JSON in its output", findings)
            for row in json.loads(output.stdout[start:])["diagnostics"]:
                finding = _finding(row, work)
                if finding is not None:
                    findings.append(finding)
        return findings


def _config() -> dict[str, Any]:
    rules: dict[str, Any] = dict.fromkeys(WARNINGS.split(","), "warn")
    rules |= dict.fromkeys(ERRORS.split(","), "error")
    rules["no-unused-vars"] = ["warn", _UNUSED_OPTIONS]
    # runners that hand over fixtures want `({}) =>` where none is used
    rules["no-empty-pattern"] = ["warn", {"allowObjectPatternsAsParameters": True}]
    return {"plugins": list(_PLUGINS), "categories": {"correctness": "off"}, "rules": rules}


def _finding(row: dict[str, Any], work: Work) -> Finding | None:
    path = work.relative(row["filename"])
    labels = row.get("labels") or []
    if not labels:
        return None
    # The last label is the place to speak of ("duplicated here"), the first its cause.
    span = labels[-1]["span"]
    line = span["line"]
    end_line = line + _line_feeds(work, path, span)
    if "code" not in row:
        return Finding(
            "oxlint",
            SYNTAX_RULE,
            path,
            line,
            line,
            f"Syntax error: {_sentence(row['message'], '')}",
            Severity.ERROR,
        )
    rule = re.sub(r"^eslint\((.+)\)$|^(.+)\((.+)\)$", _rule_name, row["code"])
    if rule == "no-unused-vars" and _others_may_use(work.text(path), line):
        return None
    if rule.startswith("react") and not _is_react(path, work.text(path)):
        return None
    if rule.endswith("no-invalid-fetch-options") and _method_is_given(work.text(path), line):
        return None
    if rule.endswith("alt-text") and _spreads(work.text(path), line, end_line):
        return None
    if rule == "jest/valid-expect" and not _is_jest(row["message"], work.text(path)):
        return None
    return Finding(
        analyzer="oxlint",
        rule=rule,
        path=path,
        line=line,
        end_line=end_line,
        message=_sentence(row["message"], row.get("help") or ""),
        severity=Severity.ERROR if row["severity"] == "error" else Severity.WARNING,
        url=row.get("url") or "",
    )


def _is_react(path: str, text: str | None) -> bool:
    """Whether a file is React's: others, too, have functions whose names start with ``use``."""
    if text is None:
        return False
    if _REACT.search(text):
        return True
    return path.endswith(("jsx", "tsx")) and _OTHER_JSX.search(text) is None


def _method_is_given(text: str | None, line: int) -> bool:
    """Whether the options near a line have their method from a variable, not as a text.

    oxlint takes such options for those of a GET, which may have no body.
    """
    if text is None:
        return True
    near = text.split("\n")[max(0, line - 12) : line + 11]
    return _METHOD.search("\n".join(near)) is not None


def _spreads(text: str | None, line: int, end_line: int) -> bool:
    """Whether an element takes attributes from a value, among which the missing one may be."""
    if text is None:
        return True
    return "{..." in "".join(text.split("\n")[line - 1 : end_line])


def _others_may_use(text: str | None, line: int) -> bool:
    """Whether a name is a script's own at its outermost level: a page or another script has it too.

    Modules (which import, export or require something) keep their names to themselves.
    """
    if text is None or _MODULE.search(text):
        return False
    return _TOP_LEVEL.match(LineIndex(text).line(line)) is not None


def _is_jest(message: str, text: str | None) -> bool:
    """Whether a finding on ``expect`` holds: in Jest's own way to assert, and not harmless.

    Other runners take a second argument, the message; Jest itself passes over it.
    """
    if message.startswith("Expect takes at most"):
        return False
    return text is not None and _CHAIN.search(text) is None


def _rule_name(match: re.Match[str]) -> str:
    return match[1] or f"{match[2]}/{match[3]}"


def _line_feeds(work: Work, path: str, span: dict[str, int]) -> int:
    """How many lines further the span ends; its offset and length are in UTF-8 bytes."""
    text = work.text(path)
    if text is None:
        return 0
    data = text.encode("utf-8")[span["offset"] : span["offset"] + span["length"]]
    return len(LineIndex(data.decode("utf-8", "replace").rstrip("\n")).starts) - 1


def _sentence(message: str, advice: str) -> str:
    """What is wrong, then what to do, each as a sentence on one line."""
    parts = [" ".join(part.split()).rstrip(".") for part in (message, advice)]
    return " ".join(
        f"{part[:1].upper()}{part[1:]}{'' if part.endswith(('?', '!')) else '.'}"
        for part in parts
        if part
    )
