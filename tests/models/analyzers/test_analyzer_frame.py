"""The frame around analyzers, with real tools and hostile trees."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from models.analyzers import ANALYZERS, doctor
from models.analyzers.base import analyze, introduced, run_analyzers
from models.analyzers.ruff import Ruff
from tests.models.analyzers.test_introduced import changed

SMELL = b"def f(x=[]):\n    return x\n"


def rules(report, path=None):
    return [one.rule for one in report.findings if path is None or one.path == path]


def script(folder: Path, text: str) -> str:
    path = folder / "tool"
    path.write_text(f"#!{sys.executable}\n{text}")
    path.chmod(0o755)
    return str(path)


def test_finds_a_smell_by_a_real_tool():
    report = run_analyzers({"pkg/a.py": SMELL}, names=["ruff"])
    assert rules(report) == ["B006"]
    assert report.findings[0].line == 1
    assert report.notes == ()
    assert set(report.seconds_by_analyzer) == {"ruff"}


def test_unknown_name_is_an_error_that_names_the_known_ones():
    with pytest.raises(ValueError, match="no analyzer named pylint; there are ruff"):
        run_analyzers({"a.py": SMELL}, names=["pylint"])


@pytest.mark.parametrize("path", ["/tmp/a.py", "../a.py", "x/../../a.py", "a\0.py", "./a.py", ""])
def test_unsafe_path_is_a_note_and_the_rest_is_analyzed(path):
    report = run_analyzers({path: SMELL, "good.py": SMELL}, names=["ruff"])
    assert rules(report, "good.py") == ["B006"]
    assert rules(report) == ["B006"]
    assert len(report.notes) == (1 if path else 0)


def test_file_names_are_never_options():
    names = ["--fix.py", "-e.py", "sp ace/q 'q\".py", "ünï/é.py", "@args.py", "$(touch x).py"]
    report = run_analyzers(dict.fromkeys(names, SMELL), names=["ruff"])
    assert sorted(one.path for one in report.findings) == sorted(names)
    assert report.notes == ()


def test_a_name_with_a_line_feed_is_noted():
    report = run_analyzers({"a\nb.py": SMELL}, names=["ruff"])
    assert report.findings == ()
    assert report.notes == (
        "'a\\nb.py': not analyzed: the path is not in plain form or has unprintable characters",
    )


def test_a_file_and_a_folder_of_one_name():
    report = run_analyzers({"a.py": SMELL, "a.py/b.py": SMELL}, names=["ruff"])
    assert [one.path for one in report.findings] == ["a.py"]
    assert "can't be written" in report.notes[0]


def test_the_repositorys_configuration_never_applies():
    files = {
        "ruff.toml": b'select = []\nexclude = ["*.py"]\n',
        "pkg/.ruff.toml": b"lint.select = []\n",
        "pyproject.toml": b'[tool.ruff]\nexclude = ["*"]\n[tool.ruff.lint]\nselect = []\n',
        ".gitignore": b"*\n",
        ".ignore": b"*\n",
        "sgconfig.yml": b"ruleDirs: [nowhere]\ncustomLanguages: {x: {libraryPath: ./x.so}}\n",
        "pkg/a.py": SMELL,
        "build/a.py": SMELL,
        ".hidden/A.java": b'class A { boolean f(String s) { return s == "a"; } }\n',
    }
    report = run_analyzers(files, names=["ruff", "ast-grep"])
    assert rules(report, "pkg/a.py") == ["B006"]
    assert rules(report, "build/a.py") == ["B006"]
    assert rules(report, ".hidden/A.java") == ["java-string-equality"]
    assert report.notes == ()


def test_suppression_comments_are_honoured():
    files = {
        "a.py": b"def f(x=[]):  # noqa: B006\n    return x\n",
        "A.java": b"class A {\n// ast-grep-ignore: java-string-equality\n"
        b'boolean f(String s) { return s == "a"; } }\n',
        "a.ts": b"// ast-grep-ignore: js-debugger\ndebugger;\n",
    }
    assert run_analyzers(files, names=["ruff", "ast-grep"]).findings == ()


def test_code_of_the_repository_never_runs(tmp_path):
    mark = tmp_path / "ran"
    evil = f"open({str(mark)!r}, 'w').write('x')\n".encode()
    names = ["sitecustomize.py", "usercustomize.py", "ruff.py", "yaml/__init__.py", "conftest.py"]
    report = run_analyzers({**dict.fromkeys(names, evil), "a.py": SMELL})
    assert "B006" in rules(report, "a.py")
    assert not mark.exists()


def test_the_callers_environment_does_not_reach_a_tool(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("MARGINALIA_SECRET", "s3cret")
    monkeypatch.setenv("PATH", f":.:{os.environ['PATH']}")
    tool = script(
        tmp_path,
        "import json, os, sys\n"
        "known = [k for k in os.environ if k in ('PYTHONPATH', 'MARGINALIA_SECRET')]\n"
        "bad = '' in os.environ['PATH'].split(':') or '.' in os.environ['PATH'].split(':')\n"
        "print(json.dumps(known), bad, sys.stdin.read(), file=sys.stderr)\n"
        "sys.exit(9)\n",
    )
    report = analyze([Ruff(tool)], {"a.py": SMELL})
    assert report.notes == ("ruff: broke off: tool: exit status 9: [] False",)


def test_non_utf8_and_binary_content():
    files = {"latin.py": b"# \xe9\n" + SMELL, "zero.py": b"\0\1\2\xff" * 100, "good.py": SMELL}
    report = run_analyzers(files, names=["ruff", "ast-grep"])
    assert rules(report, "good.py") == ["B006"]
    assert [(one.rule, one.line) for one in report.findings if one.path == "latin.py"] == [
        ("B006", 2)
    ]
    assert report.notes == ("'zero.py': not analyzed: binary content",)


def test_a_huge_line_is_left_out_with_a_note():
    files = {"big.js": b"var a = [" + b"1," * 2_500_000 + b"];\n", "good.py": SMELL}
    report = run_analyzers(files)
    assert "B006" in rules(report, "good.py")
    assert report.notes == ("'big.js': not analyzed: 5.0 MB, the limit is 1 MB",)


def test_a_long_line_under_the_limit_is_read():
    files = {"long.js": b"var a = [" + b"1," * 50_000 + b"];\ndebugger;\n"}
    report = run_analyzers(files, names=["ast-grep"])
    assert "js-debugger" in rules(report)


def test_many_files_fit_no_single_command_line():
    files = {f"{'d' * 150}/{'e' * 150}/f{number}.py": SMELL for number in range(700)}
    report = run_analyzers(files, names=["ruff"])
    assert len(report.findings) == 700


def test_a_tool_that_is_not_there_is_one_note():
    report = analyze([Ruff("ruff-that-is-not-there"), ANALYZERS["ast-grep"]], {"a.py": SMELL})
    assert report.notes == (
        "ruff: not run: ruff-that-is-not-there is not installed; to get it: pip install ruff",
    )


def test_an_optional_tool_that_is_not_there_is_noted_only_where_it_is_named(monkeypatch):
    java = {"A.java": b"class A { }"}
    folders = os.environ["PATH"].split(os.pathsep)
    without = [folder for folder in folders if not (Path(folder) / "pmd").exists()]
    monkeypatch.setenv("PATH", os.pathsep.join(without))
    assert run_analyzers(java).notes == ()
    assert "pmd: not run" in run_analyzers(java, names=["pmd"]).notes[0]


def test_a_crash_costs_only_the_crashing_tool(tmp_path):
    tool = script(tmp_path, "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n")
    java = b'class A { boolean f(String s) { return s == "a"; } }\n'
    report = analyze([Ruff(tool), ANALYZERS["ast-grep"]], {"a.py": SMELL, "A.java": java})
    assert report.notes == ("ruff: broke off: tool: signal 11",)
    assert rules(report) == ["java-string-equality"]


def test_what_broke_off_on_the_base_blames_no_change(tmp_path):
    tool = script(tmp_path, "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n")
    old = SMELL.decode()
    moved = old.replace("x=[]", "y=0, x=[]")
    base = analyze([Ruff(tool)], {"a.py": old.encode()})
    assert base.broke_off == {"ruff"}
    head = analyze([ANALYZERS["ruff"]], {"a.py": moved.encode()})
    assert head.broke_off == frozenset()
    assert rules(head) == ["B006"]
    both = changed(old, moved)
    assert introduced(both, base.findings, head.findings, unknown=base.broke_off) == ()
    (kept,) = introduced(changed("", moved), (), head.findings, unknown=base.broke_off)
    assert kept.rule == "B006"


@pytest.mark.parametrize("text", ["print('Segmentation fault')", "print('[1]')", "print('{}')", ""])
def test_unreadable_output_is_one_note(tmp_path, text):
    report = analyze([Ruff(script(tmp_path, text))], {"a.py": SMELL})
    assert report.findings == ()
    assert len(report.notes) == (0 if text == "print('{}')" else 1)
    assert all(note.startswith("ruff: broke off: unreadable output") for note in report.notes)


def test_the_time_limit_ends_the_whole_process_group(tmp_path):
    pids = tmp_path / "pids"
    tool = script(
        tmp_path,
        "import os, subprocess, sys, time\n"
        f"child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        f"open({str(pids)!r}, 'w').write(str(child.pid))\n"
        "time.sleep(60)\n",
    )
    began = time.monotonic()
    report = analyze([Ruff(tool)], {"a.py": SMELL}, wall_limit_s=12.0)
    assert time.monotonic() - began < 45
    assert report.notes == ("ruff: broke off: tool: stopped after 12 s",)
    state = subprocess.run(
        ["ps", "-o", "stat=", "-p", pids.read_text()], capture_output=True, text=True
    ).stdout.strip()
    assert state == "" or state.startswith("Z")


def test_no_temporary_folder_is_left(tmp_path, monkeypatch):
    import tempfile

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    run_analyzers({"a.py": SMELL})
    assert list(tmp_path.iterdir()) == []


def test_extra_rules_of_the_operator(tmp_path):
    (tmp_path / "no-foo.yml").write_text(
        "id: no-foo\nlanguage: Python\nseverity: error\nmessage: Don't call foo.\n"
        "rule: {pattern: foo($$$A)}\nfix: bar($$$A)\n"
    )
    report = run_analyzers(
        {"a.py": b"x = 1\nfoo(1, 2)\n"}, names=["ast-grep"], extra_rules=tmp_path
    )
    (finding,) = report.findings
    assert (finding.rule, finding.line, finding.severity) == ("no-foo", 2, "error")
    assert finding.fix[0].lines == ("bar(1, 2)",)


def test_broken_extra_rules_cost_only_themselves(tmp_path):
    (tmp_path / "x.yml").write_text("id: x\nlanguage: Python\nrule: {nonsense: 1}\n")
    java = {"A.java": b'class A { boolean f(String s) { return s == "a"; } }\n'}
    report = run_analyzers(java, names=["ast-grep"], extra_rules=tmp_path)
    assert rules(report) == ["java-string-equality"]
    assert len(report.notes) == 1
    assert f"the rules in {tmp_path} do not work" in report.notes[0]
    missing = run_analyzers(java, names=["ast-grep"], extra_rules=tmp_path / "no")
    assert rules(missing) == ["java-string-equality"]
    assert "does not exist" in missing.notes[0]


def test_doctor_knows_every_analyzer():
    table = {name: version for name, version, _ in doctor()}
    assert set(table) == set(ANALYZERS)
    assert table["ruff"]
    assert table["ruff"][0].isdigit()
    assert all(how for _, _, how in doctor())
