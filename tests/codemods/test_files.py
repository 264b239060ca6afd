"""Files: which, and that reading and writing them loses nothing."""

import codecs
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphlift.codemods import files
from graphlift.codemods.files import FileError


def names(folder, *arguments, **options):
    found = files.find([Path(a) for a in arguments or (".",)], root=folder, **options)
    return [path.as_posix() for path in found]


def test_folders_are_walked_in_order(put, folder):
    for name in ("b/z.py", "b/a.py", "a.py", "b/notes.txt", "c.pyi"):
        put(name, "")
    assert names(folder) == ["a.py", "b/a.py", "b/z.py"]


@pytest.mark.parametrize(
    "name",
    [
        ".hidden/a.py",
        "venv/a.py",
        "build/a.py",
        "x/dist/a.py",
        "node_modules/a.py",
        "x/site-packages/a.py",
        "__pycache__/a.py",
        ".graphlift/a.py",
    ],
)
def test_folders_nobody_means_are_left_out(put, folder, name):
    put(name, "")
    assert names(folder) == []


def test_a_virtual_environment_by_any_name_is_left_out(put, folder):
    put("mine/pyvenv.cfg", "")
    put("mine/lib/a.py", "")
    assert names(folder) == []


def test_exclude_patterns_are_those_of_gitignore(put, folder):
    for name in ("a.py", "a_pb2.py", "gen/b.py", "deep/gen/c.py", "keep/gen.py"):
        put(name, "")
    assert names(folder, exclude=["gen/", "*_pb2.py"]) == ["a.py", "keep/gen.py"]
    assert names(folder, exclude=["/gen"]) == [
        "a.py",
        "a_pb2.py",
        "deep/gen/c.py",
        "keep/gen.py",
    ]


def test_a_named_file_is_meant(put, folder):
    put("build/script", "")
    assert names(folder, "build/script", exclude=["build"]) == ["build/script"]


def test_each_file_once(put, folder):
    put("a.py", "")
    (folder / "link.py").symlink_to("a.py")
    (folder / "loop").symlink_to(".")
    assert names(folder, ".", "a.py") == ["a.py"]


def test_a_missing_file_is_found_missing(folder):
    with pytest.raises(FileError, match=r"x\.py: no such file"):
        files.read(*files.find([Path("x.py")]))


@pytest.mark.parametrize(
    ("data", "encoding", "text"),
    [
        (b"x = 1\r\ny = 2\n", "utf-8", "x = 1\r\ny = 2\n"),
        (b"", "utf-8", ""),
        (codecs.BOM_UTF8 + "é\n".encode(), "utf-8-sig", "é\n"),
        (
            "# coding: latin-1\né\n".encode("latin-1"),
            "iso-8859-1",
            "# coding: latin-1\né\n",
        ),
        (b"#!x\r# coding: cp1252\r\x80\r", "cp1252", "#!x\r# coding: cp1252\r€\r"),
    ],
)
def test_decoding(data, encoding, text):
    source = files.decode(Path("a.py"), data)
    assert (source.encoding, source.text) == (encoding, text)
    assert source.encode(text) == data


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"x\0", "binary"),
        (b"\xff\n", "can't be decoded"),
        (b"# coding: nonsense\n", "unknown encoding"),
        (b"# coding: hex\n", "not a text encoding"),
        (b"# coding: utf-7\n+AGE-\n", "can't write it back"),
        (codecs.BOM_UTF8 + b"# coding: latin-1\n", "can't be decoded"),
    ],
)
def test_what_is_not_source(data, message):
    with pytest.raises(FileError, match=message):
        files.decode(Path("a.py"), data)


def test_what_is_not_a_file(put, folder, monkeypatch):
    os.mkfifo("pipe.py")
    with pytest.raises(FileError, match="not a file"):
        files.read(Path("pipe.py"))
    with pytest.raises(FileError, match="notebooks"):
        files.read(put("a.ipynb", "{}"))
    monkeypatch.setattr(files, "LARGEST", 3)
    with pytest.raises(FileError, match="larger than"):
        files.read(put("a.py", "1234"))


@given(st.text().filter(lambda text: "\0" not in text and "coding" not in text))
def test_any_text_comes_back(text):
    data = text.encode(errors="replace")
    source = files.decode(Path("a.py"), data)
    assert source.encode(source.text) == data


def rewrite(path, text="new\n"):
    files.write(files.read(Path(path)), text)


def only(folder):
    return sorted(p.name for p in folder.iterdir() if p.name != ".git")


def test_writing_keeps_mode_and_moves_time(put, folder):
    path = put("a.py", "old\n")
    path.chmod(0o751)
    os.utime(path, (1, 1))
    rewrite(path)
    assert path.read_text() == "new\n"
    assert path.stat().st_mode & 0o777 == 0o751
    assert path.stat().st_mtime > 1
    assert only(folder) == ["a.py"]


def test_writing_keeps_encoding(put):
    path = put("a.py", "# coding: latin-1\né".encode("latin-1"))
    rewrite(path, "# coding: latin-1\r\né")
    assert path.read_bytes() == "# coding: latin-1\r\né".encode("latin-1")
    with pytest.raises(FileError, match="'€', which iso-8859-1 can't write"):
        rewrite(path, "# coding: latin-1\n€")
    assert path.read_bytes() == "# coding: latin-1\r\né".encode("latin-1")


def test_writing_goes_through_a_link(put, folder):
    target = put("real/a.py", "old\n")
    (folder / "link.py").symlink_to("real/a.py")
    rewrite("link.py")
    assert (folder / "link.py").is_symlink()
    assert target.read_text() == "new\n"


def test_writing_keeps_hard_links(put, folder):
    path = put("a.py", "old and long\n")
    os.link(path, folder / "b.py")
    rewrite(path)
    assert (folder / "b.py").read_text() == "new\n"
    assert path.samefile(folder / "b.py")
    assert only(folder) == ["a.py", "b.py"]


def test_a_read_only_file_stays(put, folder, monkeypatch):
    path = put("a.py", "old\n")
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
    with pytest.raises(FileError, match="read-only"):
        rewrite(path)
    assert path.read_text() == "old\n"
    assert only(folder) == ["a.py"]


def test_what_is_put_in_place_is_whole_or_nothing(folder, put, monkeypatch):
    path = put("a.json", "old\n")
    files.put(path, b"new\n")
    assert path.read_text() == "new\n"

    def fail(*_):
        raise OSError(28, "No space left")

    monkeypatch.setattr(Path, "write_bytes", fail)
    with pytest.raises(OSError):
        files.put(path, b"newer\n")
    assert path.read_text() == "new\n"
    assert only(folder) == ["a.json"]


def test_a_file_changed_meanwhile_stays(put):
    path = put("a.py", "old\n")
    source = files.read(path)
    path.write_text("someone's\n")
    with pytest.raises(FileError, match="has changed"):
        files.write(source, "new\n")
    assert path.read_text() == "someone's\n"


@pytest.mark.parametrize("call", ["fsync", "replace", "chmod"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(28, "No space left")])
def test_an_interrupted_write_loses_nothing(put, folder, monkeypatch, call, error):
    path = put("a.py", "old\n")

    def fail(*_, **__):
        raise error

    monkeypatch.setattr(os, call, fail)
    with pytest.raises((KeyboardInterrupt, FileError)):
        rewrite(path)
    assert path.read_text() == "old\n"
    assert only(folder) == ["a.py"]


def test_an_interrupted_write_in_place_is_undone(put, folder, monkeypatch):
    path = put("a.py", "old\n")
    os.link(path, folder / "b.py")
    fsync, calls = os.fsync, iter([None, KeyboardInterrupt, None])

    def fail(handle):
        if error := next(calls):
            raise error
        fsync(handle)

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(KeyboardInterrupt):
        rewrite(path)
    assert path.read_text() == "old\n"
    assert only(folder) == ["a.py", "b.py"]


def test_when_even_the_undoing_is_interrupted_the_backup_stays(
    put, folder, monkeypatch
):
    path = put("a.py", "old\n")
    os.link(path, folder / "b.py")
    calls = iter([None, KeyboardInterrupt, KeyboardInterrupt])

    def fail(_):
        if error := next(calls):
            raise error

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(KeyboardInterrupt):
        rewrite(path)
    [backup] = folder.glob(".a.py.*.graphlift")
    assert backup.read_text() == "old\n"
