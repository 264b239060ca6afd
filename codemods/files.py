"""Which files, and how they are read and written: encoding, newlines, links and mode are kept."""

import io
import os
import re
import shutil
import stat
import tempfile
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

LARGEST = 20 * 2**20
SKIPPED_FOLDERS = frozenset(
    {"venv", "__pycache__", "build", "dist", "node_modules", "site-packages"}
)


class FileError(Exception):
    """A file that can't be found, read, decoded or written, and why."""

    def __init__(self, path: str | Path, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = str(path)
        self.message = message


@dataclass(frozen=True)
class Source:
    """A file as it is on disk: its bytes, and the text they hold (newlines kept, no BOM)."""

    path: Path
    data: bytes
    encoding: str
    text: str

    def encode(self, text: str) -> bytes:
        """`text` in the encoding of the file, with its BOM; FileError where that has no such character."""
        try:
            return text.encode(self.encoding)
        except UnicodeEncodeError as error:
            character = text[error.start]
            raise FileError(
                self.path,
                f"the new text has {character!r}, which {self.encoding} can't write",
            ) from None


def find(
    paths: Iterable[Path], exclude: Sequence[str] = (), root: Path | None = None
) -> Iterator[Path]:
    """The Python files that `paths` name, each once: a file as it is, a folder with all below it, sorted.

    A folder that can't be listed comes as itself, for `read` to refuse.
    `exclude` holds .gitignore patterns relative to `root`; they and the folders nobody
    means (hidden ones, virtual environments, build output) count inside folders only.
    """
    spec = _patterns(exclude)
    seen: set[str] = set()
    for path in paths:
        inside = os.path.isdir(path)
        for file in _walk(path, spec, root or Path.cwd()) if inside else (path,):
            real = os.path.realpath(file)
            if real not in seen:
                seen.add(real)
                yield file


def _patterns(exclude: Sequence[str]) -> "GitIgnoreSpec | None":
    if not exclude:
        return None
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines(exclude)


def _walk(top: Path, spec: "GitIgnoreSpec | None", root: Path) -> Iterator[Path]:
    def excluded(path: str) -> bool:
        if spec is None:
            return False
        inside = os.path.relpath(os.path.abspath(path), root)
        return spec.match_file(inside + "/" * os.path.isdir(path))

    unreadable: list[OSError] = []
    for folder, folders, names in os.walk(top, onerror=unreadable.append):
        folders[:] = sorted(
            name
            for name in folders
            if not _skipped(folder, name) and not excluded(os.path.join(folder, name))
        )
        for name in sorted(names):
            file = os.path.join(folder, name)
            if name.endswith(".py") and os.path.isfile(file) and not excluded(file):
                yield Path(file)
    yield from (Path(error.filename) for error in unreadable)


def _skipped(folder: str, name: str) -> bool:
    return (
        name.startswith(".")
        or name in SKIPPED_FOLDERS
        or os.path.exists(os.path.join(folder, name, "pyvenv.cfg"))
    )


def read(path: Path) -> Source:
    """The file at `path`; FileError where it isn't Python source that can be read and written back."""
    if path.suffix == ".ipynb":
        raise FileError(path, "notebooks can't be lifted yet")
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise FileError(path, "a folder that can't be listed")
        if not stat.S_ISREG(status.st_mode):
            raise FileError(path, "not a file")
        if status.st_size > LARGEST:
            raise FileError(path, f"larger than {LARGEST >> 20} MB")
        return decode(path, path.read_bytes())
    except OSError as error:
        raise FileError(path, _reason(error)) from None


def decode(path: Path, data: bytes) -> Source:
    """The source that `data` holds: UTF-8, or what its BOM or coding comment says; FileError where it is not."""
    if b"\0" in data:
        raise FileError(path, "binary, not Python source")
    try:
        encoding, _ = tokenize.detect_encoding(_physical_lines(data).readline)
        text = data.decode(encoding)
    except (SyntaxError, LookupError, UnicodeError) as error:
        raise FileError(path, f"can't be decoded: {error}") from None
    source = Source(path, data, encoding, text)
    if source.encode(text) != data:
        raise FileError(path, f"{encoding} can't write it back as it is")
    return source


def _physical_lines(data: bytes) -> io.BytesIO:
    """`data` in lines as Python counts them: a lone CR ends one too."""
    return io.BytesIO(re.sub(rb"\r\n?", b"\n", data))


def write(source: Source, text: str) -> None:
    """Put `text` in the place of `source`, whole or not at all.

    A link is written through. FileError where the file is read-only, has changed since
    it was read, or can't be written; it is then as it was.
    """
    data = source.encode(text)
    target = Path(os.path.realpath(source.path))
    try:
        status = target.stat()
        if not os.access(target, os.W_OK):
            raise FileError(source.path, "read-only")
        if target.read_bytes() != source.data:
            raise FileError(source.path, "has changed since it was read")
        if _replaceable(target, status):
            _replace(target, status, data)
        else:
            _overwrite(target, source.data, data)
    except OSError as error:
        raise FileError(source.path, _reason(error)) from None


def put(target: Path, data: bytes) -> None:
    """Make the file `target`, or put it in the place of the one that is there, whole or not at all; OSError."""
    new = target.with_name(f".{target.name}.{os.getpid()}.new")
    try:
        new.write_bytes(data)
        new.replace(target)
    except BaseException:
        new.unlink(missing_ok=True)
        raise


def _replaceable(target: Path, status: os.stat_result) -> bool:
    """Whether a new file in its place loses nothing: no other hard link, and the same owner."""
    own = not hasattr(os, "geteuid") or os.geteuid() in (0, status.st_uid)
    return status.st_nlink == 1 and own and os.access(target.parent, os.W_OK)


def _replace(target: Path, status: os.stat_result, data: bytes) -> None:
    new = _spare(target, data)
    try:
        shutil.copystat(target, new)
        os.utime(new)
        if hasattr(os, "chown"):
            os.chown(new, status.st_uid, status.st_gid)
            os.chmod(new, stat.S_IMODE(status.st_mode))
        os.replace(new, target)
    except BaseException:
        new.unlink(missing_ok=True)
        raise


def _overwrite(target: Path, before: bytes, after: bytes) -> None:
    backup = _spare(target, before)
    try:
        _fill(target, after)
    except BaseException:
        _fill(target, before)  # where this is interrupted too, the backup stays
        backup.unlink()
        raise
    backup.unlink()


def _fill(target: Path, data: bytes) -> None:
    with open(target, "r+b") as file:
        file.write(data)
        file.truncate()
        file.flush()
        os.fsync(file.fileno())


def _spare(target: Path, data: bytes) -> Path:
    """A new file that holds `data`, on disk for sure: beside `target`, else where there is room."""
    folder = target.parent if os.access(target.parent, os.W_OK) else None
    handle, name = tempfile.mkstemp(".graphlift", f".{target.name}.", folder)
    try:
        with open(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(handle)
    except BaseException:
        os.unlink(name)
        raise
    return Path(name)


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
