"""A pipeline that reads marks in the text, and a way to call the command line."""

import io
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

from graphlift import codemods
from graphlift.codemods import cli
from graphlift.codemods.pipeline import Rewritten
from graphlift.transforms.findings import Checked, Finding


class Unreadable(ValueError):
    pass


MARKS = {
    "IF": ("GL101", "tensor-if", "safe"),
    "PRINT": ("GL201", "python-print", "safe"),
    "LIST": ("GL205", "host-read", "manual"),
}


class FakePipeline(ModuleType):
    """IF and PRINT are findings that can be lifted, LIST is one that can't, UNKNOWN is never recorded; other marks are accidents."""

    Unreadable = Unreadable

    def __init__(self) -> None:
        super().__init__("graphlift.codemods.pipeline")
        self.calls: list[str] = []

    def check(self, text, path, options, profile=None, modules=None):
        self.calls.append(path)
        if "SYNTAX" in text:
            raise SyntaxError("invalid syntax", (path, 3, 5, ""))
        if "DEEP" in text:
            raise Unreadable("nested too deeply")
        if "BUG" in text:
            raise RuntimeError("oops")
        if "DIE" in text:
            os.kill(os.getpid(), signal.SIGKILL)
        findings = tuple(
            Finding(row, 1, row, 3, code, name, f"a {mark} here", applicability, "f")
            for row, line in enumerate(text.splitlines(), 1)
            for mark, (code, name, applicability) in MARKS.items()
            if mark in line and options.enabled(code)
        )
        return Checked(findings, ("g",) if "UNKNOWN" in text else ())

    def rewrite(self, text, path, options, profile=None, modules=None):
        found = self.check(text, path, options, profile)
        new = text.replace("IF", "tf.cond").replace("PRINT", "tf.print")
        left = tuple(f for f in found.findings if f.applicability == "manual")
        lifted = ("f",) if new != text else ()
        return Rewritten(new, left, lifted, unrecorded=found.unrecorded)


@pytest.fixture
def pipeline(monkeypatch: pytest.MonkeyPatch) -> FakePipeline:
    fake = FakePipeline()
    monkeypatch.setitem(sys.modules, fake.__name__, fake)
    monkeypatch.setattr(codemods, "pipeline", fake, raising=False)
    return fake


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project, which is the current folder."""
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def put(folder: Path) -> Callable[..., Path]:
    """Write a file of a project, with its folders; a `tensorflow` in it makes it worth a look."""

    def write(name: str, content: str | bytes) -> Path:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        data = content if isinstance(content, bytes) else content.encode()
        path.write_bytes(data)
        return path

    return write


@dataclass
class Result:
    code: int
    raw: bytes
    err: str

    @property
    def out(self) -> str:
        return self.raw.decode()


@pytest.fixture
def graphlift(
    pipeline: FakePipeline,
    folder: Path,
    capsysbinary: pytest.CaptureFixture[bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[..., Result]:
    """Run a command in the project, with the fake pipeline."""

    def run(*arguments: object, stdin: bytes = b"") -> Result:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        with pytest.raises(SystemExit) as end:
            cli.app([str(argument) for argument in arguments])
        out, err = capsysbinary.readouterr()
        return Result(int(end.value.code or 0), out, err.decode())

    return run
