"""Two copies of a project in a scratch folder, so that the user's own files are never touched."""

import os
import shutil
import tokenize
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

LARGEST_FILE = 2**20
LARGEST_COPY = 64 * 2**20
MOST_FILES = 20_000
LEFT_OUT = frozenset({"venv", "__pycache__", "node_modules", "site-packages", "build"})


class Trees:
    """The project at `root` (a real path), twice, in `folder`: as it is, and lifted.

    `changed` has the files that differ, as paths relative to the tree.
    """

    def __init__(self, root: Path, folder: Path) -> None:
        self.original = folder / "original"
        self.lifted = folder / "lifted"
        self.changed: set[str] = set()
        self._root = root
        copy_project(root, self.original)
        copy_project(root, self.lifted)

    def relative(self, file: Path) -> str:
        """The path of a file of the project within it; ValueError for any other."""
        return file.resolve().relative_to(self._root).as_posix()

    def lift(self, file: Path, lift: Callable[[Path], str]) -> None:
        """Put the lifted text of a file into the lifted tree; raises what `lift` does."""
        name = self.relative(file)
        for tree in (self.original, self.lifted):
            _copy_file(file, tree / name)
        text = lift(file)
        with file.open("rb") as original:
            encoding, _ = tokenize.detect_encoding(original.readline)
        if text.splitlines() != file.read_text(encoding).splitlines():
            (self.lifted / name).write_text(text, encoding, newline="")
            self.changed.add(name)

    def overlay(self, lifted: Path, files: Sequence[Path]) -> None:
        """Put a hand-made lift into the lifted tree: of one file, or a folder laid out like the project.

        Where `lifted` is a folder without such a file, one of the same name in it will do.
        """
        if lifted.is_dir():
            copy_project(lifted, self.lifted)
        for file in files:
            name = self.relative(file)
            _copy_file(file, self.original / name)
            hand_made = _counterpart(lifted, name)
            _copy_file(hand_made, self.lifted / name)
        for path in _files(self.lifted):
            name = path.relative_to(self.lifted).as_posix()
            twin = self.original / name
            if not twin.exists() or twin.read_bytes() != path.read_bytes():
                self.changed.add(name)


def copy_project(root: Path, target: Path) -> None:
    """Copy what a program of `root` may import or read: its Python files, then small other ones.

    Hidden folders, virtual environments and large files stay behind; so does all that comes
    after MOST_FILES files or LARGEST_COPY bytes.
    """
    target.mkdir(parents=True, exist_ok=True)
    found = [path for path in _files(root) if path.stat().st_size <= LARGEST_FILE]
    found.sort(key=lambda path: path.suffix != ".py")
    copied = 0
    for path in found[:MOST_FILES]:
        copied += path.stat().st_size
        if copied > LARGEST_COPY:
            return
        _copy_file(path, target / path.relative_to(root))


def _copy_file(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def _counterpart(lifted: Path, name: str) -> Path:
    if not lifted.is_dir():
        return lifted
    same_place = lifted / name
    return same_place if same_place.exists() else lifted / Path(name).name


def _files(root: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if _wanted(Path(folder, name)))
        yield from (
            path
            for name in sorted(names)
            if not name.startswith(".") and (path := Path(folder, name)).is_file()
        )


def _wanted(folder: Path) -> bool:
    return not (
        folder.name.startswith(".")
        or folder.name in LEFT_OUT
        or (folder / "pyvenv.cfg").exists()
    )
