"""The example change: a small real git repository with a reviewable branch.

``python -m tests.example FOLDER`` makes it (anew). ``main..change`` adds, deletes, renames and
modifies files in three languages; among them are faults that a reviewer should see.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

FETCH_OLD = '''\
"""Fetch pages with retries."""

import time
import urllib.request


def fetch(url, headers=None, retries=3):
    """Return the body of a page."""
    headers = headers or {}
    for attempt in range(retries):
        request = urllib.request.Request(url, headers=headers)
        with urllib.request.urlopen(request) as answer:
            if answer.status == 200:
                return answer.read()
        time.sleep(attempt)
    return None
'''

FETCH_NEW = '''\
"""Fetch pages with retries."""

import time
import urllib.request


def fetch(url, headers={}, retries=3, timeout=30):
    """Return the body of a page."""
    headers.setdefault("User-Agent", "pages/1.0")
    for attempt in range(retries):
        request = urllib.request.Request(url, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=timeout) as answer:
                if answer.status == 200:
                    return answer.read()
        except:
            pass
        time.sleep(attempt)
    return None


def fetch_all(urls, retires=3):
    """Return the bodies of several pages."""
    pages = []
    for url in urls:
        pages.append(fetch(url, retries=retries))
    return pages
'''

CART_OLD = """\
export function total(items) {
  let sum = 0;
  for (const item of items) {
    sum += item.price * item.count;
  }
  return sum;
}
"""

CART_NEW = """\
export function total(items, discount) {
  let sum = 0;
  for (const item of items) {
    sum += item.price * item.count;
  }
  console.log("sum", sum);
  if (discount == null) {
    return sum;
  }
  return sum - sum * discount;
}
"""

STORE_OLD = """\
package store

import "os"

// Load reads a file.
func Load(path string) ([]byte, error) {
	return os.ReadFile(path)
}
"""

STORE_NEW = """\
package store

import (
	"fmt"
	"os"
)

// Load reads a file.
func Load(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("load %s: %v", path, err)
	}
	return data, nil
}

// Save writes a file.
func Save(path string, data []byte) {
	_ = os.WriteFile(path, data, 0o644)
}
"""

NOTES = "# Pages\n\nFetches pages.\n"
OLD: Mapping[str, bytes] = {
    "README.md": NOTES.encode(),
    "pages/fetch.py": FETCH_OLD.encode(),
    "pages/legacy.py": b"def old():\n    return 1\n",
    "web/cart.js": CART_OLD.encode(),
    "store/load.go": STORE_OLD.encode(),
    "package-lock.json": b'{"lockfileVersion": 3}\n',
    "logo.png": b"\x89PNG\r\n\x1a\n\x00\x01",
}
NEW: Mapping[str, bytes] = {
    "docs/README.md": (NOTES + "\nSee `pages.fetch`.\n").encode(),
    "pages/fetch.py": FETCH_NEW.encode(),
    "web/cart.js": CART_NEW.encode(),
    "store/load.go": STORE_NEW.encode(),
    "package-lock.json": b'{"lockfileVersion": 3, "packages": {}}\n',
    "logo.png": b"\x89PNG\r\n\x1a\n\x00\x02",
}


def git(folder: Path, *arguments: str) -> str:
    """Run git in a folder, away from the user's own configuration, and return what it prints."""
    name = {"NAME": "Example", "EMAIL": "example@example.invalid", "DATE": "2026-01-05T12:00:00Z"}
    people = {
        f"GIT_{who}_{key}": value for who in ("AUTHOR", "COMMITTER") for key, value in name.items()
    }
    environment = {
        **os.environ,
        **people,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    done = subprocess.run(
        ["git", *arguments], cwd=folder, env=environment, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def write_tree(folder: Path, files: Mapping[str, bytes]) -> None:
    """Make the folder hold exactly these files (git's own folder aside)."""
    for entry in folder.iterdir():
        if entry.name != ".git":
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    for path, content in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


def commit(folder: Path, files: Mapping[str, bytes], message: str) -> str:
    """Commit exactly these files; the commit's id."""
    write_tree(folder, files)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", message)
    return git(folder, "rev-parse", "HEAD")


def make_example(folder: Path) -> Path:
    """Make the example repository in ``folder``, replacing one made before."""
    if (folder / ".git").is_dir():
        shutil.rmtree(folder)
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q", "-b", "main")
    commit(folder, OLD, "Fetch pages, sum carts, load files")
    git(folder, "checkout", "-q", "-b", "change")
    commit(folder, NEW, "Time out, discount, save")
    return folder


if __name__ == "__main__":
    make_example(Path(sys.argv[1]))
