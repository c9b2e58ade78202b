"""The hooks' entries run by git itself, and the options for other programs."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import yaml

from bot.diff import GitError, GitRepository
from bot.review.hooks import pushed_range, staged_change
from tests.bot.commands.command_line import call
from tests.bot.diff.repos import ENVIRONMENT, Repo, clone

BIN = Path(sys.executable).parent
HOOKS = {
    hook["id"]: hook
    for hook in yaml.safe_load(Path(".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
}
GOOD = "def f(a):\n    return a\n"
BAD = "def f(a):\n    return b\n"  # ruff F821, an error


@pytest.fixture
def repo(tmp_path) -> Repo:
    repo = Repo(tmp_path / "r")
    repo.commit({"a.py": GOOD, "b.py": GOOD})
    return repo


def install(repo: Repo, name: str, ident: str, *before: str) -> None:
    """The hook's own entry as git's hook; only the model is left out, for speed."""
    entry = [*shlex.split(HOOKS[ident]["entry"]), "--no-model"]
    hook = repo.path / ".git" / "hooks" / name
    hook.parent.mkdir(exist_ok=True)
    lines = ["#!/bin/sh", f'PATH="{BIN}:$PATH"', *before, "exec " + shlex.join(entry)]
    hook.write_text("\n".join(lines) + "\n")
    hook.chmod(0o755)


def attempt(repo: Repo, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["git", "-C", str(repo.path), *arguments],
        env=ENVIRONMENT, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip


def test_the_hooks_are_complete():
    assert {ident: hook["stages"] for ident, hook in HOOKS.items()} == {
        "marginalia": ["pre-commit"],
        "marginalia-push": ["pre-push"],
    }
    for hook in HOOKS.values():
        assert hook["language"] == "python"
        assert hook["pass_filenames"] is False


def test_an_error_that_is_staged_stops_the_commit_and_one_that_is_not_does_not(repo):
    install(repo, "pre-commit", "marginalia")
    repo.write({"a.py": BAD})
    repo.git("add", "a.py")
    stopped = attempt(repo, "commit", "-m", "bad")
    assert stopped.returncode == 1, stopped.stderr
    assert "F821" in stopped.stdout + stopped.stderr
    repo.write({"b.py": GOOD + "\n\nprint(f(1))\n"})
    # only b.py is committed: git gives the hook an index of its own
    passed = attempt(repo, "commit", "-m", "good", "--", "b.py")
    assert passed.returncode == 0, passed.stderr
    assert "b.py" in passed.stdout + passed.stderr
    assert "a.py" not in passed.stdout + passed.stderr


def test_an_error_that_is_pushed_stops_the_push(repo, tmp_path):
    other = clone(repo, "work")
    # what pre-commit sets, out of what git tells a pre-push hook
    install(
        other, "pre-push", "marginalia-push", "read lref lsha rref rsha",
        'export PRE_COMMIT=1 PRE_COMMIT_FROM_REF="$rsha" PRE_COMMIT_TO_REF="$lsha"',
    )  # fmt: skip
    repo.git("checkout", "-q", "--detach")
    other.commit({"c.py": GOOD})
    passed = attempt(other, "push", "origin", "main")
    assert passed.returncode == 0, passed.stderr
    other.commit({"c.py": BAD})
    stopped = attempt(other, "push", "origin", "main")
    assert stopped.returncode == 1
    assert "F821" in stopped.stdout + stopped.stderr


def test_staged_is_the_index_and_not_the_working_tree(repo, monkeypatch):
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    repo.write({"a.py": "staged\n", "new.py": "new\n"})
    repo.git("add", "-A")
    repo.write({"a.py": "unstaged\n"})
    with GitRepository(repo.path) as repository:
        change = staged_change(repository)
        sources = repository.sources(change)
        assert [file.path for file in change] == ["a.py", "new.py"]
        assert (sources.head("a.py"), sources.base("a.py")) == (b"staged\n", GOOD.encode())
        assert sources.head("b.py") == GOOD.encode()
        # an index that is not of this repository is not taken
        monkeypatch.setenv("GIT_INDEX_FILE", str(repo.path.parent / "elsewhere"))
        assert staged_change(repository) == change


def test_before_the_first_commit_all_that_is_staged_is_new(tmp_path):
    repo = Repo(tmp_path / "fresh")
    repo.write({"a.py": GOOD})
    repo.git("add", "a.py")
    with GitRepository(repo.path) as repository:
        change = staged_change(repository)
        assert repository.sources(change).head("a.py") == GOOD.encode()
    bare = clone(repo, "bare.git", "--bare")
    with GitRepository(bare.path) as repository, pytest.raises(GitError, match="bare"):
        staged_change(repository)


def test_the_pushed_range_is_pre_commits():
    refs = {"PRE_COMMIT_FROM_REF": "a", "PRE_COMMIT_TO_REF": "b"}
    assert pushed_range(refs) == "a...b"
    assert pushed_range({"PRE_COMMIT": "1"}) is None
    with pytest.raises(GitError, match="PRE_COMMIT_FROM_REF"):
        pushed_range({})


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--json", "--format", "sarif"], "--json and --format exclude each other"),
        (["--staged", "--all"], "--staged and --all exclude each other"),
        (["a..b", "--staged"], "--staged and a range exclude each other"),
        (["--explain", "--format", "junit"], "--explain goes with"),
        (["--all", "nowhere"], "nowhere"),
        (["--pushed"], "PRE_COMMIT_FROM_REF"),
    ],
)
def test_wrong_options_are_one_line_and_exit_2(repo, monkeypatch, arguments, says):
    monkeypatch.delenv("PRE_COMMIT", raising=False)
    done = call("review", "--repo", repo.path, *arguments)
    assert (done.code, done.out) == (2, "")
    assert says in done.err
    assert done.err.count("\n") == 1


def test_a_format_and_a_level_from_the_command_line(repo):
    repo.commit({"a.py": BAD})
    common = ("review", "HEAD~1..HEAD", "--repo", repo.path, "--no-model")
    sarif = call(*common, "--format", "sarif", "--fail-on", "error")
    assert sarif.code == 1
    (one,) = json.loads(sarif.out)["runs"][0]["results"]
    assert (one["ruleId"], one["level"]) == ("ruff:F821", "error")
    none = call(*common, "--format", "junit", "--fail-on", "error", "--max-comments", "0")
    assert none.code == 0
    assert ET.fromstring(none.out).get("failures") == "0"
    whole = call("review", "--repo", repo.path, "--no-model", "--all", "--all-limit", "1", "--json")
    assert whole.code == 0
    assert {entry["path"]: entry["status"] for entry in json.loads(whole.out)["coverage"]} == {
        "a.py": "reviewed",
        "b.py": "ignored",
    }


@pytest.fixture
def hooked(repo, tmp_path) -> Repo:
    """The repository with both hooks put in by pre-commit itself, from the project's own list."""
    source = Repo(tmp_path / "marginalia")
    rev = source.commit({".pre-commit-hooks.yaml": Path(".pre-commit-hooks.yaml").read_text()})
    # the one thing that is not as for a user: the environment is this one, not a new one
    hooks = [{"id": ident, "language": "system", "args": ["--no-model"]} for ident in HOOKS]
    config = {"repos": [{"repo": str(source.path), "rev": rev, "hooks": hooks}]}
    repo.commit({".pre-commit-config.yaml": yaml.safe_dump(config)})
    for folder in ("home", "origin.git"):
        (tmp_path / folder).mkdir()
    Repo(tmp_path / "origin.git").git("config", "receive.denyCurrentBranch", "ignore")
    repo.git("remote", "add", "origin", str(tmp_path / "origin.git"))
    repo.git("push", "-q", "origin", "main")
    done = by_pre_commit(repo, BIN / "pre-commit", "install", "-t", "pre-commit", "-t", "pre-push")
    assert done.returncode == 0, done.stdout + done.stderr
    return repo


def by_pre_commit(repo: Repo, *command: str | Path) -> subprocess.CompletedProcess[str]:
    env = ENVIRONMENT | {
        "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
        "PRE_COMMIT_HOME": str(repo.path.parent / "home"),
    }
    return subprocess.run(
        command, cwd=repo.path, env=env, capture_output=True, text=True, check=False, timeout=300
    )


def test_pre_commit_itself_stops_a_commit_and_a_push(hooked):
    hooked.write({"a.py": BAD})
    hooked.git("add", "a.py")
    stopped = by_pre_commit(hooked, "git", "commit", "-m", "bad")
    said = stopped.stdout + stopped.stderr
    assert stopped.returncode == 1, said
    assert "marginalia (what is staged)" in said
    assert "F821" in said
    # past the first hook, the second one sees it in what is pushed
    forced = by_pre_commit(hooked, "git", "commit", "-q", "--no-verify", "-m", "bad")
    assert forced.returncode == 0, forced.stderr
    stopped = by_pre_commit(hooked, "git", "push", "origin", "main")
    said = stopped.stdout + stopped.stderr
    assert stopped.returncode != 0, said
    assert "marginalia (what is pushed)" in said
    assert "F821" in said
    hooked.write({"a.py": GOOD + "\n\nprint(f(1))\n"})
    passed = by_pre_commit(hooked, "git", "commit", "-q", "-a", "-m", "good")
    assert passed.returncode == 0, passed.stdout + passed.stderr
    passed = by_pre_commit(hooked, "git", "push", "-q", "origin", "main")
    assert passed.returncode == 0, passed.stdout + passed.stderr
