"""Starts the recorder in an interpreter that has this file's directory on its PYTHONPATH.

The directory leaves `sys.path` at once, and the environment's own sitecustomize runs as ever.
"""

import os
import sys
from importlib import machinery, util

_here = os.path.dirname(os.path.abspath(__file__))


def _chain() -> None:
    """Run the sitecustomize that this one hides, under its name."""
    spec = machinery.PathFinder.find_spec("sitecustomize", sys.path)
    if spec is not None and spec.loader is not None:
        module = sys.modules["sitecustomize"] = util.module_from_spec(spec)
        spec.loader.exec_module(module)


try:
    import graphlift_recorder
finally:
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or os.curdir) != _here]
_chain()
graphlift_recorder.start()
