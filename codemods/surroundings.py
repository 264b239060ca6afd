"""The project around the files of one call: read for what it says of them, never written."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from . import files
from .config import project_root, shared_folder

if TYPE_CHECKING:
    from ..transforms.facts.modules import Uses
    from ..transforms.facts.profile import Profile
    from ..transforms.facts.project import ProjectModules

MOST_FILES = 50_000


def project_files(
    paths: Sequence[Path], key: Callable[[Path], str], profile: "Profile | None"
) -> dict[str, Path]:
    """The files of the project that `paths` lie in, by the names that they go by in the profile (`key`)."""
    return {key(path): path for path in islice(_files(paths, profile), MOST_FILES)}


def modules(
    found: Mapping[str, Path],
    given: Mapping[str, str],
    profile: "Profile | None",
    uses: "Callable[[str], Uses]",
) -> "ProjectModules":
    """The modules of a project's files; those that this call is about are `given`, with their texts."""
    from ..transforms.facts.project import ProjectModules

    def read(name: str) -> str:
        if name in given:
            return given[name]
        try:
            return files.read(found[name]).text
        except files.FileError as error:
            raise ValueError(str(error)) from error

    return ProjectModules(found, read, profile, frozenset(given), uses)


def _files(paths: Sequence[Path], profile: "Profile | None") -> Iterator[Path]:
    """The files of the project: those below its root; those beside `paths` where it has none."""
    folder = shared_folder(paths)
    root = project_root(folder)
    if root is None and profile and folder.is_relative_to(profile.root.resolve()):
        root = profile.root
    return files.find([root] if root else _beside(paths))


def _beside(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        if os.path.isdir(path):
            yield path
        else:
            yield path
            yield from sorted(path.absolute().parent.glob("*.py"))
