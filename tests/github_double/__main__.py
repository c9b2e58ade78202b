"""``python -m tests.github_double --port N --state DIR [--judge auto|always|never]``."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import tempfile
import threading
from pathlib import Path
from types import FrameType

from tests.github_double import prism
from tests.github_double.server import Server


def main() -> int:
    """Run the double until it is told to stop; one JSON line says where it listens."""
    parser = argparse.ArgumentParser(prog="python -m tests.github_double", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--state", type=Path, help="folder for git and logs; default: a new one")
    parser.add_argument(
        "--judge",
        choices=("auto", "always", "never"),
        default="auto",
        help="judge every call by GitHub's OpenAPI description (needs Node); auto: if it is there",
    )
    parser.add_argument(
        "--tied", action="store_true", help="end when standard input is closed: with the parent"
    )
    args = parser.parse_args()
    folder = args.state or Path(tempfile.mkdtemp(prefix="github-double-"))
    folder.mkdir(parents=True, exist_ok=True)
    if (folder / "git").exists():
        parser.error(f"{folder} holds another run's repositories: give an empty folder")
    why = prism.missing() if args.judge != "never" else "not asked for"
    if args.judge == "always" and why:
        parser.error(why)
    server = Server(folder, host=args.host, port=args.port, judge=not why)

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise SystemExit(0)

    signal.signal(signal.SIGTERM, stop)
    if args.tied:
        threading.Thread(target=_watch_parent, daemon=True).start()
    if server.prism is not None:
        server.gateway.prism = server.prism.start()
    said = {"url": server.url, "judged": not why, "state": str(folder)}
    if why and args.judge == "auto":
        said["note"] = f"calls are not judged: {why}"
    sys.stdout.write(json.dumps(said) + "\n")
    sys.stdout.flush()
    try:
        server.http.serve_forever()
    except KeyboardInterrupt:
        return 0
    finally:
        server.close()
    return 0


def _watch_parent() -> None:
    sys.stdin.read()
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    raise SystemExit(main())
