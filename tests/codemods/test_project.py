"""Many files: order, processes, the cache and the baseline."""

import json
import multiprocessing
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from graphlift.codemods import config
from graphlift.codemods.project import FEW, Project
from graphlift.codemods.saving import saved

TF = "import tensorflow\n"
in_processes = pytest.mark.skipif(
    multiprocessing.get_start_method() != "fork",
    reason="other processes don't know the fake pipeline",
)


def checked(paths=(".",), **options):
    options = {"jobs": 1, "cached": False, **options}
    settings = config.load([Path(path) for path in paths])
    return list(Project(settings, **options).check(map(Path, paths)))


def codes(outcomes):
    return {o.name: [f.code for f in o.findings] for o in outcomes}


def test_files_without_tensorflow_are_not_looked_at(put, pipeline):
    put("a.py", "IF SYNTAX\n")
    put("b.py", "import keras\nIF\n")
    assert codes(checked()) == {"a.py": [], "b.py": ["GL101"]}
    assert pipeline.calls == ["b.py"]


def test_names_are_told_from_here(put, folder, pipeline, monkeypatch):
    put("sub/a.py", TF)
    put("b.py", TF)
    monkeypatch.chdir(folder / "sub")
    assert [o.name for o in checked(["../b.py", folder / "sub"])] == ["../b.py", "a.py"]


def test_the_pipeline_gets_the_names_of_the_profile(put, folder, pipeline, monkeypatch):
    profile = put(".graphlift/profile.json", '{"version": 1, "functions": {}}')
    put("sub/a.py", TF)
    monkeypatch.chdir(folder / "sub")
    checked(["a.py"], profile=profile)
    assert pipeline.calls == ["sub/a.py"]


@in_processes
def test_processes_answer_in_the_order_of_the_files(put, pipeline):
    for number in range(40):
        put(f"a{number:02}.py", TF + "IF\n" * number)
    outcomes = checked(jobs=3)
    assert [len(o.findings) for o in outcomes] == list(range(40))
    assert pipeline.calls == []


@in_processes
def test_a_process_that_dies_takes_one_file_with_it(put, pipeline):
    for number in range(2 * FEW):
        put(f"a{number}.py", TF + ("DIE\n" if number in (1, 5) else "IF\n"))
    outcomes = checked(jobs=2)
    assert [bool(o.problem) for o in outcomes] == [n in (1, 5) for n in range(2 * FEW)]
    assert "ended with -9" in outcomes[1].problem.message


@in_processes
def test_an_interrupt_is_answered_at_once(put, folder):
    for number in range(20):
        put(f"a{number}.py", TF + "IF\n")
    code = f"""
import os, sys, time
sys.path.insert(0, {str(Path(__file__).parent)!r})
from conftest import FakePipeline
from graphlift import codemods
from graphlift.codemods import cli
fake = FakePipeline()
fake.check = lambda *_: os.write(1, b"busy\\n") and time.sleep(60)
codemods.pipeline = sys.modules[fake.__name__] = fake
cli.app(["check", "--jobs", "2", "."])
"""
    child = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert child.stdout and child.stdout.readline() == b"busy\n"
    os.killpg(child.pid, signal.SIGINT)
    _, err = child.communicate(timeout=20)
    assert err == b"interrupted\n"
    assert child.returncode == 130
    with pytest.raises(ProcessLookupError):
        os.killpg(child.pid, 0)


CACHE = Path(".graphlift/cache/check.json")


def test_unchanged_files_are_not_looked_at_again(put, pipeline):
    put("a.py", TF + "IF\n")
    put("b.py", TF)
    first = checked(cached=True)
    assert checked(cached=True) == first
    assert pipeline.calls == ["a.py", "b.py"]
    put("b.py", TF + "LIST\n")
    assert codes(checked(cached=True))["b.py"] == ["GL205"]
    assert pipeline.calls == ["a.py", "b.py", "b.py"]
    assert (CACHE.parent / ".gitignore").read_text() == "*\n"


def test_the_cache_knows_options_and_profile(put, pipeline):
    put("a.py", TF + "IF\n")
    checked(cached=True)
    put("pyproject.toml", '[tool.graphlift]\nignore = ["GL101"]\n')
    assert codes(checked(cached=True)) == {"a.py": []}
    profile = put(".graphlift/profile.json", '{"version": 1, "functions": {}}')
    checked(cached=True, profile=profile)
    assert len(pipeline.calls) == 3


def test_problems_are_not_kept(put, pipeline):
    put("a.py", TF + "SYNTAX\n")
    checked(cached=True)
    assert checked(cached=True)[0].problem
    assert len(pipeline.calls) == 2


@pytest.mark.parametrize("damage", [b"", b"\xff\n{}", b"x\n{}", b'{"a.py": 1}'])
def test_a_damaged_cache_is_empty(put, pipeline, damage):
    put("a.py", TF + "IF\n")
    first = checked(cached=True)
    CACHE.write_bytes(damage)
    assert checked(cached=True) == first


def test_one_flipped_bit_is_damage(put, pipeline):
    put("a.py", TF + "IF\n")
    first = checked(cached=True)
    CACHE.write_bytes(CACHE.read_bytes().replace(b"GL101", b"GL100"))
    assert checked(cached=True) == first


def test_a_cache_that_cannot_be_written_is_let_go(put, pipeline):
    put("a.py", TF + "IF\n")
    put(".graphlift", "a file in its place")
    assert codes(checked(cached=True)) == {"a.py": ["GL101"]}


def test_files_that_are_gone_leave_the_cache(put, pipeline):
    path = put("a.py", TF)
    put("b.py", TF)
    checked(cached=True)
    path.unlink()
    put("b.py", TF + "IF\n")
    checked(cached=True)
    assert b"a.py" not in CACHE.read_bytes()


def test_a_baseline_hides_what_was_there(put, graphlift):
    put("sub/a.py", TF + "IF\nLIST\n")
    put("base.json", graphlift("check", ".", "--format", "json").raw)
    put("pyproject.toml", '[tool.graphlift]\nbaseline = "base.json"\n')
    assert graphlift("check", ".").code == 0
    put("sub/a.py", TF + "\n\nLIST\nIF\nIF\n")
    result = graphlift("check", ".")
    assert result.out.splitlines()[0].startswith("sub/a.py:6:1: GL101")
    assert result.out.splitlines()[1] == "1 finding in 1 file (1 safe)"


def test_a_baseline_is_written_anew(put, graphlift, folder, monkeypatch):
    """From any folder; what it has of files that are not looked at, or can't be, stays."""
    put("pyproject.toml", '[tool.graphlift]\nbaseline = "base.json"\n')
    put("base.json", "")
    put("sub/a.py", TF + "IF\n")
    put("b.py", TF + "LIST\n")
    put("gone.py", TF + "LIST\n")
    assert graphlift("check", "--write-baseline").code == 0
    assert graphlift("check").code == 0
    before = (folder / "base.json").read_text()
    put("sub/a.py", TF + "\nIF\n")
    (folder / "gone.py").unlink()
    monkeypatch.chdir("sub")
    assert graphlift("check", "--write-baseline", ".").code == 0
    monkeypatch.chdir("..")
    after = (folder / "base.json").read_text()
    assert ("gone.py" in before, "gone.py" in after) == (True, False)
    put("b.py", TF + "SYNTAX\nLIST\n")
    result = graphlift("check", "--write-baseline")
    assert (result.code, "b.py:3:5: error" in result.err) == (2, True)
    assert (folder / "base.json").read_text() == after
    put("b.py", TF + "LIST\n")
    assert graphlift("check").code == 0


def test_a_baseline_in_a_folder_that_is_not_there(put, graphlift, folder):
    put("pyproject.toml", '[tool.graphlift]\nbaseline = "sub/base.json"\n')
    result = graphlift("check", "--write-baseline")
    where = folder / "sub/base.json"
    assert result.err == f"error: {where} can't be written: No such file or directory\n"
    assert result.code == 2


@pytest.mark.parametrize("content", ["{}", "[", '{"files": [{}]}', None])
def test_a_broken_baseline_is_refused(put, graphlift, content):
    put("pyproject.toml", '[tool.graphlift]\nbaseline = "base.json"\n')
    if content is not None:
        put("base.json", content)
    result = graphlift("check", ".")
    assert (result.code, "base.json: " in result.err) == (2, True)


def test_rewriting_writes_nothing_by_itself(put, pipeline):
    path = put("a.py", TF + "IF\n")
    [outcome] = Project(config.load([path])).rewrite([path])
    assert (outcome.text, outcome.lifted) == (TF + "tf.cond\n", ("f",))
    assert path.read_text() == TF + "IF\n"
    assert list(saved([outcome])) == [outcome]
    assert path.read_text() == TF + "tf.cond\n"


def test_reports_stay_json_when_names_are_odd(put, graphlift):
    put(os.fsdecode(b"\xff.py"), TF + "IF\n")
    for format in ("json", "sarif"):
        json.loads(graphlift("check", ".", "--format", format).out)
