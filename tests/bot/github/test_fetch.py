"""Changes read from the double, and what is done where the API stops."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.github.fetch import Fetcher
from bot.github.forge import GitHubForge
from bot.jobs.forge import NotFound, Reviewed, Superseded
from models.change import Coverage


@pytest.fixture
def limits(scene):
    before = scene.github.limits()
    yield scene.github.limits
    scene.github.limits(**before)


def test_state_and_change_of_a_pull_request(scene):
    state = scene.forge.pull(scene.ref)
    assert (state.head, state.merge_base) == (scene.pull.head_sha, scene.pull.merge_base)
    assert state.is_open
    assert (state.base_ref, state.author, state.fork) == ("main", "alice", False)
    fetched = scene.forge.change(scene.ref, state, None)
    (file,) = fetched.change.files
    assert (file.path, file.coverage, len(file.hunks)) == ("src/a.py", Coverage.REVIEWED, 2)
    assert fetched.notes == ()
    assert b"line ten\n" in (fetched.sources.head("src/a.py") or b"")
    assert b"line 10\n" in (fetched.sources.base("src/a.py") or b"")
    assert fetched.sources.head("README.md") == b"hello\n"
    assert fetched.sources.head("nowhere.py") is None


def test_a_pull_request_that_is_not_there(scene):
    with pytest.raises(NotFound, match="404"):
        scene.forge.pull(replace(scene.ref, number=99))


def test_trouble_6_the_head_moves_while_it_is_read(scene):
    state = scene.forge.pull(scene.ref)
    scene.github.push(scene.ref.repository, "change", {"src/b.py": "new\n"})
    with pytest.raises(Superseded):
        scene.forge.change(scene.ref, state, None)


def test_trouble_21_binary_and_undecodable_files_cost_themselves_alone(scene):
    scene.github.push(
        scene.ref.repository,
        "change",
        {"logo.bin": b"\0\1\2" * 50, "latin.py": "x = 'caf\xe9'\n".encode("latin-1")},
    )
    fetched = scene.forge.change(scene.ref, scene.forge.pull(scene.ref), None)
    cover = {file.path: file.coverage for file in fetched.change}
    assert cover["src/a.py"] is Coverage.REVIEWED
    assert cover["logo.bin"] is Coverage.BINARY
    assert cover["latin.py"] is Coverage.UNDECODABLE


def test_trouble_11_rows_past_a_pages_limit_come_by_smaller_pages(scene, limits):
    files = {f"gen/f{n:02}.py": f"value_{n} = {n}\n" * 10 for n in range(30)}
    scene.github.push(scene.ref.repository, "change", files)
    limits(page_patch_lines=120)
    forge = GitHubForge(scene.identity, scene.github.url, use_git=False)
    fetched = forge.change(scene.ref, forge.pull(scene.ref), None)
    assert len(fetched.change.files) == 31
    assert {file.coverage for file in fetched.change} == {Coverage.REVIEWED}
    assert fetched.notes == ()


def test_trouble_12_a_file_too_large_to_be_shown_comes_by_git(scene, limits):
    scene.github.push(scene.ref.repository, "change", {"wide.py": f"x = '{'w' * 3000}'\n"})
    limits(file_diff_bytes=1000, diff_bytes=1500)
    state = scene.forge.pull(scene.ref)
    fetched = scene.forge.change(scene.ref, state, None)
    wide = fetched.change.file("wide.py")
    assert wide is not None
    assert wide.coverage is Coverage.REVIEWED
    assert len(wide.hunks[0].lines[0].text) > 3000
    assert fetched.notes == (
        "GitHub showed no patch for wide.py: the change was read by git instead",
    )
    assert (fetched.change.base, fetched.change.head) == (state.merge_base, state.head)
    assert fetched.sources.head("wide.py") is not None
    assert fetched.sources.base("src/a.py") is not None
    assert fetched.sources.head("README.md") == b"hello\n"


def test_without_git_what_is_missing_is_said(scene, limits):
    scene.github.push(scene.ref.repository, "change", {"wide.py": f"x = '{'w' * 3000}'\n"})
    limits(file_diff_bytes=1000, diff_bytes=1500)
    forge = GitHubForge(scene.identity, scene.github.url, use_git=False)
    fetched = forge.change(scene.ref, forge.pull(scene.ref), None)
    assert fetched.change.file("wide.py").coverage is Coverage.PATCH_MISSING
    assert fetched.notes == ("GitHub showed no patch for wide.py: they were not read",)


def test_trouble_10_the_files_list_stops_and_git_goes_on(scene, limits):
    files = {f"many/f{n}.py": f"a = {n}\n" for n in range(8)}
    scene.github.push(scene.ref.repository, "change", files)
    limits(listed_files=4, diff_files=4)
    fetched = scene.forge.change(scene.ref, scene.forge.pull(scene.ref), None)
    assert len(fetched.change.files) == 9
    assert "GitHub listed 4 of 9 files" in fetched.notes[0]


def test_git_that_fails_is_a_note_not_a_failure(scene, limits):
    scene.github.push(scene.ref.repository, "change", {"wide.py": f"x = '{'w' * 3000}'\n"})
    limits(file_diff_bytes=1000, diff_bytes=1500)
    forge = GitHubForge(scene.identity, "http://127.0.0.1:9")
    fetched = forge.change(scene.ref, forge.pull(scene.ref), None)
    assert "git could not fetch them" in fetched.notes[0]
    assert "token" not in fetched.notes[0].lower()
    assert fetched.change.file("src/a.py").coverage is Coverage.REVIEWED


def test_trouble_4_after_a_rebase_only_the_new_hunks_are_read(scene):
    github, repo = scene.github, scene.ref.repository
    state = scene.forge.pull(scene.ref)
    github.push(repo, "main", {"upstream.py": "theirs = 1\n"}, message="Upstream")
    github.act(scene.pull, "rebase")
    github.push(repo, "change", {"src/new.py": "mine = 1\n"})
    now = scene.forge.pull(scene.ref)
    assert now.merge_base != state.merge_base
    since = Reviewed(state.merge_base, state.head)
    fetched = scene.forge.change(scene.ref, now, since)
    assert [file.path for file in fetched.change] == ["src/new.py"]
    assert fetched.notes == ()


def test_an_earlier_patch_that_is_gone_means_the_whole_change(scene):
    state = scene.forge.pull(scene.ref)
    forge = GitHubForge(scene.identity, scene.github.url, use_git=False)
    fetched = forge.change(scene.ref, state, Reviewed("1" * 40, "2" * 40))
    assert len(fetched.change.files) == 1
    assert "cannot be read any more" in fetched.notes[0]


def test_a_fork_is_read_like_any_other(scene):
    github, repo = scene.github, scene.ref.repository
    fork = github.fork(repo, "carol")
    github.push(fork, "feature", {"src/c.py": "c = 1\n"})
    pull = github.open_pr(repo, head="feature", head_repo=fork, author="carol")
    ref = replace(scene.ref, number=pull.number)
    state = scene.forge.pull(ref)
    assert state.fork
    fetched = scene.forge.change(ref, state, None)
    assert fetched.sources.head("src/c.py") == b"c = 1\n"


def test_reads_are_retried(scene):
    fault = scene.github.fault("status", "GET", "*/pulls/1", status=502, times=2)
    assert scene.forge.head_sha(scene.ref) == scene.pull.head_sha
    assert scene.github.fault_hits(fault) == 2


def test_compared_gives_nothing_where_github_shows_only_a_part(scene, limits):
    state = scene.forge.pull(scene.ref)
    fetcher = Fetcher(scene.forge.api)
    assert fetcher.compared(scene.ref, state.merge_base, state.head) is not None
    assert fetcher.compared(scene.ref, "3" * 40, state.head) is None
