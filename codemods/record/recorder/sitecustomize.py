"""Starts the recorder in an interpreter that has this file's directory on its PYTHONPATH.

The directory leaves `sys.path` at once, and the environment's own sitecustomize runs as ever. A recorder
that can't start keeps quiet: the program runs without it.
"""

import os
import sys
from importlib import machinery, util


def _start() -> None:
    here = os.path.dirname(os.path.abspath(__file__))
    loaded = set(sys.modules)
    try:
        import graphlift_recorder

        graphlift_recorder.start()
        _unload(set(sys.modules) - loaded)
    except Exception:
        pass
    finally:
        sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != here]


def _unload(loaded: set[str]) -> None:
    """Forget the standard library's modules that the program has modules of its own for."""
    script = os.path.realpath(sys.argv[0])
    folder = os.path.dirname(script) if os.path.isfile(script) else os.curdir
    for name in {name.partition(".")[0] for name in os.listdir(folder)} & loaded:
        del sys.modules[name]


def _chain() -> None:
    """Run the sitecustomize that this one hides, under its name."""
    spec = machinery.PathFinder.find_spec("sitecustomize", sys.path)
    if spec is not None and spec.loader is not None:
        module = sys.modules["sitecustomize"] = util.module_from_spec(spec)
        spec.loader.exec_module(module)


_start()
_chain()
