"""Diffs that git applies, whatever is in the files and however they are called."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphlift.codemods import diff, files


def applied(folder: Path, name: str, old: bytes, new: bytes) -> bytes:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(old)
    source = files.read(path)
    patch = diff.unified(name, source, new.decode(source.encoding))
    subprocess.run(
        ["git", "-c", "core.autocrlf=false", "apply", "--whitespace=nowarn"],
        input=patch,
        cwd=folder,
        check=True,
    )
    return path.read_bytes()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"a\nb\nc\n", b"a\nB\nc\n"),
        (b"a\nb", b"a\nB"),
        (b"a\nb", b"a\nb\n"),
        (b"a\nb\n", b"a\nb"),
        (b"a\r\nb\r\nc\n", b"a\r\nB\r\nc\n"),
        (b"a\rb\rc", b"a\rB\rc"),
        (b"a\x0cb\nc\x1c\n", b"a\x0cB\nc\x1c\n"),
        (b"\xef\xbb\xbfa\n", b"\xef\xbb\xbfb\n"),
        (b"# coding: latin-1\n\xe9\n", b"# coding: latin-1\n\xe8\n"),
        (b"", b"a\n"),
        ("a\u2028b\nc\n".encode(), "a\u2028B\nc\n".encode()),
    ],
)
def test_git_applies_it(folder, old, new):
    assert applied(folder, "a.py", old, new) == new


@pytest.mark.parametrize(
    "name", ["with space.py", "sub/é.py", 'quo"te.py', "tab\there.py", "back\\slash.py"]
)
def test_git_finds_the_file(folder, name):
    assert applied(folder, name, b"a\n", b"b\n") == b"b\n"


def test_git_applies_it_from_below(folder):
    (folder / "sub").mkdir()
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    assert applied(folder / "sub", "a.py", b"a\n", b"b\n") == b"b\n"


LINES = st.lists(st.sampled_from(["a\n", "b\n", "\n", "c\r\n", "d\r", " \f\n"]))


@settings(max_examples=50)
@given(LINES, LINES, st.sampled_from(["", "end"]))
def test_git_applies_any(tmp_path_factory, old, new, end):
    before, after = "".join(old) + end, "".join(new)
    if before != after:
        folder = tmp_path_factory.mktemp("any")
        assert (
            applied(folder, "a.py", before.encode(), after.encode()) == after.encode()
        )


def test_equal_texts_differ_in_nothing():
    source = files.decode(Path("a.py"), b"a\n")
    assert diff.unified("a.py", source, "a\n") == b""


def test_colours_are_for_terminals(put, capsysbinary, monkeypatch):
    source = files.read(put("a.py", "a\n"))
    diff.show("a.py", source, "b\n")
    plain = capsysbinary.readouterr().out
    assert b"\x1b" not in plain
    monkeypatch.setattr(type(sys.stdout), "isatty", lambda _: True, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    diff.show("a.py", source, "b\n")
    coloured = capsysbinary.readouterr().out
    assert b"\x1b[31m-a" in coloured
    monkeypatch.setenv("NO_COLOR", "1")
    diff.show("a.py", source, "b\n")
    assert capsysbinary.readouterr().out == plain
