"""Read ``.github/marginalia.yml``: YAML with positions, and errors that a person can act on.

The file is hostile input: it is bounded in size and depth, aliases are refused (they are how a
small YAML file becomes a large one), no tag makes an object, and only YAML 1.2's plain ``true`` and
``false`` are booleans, so that ``model: off`` is the word it looks like.
"""

from __future__ import annotations

import difflib
import json
import math
import re
import typing
from dataclasses import dataclass, field
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from bot.repo_config import CONFIG_PATH, Limits, RepoConfig

MOST_BYTES = 64 * 1024
MOST_DEPTH = 20

Place = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong in a configuration: where (both 1-based, 1:1 where unknown) and what."""

    line: int
    column: int
    message: str


class ConfigError(ValueError):
    """A configuration that cannot be used, with all its problems in the order of the file."""

    def __init__(self, problems: tuple[Problem, ...], source: str = CONFIG_PATH) -> None:
        self.problems = tuple(sorted(problems, key=lambda p: (p.line, p.column)))
        self.source = source
        super().__init__("\n".join(self.lines()))

    def lines(self) -> list[str]:
        """One ``source:line:column: message`` a problem."""
        return [f"{self.source}:{p.line}:{p.column}: {p.message}" for p in self.problems]


class _Loader(yaml.SafeLoader):
    """Safe loading with the core schema of YAML 1.2 (section 10.3) for plain scalars."""


_Loader.yaml_implicit_resolvers = {}
for _tag, _pattern, _first in (
    ("null", r"~|null|Null|NULL|", "~nN"),
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?(?:0|[1-9][0-9]*)|0x[0-9a-fA-F]+", "-+0123456789"),
    (
        "float",
        r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
        "-+.0123456789",
    ),
):
    _Loader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}",
        re.compile(f"^(?:{_pattern})$"),
        [*_first, ""] if _tag == "null" else list(_first),
    )


@dataclass(slots=True)
class _Reader:
    """Turns nodes into plain data and remembers where each key and value stands."""

    loader: _Loader
    keys: dict[Place, Problem] = field(default_factory=dict)
    values: dict[Place, Problem] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def read(self, node: yaml.Node, place: Place) -> Any:
        self.values[place] = _at(node)
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, place)
        if isinstance(node, yaml.SequenceNode):
            return [self.read(item, (*place, i)) for i, item in enumerate(node.value)]
        return self._scalar(node, place)

    def _mapping(self, node: yaml.MappingNode, place: Place) -> dict[str, Any]:
        data: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = key_node.value if isinstance(key_node, yaml.ScalarNode) else None
            if key is None or (key_node.tag != "tag:yaml.org,2002:str" and key not in ("<<",)):
                self._report(key_node, "a key must be plain text")
                continue
            here = (*place, key)
            if key in data:
                first = self.keys[here].line
                self._report(key_node, f'"{_show(key)}" is set twice; the first is in line {first}')
                continue
            self.keys[here] = _at(key_node)
            data[key] = self.read(value_node, here)
        return data

    def _scalar(self, node: yaml.Node, place: Place) -> Any:
        name = node.tag.removeprefix("tag:yaml.org,2002:")
        if name not in ("null", "bool", "int", "float", "str"):
            self._report(node, f"the tag {_show(node.tag)} is not used here: remove it")
            return ""
        try:
            value = self.loader.construct_object(node)
        except (ValueError, KeyError, yaml.constructor.ConstructorError):
            self._report(node, f'"{_show(str(node.value))}" cannot be read as {name}')
            return ""
        if isinstance(value, float) and not math.isfinite(value):
            self._report(node, f'"{_show(str(node.value))}" is not a number to use here')
            return 0
        if value is None and place:
            self._report(node, f'"{place[-1]}" has no value: give it one or remove the line')
        return value

    def _report(self, node: yaml.Node, message: str) -> None:
        at = _at(node)
        self.problems.append(Problem(at.line, at.column, message))


def read_config(
    raw: bytes | str, source: str = CONFIG_PATH, limits: Limits | None = None
) -> RepoConfig:
    """The configuration in a file's text.

    Raises ``ConfigError`` with every problem found: YAML that does not parse (its first error
    only), unknown keys with the nearest known one, values of the wrong kind or out of range, and
    with ``limits`` what the operator does not offer. An empty file is an empty configuration.
    """
    text = _decode(raw, source)
    node, loader = _compose(text, source)
    if node is None or (isinstance(node, yaml.ScalarNode) and node.tag.endswith(":null")):
        return RepoConfig()
    reader = _Reader(loader)
    if not isinstance(node, yaml.MappingNode):
        at = _at(node, "the file must hold keys, as in sure: 0.5")
        raise ConfigError((at,), source)
    data = reader.read(node, ())
    if reader.problems:
        # a null or a doubled key would only be reported a second time, in worse words
        nulls = {(p.line, p.column) for p in reader.problems}
        raise ConfigError(
            tuple(reader.problems) + tuple(p for p in _validate(data, reader)[1]
                                           if (p.line, p.column) not in nulls),
            source,
        )  # fmt: skip
    config, problems = _validate(data, reader)
    if config is not None and limits is not None:
        problems = tuple(
            Problem(at.line, at.column, message)
            for place, message in limits.problems(config)
            for at in (reader.values.get(place, Problem(1, 1, "")),)
        )
    if config is None or problems:
        raise ConfigError(problems, source)
    return config


def _decode(raw: bytes | str, source: str) -> str:
    if len(raw) > MOST_BYTES:
        raise ConfigError(
            (Problem(1, 1, f"the file is too large: at most {MOST_BYTES} bytes are read"),), source
        )
    if isinstance(raw, str):
        return raw.removeprefix("\ufeff")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = raw[: error.start]
        column = error.start - (before.rfind(b"\n") + 1) + 1
        problem = Problem(before.count(b"\n") + 1, column, "not UTF-8 text: save the file as UTF-8")
        raise ConfigError((problem,), source) from error


def _compose(text: str, source: str) -> tuple[yaml.Node | None, _Loader]:
    try:
        depth = 0
        for event in yaml.parse(text, Loader=_Loader):
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
                message = "anchors and aliases are not used here: write the value out"
                raise ConfigError((_at(event, message),), source)
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if depth > MOST_DEPTH:
                raise ConfigError((_at(event, f"nested more than {MOST_DEPTH} deep"),), source)
        loader = _Loader(text)
        return loader.get_single_node(), loader
    except yaml.MarkedYAMLError as error:
        raise ConfigError((_yaml_problem(error, text),), source) from error
    except yaml.reader.ReaderError as error:
        before = text[: error.position]
        message = f"the character U+{ord(_character(error)):04X} is not allowed in YAML: remove it"
        column = error.position - (before.rfind("\n") + 1) + 1
        raise ConfigError((Problem(before.count("\n") + 1, column, message),), source) from error


def _character(error: yaml.reader.ReaderError) -> str:
    return error.character if isinstance(error.character, str) else chr(error.character)


def _yaml_problem(error: yaml.MarkedYAMLError, text: str) -> Problem:
    mark = error.problem_mark or error.context_mark
    line, column = (mark.line, mark.column) if mark else (0, 0)
    rows = text.split("\n")
    row = rows[line] if line < len(rows) else ""
    words = error.problem or "not YAML"
    if "'\\t'" in words or "\t" in row[: column + 1]:
        message = "a tab stands where spaces are needed: indent with spaces"
    elif "mapping values are not allowed" in words:
        message = 'a ":" stands where none is expected: check the indentation, or quote the text'
    elif "could not find expected ':'" in words:
        message = 'a ":" is missing after a key'
    elif "expected a single document" in words or "another document" in words:
        message = 'only one document: remove the second "---"'
    elif "found unexpected end of stream" in words:
        message = "a quote is never closed"
    elif "expected <block end>" in words:
        message = "the indentation does not match the lines above"
    elif "expected ',' or" in words:
        message = f"a bracket is never closed, or a comma is missing ({words})"
    else:
        message = f"not YAML: {words}"
    return Problem(line + 1, column + 1, message)


def _validate(data: Any, reader: _Reader) -> tuple[RepoConfig | None, tuple[Problem, ...]]:
    try:
        # Through JSON, whose strict mode takes a list for a tuple and nothing else for anything.
        return RepoConfig.model_validate_json(json.dumps(data)), ()
    except ValidationError as error:
        return None, tuple(_problem(item, reader) for item in error.errors(include_url=False))


def _problem(item: ErrorDetails, reader: _Reader) -> Problem:
    place: Place = tuple(item["loc"])
    if item["type"] == "extra_forbidden":
        at = reader.keys.get(place, Problem(1, 1, ""))
        return Problem(at.line, at.column, _unknown_key(place))
    at = reader.values.get(place, Problem(1, 1, ""))
    return Problem(at.line, at.column, _message(item, place))


def _unknown_key(place: Place) -> str:
    key, section = str(place[-1]), place[:-1]
    known = list(_model_at(section).model_fields)
    where = f' in "{section[-1]}"' if section else ""
    for home, model in _sections().items():
        if home != section and key in model.model_fields:
            belongs = f'under "{home[-1]}"' if home else "at the top level"
            return f'unknown key "{_show(key)}"{where}: it belongs {belongs}'
    near = difflib.get_close_matches(key.lower().replace("-", "_"), known, n=1, cutoff=0.5)
    hint = f'did you mean "{near[0]}"?' if near else f"known are {', '.join(sorted(known))}"
    return f'unknown key "{_show(key)}"{where}: {hint}'


def _sections() -> dict[Place, type[BaseModel]]:
    found: dict[Place, type[BaseModel]] = {(): RepoConfig}
    for name, info in RepoConfig.model_fields.items():
        if isinstance(info.annotation, type) and issubclass(info.annotation, BaseModel):
            found[(name,)] = info.annotation
    return found


def _model_at(place: Place) -> type[BaseModel]:
    return _sections()[tuple(part for part in place if isinstance(part, str))]


_WANTED = {
    "float_type": "a number",
    "float_parsing": "a number",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing": "a whole number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "string_type": "text",
    "tuple_type": "a list, as in [a, b]",
    "model_type": "a section with keys of its own",
    "model_attributes_type": "a section with keys of its own",
}


def _message(item: ErrorDetails, place: Place) -> str:
    named = [str(part) for part in place if isinstance(part, str)]
    name = named[-1] if named else "the file"
    given, context, kind = item["input"], item.get("ctx", {}), item["type"]
    if kind in _WANTED:
        hint = ""
        if kind == "string_type" and not isinstance(given, list | dict | None):
            hint = ": put it in quotes"
        elif kind in ("float_type", "int_type", "bool_type") and isinstance(given, str):
            hint = _unquoted(given, kind)
        return f'"{name}" must be {_WANTED[kind]}, not {_kind(given)}{hint}'
    if kind == "literal_error":
        options = _options(place)
        near = difflib.get_close_matches(str(given).lower(), options, n=1, cutoff=0.5)
        hint = f'did you mean "{near[0]}"?' if near else f"choose from {', '.join(options)}"
        return f'{_kind(given)} is not known for "{name}": {hint}'
    for bound, words in (("ge", "at least"), ("le", "at most")):
        if bound in context:
            return f'"{name}" must be {words} {context[bound]:g}, not {given:g}'
    if kind in ("pattern", "rule"):
        return item["msg"]
    if kind == "string_too_short":
        return f'"{name}" must not be empty'
    if kind == "string_too_long":
        return f'"{name}" must have at most {context["max_length"]} characters'
    return f'"{name}": {item["msg"]}'


def _unquoted(given: str, kind: str) -> str:
    if kind == "bool_type":
        low = given.lower()
        return {"yes": ": write true", "on": ": write true", "no": ": write false",
                "off": ": write false"}.get(low, "")  # fmt: skip
    try:
        float(given)
    except ValueError:
        return ""
    return ": remove the quotes"


def _kind(given: Any) -> str:
    if isinstance(given, bool):
        return "true" if given else "false"
    if isinstance(given, dict):
        return "a section"
    if isinstance(given, list):
        return "a list"
    if given is None:
        return "nothing"
    return f'"{_show(given)}"' if isinstance(given, str) else f"{given}"


def _show(text: str) -> str:
    """Text of the file as it may stand in a message: one line, short, nothing unprintable."""
    clean = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
    return clean if len(clean) <= 60 else clean[:57] + "..."


def _options(place: Place) -> list[str]:
    """The literal values allowed at a place."""
    names = [part for part in place if isinstance(part, str)]
    model: type[BaseModel] = RepoConfig
    for name in names[:-1]:
        model = _sections()[(name,)]
    found: list[str] = []

    def collect(annotation: Any) -> None:
        if typing.get_origin(annotation) is typing.Literal:
            found.extend(str(value) for value in typing.get_args(annotation))
        for inner in typing.get_args(annotation):
            if not isinstance(inner, str | int):
                collect(inner)

    collect(model.model_fields[names[-1]].annotation)
    return found


def _at(what: yaml.Node | yaml.Event, message: str = "") -> Problem:
    mark = what.start_mark
    return Problem(mark.line + 1, mark.column + 1, message) if mark else Problem(1, 1, message)
