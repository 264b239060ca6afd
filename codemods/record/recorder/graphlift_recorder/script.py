"""Has the main script instrumented, which Python doesn't import but runs.

A folder or zip file that is to be run is searched for `__main__` by a finder that `sys.path_hooks` gives
for it, and so is any path that these have a finder for: a script, too.
"""

from __future__ import annotations

import builtins
import os
import sys
import types
from importlib import machinery
from typing import Any

from .exchange import uninterrupted
from .loading import Project
from .posing import RUNPY, Runner, posing, running


def install(project: Project) -> None:
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


class _Script(Runner):
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

    def _shorten_traceback(self) -> None:
        """Have the traceback that ends the program start in the script."""
        hook = sys.excepthook

        def excepthook(cls: type, value: BaseException, trace: Any) -> None:
            while trace is not None and trace.tb_frame.f_code is not self._code:
                trace = trace.tb_next
            sys.excepthook = hook
            with uninterrupted():
                hook(cls, value.with_traceback(trace), trace)

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
        spec = machinery.ModuleSpec("__main__", self, origin=self._path)  # type: ignore[arg-type]
        spec.has_location = True
        return spec

    def get_code(self, name: str) -> types.CodeType:
        """Code that runs the script; the way it was found leaves no trace."""
        sys.path_hooks.remove(self._hook)
        entry = sys.path.pop(0)
        sys.path_importer_cache.pop(entry, None)
        if not getattr(sys.flags, "safe_path", False):
            sys.path.insert(0, os.path.dirname(os.path.realpath(self._path)))
        return running(_Script(self._path, self._code))


posing(_Script.run, RUNPY)
