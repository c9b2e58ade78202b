"""Try the App on this machine: ``python -m tests.github_double.sandbox`` (``make sandbox``).

Starts a double of GitHub and the service, opens a pull request with faults in it, delivers it,
and prints the review that was posted. With ``KEEP=1`` both go on running and their addresses are
printed. Exit status: 0 a review was posted, 1 none was or a call broke GitHub's description.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.github_double.client import Double, Pull, Violations
from tests.github_double.process import DoubleError
from tests.github_double.service import COMMAND, Service, ServiceError

REPOSITORY = "acme/parcels"
BEFORE = '''\
"""Parcels and what they cost."""


def cost(weight, zone):
    """The price of a parcel in cents."""
    if zone == "home":
        return 400 + 20 * weight
    return 900 + 55 * weight


def label(parcel):
    """The text on the label."""
    return f"{parcel['name']}, {parcel['street']}"
'''
AFTER = '''\
"""Parcels and what they cost."""

import os
import subprocess


def cost(weight, zone, seen=[]):
    """The price of a parcel in cents."""
    seen.append(zone)
    if zone == None:
        return 0
    if zone == "home":
        return 400 + 20 * weight
    return 900 + 55 * weight


def label(parcel):
    """The text on the label."""
    try:
        return f"{parcel['name']}, {parcel['street']}"
    except:
        return ""


def send(parcel):
    subprocess.call("print-label " + label(parcel), shell=True)
'''


def main() -> int:
    """Run the sandbox; the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.github_double.sandbox", description=__doc__
    )
    parser.add_argument(
        "--command",
        default=COMMAND,
        help="how to start the service; {python}, {port}, {data} are filled in",
    )
    parser.add_argument(
        "--as",
        dest="identity",
        choices=("app", "token"),
        default="app",
        help="act as an installed App, or with a token and a plain webhook",
    )
    parser.add_argument(
        "--judge",
        choices=("auto", "always", "never"),
        default="auto",
        help="judge every call by GitHub's description (needs Node)",
    )
    parser.add_argument("--wait", type=float, default=300.0, help="seconds to wait for the review")
    args = parser.parse_args()
    keep = os.environ.get("KEEP", "") not in ("", "0")
    with tempfile.TemporaryDirectory(prefix="marginalia-sandbox-") as folder:
        try:
            with Double(judge=args.judge) as github:
                return _run(github, Path(folder), args, keep=keep)
        except (DoubleError, ServiceError, TimeoutError, Violations) as error:
            _say(f"sandbox: {error}")
            return 1
        except KeyboardInterrupt:
            return 130


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def _run(github: Double, folder: Path, args: argparse.Namespace, *, keep: bool) -> int:
    judged = "judged by GitHub's own description" if github.judged else "not judged"
    _say(f"The double of GitHub listens on {github.url}; calls are {judged}.")
    if github.note:
        _say(github.note)
    github.create_repo(REPOSITORY, {"parcels.py": BEFORE}, collaborators={"alice": "write"})
    service = _service(github, folder, args)
    started = time.monotonic()
    with service:
        _say(f"The service answers on {service.url} after {time.monotonic() - started:.1f} s.")
        pull = github.open_pr(
            REPOSITORY, {"parcels.py": AFTER}, title="Send labels to the printer", author="alice"
        )
        delivered = time.monotonic()
        for delivery in github.deliver("pull_request", "opened", pull):
            _say(f"Delivered {delivery['guid']}: answered {delivery['status_code']}.")
        reviews = _wait(github, service, pull, args.wait)
        _say(f"Reviewed in {time.monotonic() - delivered:.1f} s.\n")
        for review in reviews:
            _print(review)
        github.check()
        if keep:
            _say(
                f"\nThe pull request: {pull.url}\nThe service: {service.url}\n"
                f"The double's own API: {github.url}/_double/\nCtrl-C ends both."
            )
            while True:
                service.alive()
                time.sleep(1)
    return 0


def _service(github: Double, folder: Path, args: argparse.Namespace) -> Service:
    if args.identity == "token":
        github.set_permission(REPOSITORY, "marginalia-bot", "write")
        service = Service(
            github,
            folder,
            token=github.token("marginalia-bot"),
            secret="sandbox",
            command=args.command,
        )
        github.add_hook(REPOSITORY, service.webhook, "sandbox")
        return service
    app = github.create_app()
    github.install(app)
    service = Service(github, folder, app=app, command=args.command)
    github.point_app(app, service.webhook)
    return service


def _wait(github: Double, service: Service, pull: Pull, seconds: float) -> list[dict[str, Any]]:
    deadline = time.monotonic() + seconds
    while True:
        service.alive()
        try:
            return github.wait_for_review(pull, seconds=1)
        except TimeoutError:
            if time.monotonic() > deadline:
                github.check()
                raise TimeoutError(
                    f"no review after {seconds:g} s; the service said:\n{service.log()}"
                ) from None


def _print(review: dict[str, Any]) -> None:
    _say(f"=== {review['user']['login']} reviewed {review['commit_id'][:7]} ({review['state']})\n")
    _say(review["body"].strip())
    for comment in review["comments"]:
        first = comment["start_line"] or comment["line"]
        lines = f"{first}-{comment['line']}" if first != comment["line"] else f"{first}"
        _say(f"\n--- {comment['path']}:{lines} ({comment['side']})\n")
        _say(comment["body"].strip())


if __name__ == "__main__":
    raise SystemExit(main())
