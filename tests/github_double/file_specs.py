"""Files of a commit as tests write them down, and as ``git fast-import`` reads them."""

from __future__ import annotations

import base64
from collections.abc import Mapping

FileSpec = str | bytes | None | Mapping[str, str]
"""What a path becomes in a commit.

Text or bytes: a file with this content. ``None``: the path is deleted. A mapping: ``content``
(text) or ``base64``, with an optional ``mode`` (``100755``, ``120000`` for a symbolic link); or
``submodule``, the commit id that a submodule points at.
"""


def file_command(path: str, spec: FileSpec) -> bytes:
    quoted = '"' + path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
    name = quoted.encode("utf-8", "surrogateescape")
    if spec is None:
        return b"D " + name + b"\n"
    mode = "100644"
    if isinstance(spec, Mapping):
        if "submodule" in spec:
            return b"M 160000 " + spec["submodule"].encode() + b" " + name + b"\n"
        mode = spec.get("mode", mode)
        content = base64.b64decode(spec["base64"]) if "base64" in spec else spec["content"].encode()
    else:
        content = spec.encode() if isinstance(spec, str) else spec
    return f"M {mode} inline ".encode() + name + b"\n" + data_command(content)


def data_command(content: bytes) -> bytes:
    return f"data {len(content)}\n".encode() + content + b"\n"
