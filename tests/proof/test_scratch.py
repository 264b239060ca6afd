"""The two copies of a project."""

import os
from pathlib import Path

import pytest

from graphlift.codemods.proof import scratch
from graphlift.codemods.proof.scratch import Trees


def write(root: Path, **files: str) -> None:
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_py", ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def names(tree: Path) -> set[str]:
    return {
        path.relative_to(tree).as_posix() for path in tree.rglob("*") if path.is_file()
    }


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    write(root, main_py="a = 1\n", pkg__sub_py="b = 2\n", data__x="1,2")
    return root


def test_what_a_program_may_need_is_copied(root: Path, tmp_path: Path) -> None:
    for path in (
        ".git/x.py",
        "venv/x.py",
        "env/pyvenv.cfg",
        "env/x.py",
        "__pycache__/x.py",
        ".hidden",
    ):
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).touch()
    (root / "huge.bin").write_bytes(b"\0" * (scratch.LARGEST_FILE + 1))
    trees = Trees(root, tmp_path / "scratch")
    assert (
        names(trees.original)
        == names(trees.lifted)
        == {"main.py", "pkg/sub.py", "data/x"}
    )


def test_python_files_come_first_where_not_all_fit(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scratch, "MOST_FILES", 2)
    assert names(Trees(root, tmp_path / "scratch").original) == {
        "main.py",
        "pkg/sub.py",
    }


def test_only_what_changes_counts_as_changed(root: Path, tmp_path: Path) -> None:
    trees = Trees(root, tmp_path / "scratch")
    trees.lift(root / "main.py", lambda path: "a = 2\n")
    trees.lift(root / "pkg" / "sub.py", lambda path: path.read_text())
    assert trees.changed == {"main.py"}
    assert (trees.lifted / "main.py").read_text() == "a = 2\n"
    assert (trees.original / "main.py").read_text() == "a = 1\n"
    assert (root / "main.py").read_text() == "a = 1\n"


def test_encoding_and_newlines_are_kept(root: Path, tmp_path: Path) -> None:
    (root / "main.py").write_bytes(b"# coding: latin-1\r\nx = '\xe9'\r\n")
    trees = Trees(root, tmp_path / "scratch")
    trees.lift(root / "main.py", lambda path: "# coding: latin-1\r\ny = 'é'\r\n")
    assert (
        trees.lifted / "main.py"
    ).read_bytes() == b"# coding: latin-1\r\ny = '\xe9'\r\n"


def test_a_link_is_copied_not_followed_back(root: Path, tmp_path: Path) -> None:
    (tmp_path / "shared").write_text("kept")
    os.symlink(tmp_path / "shared", root / "link")
    trees = Trees(root, tmp_path / "scratch")
    (trees.original / "link").write_text("written")
    assert (tmp_path / "shared").read_text() == "kept"


def test_a_hand_made_lift_of_one_file(root: Path, tmp_path: Path) -> None:
    write(tmp_path, by_hand_py="a = 3\n")
    trees = Trees(root, tmp_path / "scratch")
    trees.overlay(tmp_path / "by_hand.py", [root / "main.py"])
    assert trees.changed == {"main.py"}
    assert (trees.lifted / "main.py").read_text() == "a = 3\n"


@pytest.mark.parametrize("place", ["pkg__sub_py", "sub_py"])
def test_a_hand_made_lift_in_a_folder(root: Path, tmp_path: Path, place: str) -> None:
    write(tmp_path / "by_hand", **{place: "b = 4\n", "extra_py": "c = 5\n"})
    trees = Trees(root, tmp_path / "scratch")
    trees.overlay(tmp_path / "by_hand", [root / "pkg" / "sub.py"])
    assert (trees.lifted / "pkg" / "sub.py").read_text() == "b = 4\n"
    assert {"pkg/sub.py", "extra.py"} <= trees.changed


def test_a_hand_made_lift_that_is_not_there(root: Path, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="nowhere"):
        Trees(root, tmp_path / "scratch").overlay(
            tmp_path / "nowhere.py", [root / "main.py"]
        )


def test_a_file_of_another_project(root: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="elsewhere"):
        Trees(root, tmp_path / "scratch").relative(tmp_path / "elsewhere.py")
