"""Starts the recorder in an interpreter that has this file's directory on its PYTHONPATH.

The directory leaves `sys.path` at once, and the environment's own sitecustomize runs as ever. Where the
recorder can't start, the program runs without it, and the reason is left for our parent process.
"""

import os
import sys
from importlib import machinery, util


def _start() -> None:
    here = os.path.dirname(os.path.abspath(__file__))
    library = os.path.dirname(os.__file__)
    path = [entry for entry in sys.path if os.path.abspath(entry) != here]
    loaded = set(sys.modules)
    try:
        sys.path[:] = [here, library, os.path.join(library, "lib-dynload")]
        from graphlift_recorder.starting import start

        start()
        _unload(set(sys.modules) - loaded)
    except Exception as error:
        _leave_word(error)
    finally:
        sys.path[:] = path


def _unload(loaded: set[str]) -> None:
    """Forget the standard library's modules that the program has modules of its own for."""
    script = os.path.realpath(sys.argv[0])
    first = os.path.dirname(script) if os.path.isfile(script) else os.curdir
    for folder in (first, *os.environ.get("PYTHONPATH", "").split(os.pathsep)):
        names = os.listdir(folder) if os.path.isdir(folder) else []
        for name in loaded.intersection(name.partition(".")[0] for name in names):
            if name != "graphlift_recorder":
                sys.modules.pop(name, None)


def _leave_word(error: Exception) -> None:
    folder = os.environ.get("GRAPHLIFT_RECORD_OUTPUT", "")
    if os.path.isdir(folder):
        with open(os.path.join(folder, "problem"), "w", encoding="utf-8") as file:
            file.write(f"{type(error).__name__}: {error}")


def _chain() -> None:
    """Run the sitecustomize that this one hides, under its name."""
    spec = machinery.PathFinder.find_spec("sitecustomize", sys.path)
    if spec is not None and spec.loader is not None:
        module = sys.modules["sitecustomize"] = util.module_from_spec(spec)
        spec.loader.exec_module(module)


_start()
_chain()
