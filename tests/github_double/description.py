"""The part of GitHub's OpenAPI description that the double answers, cut out for a quick start.

A call outside this part is unknown to prism and to the double alike, so nothing is judged more
mildly than by the whole description; but prism starts in a fraction of the time and memory.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any


def cut(source: Path, target: Path, rules: Iterable[str]) -> int:
    """Write the description of the paths that match Flask's ``rules``; how many there are."""
    whole = json.loads(source.read_text("utf-8"))
    known = [_pattern(rule) for rule in rules]
    paths = {
        path: item for path, item in whole["paths"].items() if any(k.match(path) for k in known)
    }
    _mend(paths)
    kept: dict[str, dict[str, Any]] = {}
    waiting = list(_references(paths))
    while waiting:
        kind, name = waiting.pop()
        part = kept.setdefault(kind, {})
        if name not in part:
            part[name] = whole["components"][kind][name]
            waiting.extend(_references(part[name]))
    small = {k: whole[k] for k in ("openapi", "info", "servers")}
    target.write_text(json.dumps({**small, "paths": paths, "components": kept}), "utf-8")
    return len(paths)


def _mend(paths: dict[str, Any]) -> None:
    """Put right what the description itself has wrong, each shown by its own words elsewhere."""
    listed = paths.get("/app/installations")
    if listed:
        # The account is a user or an enterprise, as the same record has it for one installation;
        # here the description asks for both at once.
        answer = listed["get"]["responses"]["200"]["content"]["application/json"]["schema"]
        account = answer["items"]["properties"]["account"]
        account["anyOf"] = account.pop("allOf", account.get("anyOf"))
    labels = paths.get("/repos/{owner}/{repo}/issues/{issue_number}/labels")
    if labels:
        # "You can also pass an array of labels directly", says its text; the schema does not.
        body = labels["post"]["requestBody"]["content"]["application/json"]["schema"]
        body["oneOf"].append({"type": "array", "items": {"type": "string"}})


def _pattern(rule: str) -> re.Pattern[str]:
    """A Flask rule as a pattern over the description's path templates."""
    out = ""
    for literal, choice, variable in re.findall(r"([^<]+)|<any\(([^)]*)\):[^>]*>|(<[^>]*>)", rule):
        if literal:
            out += re.escape(literal)
        elif choice:
            out += "(?:" + "|".join(w.strip("'\"") for w in choice.split(",")) + ")"
        elif variable:
            out += r"\{[^/]*\}"
    return re.compile(out + r"/?$")


def _references(value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        target = value.get("$ref")
        if isinstance(target, str) and target.startswith("#/components/"):
            _, _, kind, name = target.split("/", 3)
            yield kind, name
        for inner in value.values():
            yield from _references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _references(inner)
