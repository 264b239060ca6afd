"""Has the project's modules, and its main script, instrumented as they are loaded."""

from __future__ import annotations

import ast
import builtins
import os
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import machinery, util
from typing import Any

from . import libraries
from .instrument import Constants, instrument
from .source import read
from .watching import Function, Module, Watched

_IMPORTLIB = "<frozen importlib._bootstrap_external>"
"""Frames of code from this file are left out of tracebacks of imports."""
_RUNPY = "<frozen runpy>"


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
        if not (folder + os.sep).startswith(
            os.path.join(self._root, "")
        ) or self._is_foreign(folder):
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
            compile(
                data, path, "exec", dont_inherit=True
            )  # what is wrong shows as ever
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
    warnings.filters = [("ignore", None, Warning, None, 0)]  # type: ignore[assignment]
    try:
        yield
    finally:
        warnings.filters = filters


def _posing(function: types.FunctionType, filename: str) -> types.FunctionType:
    """The function as if its code were from another file."""
    function.__code__ = function.__code__.replace(co_filename=filename)
    return function


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
            return code and wrapped(code, after[fullname])
        if type(self).source_to_code is plain:
            path = self.get_filename(fullname)
            code = project.key(path) and project.compile(path, self.get_data(path))
            if code:
                return code
        return original(self, fullname)

    machinery.SourceFileLoader.get_code = _posing(get_code, _IMPORTLIB)  # type: ignore
    _install_main(project)


class _Wrapper(Watched):
    """Runs a module's code, then something with its name space."""

    def __init__(
        self, code: types.CodeType, then: Callable[[dict[str, Any]], None]
    ) -> None:
        self._code = code
        self._then = then

    def run(self) -> None:
        namespace = sys._getframe(1).f_globals
        exec(self._code, namespace)
        with suppress(Exception):  # a version of the library that looks different
            self._then(namespace)


def wrapped(
    code: types.CodeType, then: Callable[[dict[str, Any]], None]
) -> types.CodeType:
    """Module code that runs `code`, then `then` with the module's name space."""
    return _running(_Wrapper(code, then))


def _running(watched: Watched) -> types.CodeType:
    """Module code that calls `watched.run`."""
    constants = Constants()
    text = constants.name(watched)
    code = compile(f"{text!r}.run()", _RUNPY, "exec", dont_inherit=True)
    return constants.fill(code)


# ---- the main script


class _Script(Watched):
    """The main script, on its way to be run in __main__'s name space."""

    def __init__(self, path: str, code: types.CodeType) -> None:
        self._path = path
        self._code = code

    def run(self) -> None:
        """Run it as the interpreter would, as far as the script and its tracebacks can tell."""
        namespace = sys._getframe(1).f_globals
        namespace.update(
            __file__=self._path,
            __cached__=None,
            __package__=None,
            __spec__=None,
            __loader__=machinery.SourceFileLoader("__main__", self._path),
            __builtins__=builtins,
        )
        try:
            exec(self._code, namespace)
        except BaseException:
            self._shorten_traceback()
            raise

    run = _posing(run, _RUNPY)

    def _shorten_traceback(self) -> None:
        """Have the traceback that ends the program start in the script."""
        hook = sys.excepthook

        def excepthook(cls: type, value: BaseException, trace: Any) -> None:
            while trace is not None and trace.tb_frame.f_code is not self._code:
                trace = trace.tb_next
            sys.excepthook = hook
            hook(cls, value.with_traceback(trace), trace)  # type: ignore[arg-type]

        sys.excepthook = excepthook


class _ScriptFinder:
    """Finds __main__, in a script, as it is found in a folder or zip file that Python is to run."""

    def __init__(self, path: str, code: types.CodeType, hook: Any) -> None:
        self._path = path
        self._code = code
        self._hook = hook

    def find_spec(self, name: str, target: Any = None) -> machinery.ModuleSpec | None:
        if name != "__main__":
            return None
        return util.spec_from_file_location("__main__", self._path, loader=self)  # type: ignore[arg-type]

    def get_code(self, name: str) -> types.CodeType:
        """Code that runs the script; the way it was found leaves no trace."""
        sys.path_hooks.remove(self._hook)
        entry = sys.path.pop(0)
        sys.path_importer_cache.pop(entry, None)
        if not getattr(sys.flags, "safe_path", False):
            sys.path.insert(0, os.path.dirname(os.path.realpath(self._path)))
        return _running(_Script(self._path, self._code))


def _install_main(project: Project) -> None:
    """Offer the main script, if it is one of the project's, to the interpreter."""
    script = os.path.abspath(sys.argv[0])
    if not os.path.isfile(script) or project.key(script) is None:
        return

    def hook(path: str) -> _ScriptFinder:
        if os.path.abspath(path) != script:
            raise ImportError
        try:
            with open(path, "rb") as file:
                code = project.compile(path, file.read())
        except OSError as error:
            raise ImportError from error
        if code is None:
            raise ImportError
        return _ScriptFinder(path, code, hook)

    sys.path_hooks.insert(0, hook)
