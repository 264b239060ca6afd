"""Load a file of a project folder as the module it would be there."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType


def load(tree: str, file: str) -> ModuleType:
    """The module of `file`, imported from `tree`, the working folder from now on.

    Both are absolute real paths. Raises whatever the file does, or ImportError.
    """
    name, folder = _module_name(Path(file))
    os.chdir(tree)
    sys.path[:0] = [folder, tree, os.path.join(tree, "src")]
    sys.argv = [file]
    if name not in sys.modules and _origin(name) == file:
        return importlib.import_module(name)
    return _load_alone(name.replace(".", "_") + "_", file)


def own_modules(tree: str) -> Iterator[tuple[str, ModuleType]]:
    """What has been loaded from `tree`: the path of each file in it, and the module."""
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None) or ""
        if file.startswith(tree + os.sep):
            yield Path(file).relative_to(tree).as_posix(), module


def _module_name(file: Path) -> tuple[str, str]:
    """The dotted name of a file, and the folder it is imported from."""
    names, folder = [file.stem], file.parent
    while (folder / "__init__.py").exists():
        names.insert(0, folder.name)
        folder = folder.parent
    if file.stem == "__init__" and len(names) > 1:
        names.pop()
    return ".".join(names), str(folder)


def _origin(name: str) -> str | None:
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return None
    return os.path.realpath(spec.origin) if spec and spec.origin else None


def _load_alone(name: str, file: str) -> ModuleType:
    """Load a file whose own name is another module's already, or none."""
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is no Python file")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
