"""Frames that show, in tracebacks, as the interpreter's or a library's own."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from .constants import Constants
from .watching import Watched

IMPORTLIB = "<frozen importlib._bootstrap_external>"
"""Frames of code from this file are left out of tracebacks of imports."""
RUNPY = "<frozen runpy>"


def posing(function: Any, filename: str) -> Any:
    """The function, its code now from another file."""
    function.__code__ = function.__code__.replace(co_filename=filename)
    return function


class Runner(Watched):
    """Something that the code of a module runs in its name space."""

    def run(self) -> None:
        raise NotImplementedError


def running(runner: Runner) -> types.CodeType:
    """Module code that calls `runner.run`."""
    constants = Constants()
    text = constants.text(runner)
    code = compile(f"{text!r}.run()", RUNPY, "exec", dont_inherit=True)
    return constants.fill(code)


class _Followed(Runner):
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


def followed(
    code: types.CodeType, then: Callable[[dict[str, Any]], None]
) -> types.CodeType:
    """Module code that runs `code`, then `then` with the module's name space."""
    return running(_Followed(code, then))
