"""What can be run, and what is said where it can't."""

import os
import shutil
import stat
import sys

import pytest

from graphlift.codemods.record import RecordError, record, running
from graphlift.codemods.record.command import resolve


def test_python_by_name_is_the_one_on_the_path(tmp_path, monkeypatch):
    python = tmp_path / "python3"
    python.write_text("#!/bin/sh\n")
    python.chmod(python.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert resolve(["python3", "-m", "x"], tmp_path) == [str(python), "-m", "x"]


def test_an_interpreter_that_is_asked_for_comes_first(tmp_path):
    command = ["python", "-u", "script.py"]
    assert resolve(command, tmp_path, sys.executable) == [sys.executable, *command[1:]]


def test_a_script_runs_in_the_active_environment(tmp_path, monkeypatch):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").touch()
    (tmp_path / "script.py").touch()
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path))
    python = str(tmp_path / "bin" / "python")
    assert resolve(["script.py", "x"], tmp_path) == [python, "script.py", "x"]


def test_a_tool_beside_the_interpreter(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    found = resolve(["pytest", "-q"], tmp_path)
    assert os.path.dirname(found[0]) == os.path.dirname(sys.executable)
    asked = resolve(["pytest", "-q"], tmp_path, sys.executable)
    assert asked == [sys.executable, found[0], "-q"]


@pytest.mark.parametrize(
    ("command", "python", "message"),
    [
        ([], None, "no command"),
        (["no-such-command"], None, "no such command: no-such-command"),
        (["no/such/script.py"], None, "no such command"),
        (["python"], "no-such-python", "no such interpreter"),
    ],
)
def test_commands_that_do_not_exist(tmp_path, command, python, message):
    with pytest.raises(RecordError, match=message):
        record(command, tmp_path, python=python)


def test_a_file_that_cannot_be_executed(tmp_path):
    tool = tmp_path / "tool"
    tool.write_text("not a program")
    tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
    with pytest.raises(RecordError, match="tool can't be run"):
        record(["./tool"], tmp_path)


def test_nothing_recorded_for_want_of_tensorflow(tmp_path, capfd):
    (tmp_path / "nothing.py").write_text("print('ran')\n")
    isolated = [sys.executable, "-S", "nothing.py"]
    hidden = "import sys; sys.modules['tensorflow'] = None\n"
    (tmp_path / "hidden.py").write_text(hidden)
    with pytest.raises(RecordError, match="has no TensorFlow"):
        record([sys.executable, "hidden.py"], tmp_path)
    told: list[str] = []
    assert record(isolated, tmp_path, tell=told.append) == 0
    assert capfd.readouterr() == ("ran\n", "")
    assert told == [f"nothing was recorded: no function under {tmp_path} was called"]
    assert not (tmp_path / ".graphlift").exists()


def test_a_program_without_tensorflow_is_recorded(tmp_path, monkeypatch):
    (tmp_path / "hidden.py").write_text(
        "import sys; sys.modules['tensorflow'] = None\ndef f(): pass\nf()\n"
    )
    monkeypatch.chdir(tmp_path)
    told: list[str] = []
    assert record([sys.executable, "hidden.py"], tmp_path, tell=told.append) == 0
    assert told == ["recorded 1 function in .graphlift/profile.json"]
    assert (tmp_path / ".graphlift" / "profile.json").exists()


def test_a_recorder_that_does_not_start(tmp_path, monkeypatch, capfd):
    recorder = tmp_path / "recorder"
    shutil.copytree(running._RECORDER, recorder)
    (recorder / "graphlift_recorder" / "__init__.py").write_text("1 / 0\n")
    monkeypatch.setattr(running, "_RECORDER", recorder)
    (tmp_path / "script.py").write_text("print('ran')\n")
    with pytest.raises(RecordError, match="nothing was recorded: ZeroDivisionError"):
        record([sys.executable, "script.py"], tmp_path)
    out, err = capfd.readouterr()
    assert (out, err) == ("ran\n", "")


def test_a_profile_that_is_none_is_refused_before_the_run(tmp_path, capfd):
    profile = tmp_path / "profile.json"
    (tmp_path / "script.py").write_text("print('ran')\n")
    for text in ("not json", "[]", '{"version": 2, "functions": {}}'):
        profile.write_text(text)
        with pytest.raises(RecordError, match=r"profile\.json"):
            record(["script.py"], tmp_path, profile)
    assert capfd.readouterr().out == ""
