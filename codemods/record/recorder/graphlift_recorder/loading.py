"""Has the project's modules instrumented as they are imported."""

from __future__ import annotations

import ast
import os
import types
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import machinery

from . import libraries
from .constants import Constants
from .instrument import instrument
from .posing import IMPORTLIB, followed, posing
from .source import read
from .watching import Function, Module


class Project:
    """The files to instrument: Python files under a root, installed packages left out.

    Keys have paths relative to `base`.
    """

    def __init__(self, root: str, base: str) -> None:
        self.functions: list[Function] = []
        self._root = os.path.realpath(root)
        self._base = os.path.realpath(base)
        self._foreign: dict[str, bool] = {}
        self._left_out = {
            os.path.realpath(os.path.dirname(os.__file__)),
            os.path.realpath(os.path.dirname(os.path.dirname(__file__))),
        }

    def key(self, path: str) -> str | None:
        """A file's path in keys, None for a file that isn't the project's."""
        path = os.path.realpath(path)
        folder = os.path.dirname(path)
        inside = path.startswith(os.path.join(self._root, ""))
        if not inside or self._is_foreign(folder):
            return None
        return os.path.relpath(path, self._base).replace(os.sep, "/")

    def _is_foreign(self, folder: str) -> bool:
        """Whether a folder under the root holds installed packages or the profile."""
        if folder not in self._foreign:
            name = os.path.basename(folder)
            self._foreign[folder] = (
                name in ("site-packages", "dist-packages", "__pycache__", ".graphlift")
                or folder in self._left_out
                or os.path.exists(os.path.join(folder, "pyvenv.cfg"))
                or (folder != self._root and self._is_foreign(os.path.dirname(folder)))
            )
        return self._foreign[folder]

    def compile(self, path: str, data: bytes) -> types.CodeType | None:
        """The instrumented code of a file; None where it has to be compiled as ever."""
        key = self.key(path)
        if key is None:
            return None
        try:
            compile(data, path, "exec", dont_inherit=True)  # warns, or fails, as ever
            with _silent():
                tree, constants, functions = self.instrumented(key, data)
                code = compile(tree, path, "exec", dont_inherit=True)
        except Exception:
            return None
        self.functions.extend(functions)
        return constants.fill(code, Module(f"{key}::<module>"))

    def instrumented(
        self, key: str, data: bytes, asserts: bool = True
    ) -> tuple[ast.Module, Constants, list[Function]]:
        """The tree of a module, what to fill its code with, and its functions."""
        constants = Constants()
        tree, functions = instrument(
            ast.parse(data), read(data), key, constants, asserts
        )
        return tree, constants, functions


@contextmanager
def _silent() -> Iterator[None]:
    """No warnings, and no trace of that in the registries of warnings seen."""
    filters = warnings.filters
    warnings.filters = [("ignore", None, Warning, None, 0)]
    try:
        yield
    finally:
        warnings.filters = filters


def install(project: Project) -> None:
    """Have every module that is loaded from now on pass through here."""
    original = machinery.SourceFileLoader.get_code
    plain = machinery.SourceFileLoader.source_to_code
    after = libraries.hooks(project)

    def get_code(
        self: machinery.SourceFileLoader, fullname: str
    ) -> types.CodeType | None:
        if fullname in after:
            code = original(self, fullname)
            return code and followed(code, after[fullname])
        if type(self).source_to_code is plain:
            path = self.get_filename(fullname)
            if project.key(path) is not None:
                code = project.compile(path, self.get_data(path))
                if code is not None:
                    return code
        return original(self, fullname)

    machinery.SourceFileLoader.get_code = posing(get_code, IMPORTLIB)  # type: ignore[method-assign]
